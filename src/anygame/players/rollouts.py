"""Rollouts: what states are worth, found by playing on at random."""

from __future__ import annotations

from contextlib import suppress
from time import monotonic
from typing import TYPE_CHECKING, Final, Protocol

from anygame.errors import GoalError
from anygame.game.machine import FallbackWarning

if TYPE_CHECKING:
    from collections.abc import Sequence
    from random import Random

    from anygame.game.game import Game
    from anygame.game.state import State
    from anygame.players.clock import Clock

__all__ = ["LaneRollouts", "PlainRollouts", "Rollouts", "Values", "rollouts_of", "values_of"]

#: What a state is worth to each role, in the order of the roles: 0 a goal of 0, 1 a goal of 100.
Values = tuple[float, ...]

#: GDL has goals from 0 to 100.
_HIGHEST_GOAL: Final = 100
#: Joint moves of a playout, longer than any match that is played.
_LONGEST: Final = 10_000
#: Seconds of a playout that need no look at the clock: less than the margin of any clock that is used.
_QUICK: Final = 0.1
#: The share of the start clock that compiling may take: what is left is for searching.
_COMPILING: Final = 0.5
#: Lanes of one block of machine code.
_LANES: Final = 512
#: How much of the longest time so far counts after each call, so that one pause is not remembered for ever.
_FORGETTING: Final = 0.9


class Rollouts(Protocol):
    """Plays on from states. A search hands over ``width`` states at once, as many as it can be fed well.

    Attributes:
        width: how many states are best given at a time.
        exploration: the weight in a search of what is not known yet, the more the less values can be trusted.
    """

    width: int
    exploration: float

    def values(self, states: Sequence[State], clock: Clock) -> list[Values] | None:
        """Return what each of some states is worth; None if the clock ran out before.

        A playout in which a role has no legal move is worth the goals of the state where it ends.
        """


class PlainRollouts:
    """One playout of the contract for each state.

    A playout cannot be interrupted. Until it is known how long they take, and where they take long, they are
    played step by step, with an eye on the clock.
    """

    width = 1
    exploration = 0.5

    def __init__(self, game: Game, random: Random) -> None:
        self.game = game
        self.random = random
        self._count = 0
        self._seconds = 0.0

    def values(self, states: Sequence[State], clock: Clock) -> list[Values] | None:
        """Return the goals that one playout from each state ends with."""
        found = []
        for state in states:
            values = self._timed(state, clock)
            if values is None:
                return None
            found.append(values)
        return found

    def _timed(self, state: State, clock: Clock) -> Values | None:
        begin = monotonic()
        is_quick = self._count > 0 and 4 * self._seconds / self._count < min(_QUICK, clock.remaining())
        values = self._quickly(state) if is_quick else self._stepwise(state, clock)
        if values is not None:
            self._count += 1
            self._seconds += monotonic() - begin
        return values

    def _quickly(self, state: State) -> Values:
        playout = self.game.playout(self.random.getrandbits(32), state=state, limit=_LONGEST)
        return tuple([_worth(playout.goals[role]) for role in self.game.roles])

    def _stepwise(self, state: State, clock: Clock) -> Values | None:
        for _ in range(_LONGEST):
            if state.is_terminal or state.stuck_role is not None:
                break
            if clock.is_up:
                return None
            state = state.next([self.random.choice(state.legal_moves(role)) for role in self.game.roles])
        return values_of(state)


class LaneRollouts:
    """Many playouts for each state, side by side in the lanes of the compiled game.

    They cost hardly more than one, and their mean is worth much more. They cannot be interrupted either: a
    search ends where there is no time for those of another state.
    """

    width = 1
    exploration = 0.3

    def __init__(self, game: Game, random: Random) -> None:
        self.game = game
        self.random = random
        self._longest = 0.0

    def values(self, states: Sequence[State], clock: Clock) -> list[Values] | None:
        """Return the mean of the goals that playouts from each state end with."""
        found = []
        for state in states:
            begin = monotonic()
            if self._longest >= clock.remaining():
                return None
            result = self.game.simulate(_LANES, self.random.getrandbits(32), state=state, limit=_LONGEST)
            self._longest = max(self._longest * _FORGETTING, monotonic() - begin)
            if result.playouts:
                found.append(tuple([_worth(result.mean_goals[role]) for role in self.game.roles]))
            else:
                # None came to an end: all that is known is what the rules say of the state itself.
                found.append(values_of(state))
        return found


def rollouts_of(game: Game, random: Random, clock: Clock) -> Rollouts:
    """Return the best rollouts for a game; compile it first, if half of the clock is enough for that."""
    if not game.is_settled and not clock.is_up:
        with suppress(FallbackWarning):
            game.compile(seconds=clock.remaining() * _COMPILING)
    is_compiled = game.is_settled and game.machine.name == "network"
    return LaneRollouts(game, random) if is_compiled else PlainRollouts(game, random)


def values_of(state: State) -> Values:
    """Return what the goals of a state are worth; no usable goal is worth nothing."""
    found = []
    for role in state.game.roles:
        try:
            found.append(_worth(state.goal(role)))
        except GoalError:
            found.append(0.0)
    return tuple(found)


def _worth(goal: float | None) -> float:
    return min(max(goal or 0, 0), _HIGHEST_GOAL) / _HIGHEST_GOAL
