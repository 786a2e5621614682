"""Matches of games with hidden information: players are told what their roles may know, and no more."""

from __future__ import annotations

from typing import TYPE_CHECKING

import anygame
from anygame.match.replaying import replay
from anygame.match.running import run
from anygame.players import Player

if TYPE_CHECKING:
    from anygame.game.role_view import RoleView
    from anygame.players import Clock

#: One of a hundred numbers is drawn; the guesser learns whether it is even, and guesses twice.
SECRET = (
    " ".join(f"(n {number})" for number in range(100))
    + """
    (role guesser) (role random) (init (step 1)) (follows 1 2) (follows 2 3) (follows 3 4)
    (even 0) (<= (even ?n) (odd ?m) (next_number ?m ?n)) (<= (odd ?n) (even ?m) (next_number ?m ?n))
    (<= (legal random (hide ?n)) (true (step 1)) (n ?n)) (<= (legal random noop) (not (true (step 1))))
    (<= (legal guesser noop) (true (step 1))) (<= (legal guesser (guess ?n)) (not (true (step 1))) (n ?n))
    (<= (next (hidden ?n)) (does random (hide ?n))) (<= (next (hidden ?n)) (true (hidden ?n)))
    (<= (next (step ?n)) (true (step ?m)) (follows ?m ?n))
    (<= (next (guessed ?n)) (does guesser (guess ?n)))
    (<= (sees guesser is_even) (does random (hide ?n)) (even ?n))
    (<= (sees guesser wrong) (does guesser (guess ?n)) (not (true (hidden ?n))))
    (<= terminal (true (step 4)))
    (<= (goal guesser 100) (true (hidden ?n)) (true (guessed ?n)))
    (<= (goal guesser 0) (true (hidden ?n)) (not (true (guessed ?n)))) (goal random 0)
"""
    + " ".join(f"(next_number {number} {number + 1})" for number in range(99))
)


class Peeker(Player):
    """Guesses what is hidden in the state that it is given."""

    views: list[RoleView]
    hidden: list[int]

    def start(self, game: anygame.Game, role: anygame.Role, clock: Clock) -> None:
        super().start(game, role, clock)
        self.views, self.hidden = [], []

    def move(self, state: anygame.State, clock: Clock) -> anygame.Term:
        assert self.view is not None
        self.views.append(self.view)
        legal = state.legal_moves(self.role)
        hidden = [str(fact) for fact in state.facts if str(fact).startswith("(hidden")]
        if not hidden:
            return legal[0]
        self.hidden.append(int(hidden[0].split()[1].rstrip(")")))
        return next(move for move in legal if str(move) == f"(guess {self.hidden[-1]})")


def test_a_player_that_peeks_does_not_know_more_than_its_role() -> None:
    game = anygame.loads(SECRET)
    right = 0
    for seed in range(12):
        player = Peeker()
        record = run(game, [player], seed=seed)
        assert record.goals is not None
        right += record.goals[0] == 100
        hidden = int(record.moves[0][1].split()[-2])
        # What is guessed agrees with what was seen, and is not all the same thing.
        assert all(number % 2 == hidden % 2 for number in player.hidden)
        views = [
            [(str(one.move), [*map(str, one.percepts)]) for one in view.observations] for view in player.views
        ]
        first = ("noop", ["is_even"] if hidden % 2 == 0 else [])
        assert views[:2] == [[], [first]]
        guess = player.hidden[0]
        assert views[2] == [first, (f"(guess {guess})", [] if guess == hidden else ["wrong"])]
        assert not any(record.errors[step] != ["", ""] for step in range(len(record.errors)))
        assert not replay(record, game).faults
    assert right <= 4


def test_without_hidden_information_players_are_given_the_state_itself() -> None:
    game = anygame.load("tic_tac_toe")

    class Witness(Player):
        def move(self, state: anygame.State, clock: Clock) -> anygame.Term:
            assert self.view is None
            return state.legal_moves(self.role)[0]

    assert run(game, [Witness(), "legal"]).goals is not None
