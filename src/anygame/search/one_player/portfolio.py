"""Several ways to search from the same state, in turn, each for as long as the others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Protocol

from anygame.errors import GoalError, LimitError, PositionError
from anygame.search.one_player.breadth_first import BreadthFirst
from anygame.search.one_player.incumbent import Incumbent
from anygame.search.one_player.lane_successors import LaneSuccessors
from anygame.search.one_player.line import Line
from anygame.search.one_player.nested_rollouts import NestedRollouts
from anygame.search.one_player.state_key import StateKey
from anygame.search.one_player.state_successors import MoveNumbers, StateSuccessors
from anygame.search.one_player.successors import possible_goals, replay

if TYPE_CHECKING:
    from anygame.game.game import Game
    from anygame.game.state import State
    from anygame.language.terms import Term
    from anygame.search.one_player.successors import Successors

__all__ = ["Portfolio"]

#: Lanes of the breadth-first search, which has states enough for many.
_WIDE: Final = 4096
#: Lanes of playouts: the fewer, the sooner something is learnt from them.
_NARROW: Final = 512


class _Way(Protocol):
    """A way to search."""

    @property
    def is_over(self) -> bool:
        """Whether there is nothing more to do."""

    def advance(self, seconds: float) -> None:
        """Go on for about so long."""


class Portfolio:
    """The ways to search from a state, and the best line that they have found together.

    Args:
        game: compiled, if it is to be.
        start: the state.
        chooser: the index of the role that chooses.
        memory: bytes to use at most, about.
        seed: of the random numbers.
        before: a search from a state before, whose line may go on from here.

    Attributes:
        start: the state.
    """

    def __init__(
        self, game: Game, start: State, chooser: int, memory: int, seed: int, before: Portfolio | None = None
    ) -> None:
        self.start = start
        self._game, self._chooser, self._memory, self._seed = game, chooser, memory, seed
        self._goals = possible_goals(game, chooser)
        self._incumbent = Incumbent(most=max(self._goals, default=None))
        self._shown: tuple[list[int], tuple[tuple[Term, ...], ...]] = (self._incumbent.line, ())
        self._ways: list[_Way] = []
        self._turn = 0
        self._moves = MoveNumbers()
        if start.is_terminal:
            self._incumbent.goal = self._incumbent.most = _goal(start, game.roles[chooser])
            self._is_finished = True
            return
        self._is_finished = False
        self.begin_anew()
        if before is not None:
            self._inherit(before)

    def begin_anew(self) -> None:
        """Forget all but the best line that is known."""
        if self.start.is_terminal:
            return
        self._successors = self._new_successors(_WIDE)
        self._breadth_first = self._new_breadth_first(clock=True)
        rollouts = NestedRollouts(self._new_successors(_NARROW), self._incumbent, self._seed)
        self._ways = [self._breadth_first, rollouts]

    @property
    def is_over(self) -> bool:
        """Whether no better line exists."""
        return self._is_finished or self._incumbent.is_best

    def advance(self, seconds: float) -> None:
        """Let the next way to search go on for about so long."""
        self._turn = (self._turn + 1) % len(self._ways)
        way = self._ways[self._turn]
        way.advance(seconds)
        if way.is_over:
            self._ways.remove(way)
        if way is self._breadth_first and self._breadth_first.is_complete:
            self._conclude(self._breadth_first.key)

    def _conclude(self, key: StateKey) -> None:
        """Note what it means that all states with different keys were looked at."""
        known = self._incumbent
        found = float("-inf") if known.goal is None else known.goal
        if key.safe_goals is None:
            known.most = known.goal
            self._is_finished = True
            return
        unsafe = [goal for goal in self._goals if goal not in key.safe_goals]
        known.most = max([goal for goal in unsafe if goal > found], default=known.goal)
        if not self.is_over:
            # Goals are left that the clock may bring: look at all states again, the clock among them.
            self._breadth_first = self._new_breadth_first(clock=False)
            self._ways.insert(0, self._breadth_first)

    def _new_breadth_first(self, *, clock: bool) -> BreadthFirst:
        successors = self._successors
        key = StateKey.whole(successors.words)
        network = self._game.backends.network
        if network is not None and isinstance(successors, LaneSuccessors):
            key = StateKey.of_network(network.compiled.network, self._chooser, successors.root, clock=clock)
        return BreadthFirst(successors, key, self._incumbent, self._memory // 2)

    def told(self, seconds: float) -> Line:
        """Return what is known.

        Args:
            seconds: for how long was searched.
        """
        known = self._incumbent
        if known.line is not self._shown[0]:
            self._shown = known.line, replay(self.start, known.line, self._successors, self._chooser)
        return Line(
            moves=self._shown[1],
            goal=known.goal,
            proven=self.is_over,
            shortest=self._is_shortest(known.goal, len(known.line)),
            most=known.most,
            states=known.states,
            seconds=seconds,
            method=known.method,
        )

    def _is_shortest(self, goal: int | None, length: int) -> bool:
        """Return whether it is known that no line to a goal has fewer moves."""
        if goal is None or self._is_finished:
            return goal is not None
        first = self._breadth_first
        return first.key.is_safe(goal) and length <= first.depth + 1

    def _new_successors(self, lanes: int) -> Successors:
        """Return what continues states: lanes where the game has a network that knows the state."""
        if self._game.machine_name != "reasoner" and self._game.backends.network is not None:
            try:
                return LaneSuccessors(self._game, lanes, self.start, self._chooser)
            except (LimitError, PositionError):
                pass
        return StateSuccessors(self.start, self._chooser, self._moves)

    def _inherit(self, before: Portfolio) -> None:
        """Take over what a search from a state before knows, if its line leads through this one."""
        line = before.told(0.0)
        state = before.start
        for played, joint in enumerate(line.moves):
            if state == self.start:
                self._incumbent.most = line.most
                self._incumbent.goal, self._incumbent.method = line.goal, line.method
                rest = [joint[self._chooser] for joint in line.moves[played:]]
                self._incumbent.line = [self._successors.number(move) for move in rest]
                return
            state = state.next(joint)


def _goal(state: State, role: str) -> int | None:
    try:
        return state.goal(role)
    except GoalError:
        return None
