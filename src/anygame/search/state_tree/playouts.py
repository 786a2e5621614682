"""Playouts that can be interrupted: what a state is worth, found by playing on at random."""

from __future__ import annotations

from random import Random
from time import perf_counter
from typing import TYPE_CHECKING, Final, NamedTuple

from anygame.game.goals import usable_goal

if TYPE_CHECKING:
    from collections.abc import Generator

    from anygame.game.game import Game
    from anygame.game.state import State
    from anygame.search.state_tree.goal_scale import GoalScale

__all__ = ["Ending", "Playouts"]

#: Joint moves of a playout: more than nearly all matches have that people or programs play.
_LONGEST: Final = 500
#: Seconds of a playout that need no look at the clock: a tenth of the shortest clocks.
_QUICK: Final = 0.005


class Ending(NamedTuple):
    """How a playout ended.

    Attributes:
        goals: of each role; None where the rules give none, or several.
        is_over: whether it came to an end, rather than to one of the roles without a move, or of patience.
    """

    goals: tuple[int | None, ...]
    is_over: bool


class Playouts:
    """Plays on from states, step by step with a look at the clock between, or at once where that is quick.

    Both draw the same moves: how long something took never shows in what is found.
    """

    def __init__(self, game: Game, scale: GoalScale, random: Random) -> None:
        self._game = game
        self._scale = scale
        self._random = random
        self._count = 0
        self._seconds = 0.0

    def play(self, state: State) -> Generator[None, None, Ending]:
        """Yield after every step; return how play ended, or was cut for its length."""
        random = Random(self._random.getrandbits(64))
        begin = perf_counter()
        if self._count and 4 * self._seconds / self._count < _QUICK:
            ending = self._at_once(state, random)
            self._seconds += perf_counter() - begin
        else:
            ending = yield from self._stepwise(state, random)
        self._count += 1
        return ending

    def _at_once(self, state: State, random: Random) -> Ending:
        machine, position = self._game.backends.start(state)
        outcome = machine.play_out(position, random, _LONGEST)
        return Ending(tuple(map(usable_goal, outcome.goals)), outcome.is_complete)

    def _stepwise(self, state: State, random: Random) -> Generator[None, None, Ending]:
        for _ in range(_LONGEST):
            begin = perf_counter()
            if state.is_terminal or state.stuck_role is not None:
                break
            legal = [state.legal_moves(role) for role in self._game.roles]
            joint = [moves[random.randrange(len(moves))] if len(moves) > 1 else moves[0] for moves in legal]
            state = state.next(joint)
            self._seconds += perf_counter() - begin
            yield
        return Ending(self._scale.goals(state), state.is_terminal)
