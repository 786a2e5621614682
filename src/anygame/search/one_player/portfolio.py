"""Portfolio of searches from the same state, which take turns of equal length."""

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

#: Lanes of the breadth-first search, which has enough states to fill many.
_WIDE: Final = 4096
#: Lanes of playouts, and of states with estimates: with fewer lanes the next choice comes sooner.
_NARROW: Final = 512
#: Seconds of one estimate, above which the other searches visit hundreds of states meanwhile.
_SLOW: Final = 0.005
#: Gates of a network, above which even the first estimate would delay the other searches.
_MOST_GATES: Final = 20_000
#: Shares of the memory; the rest is for lanes.
_BREADTH_FIRST: Final = 0.5
_ESTIMATED: Final = 0.2


class Portfolio:
    """The searches from a state, and the best line that any of them has found.

    Args:
        game: already compiled, if that is worth it.
        chooser: the index of the role that chooses.
        memory: approximate upper bound in bytes.
        before: a search from an earlier state, whose line may lead through this one.

    Attributes:
        goals: a superset of the goals that the rules can give the role.
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
        """Restart all searches; the best known line stays."""
        if self.start.is_terminal:
            return
        self._successors = self._new_successors(_WIDE)
        self._breadth_first = self._new_breadth_first(skip_counter=True)
        rollouts = NestedRollouts(self._new_successors(_NARROW), self._incumbent, self._seed)
        self._ways = [self._breadth_first, rollouts]
        self._preparation = prepare() if self._network else None

    @property
    def is_over(self) -> bool:
        """Whether it is known that no better line exists."""
        return self._is_finished or self._incumbent.is_best

    @property
    def states(self) -> int:
        """Number of states visited by all searches."""
        return self._incumbent.states

    def advance(self, seconds: float) -> None:
        """Let the next search run for about the given number of seconds."""
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
        """Lower the upper bound after all states with different keys were visited."""
        best, safe_goals = self._incumbent, way.key.safe_goals
        if safe_goals is None:
            best.most = best.goal
            self._is_finished = True
            return
        unsafe = [goal for goal in self.goals if goal not in safe_goals]
        best.most = max([g for g in unsafe if best.goal is None or g > best.goal], default=best.goal)
        if not self.is_over and way is self._breadth_first:
            # The step counter may bring some goals: visit all states again, with the counter in the keys.
            self._breadth_first = self._new_breadth_first(skip_counter=False)
            self._ways.insert(0, self._breadth_first)

    def line(self, seconds: float) -> Line:
        """Return the best known line."""
        best = self._incumbent
        if best.line is not self._shown[0]:
            self._shown = best.line, replay(self.start, best.line, self._successors, self._chooser)
        return Line(
            moves=self._shown[1],
            goal=best.goal,
            proven=self.is_over,
            shortest=self._is_shortest(best.goal, len(best.line)),
            most=best.most,
            states=best.states,
            seconds=seconds,
            method=best.method,
            misses_goal=best.misses_goal,
        )

    def _is_shortest(self, goal: int | None, length: int) -> bool:
        """Return whether it is proven that no line to a goal has fewer moves."""
        if goal is None or not length:
            return goal is not None
        first = self._breadth_first
        return first.key.is_safe(goal) and (first.is_complete or length <= first.depth + 1)

    # -- the searches ------------------------------------------------------------------------------

    @property
    def _network(self) -> Network | None:
        """The network, where states are expanded in its lanes."""
        machine = self._game.backends.network
        return machine.compiled.network if machine and isinstance(self._successors, LaneSuccessors) else None

    def _new_successors(self, lanes: int) -> Successors:
        """Return the source of successors: lanes where the game has a network that can hold the states."""
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
        """Add the guided searches, where estimates are fast and there is a goal to reach."""
        relaxation = self._relaxation()
        if relaxation is None:
            return
        successors, key = self._new_successors(_NARROW), self._new_key(skip_counter=True)
        incumbent, memory = self._incumbent, int(self._memory * _ESTIMATED)
        self._ways.append(BestFirst(successors, key, relaxation, incumbent, memory))
        if relaxation.parts > 1:

            def fresh() -> EstimatedStates:
                return EstimatedStates(successors, key, relaxation, incumbent, "depth first")

            self._ways.append(DepthFirst(fresh, incumbent, memory, self._seed))

    def _relaxation(self) -> Relaxation | None:
        """Return the estimator of states, None where it is too slow. Lower the bound by unreachable goals."""
        network, best, root = self._network, self._incumbent, self._successors.root
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
            best.most = None
            self._is_finished = True
            return None
        best.most = relaxation.goals[reachable[-1]]
        relaxation.aim(reachable[-1])
        if counter.any() and not 0 < relaxation.estimate(root, reachable).costs[0] < ENDLESS:
            # Only the step counter is missing from the goal: it must not be free.
            relaxation = Relaxation(network, self._chooser, np.zeros_like(counter))
            relaxation.aim(reachable[-1])
        return relaxation

    def _inherit(self, before: Portfolio) -> None:
        """Take over the rest of the line of an earlier search, if it leads through this state."""
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
