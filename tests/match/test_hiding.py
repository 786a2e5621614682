"""Matches of games with hidden information: players are told what their roles may know, and no more."""

from __future__ import annotations

import asyncio
from math import inf
from random import Random
from typing import TYPE_CHECKING

import anygame
from anygame.language.parser import parse_term
from anygame.match.local import LocalSeat
from anygame.match.replaying import replay
from anygame.match.running import resume, run
from anygame.match.seats import MatchInfo
from anygame.match.state_tracking import HiddenCourse
from anygame.players import Player

if TYPE_CHECKING:
    import pytest

    from anygame.game.state import RoleView
    from anygame.match.record import Record
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

#: Coins fall one after the other, of which nobody sees any before the last: then the caller sees all of them.
COINS = (
    "(role caller) (role random) (init (step 0)) (face heads) (face tails)"
    "(<= (legal random (toss ?f)) (face ?f) (not (true (step 10)))) (<= (legal random noop) (true (step 10)))"
    "(legal caller (call heads)) (legal caller (call tails))"
    "(<= (next (fell ?n ?f)) (does random (toss ?f)) (true (step ?n)))"
    "(<= (next (fell ?n ?f)) (true (fell ?n ?f)))"
    "(<= (next (step ?n)) (true (step ?m)) (follows ?m ?n)) (<= terminal (true (step 12)))"
    "(<= (sees caller (fell ?n ?f)) (true (step 10)) (true (fell ?n ?f)))"
    "(goal caller 50) (goal random 0)" + " ".join(f"(follows {n} {n + 1})" for n in range(12))
)

#: What the role may take is what was drawn; the other half of it nobody ever sees.
TAKING = """
    (role me) (role random) (init (step 1)) (follows 1 2) (follows 2 3) (follows 3 4)
    (<= (legal random (hide ?n ?m)) (true (step 1)) (n ?n) (n ?m))
    (<= (legal random noop) (not (true (step 1))))
    (<= (legal me noop) (true (step 1))) (<= (legal me (take ?n)) (true (hidden ?n ?m)))
    (<= (next (hidden ?n ?m)) (does random (hide ?n ?m)))
    (<= (next (hidden ?n ?m)) (true (hidden ?n ?m)))
    (<= (next (step ?n)) (true (step ?m)) (follows ?m ?n)) (<= terminal (true (step 4)))
    (<= (sees me too_small) (does me (take 100))) (goal me 0) (goal random 0)
""" + " ".join(f"(n {number})" for number in range(30))


class Peeker(Player):
    """Guesses what is hidden in the state that it is given."""

    views: list[RoleView]
    hidden: list[int]

    def start(self, clock: Clock) -> None:
        super().start(clock)
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


def test_without_hidden_information_players_get_the_true_state() -> None:
    game = anygame.load("tic_tac_toe")

    class Witness(Player):
        def move(self, state: anygame.State, clock: Clock) -> anygame.Term:
            assert self.view is None
            return state.legal_moves(self.role)[0]

    assert run(game, [Witness(), "legal"]).goals is not None


def test_a_state_that_agrees_is_found_though_only_one_way_of_a_thousand_leads_there() -> None:
    game = anygame.loads(COINS)
    for seed in range(3):
        random = Random(seed)
        course: list[tuple[anygame.Term, ...]] = []
        state = game.initial_state()
        for _ in range(11):
            course.append(tuple(random.choice(state.legal_moves(role)) for role in game.roles))
            state = state.next(course[-1])
        hiding = HiddenCourse(MatchInfo("m", game, game.roles[0], 9, 9))
        for joint in course[:-1]:
            hiding.follow(joint, inf)
        shown, _ = hiding.follow(course[-1], inf)
        assert not hiding.is_lost
        assert shown == state


def test_a_player_that_lost_track_does_not_get_the_true_state() -> None:
    game = anygame.loads(TAKING)
    lost = told = 0
    for seed in range(20):
        match = MatchInfo(f"m{seed}", game, game.roles[0], 9, 9)
        hiding = HiddenCourse(match)
        drawn = f"(hide {seed} {29 - seed})"
        # There is no time to look for a state at all.
        shown = hiding.follow(None, 0)[0]
        for joint in (["noop", drawn], [f"(take {seed})", "noop"]):
            shown, view = hiding.follow(tuple(map(parse_term, joint)), 0)
        lost += hiding.is_lost
        assert not shown.is_terminal
        assert [str(one.move) for one in view.observations] == ["noop", f"(take {seed})"]
        told += any(str(fact).endswith(f"{29 - seed})") for fact in shown.facts)
    assert lost > 15
    assert told < 5


def test_a_player_that_lost_track_still_makes_legal_moves(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("anygame.match.state_tracking._SHARE_OF_GUESSING", 0)
    # A player's random numbers follow from the match's name, and one of thirty guesses is right at once.
    monkeypatch.setattr("anygame.match.running.new_match_id", lambda *_: "a_wrong_guess")
    game = anygame.loads(TAKING)
    record = run(game, ["legal"], seed=1)
    drawn = record.moves[0][1].split()[2]
    assert [moves[0] for moves in record.moves] == ["noop", f"( take {drawn} )", f"( take {drawn} )"]
    assert record.errors == [["", ""]] * 4
    assert "found no state that agrees" in str(record.reasons)


async def resumed(game: anygame.Game, player: Player, record: Record) -> None:
    seat = LocalSeat(player)
    await resume(game, [seat, None], record)
    await seat.close()


def test_a_resumed_match_reveals_no_hidden_facts() -> None:
    game = anygame.loads(SECRET)
    right = 0
    for seed in range(10):
        record = run(game, ["random"], seed=seed)
        assert record.goals is not None
        # As if it had been stopped when the number was hidden.
        hidden = int(record.moves[0][1].split()[-2])
        record.take_back_to(1)
        player = Peeker()
        asyncio.run(resumed(game, player, record))
        assert record.is_completed
        assert not replay(record, game).faults
        told = [(str(one.move), [*map(str, one.percepts)]) for one in player.views[0].observations]
        assert told == [("noop", ["is_even"] if hidden % 2 == 0 else [])]
        assert all(number % 2 == hidden % 2 for number in player.hidden)
        assert not any("hidden" in str(fact) for fact in player.views[0].start.facts)
        right += record.goals[0] == 100
    assert right <= 4
