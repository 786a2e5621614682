"""Players that hardly think."""

from __future__ import annotations

from fractions import Fraction
from itertools import islice, product
from typing import TYPE_CHECKING, Final

from anygame.players.player import Player

if TYPE_CHECKING:
    from collections.abc import Iterator

    from anygame.game.state import State
    from anygame.language.terms import Term
    from anygame.players.clock import Clock

#: Replies of the others that a move is tried with: their mean is known well enough then.
_REPLIES: Final = 20
#: Of goals from 0 to 100.
_AVERAGE: Final = 50


class RandomPlayer(Player):
    """Draws from its legal moves."""

    def move(self, state: State, clock: Clock) -> Term:
        """Return any legal move, each as likely as the others."""
        return self.random.choice(state.legal_moves(self.role))


class LegalPlayer(Player):
    """Plays its first legal move."""

    def move(self, state: State, clock: Clock) -> Term:
        """Return the legal move whose text comes first."""
        return state.legal_moves(self.role)[0]


class GreedyPlayer(Player):
    """Looks one step ahead, at its own goal.

    A move is worth the mean of what the rules give for it in the next states, over some replies of the
    others; an end of the game counts more, either way, than a promise.
    """

    def move(self, state: State, clock: Clock) -> Term:
        """Return a move with the best outlook, as far as the clock allows."""
        moves = list(state.legal_moves(self.role))
        self.random.shuffle(moves)
        self.best = moves[0]
        highest: Fraction | None = None
        for move in moves:
            if len(moves) == 1 or clock.is_up:
                break
            value = self._outlook(state, move, clock)
            if highest is None or value > highest:
                highest, self.best = value, move
        return self.best

    def _outlook(self, state: State, move: Term, clock: Clock) -> Fraction:
        values = []
        for joint in self._joints(state, move):
            next_state = state.next(joint)
            goal = next_state.goals()[self.role] or 0
            values.append(2 * goal - _AVERAGE if next_state.is_terminal else goal)
            if clock.is_up:
                break
        # Goals may be larger than floats.
        return Fraction(sum(values), len(values)) if values else Fraction(0)

    def _joints(self, state: State, move: Term) -> Iterator[tuple[Term, ...]]:
        """Return all joint moves with a move of ours, or some of them drawn at random."""
        options = [[move] if role == self.role else list(state.legal_moves(role)) for role in self.game.roles]
        for other in options:
            self.random.shuffle(other)
        return islice(product(*options), _REPLIES)
