"""Tree search in which each thread grows its own tree, and the results of all trees are combined.

The trees have the same root, and the search adds the statistics of the trees: root parallelisation (Chaslot,
Winands and van den Herik 2008, "Parallel Monte-Carlo tree search"). Memory access limits the speed of growth,
so threads with a shared tree would mostly wait for each other.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from random import SystemRandom
from time import perf_counter
from typing import TYPE_CHECKING, Final

import numpy as np

from anygame.errors import GoalError
from anygame.native.marking import native_code, table_of
from anygame.search.evaluation.network import NetworkEstimates, Shape, gating_fluents, outputs_of
from anygame.search.evaluation.patterns import patterns_of
from anygame.search.lanes import describe, packed_state, refresh, words_for
from anygame.search.learning.symmetries import symmetries_of
from anygame.search.reporting import Option, TreeReporter
from anygame.search.tree.forgetting import LEVELS, drop_work, forget, least_visits
from anygame.search.tree.growing import DONE, FULL, add_state, grow, look
from anygame.search.tree.minimax import ONE
from anygame.search.tree.store import (
    COMPETITIVE,
    DEPTH,
    EXPANDED,
    EXPANSIONS,
    IS_SHORT,
    LEAF,
    LEAVES,
    LINKS,
    NODES,
    NONE,
    OPTIONS,
    ROOT,
    SLOTS,
    TERMINAL,
    child_of,
    empty,
    make_store,
)
from anygame.search.tree.worker import FREE_PATHS, MOST_UNITS, TRUST, make_worker

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from anygame.game.game import Game
    from anygame.game.state import State
    from anygame.language.terms import Term
    from anygame.network.kernels.kernel import Kernel
    from anygame.search.evaluation.patterns import Patterns
    from anygame.search.lanes import GameCode
    from anygame.search.learning.symmetries import Symmetries

#: Default of ``Worker.settings``, in the order of the indices in the module ``worker``.
DEFAULT_SETTINGS: Final = (
    0.4,  # Weight of exploration.
    28.0,  # Number of legal moves below which the root explores more than other nodes.
    1.0,  # Virtual loss: each unfinished descent through an option counts as this many lost playouts.
    30.0,  # Number of tries of an option at which its AMAF mean and its own mean have the same weight.
    0.0,  # Weight of estimates.
)
#: Weight of exploration in searches without playouts, since estimates err less than playouts.
_EXPLORATION_OF_ESTIMATES: Final = 0.1
#: Maximum number of joint moves of a playout. In nearly all games, matches are shorter.
_LONGEST_PLAYOUT: Final = 1000
#: Approximate duration in seconds of a call of native code. The clock is read between calls.
_CALL_SECONDS: Final = 0.02
#: Share of the memory that the expansions of the most visited nodes keep when memory is full.
_KEPT: Final = 0.25
#: As long as memory remains full, the share ``_KEPT`` is halved, down to this minimum.
_LEAST_KEPT: Final = 0.01


def estimating(settings: Sequence[float], trust: float) -> tuple[float, ...]:
    """Return settings of descents in which estimates have the weight ``trust``, from 0 to 1."""
    exploration, *others = settings[:TRUST]
    return (_EXPLORATION_OF_ESTIMATES if trust == 1 else exploration, *others, trust)


class Tree:
    """The search tree of one thread. ``actions`` has the moves of each role, indexed by action number."""

    def __init__(
        self,
        kernel: Kernel,
        code: GameCode,
        actions: Sequence[Sequence[Term]],
        *,
        seed: int,
        memory: int,
        settings: Sequence[float],
    ) -> None:
        self._kernel, self._code, self._actions = kernel, code, actions
        self.store = make_store(words_for(kernel.network.fluents), len(code.random), memory)
        self.store.counts[COMPETITIVE] = np.count_nonzero(~code.random) == 2
        self.worker = make_worker(kernel, seed, _LONGEST_PLAYOUT, settings)
        self._tables = [table_of(bundle) for bundle in (code, self.store, self.worker)]
        self._addresses = tuple(table.ctypes.data for table in self._tables)
        self._passes = 1
        self._has_minimax = bool(settings[TRUST]) and len(code.random) == 2
        self._opposed = bool(self.store.counts[COMPETITIVE])

    def begin(self, state: NDArray[np.uint64], end: Sequence[tuple[float, bool]] | None = None) -> None:
        """Make a packed state the root without discarding the tree.

        If the new root ends the game, ``end`` has each role's value and whether the value is proven.
        """
        if self.worker.counts[FREE_PATHS] < len(self.worker.free_paths):  # Some descents are running.
            drop_work(*self._addresses[1:])
        self.worker.spec_state[0] = state
        if self._is_full and not self._forget():
            empty(self.store)
        if self._is_full:
            raise MemoryError("the memory limit of the search is too small for one state")
        root = self.store.counts[ROOT] = add_state(*self._addresses[1:])
        self.store.counts[DEPTH] = 0
        if end is not None:
            # Nodes that have the root as a child also use the root's values.
            self.store.status[root] = TERMINAL
            self.store.visits[root], self.store.sums[root] = 1, [value for value, _ in end]
            self.store.low[root] = [value if known else 0.0 for value, known in end]
            self.store.high[root] = [value if known else 1.0 for value, known in end]
        elif self.store.status[root] == LEAF:
            # The tree can have forgotten the children of the root, so the search proves the bounds again.
            self.store.low[root], self.store.high[root] = 0, 1

    def advance(self, deadline: float, leaves: int | None = None) -> tuple[int, bool]:
        """Grow the tree until a deadline, which is a time of ``perf_counter``, or for a number of leaves.

        Returns the number of evaluated leaves, and whether the tree cannot grow further.
        """
        counts = self.store.counts
        before = int(counts[LEAVES])
        most = 1 << 62 if leaves is None else before + leaves
        while (now := perf_counter()) < deadline and counts[LEAVES] < most:
            refresh(self._code, self._kernel)
            outcome = grow(*self._addresses, self._passes, most)
            if self._opposed and not counts[COMPETITIVE]:
                self._opposed = False
                self._loosen_bounds()
                continue
            if outcome == DONE or (outcome == FULL and not self._forget()):
                return int(counts[LEAVES]) - before, True
            share = min(_CALL_SECONDS, deadline - now) / max(perf_counter() - now, 1e-6)
            self._passes = max(1, min(int(self._passes * share), self._passes * 4, 1 << 20))
        return int(counts[LEAVES]) - before, False

    def _loosen_bounds(self) -> None:
        """Reset the bounds of all non-terminal states, because the bounds wrongly assumed opposed goals."""
        counts, store = self.store.counts, self.store
        nodes, options = int(counts[NODES]), int(counts[OPTIONS])
        going = store.status[:nodes] != TERMINAL
        store.low[:nodes][going], store.high[:nodes][going] = 0, 1
        store.option_low[:options], store.option_high[:options] = 0, 1

    @property
    def _is_full(self) -> bool:
        return bool(look(self._addresses[1], 1 << 62) == FULL)

    def _forget(self) -> bool:
        """Discard the expansions of rarely visited nodes; return False if memory remains full."""
        drop_work(*self._addresses[1:])
        share = _KEPT
        while self._is_full and self.nodes:
            if share < _LEAST_KEPT:
                return False
            self._forget_moves(least_visits(self._addresses[1], share, np.zeros(LEVELS)))
            share /= 2
        return True

    def _forget_moves(self, least: int) -> None:
        """Discard the expansions of all nodes, except the root, that have fewer than ``least`` visits."""
        counts, store = self.store.counts, self.store
        counts[IS_SHORT] = 0
        links = len(store.link_node) if counts[LINKS] else 0
        forget(
            self._addresses[1],
            least,
            np.full(counts[NODES], NONE, np.int32),
            np.empty(counts[EXPANSIONS], np.int32),
            np.empty(counts[NODES], np.int32),
            store.link_expansion[:links].copy(),
            store.link_joint[:links].copy(),
            store.link_node[:links].copy(),
        )

    # -- reading -----------------------------------------------------------------------------------

    @property
    def root(self) -> int:
        """Number of the root node."""
        return int(self.store.counts[ROOT])

    @property
    def nodes(self) -> int:
        """Number of nodes."""
        return int(self.store.counts[NODES])

    @property
    def depth(self) -> int:
        """Maximum depth of a descent from the root."""
        return int(self.store.counts[DEPTH])

    @property
    def bytes(self) -> int:
        """Approximate number of bytes in use."""
        store, nodes = self.store, self.nodes
        share = nodes / len(store.status)
        fixed = store.slots.itemsize * int(store.counts[SLOTS])
        growing = sum(array.nbytes for array in store) - store.slots.nbytes
        return int(growing * share) + fixed + sum(array.nbytes for array in self.worker)

    @property
    def without_goal(self) -> list[int]:
        """Roles without a goal in any final state; empty unless a complete tree proves all other values."""
        store, roles = self.store, np.flatnonzero(~self._code.random)
        seen, layer = np.zeros(self.nodes, np.bool_), np.array([self.root])
        while len(layer):
            seen[layer] = True
            going = layer[store.status[layer] == EXPANDED]
            first = store.first_child[store.expansion[going]]
            if (
                len(going) + np.count_nonzero(store.status[layer] == TERMINAL) < len(layer)
                or (first < 0).any()
            ):
                return []
            counts = store.option_counts[store.expansion[going]].prod(axis=1, dtype=np.int64)
            starts = np.repeat(first - np.cumsum(counts) + counts, counts)
            children = np.unique(store.child[starts + np.arange(counts.sum())])
            if (children == NONE).any():
                return []
            layer = children[~seen[children]]
        proven = store.low[: self.nodes] == store.high[: self.nodes]
        with_goal = proven[seen & (store.status[: self.nodes] == TERMINAL)].any(axis=0)
        return [] if (with_goal & ~proven[self.root])[roles].any() else roles[~with_goal[roles]].tolist()

    def value(self, node: int, role: int) -> tuple[int, float, float, float]:
        """Return the visits, mean value, lower bound and upper bound of a node for a role."""
        store = self.store
        visits = int(store.visits[node])
        low, high = float(store.low[node, role]), float(store.high[node, role])
        mean = float(store.sums[node, role]) / visits if visits else low
        return visits, min(max(mean, low), high), low, high

    def is_alone(self, node: int, role: int) -> bool:
        """Return whether only the given role has a choice at an expanded node."""
        store = self.store
        return bool(store.status[node] == EXPANDED and store.mover[store.expansion[node]] == role)

    def options(self, node: int, role: int) -> list[Option]:
        """Return the moves of a role at a node in the order of actions; empty if the node is not expanded."""
        store = self.store
        if store.status[node] != EXPANDED:
            return []
        expansion = int(store.expansion[node])
        first = int(store.first_option[expansion]) + int(store.option_counts[expansion, :role].sum())
        together = self._together(expansion, role) if store.mover[expansion] == NONE else None
        alone = self.is_alone(node, role)
        options = []
        for number in range(int(store.option_counts[expansion, role])):
            option = first + number
            distance, low, high = 0, float(store.low[node, role]), float(store.high[node, role])
            if alone:
                child = int(store.child[store.first_child[expansion] + number])
                distance = int(store.distance[child]) if child != NONE else 0
                low, high = float(store.option_low[option]), float(store.option_high[option])
            elif together is not None:
                low, high = float(together[0][number]), float(together[1][number])
            tries, mean = int(store.tries[option]), float(store.mean[option])
            if store.mover[expansion] != NONE and not alone:
                tries, mean = self.value(node, role)[:2]
            action = int(store.action[option]) - int(self._code.first_actions[role])
            mean = min(max(mean, low), high)
            estimate = float(store.option_minimax[option] / ONE) if alone and self._has_minimax else None
            options.append(Option(self._actions[role][action], tries, mean, low, high, distance, estimate))
        return options

    def _together(self, expansion: int, role: int) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Return bounds of the options of a role over all moves of the other roles."""
        store, counts = self.store, self.store.option_counts[expansion]
        if store.first_child[expansion] < 0:
            return np.zeros(counts[role], np.float32), np.ones(counts[role], np.float32)
        first = int(store.first_child[expansion])
        children = np.moveaxis(store.child[first : first + int(counts.prod())].reshape(counts), role, 0)
        children = children.reshape(counts[role], -1)
        is_made = children != NONE
        low = np.where(is_made, store.low[children, role], np.float32(0))
        high = np.where(is_made, store.high[children, role], np.float32(1))
        return low.min(axis=1), high.max(axis=1)

    def child(self, node: int, options: Sequence[int]) -> int | None:
        """Return the child to which one option of each role leads; None if the tree lacks this child."""
        store = self.store
        expansion, joint = int(store.expansion[node]), 0
        for role, option in enumerate(options):
            joint = joint * int(store.option_counts[expansion, role]) + option
        with np.errstate(over="ignore"):  # The hash of a link wraps around.
            child = int(child_of(store, expansion, joint))
        return None if child == NONE else child


class TreeSearcher(TreeReporter[int]):
    """Tree search for a compiled game; ``anygame.search.searching.Searcher`` documents the interface.

    ``threads`` is the number of trees, and ``memory`` their approximate total size in bytes. If ``seed`` is
    None, the seed is random. ``settings`` are settings of descents, see ``DEFAULT_SETTINGS``. The attribute
    ``windows`` says whether windows are among the inputs of estimates; see ``evaluation.windows``.

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
        native_code("search")
        self.game = game
        self._machine = game.backends.needed_network()
        self.kernel = self._machine.kernel
        self.code, self._scales = describe(self.kernel, [role.is_random for role in game.roles])
        self._plain_settings = self.settings = tuple(settings)
        self._seed = SystemRandom().getrandbits(63) if seed is None else seed
        self._threads, self._memory = threads, memory
        self._trees = self._empty_trees()
        #: Whether further search cannot change the result.
        self.is_done = False
        self.estimates: NetworkEstimates | None = None
        self.windows = False

    def _empty_trees(self) -> list[Tree]:
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

    @property
    def patterns(self) -> Patterns:
        """Patterns of the game, with windows if ``windows`` is set."""
        return patterns_of(self.game, self.kernel.network, windows=self.windows)

    @cached_property
    def symmetries(self) -> Symmetries:
        """Symmetries of the game."""
        return symmetries_of(self.game)

    @property
    def gating(self) -> NDArray[np.int32]:
        """Gating fluents of the game; see ``evaluation.network``."""
        return gating_fluents(self.game)

    @property
    def shape(self) -> Shape:
        """Shape of the weights of a network for the game."""
        inputs = 64 * words_for(self.kernel.network.fluents)
        return Shape(inputs, self.patterns.rows, len(self.gating), outputs_of(len(self.game.roles)))

    def can_use(self, weights: NDArray[np.float32]) -> bool:
        """Return whether an array has the shape of weights for the game."""
        rows, units = weights.shape
        suits = units.bit_count() == 1 and units <= MOST_UNITS
        return rows == self.shape.rows and suits and units > self.shape.outputs

    def use_estimates(self, weights: NDArray[np.float32], trust: float) -> None:
        """Use the estimates of a network with given weights from now on, and discard the tree.

        ``trust`` is the weight of the estimates, from 0 for playouts alone to 1 for estimates alone.
        """
        lines = patterns_of(self.game, self.kernel.network, windows=False).rows
        self.windows = len(weights) != self.shape._replace(patterns=lines).rows
        self.estimates = NetworkEstimates(weights, self.gating, self.patterns)
        self.code = self.estimates.used_by(self.code)
        self.settings = estimating(self._plain_settings, trust)
        self._trees = self._empty_trees()

    def begin(self, state: State) -> None:
        """Make a state the root without discarding the trees."""
        packed = self.packed(state)
        is_over = state.is_terminal or state.stuck_role is not None
        end = [self._end(state, role) for role in range(len(self.game.roles))] if is_over else None
        for tree in self._trees:
            tree.begin(packed, end)
        self._state = state
        self.is_done = is_over

    def packed(self, state: State) -> NDArray[np.uint64]:
        """Return a state in the form in which trees store states: uint64 [words], with one bit per fluent."""
        (packed,) = packed_state(self.game, state)
        return np.asarray(packed)

    def _end(self, state: State, role: int) -> tuple[float, bool]:
        """Return the value of a final state for a role, and whether the role has exactly one goal there."""
        if self.game.roles[role].is_random:
            return 0.0, True
        has_goal = state.goals()[self.game.roles[role]] is not None
        return self.value_of_end(state, role), state.is_terminal and has_goal

    def value_of_end(self, state: State, role: int) -> float:
        """Return the value of a role's goal in a state, from 0 to 1. Of several goals, the highest counts."""
        try:
            goal = state.goal(self.game.roles[role]) or 0
        except GoalError as error:
            goal = max(map(int, error.values))
        return self._scales[role].value(goal)

    def advance(self, seconds: float, iterations: int | None = None) -> int:
        """Search for about ``seconds`` or a number of leaves, and return the number of evaluated leaves."""
        if self.is_done:
            return 0
        deadline = perf_counter() + seconds
        if len(self._trees) == 1:
            grown = [self._trees[0].advance(deadline, iterations)]
        else:
            share = None if iterations is None else -(-iterations // len(self._trees))
            with ThreadPoolExecutor(len(self._trees)) as pool:
                grown = list(pool.map(lambda tree: tree.advance(deadline, share), self._trees))
        self.is_done = all(done for _, done in grown) or self._is_proven or bool(self._without_goal)
        return sum(leaves for leaves, _ in grown)

    @property
    def _is_proven(self) -> bool:
        roles = range(len(self.game.roles))
        return any(
            all(low == high for *_, low, high in (tree.value(tree.root, role) for role in roles))
            for tree in self._trees
        )

    @property
    def bytes(self) -> int:
        """Approximate number of bytes in use by all trees."""
        return sum(tree.bytes for tree in self._trees)

    def _range_of_goals(self, role: int) -> float:
        """Return the range of goals if only the given role chooses at the root, otherwise 0."""
        alone = any(tree.is_alone(tree.root, role) for tree in self._trees)
        return self._scales[role].width if alone else 0

    @property
    def _trust(self) -> float:
        return self.settings[TRUST]
