"""Simple players: random, first legal move, greedy, and plain Monte Carlo tree search."""

from __future__ import annotations

from contextlib import suppress
from fractions import Fraction
from itertools import islice, product
from typing import TYPE_CHECKING, Final

from anygame.game.machine import FallbackWarning
from anygame.players.player import Player, check_option
from anygame.search.state_tree import StateSearcher

if TYPE_CHECKING:
    from collections.abc import Iterator

    from anygame.game.state import State
    from anygame.language.terms import Term
    from anygame.players.player import Clock

#: Maximum number of joint moves that are sampled to estimate the value of a move.
_REPLIES: Final = 20
#: Middle of the range of goals from 0 to 100.
_AVERAGE: Final = 50


class RandomPlayer(Player):
    """Plays random legal moves."""

    def move(self, state: State, clock: Clock) -> Term:
        """Return a random legal move; all legal moves have the same probability."""
        return self.random.choice(state.legal_moves(self.role))


class LegalPlayer(Player):
    """Plays its first legal move."""

    def move(self, state: State, clock: Clock) -> Term:
        """Return the first legal move in alphabetical order."""
        return state.legal_moves(self.role)[0]


class GreedyPlayer(Player):
    """Looks one move ahead, and maximises its own goal.

    The value of a move is the mean goal in the next states, over sampled moves of the other roles. In a
    final state, the difference between the goal and 50 counts twice.
    """

    def move(self, state: State, clock: Clock) -> Term:
        """Return a move with the highest value among the moves that were evaluated in time."""
        moves = list(state.legal_moves(self.role))
        self.random.shuffle(moves)
        self.best = moves[0]
        highest: Fraction | None = None
        for move in moves:
            if len(moves) == 1 or clock.is_up:
                break
            value = self._value_of(state, move, clock)
            if highest is None or value > highest:
                highest, self.best = value, move
        return self.best

    def _value_of(self, state: State, move: Term, clock: Clock) -> Fraction:
        values = []
        for joint in self._joints(state, move):
            next_state = state.next(joint)
            goal = next_state.goals()[self.role] or 0
            values.append(2 * goal - _AVERAGE if next_state.is_terminal else goal)
            if clock.is_up:
                break
        # A fraction is exact, and a goal can be too large for a float.
        return Fraction(sum(values), len(values)) if values else Fraction(0)

    def _joints(self, state: State, move: Term) -> Iterator[tuple[Term, ...]]:
        options = [[move] if role == self.role else list(state.legal_moves(role)) for role in self.game.roles]
        for moves in options:
            self.random.shuffle(moves)
        return islice(product(*options), _REPLIES)


#: Share of the start clock that compiling can take.
_COMPILING: Final = 0.5
#: Seconds between two updates of the best move.
_SLICE: Final = 0.05


class UctPlayer(Player):
    """Searches until the clock is up, and plays the best move. The tree is kept from move to move.

    A leaf is evaluated by 512 playouts if the game can be compiled within half of the start clock, and by
    one playout otherwise.

    Args:
        seed: seed of the random numbers.
        iterations: maximum number of leaves evaluated for a move; None if only the clock is the limit.
        tries: former name of ``iterations``.
    """

    def __init__(
        self, seed: int | None = None, *, iterations: int | None = None, tries: int | None = None
    ) -> None:
        super().__init__(seed)
        self.iterations = iterations if tries is None else tries
        check_option("iterations", self.iterations, 1)
        self.remembers = self.iterations is not None

    def start(self, clock: Clock) -> None:
        """Compile the game if half of the clock is enough."""
        game = self.game
        if not game.is_settled and not clock.is_up:
            with suppress(FallbackWarning):
                game.compile(seconds=clock.remaining() * _COMPILING)
        in_lanes = game.is_settled and game.machine == "network"
        self.search = StateSearcher(game, seed=self.random.getrandbits(32), in_lanes=in_lanes)

    def move(self, state: State, clock: Clock) -> Term:
        """Return the best move found when the clock is up."""
        legal = state.legal_moves(self.role)
        self.best = self.random.choice(legal)
        if len(legal) == 1 or clock.is_up:
            return self.best
        search, role, leaves = self.search, self.game.role_index(self.role), 0
        search.begin(state)
        while not (search.is_done or clock.is_up) and leaves != self.iterations:
            limit = None if self.iterations is None else self.iterations - leaves
            leaves += search.advance(min(_SLICE, clock.remaining()), limit)
            self.best = search.best(role)
        return search.best(role)
