"""Several ways to search from the same state, in turn, each for as long as the others."""

from __future__ import annotations

from time import process_time
from typing import TYPE_CHECKING, Final

import numpy as np

from anygame.errors import LimitError, PositionError
from anygame.search.graph import Numbering
from anygame.search.one_player.breadth_first import BreadthFirst, Incumbent
from anygame.search.one_player.guided import BestFirst, DepthFirst, EstimatedStates
from anygame.search.one_player.lines import Line
from anygame.search.one_player.nested_rollouts import NestedRollouts
from anygame.search.one_player.relaxation import ENDLESS, Relaxation, prepare
from anygame.search.one_player.state_key import StateKey
from anygame.search.one_player.successors import (
    LaneSuccessors,
    StateSuccessors,
    possible_goals,
    replay,
)

if TYPE_CHECKING:
    from anygame.game.game import Game
    from anygame.game.state import State
    from anygame.language.terms import Term
    from anygame.network.network import Network
    from anygame.search.one_player.successors import Successors

#: Lanes of the breadth-first search, which has states enough for many.
_WIDE: Final = 4096
#: Lanes of playouts, and of states with estimates: the fewer, the sooner something is learnt from them.
_NARROW: Final = 512
#: Seconds for the estimate of one state, above which others look at hundreds of states meanwhile.
_SLOW: Final = 0.005
#: Gates of a network, above which even the first estimate would keep others waiting.
_MOST_GATES: Final = 20_000
#: Shares of the memory; what is left is for lanes.
_BREADTH_FIRST: Final = 0.5
_ESTIMATED: Final = 0.2


class Portfolio:
    """The ways to search from a state, and the best line that they have found together.

    Args:
        game: compiled, if it is to be.
        chooser: the index of the role that chooses.
        memory: bytes to use at most, about.
        before: a search from a state before, whose line may go on from here.

    Attributes:
        goals: those among which are all that the rules can give the role.
    """

    def __init__(
        self, game: Game, start: State, chooser: int, memory: int, seed: int, before: Portfolio | None = None
    ) -> None:
        self.start = start
        self._game, self._chooser, self._memory, self._seed = game, chooser, memory, seed
        self.goals = possible_goals(game, chooser)
        self._incumbent = Incumbent(most=max(self.goals, default=None))
        self._shown: tuple[list[int], tuple[tuple[Term, ...], ...]] = (self._incumbent.line, ())
        self._ways: list[BreadthFirst | BestFirst | DepthFirst | NestedRollouts] = []
        self._turn = 0
        self._moves: Numbering[Term] = Numbering()
        self._is_finished = start.is_terminal
        if start.is_terminal:
            self._incumbent.goal = self._incumbent.most = start.goals()[game.roles[chooser]]
            return
        self.begin_anew()
        if before is not None:
            self._inherit(before)

    def begin_anew(self) -> None:
        """Forget all but the best line that is known."""
        if self.start.is_terminal:
            return
        self._successors = self._new_successors(_WIDE)
        self._breadth_first = self._new_breadth_first(skip_counter=True)
        rollouts = NestedRollouts(self._new_successors(_NARROW), self._incumbent, self._seed)
        self._ways = [self._breadth_first, rollouts]
        self._preparation = prepare() if self._network else None

    @property
    def is_over(self) -> bool:
        """Whether no better line exists."""
        return self._is_finished or self._incumbent.is_best

    @property
    def states(self) -> int:
        """How many states all ways together have looked at."""
        return self._incumbent.states

    def advance(self, seconds: float) -> None:
        """Let the next way to search go on for about so long."""
        if self._preparation is not None and not self._preparation.is_alive():
            self._preparation = None
            self._add_estimating_ways()
        self._turn = (self._turn + 1) % len(self._ways)
        way = self._ways[self._turn]
        way.advance(seconds)
        if way.is_over:
            self._ways.remove(way)
        if isinstance(way, BreadthFirst | BestFirst) and way.is_complete:
            self._conclude(way)

    def _conclude(self, way: BreadthFirst | BestFirst) -> None:
        """Note what it means that all states with different keys were looked at."""
        known, safe_goals = self._incumbent, way.key.safe_goals
        if safe_goals is None:
            known.most = known.goal
            self._is_finished = True
            return
        unsafe = [goal for goal in self.goals if goal not in safe_goals]
        known.most = max([g for g in unsafe if known.goal is None or g > known.goal], default=known.goal)
        if not self.is_over and way is self._breadth_first:
            # Goals are left that the counter may bring: look at all states again, the counter among them.
            self._breadth_first = self._new_breadth_first(skip_counter=False)
            self._ways.insert(0, self._breadth_first)

    def line(self, seconds: float) -> Line:
        """Return what is known."""
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
            misses_goal=known.misses_goal,
        )

    def _is_shortest(self, goal: int | None, length: int) -> bool:
        """Return whether it is known that no line to a goal has fewer moves."""
        if goal is None or not length:
            return goal is not None
        first = self._breadth_first
        return first.key.is_safe(goal) and (first.is_complete or length <= first.depth + 1)

    # -- the ways to search ------------------------------------------------------------------------

    @property
    def _network(self) -> Network | None:
        """The network, where states are continued in its lanes."""
        machine = self._game.backends.network
        return machine.compiled.network if machine and isinstance(self._successors, LaneSuccessors) else None

    def _new_successors(self, lanes: int) -> Successors:
        """Return the successors of states: in lanes where the game has a network that can hold them."""
        if self._game.machine_name != "reasoner" and self._game.backends.network is not None:
            try:
                return LaneSuccessors(self._game, lanes, self.start, self._chooser)
            except (LimitError, PositionError):
                pass
        return StateSuccessors(self.start, self._chooser, self._moves)

    def _new_breadth_first(self, *, skip_counter: bool) -> BreadthFirst:
        memory = int(self._memory * _BREADTH_FIRST)
        return BreadthFirst(
            self._successors, self._new_key(skip_counter=skip_counter), self._incumbent, memory
        )

    def _new_key(self, *, skip_counter: bool) -> StateKey:
        network, root = self._network, self._successors.root
        if network is None:
            return StateKey.whole(root.shape[1])
        return StateKey.of_network(network, self._chooser, root, skip_counter=skip_counter)

    def _add_estimating_ways(self) -> None:
        """Search by estimates too, where they take little time and there is a goal to reach."""
        relaxation = self._relaxation()
        if relaxation is None:
            return
        successors, key, incumbent = (
            self._new_successors(_NARROW),
            self._new_key(skip_counter=True),
            self._incumbent,
        )
        memory = int(self._memory * _ESTIMATED)
        self._ways.append(BestFirst(successors, key, relaxation, incumbent, memory))
        if relaxation.parts > 1:

            def fresh() -> EstimatedStates:
                return EstimatedStates(successors, key, relaxation, incumbent, "depth first")

            self._ways.append(DepthFirst(fresh, incumbent, memory, self._seed))

    def _relaxation(self) -> Relaxation | None:
        """Return the estimator of states, None where it is not worth its time. Note unreachable goals."""
        network, known, root = self._network, self._incumbent, self._successors.root
        if network is None or not network.goals[self._chooser] or network.gates > _MOST_GATES:
            return None
        counter = self._breadth_first.key.counter
        relaxation = Relaxation(network, self._chooser, counter)
        began = process_time()
        relaxation.estimate(root, [])
        if process_time() - began > _SLOW:
            return None
        reachable = relaxation.reachable(root)
        if not reachable:
            known.most = None
            self._is_finished = True
            return None
        known.most = relaxation.goals[reachable[-1]]
        relaxation.aim(reachable[-1])
        if counter.any() and not 0 < relaxation.estimate(root, reachable).costs[0] < ENDLESS:
            # The counter is all there is to wait for: it has to count.
            relaxation = Relaxation(network, self._chooser, np.zeros_like(counter))
            relaxation.aim(reachable[-1])
        return relaxation

    def _inherit(self, before: Portfolio) -> None:
        """Take over what a search from a state before knows, if its line leads through this one."""
        line = before.line(0.0)
        state = before.start
        for played, joint in enumerate(line.moves):
            if state == self.start:
                self._incumbent.most, self._incumbent.misses_goal = line.most, line.misses_goal
                self._incumbent.goal, self._incumbent.method = line.goal, line.method
                rest = [joint[self._chooser] for joint in line.moves[played:]]
                self._incumbent.line = [self._successors.number(move) for move in rest]
                return
            state = state.next(joint)
