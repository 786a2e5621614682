"""Portfolio of searches from the same state. The searches take turns of equal length."""

from __future__ import annotations

from time import perf_counter, process_time
from typing import TYPE_CHECKING, Final

import numpy as np

from anygame.errors import LimitError, PositionError
from anygame.search.graph import Numbering
from anygame.search.one_player.breadth_first import BreadthFirst, Incumbent
from anygame.search.one_player.guided import BestFirst, DepthFirst, EstimatedStates
from anygame.search.one_player.lines import Line
from anygame.search.one_player.nested_rollouts import NestedRollouts
from anygame.search.one_player.relaxation import Relaxation, prepare
from anygame.search.one_player.state_key import StateKey
from anygame.search.one_player.successors import LaneSuccessors, StateSuccessors, possible_goals, replay

if TYPE_CHECKING:
    from anygame.game.game import Game
    from anygame.game.state import State
    from anygame.language.terms import Term
    from anygame.network.network import Network
    from anygame.search.one_player.successors import Successors

#: Number of lanes of the breadth-first search.
_WIDE: Final = 4096
#: Number of lanes of the other searches. Smaller batches let a search use its results sooner.
_NARROW: Final = 512
#: Maximum duration in seconds of one estimate. In 5 ms, the other searches visit hundreds of states.
_SLOW: Final = 0.005
#: Maximum number of gates of a network for estimates. On a larger network, the first estimate takes too long.
_MOST_GATES: Final = 20_000
#: Fraction of the memory for the breadth-first search.
_BREADTH_FIRST: Final = 0.5
#: Fraction of the memory for each of the two guided searches. The remaining memory is for lanes.
_GUIDED: Final = 0.2


class Portfolio:
    """The searches from a state, and the best line that any of them has found.

    Args:
        game: the game, compiled if that is worth the time.
        start: the state.
        chooser: index of the role that chooses.
        memory: approximate maximum size in bytes.
        seed: seed of the random numbers.
        before: portfolio of an earlier state; the rest of its line is reused if ``start`` is on that line.

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
        self._searches: list[BreadthFirst | BestFirst | DepthFirst | NestedRollouts] = []
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
        """Restart all searches, and keep the best known line."""
        self._successors = self._new_successors(_WIDE)
        self._breadth_first = self._new_breadth_first(skip_counter=True)
        rollouts = NestedRollouts(self._new_successors(_NARROW), self._incumbent, self._seed)
        self._searches = [self._breadth_first, rollouts]
        self._preparation = prepare() if self._network else None

    @property
    def is_over(self) -> bool:
        """Whether the searches have proven that no better line exists."""
        return self._is_finished or self._incumbent.is_best

    @property
    def states(self) -> int:
        """Number of states visited by all searches."""
        return self._incumbent.states

    def advance(self, seconds: float) -> None:
        """Let the next search run for about the given number of seconds."""
        if self._preparation is not None and not self._preparation.is_alive():
            self._preparation = None
            self._add_guided_searches()
        self._turn = (self._turn + 1) % len(self._searches)
        search, until = self._searches[self._turn], perf_counter() + seconds
        while not (search.is_over or self._incumbent.is_best) and (remaining := until - perf_counter()) > 0:
            search.step(remaining)
        if search.is_over:
            self._searches.remove(search)
        if isinstance(search, BreadthFirst | BestFirst) and search.is_complete:
            self._conclude(search)

    def _conclude(self, search: BreadthFirst | BestFirst) -> None:
        """Lower the upper bound after a search has visited a state for each reachable key."""
        best, safe_goals = self._incumbent, search.key.safe_goals
        if safe_goals is None:
            best.most = best.goal
            self._is_finished = True
            return
        unsafe = [goal for goal in self.goals if goal not in safe_goals]
        best.most = max([g for g in unsafe if best.goal is None or g > best.goal], default=best.goal)
        if not self.is_over and search is self._breadth_first:
            # Better goals can depend on the step counter, so search again with the counter in states' keys.
            self._breadth_first = self._new_breadth_first(skip_counter=False)
            self._searches.insert(0, self._breadth_first)

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
        """Return whether breadth-first search has shown that no shorter line leads to the goal."""
        if goal is None or not length:
            return goal is not None
        first = self._breadth_first
        return first.key.is_safe(goal) and (first.is_complete or length <= first.depth + 1)

    # -- the searches ------------------------------------------------------------------------------

    @property
    def _network(self) -> Network | None:
        """The network of the game, if the searches use lanes of the network."""
        machine = self._game.backends.network
        return machine.compiled.network if machine and isinstance(self._successors, LaneSuccessors) else None

    def _new_successors(self, lanes: int) -> Successors:
        """Return a source of successors: lanes if the game has a network that can hold the first state."""
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

    def _add_guided_searches(self) -> None:
        """Add the guided searches, if estimates are fast and the relaxed game reaches a goal."""
        relaxation = self._relaxation()
        if relaxation is None:
            return
        successors, key = self._new_successors(_NARROW), self._new_key(skip_counter=True)
        incumbent, memory = self._incumbent, int(self._memory * _GUIDED)
        self._searches.append(BestFirst(successors, key, relaxation, incumbent, memory))
        if relaxation.parts > 1:

            def fresh() -> EstimatedStates:
                return EstimatedStates(successors, key, relaxation, incumbent, "depth first")

            self._searches.append(DepthFirst(fresh, memory, self._seed))

    def _relaxation(self) -> Relaxation | None:
        """Return the relaxation; None if estimates are too slow or the relaxed game reaches no goal.

        The method also lowers the upper bound to the greatest goal that the relaxed game reaches.
        """
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
        if counter.any() and not relaxation.estimate(root, reachable).costs[0]:
            # With free values of the step counter, the goal costs nothing, so give the values a cost.
            relaxation = Relaxation(network, self._chooser, np.zeros_like(counter))
            relaxation.aim(reachable[-1])
        return relaxation

    def _inherit(self, before: Portfolio) -> None:
        """Reuse the rest of the line of an earlier portfolio, if that line leads through the start."""
        line = before.line(0.0)
        state = before.start
        for played, joint in enumerate(line.moves):
            if state == self.start:
                self._incumbent.most, self._incumbent.misses_goal = line.most, line.misses_goal
                self._incumbent.goal, self._incumbent.method = line.goal, line.method
                rest = [joint[self._chooser] for joint in line.moves[played:]]
                self._incumbent.line = [self._successors.moves.of(move) for move in rest]
                return
            state = state.next(joint)
