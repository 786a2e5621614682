"""Playouts that can be interrupted: what a state is worth, found by playing on at random."""

from __future__ import annotations

from random import Random
from time import perf_counter
from typing import TYPE_CHECKING, Final

from anygame.game.outcomes import usable_goal
from anygame.playouts.request import PlayoutRequest

if TYPE_CHECKING:
    from collections.abc import Generator

    from anygame.game.game import Game
    from anygame.game.machine import Machine, Position
    from anygame.game.state import State
    from anygame.search.state_tree.goal_scale import GoalScale
    from anygame.search.state_tree.opposition import Opposition

#: Joint moves of a playout: more than nearly all matches have that people or programs play.
_LONGEST: Final = 500
#: Seconds of a playout that need no look at the clock: a tenth of the shortest clocks.
_QUICK: Final = 0.005
#: Lanes of one block of machine code; they cost hardly more than one.
_LANES: Final = 512
#: Playouts made one by one before, so that it shows whether the roles are opponents.
_FIRST: Final = 32
#: Of single playouts half of the scale is enough; means of hundreds tell more, and are to be trusted more.
_EXPLORATION: Final = 0.5
_EXPLORATION_OF_MEANS: Final = 0.1


class Playouts:
    """Plays on from states: many times at once in the lanes of a network, once where there is none.

    Single playouts are made step by step with a look at the clock between, or at once where that is quick;
    both draw the same moves, so that how long something took never shows in what is found.

    Args:
        game: the game.
        scale: of its goals.
        opposition: told of the ends that are met.
        random: draws the seeds.
    """

    def __init__(self, game: Game, scale: GoalScale, opposition: Opposition, random: Random) -> None:
        self._game = game
        self._scale = scale
        self._opposition = opposition
        self._random = random
        self._count = 0
        self._seconds = 0.0

    @property
    def exploration(self) -> float:
        """The weight of what is not known yet, the less the more one evaluation tells."""
        return _EXPLORATION_OF_MEANS if self._game.machine.name == "network" else _EXPLORATION

    def play(self, state: State) -> Generator[None, None, tuple[float, ...]]:
        """Yield after every step; return what a state is worth to each role, from 0 to 1."""
        machine, position = self._game.backends.start(state)
        self._count += 1
        if machine.name == "network" and self._count > _FIRST:
            found = self._mean(machine, position)
            if found is not None:
                return found
        random = Random(self._random.getrandbits(64))
        begin = perf_counter()
        if self._count > 1 and 4 * self._seconds / (self._count - 1) < _QUICK:
            outcome = machine.play_out(position, random, _LONGEST)
            goals, is_over = tuple(map(usable_goal, outcome.goals)), outcome.is_complete
            self._seconds += perf_counter() - begin
        else:
            state = yield from self._stepwise(state, random)
            goals, is_over = self._scale.goals(state), state.is_terminal
        if is_over:
            self._opposition.see(goals)
        return self._scale.worth(goals)

    def _mean(self, machine: Machine, position: Position) -> tuple[float, ...] | None:
        """Return the mean over the lanes of a block; None where no playout came to an end."""
        seed = self._random.getrandbits(32)
        tally = machine.simulate(position, PlayoutRequest(_LANES, seed, limit=_LONGEST))
        if not tally.playouts:
            return None
        sums = [
            sum([count * self._scale.worth([goal])[0] for goal, count in goals.items()])
            for goals in tally.goals
        ]
        return tuple([total / tally.playouts for total in sums])

    def _stepwise(self, state: State, random: Random) -> Generator[None, None, State]:
        for _ in range(_LONGEST):
            begin = perf_counter()
            if state.is_terminal or state.stuck_role is not None:
                break
            legal = [state.legal_moves(role) for role in self._game.roles]
            joint = [moves[random.randrange(len(moves))] if len(moves) > 1 else moves[0] for moves in legal]
            state = state.next(joint)
            self._seconds += perf_counter() - begin
            yield
        return state
