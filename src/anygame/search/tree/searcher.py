"""The search over lanes: trees that are grown side by side, a thread each, and what they know together.

Several trees from one root, their counts added up, are known as root parallelisation (Chaslot, Winands and
van den Herik 2008, "Parallel Monte-Carlo tree search"). Growing takes turns with memory more than with
arithmetic, so that threads that share a tree would mostly wait for it.
"""

from __future__ import annotations

from bisect import bisect_left
from concurrent.futures import ThreadPoolExecutor
from random import SystemRandom
from time import perf_counter
from typing import TYPE_CHECKING, Final

import numpy as np

from anygame.errors import GoalError
from anygame.game.state import known_goal
from anygame.search.lane_pool import packed_state
from anygame.search.native.marking import native_code
from anygame.search.reporting import TreeReporter
from anygame.search.tree.game_code import describe
from anygame.search.tree.tree import DEFAULT_SETTINGS, Tree
from anygame.search.tree.worker import MINIMAX

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from anygame.game.game import Game
    from anygame.game.state import State

#: Of the scale of goals, what rounding to 32 bits takes away at most.
_ROUNDED: Final = 2**-23


class TreeSearcher(TreeReporter[int]):
    """Searches a game that has a network. See ``anygame.search.searcher.Searcher`` for the contract.

    Args:
        game: the game.
        seed: of random numbers; None for any.
        threads: how many trees are grown side by side.
        memory: bytes that all take together, about.
        settings: of descents; see ``selecting``.

    Attributes:
        game: the game.
        kernel: its code.
        code: the same for compiled functions.
        settings: of descents.

    Raises:
        LimitError: the game has no network.
    """

    engine = "lanes"
    _trees: list[Tree]

    def __init__(
        self,
        game: Game,
        *,
        seed: int | None = None,
        threads: int = 1,
        memory: int = 1 << 30,
        settings: Sequence[float] = DEFAULT_SETTINGS,
    ) -> None:
        if threads < 1:
            raise ValueError(f"expected at least one thread, got {threads}")
        native_code()
        self.game = game
        self._machine = game.backends.needed_network()
        self.kernel = self._machine.kernel
        self.code, self._scales = describe(self.kernel, [role.is_random for role in game.roles])
        self._goals = [sorted({value for value, _ in goals}) for goals in self.kernel.gates.goals]
        self.settings = tuple(settings)
        self._seed = SystemRandom().getrandbits(63) if seed is None else seed
        self._threads, self._memory = threads, memory
        self._trees = self._grown_anew()
        self._is_exhausted = False

    def _grown_anew(self) -> list[Tree]:
        """Return trees that know nothing."""
        return [
            Tree(
                self.kernel,
                self.code,
                self._machine.compiled.actions,
                seed=self._seed + (number << 64),
                memory=self._memory // self._threads,
                settings=self.settings,
            )
            for number in range(self._threads)
        ]

    def use_estimates(self, weights: NDArray[np.float32], trust: float) -> None:
        """Let minimax over estimates count beside playouts from now on; what was known is forgotten.

        Args:
            weights: of the estimates; see ``estimating``.
            trust: from 0 for playouts alone to 1 for estimates alone.
        """
        self.code.weights[:] = weights
        self.settings = (*self.settings[:MINIMAX], trust)
        self._trees = self._grown_anew()

    def begin(self, state: State) -> None:
        """Make a state the root; what is known below it is kept.

        Raises:
            PositionError: play does not lead to the state, and the network cannot hold it.
        """
        packed = self.packed(state)
        is_over = state.is_terminal or state.stuck_role is not None
        end = [self._end(state, role) for role in range(len(self.game.roles))] if is_over else None
        for tree in self._trees:
            tree.begin(packed, end)
        self._state = state
        self._is_exhausted = is_over

    def packed(self, state: State) -> NDArray[np.uint64]:
        """Return a state as the trees hold it: uint64 [words].

        Raises:
            PositionError: play does not lead to the state, and the network cannot hold it.
        """
        (packed,) = packed_state(self.game, state)
        return np.asarray(packed)

    def _end(self, state: State, role: int) -> tuple[float, bool]:
        """Return what an end is worth to a role, and whether the rules give it exactly one goal there.

        What ``random`` gets nobody asks.
        """
        if self.game.roles[role].is_random:
            return 0.0, True
        known = known_goal(state, self.game.roles[role]) is not None
        return self.value_of_end(state, role), state.is_terminal and known

    def value_of_end(self, state: State, role: int) -> float:
        """Return what the goal of a role in a state is worth, between 0 and 1; of several the highest."""
        low, high = self._scales[role]
        try:
            goal = state.goal(self.game.roles[role]) or 0
        except GoalError as error:
            goal = max(map(int, error.values))
        return min(1.0, max(0.0, (goal - low) / max(1, high - low)))

    def advance(self, seconds: float, iterations: int | None = None) -> int:
        """Search for about so many seconds, and return how many leaves were evaluated."""
        if self._is_exhausted:
            return 0
        deadline = perf_counter() + seconds
        if len(self._trees) == 1:
            grown = [self._trees[0].advance(deadline, iterations)]
        else:
            share = None if iterations is None else -(-iterations // len(self._trees))
            with ThreadPoolExecutor(len(self._trees)) as pool:
                grown = list(pool.map(lambda tree: tree.advance(deadline, share), self._trees))
        self._is_exhausted = all(done for _, done in grown) or self._is_proven
        return sum(leaves for leaves, _ in grown)

    @property
    def _is_proven(self) -> bool:
        """Whether a tree has proven the root."""
        roles = range(len(self.game.roles))
        return any(
            all(low == high for *_, low, high in (tree.value(tree.root, role) for role in roles))
            for tree in self._trees
        )

    @property
    def is_done(self) -> bool:
        """Whether going on would change nothing."""
        return self._is_exhausted

    # -- what is known -----------------------------------------------------------------------------

    def _goal(self, role: int, value: float) -> float:
        """Return a value between 0 and 1 as a goal; goals of the rules, and whole ones, exactly."""
        low, high = self._scales[role]
        goal = low + value * (high - low)
        goals = self._goals[role]
        place = bisect_left(goals, goal)
        for near in goals[max(0, place - 1) : place + 1]:
            if abs(near - goal) <= _ROUNDED * (high - low):
                return near
        goal = round(goal, 4)
        return int(goal) if goal == int(goal) else goal

    def _range_of_goals(self, role: int) -> float:
        """Return it where means at the root say all: nobody else chooses there, nor are estimates used."""
        low, high = self._scales[role]
        alone = any(tree.is_alone(tree.root, role) for tree in self._trees)
        return high - low if alone and not self.settings[MINIMAX] else 0
