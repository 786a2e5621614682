"""The search over lanes: trees that are grown side by side, a thread each, and what they know together.

Several trees from one root, their counts added up, are known as root parallelisation (Chaslot, Winands and
van den Herik 2008, "Parallel Monte-Carlo tree search"). Growing takes turns with memory more than with
arithmetic, so that threads that share a tree would mostly wait for it.
"""

from __future__ import annotations

from bisect import bisect_left
from concurrent.futures import ThreadPoolExecutor
from math import sqrt
from random import SystemRandom
from time import perf_counter
from typing import TYPE_CHECKING, Final

import numpy as np

from anygame.errors import GoalError
from anygame.search.analysis import Analysis, MoveAnalysis, best_first
from anygame.search.bounds import Bounds
from anygame.search.lane_pool import packed_state
from anygame.search.native.marking import native_code
from anygame.search.tree.game_code import describe
from anygame.search.tree.tree import DEFAULT_SETTINGS, Option, Tree
from anygame.search.tree.worker import MINIMAX

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from anygame.game.game import Game
    from anygame.game.state import State
    from anygame.language.terms import Term
    from anygame.search.analysis import JointMoves

#: Joint moves of a playout: longer than matches of nearly all games, and a bound on endless ones.
_LONGEST_PLAYOUT: Final = 1000
#: Joint moves of a line, and moves that have one: more than anybody reads.
_LONGEST_LINE: Final = 40
_MOST_LINES: Final = 50
#: Of the scale of goals, what rounding to 32 bits takes away at most.
_ROUNDED: Final = 2**-23


class TreeSearcher:
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
                seed=self._seed + (number << 64),
                memory=self._memory // self._threads,
                limit=_LONGEST_PLAYOUT,
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
        try:
            known = state.is_terminal and state.goal(self.game.roles[role]) is not None
        except GoalError:
            known = False
        return self.value_of_end(state, role), known

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

    @property
    def bytes(self) -> int:
        """The memory that the trees take."""
        return sum(tree.bytes for tree in self._trees)

    # -- what is known -----------------------------------------------------------------------------

    def best(self, role: int) -> Term:
        """Return the move that a role should make at the root.

        Raises:
            ValueError: the role has no legal move there.
        """
        moves = self._moves(role, lines=False)
        if not moves:
            raise ValueError(f"{self.game.roles[role]} has no legal move here")
        return moves[0].move

    def analysis(self, *, lines: bool = True) -> Analysis:
        """Return what is known of the root."""
        roles = [role for role in self.game.roles if not role.is_random]
        values = {role: self._value(self.game.role_index(role)) for role in roles}
        return Analysis(
            iterations=0,
            seconds=0.0,
            nodes=sum(tree.nodes for tree in self._trees),
            depth=max(tree.depth for tree in self._trees),
            bytes=self.bytes,
            moves={role: self._moves(self.game.role_index(role), lines) for role in roles},
            goals={role: goal for role, (goal, _) in values.items()},
            proven={role: proven for role, (_, proven) in values.items()},
            engine="lanes",
        )

    def _value(self, role: int) -> tuple[float | None, float | None]:
        """Return the mean goal of a role at the root, and its proven one."""
        known = [tree.value(tree.root, role) for tree in self._trees]
        low, high = max(each[2] for each in known), min(each[3] for each in known)
        if low >= high:
            return self._goal(role, low), self._goal(role, low)
        visits = sum(each[0] for each in known)
        if not visits:
            return None, None
        return self._goal(role, sum(each[0] * each[1] for each in known) / visits), None

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

    def _moves(self, role: int, lines: bool) -> tuple[MoveAnalysis, ...]:
        """Return what is known of the moves of a role at the root, the best ones first."""
        per_tree = [tree.options(tree.root, role) for tree in self._trees]
        known = [options for options in per_tree if options]
        actions = self._machine.compiled.actions[role]
        low, high = self._scales[role]
        if not known:
            legal = () if self._state.is_terminal else self._state.legal_moves(self.game.roles[role])
            return tuple([MoveAnalysis(move, 0, None, None, Bounds(low, high)) for move in legal])
        together = [_together(of_move) for of_move in zip(*known, strict=True)]
        found = best_first(
            [
                MoveAnalysis(
                    move=actions[option.action],
                    visits=option.tries,
                    goal=self._goal(role, option.mean) if option.tries or option.low == option.high else None,
                    error=self._error(role, option),
                    bounds=Bounds(self._goal(role, option.low), self._goal(role, option.high)),
                )
                for option in sorted(together, key=_eagerness)
            ],
            range_of_goals=high - low if self._is_stationary(role) else 0,
        )
        return self._with_lines(role, found, per_tree) if lines else found

    def _is_stationary(self, role: int) -> bool:
        """Return whether means at the root say all: nobody else chooses there, and no estimates are used."""
        return not self.settings[MINIMAX] and any(tree.is_alone(tree.root, role) for tree in self._trees)

    def _with_lines(
        self, role: int, moves: tuple[MoveAnalysis, ...], per_tree: Sequence[Sequence[Option]]
    ) -> tuple[MoveAnalysis, ...]:
        """Return moves, the first ones with the line of the tree that knows them best.

        Args:
            role: that makes them.
            moves: the best ones first.
            per_tree: its options at the root of each tree.
        """
        actions = self._machine.compiled.actions[role]
        grown = [each for each in zip(self._trees, per_tree, strict=True) if each[1]]
        numbers = {actions[option.action]: number for number, option in enumerate(grown[0][1])}
        met: dict[tuple[int, int], list[list[Option]]] = {}
        first, rest = moves[:_MOST_LINES], moves[_MOST_LINES:]
        with_lines = []
        for each in first:
            number = numbers[each.move]
            tree = max(grown, key=lambda known: known[1][number].tries)[0]
            with_lines.append(each.with_line(self._line(tree, role, number, met)))
        return (*with_lines, *rest)

    def _error(self, role: int, option: Option) -> float | None:
        """Return the standard error of a mean: that of values of 0 and 1 alone, which is the largest."""
        if option.low == option.high:
            return 0.0
        if option.tries < 2:
            return None
        low, high = self._scales[role]
        return (high - low) * sqrt(option.mean * (1 - option.mean) / option.tries)

    def _line(
        self, tree: Tree, role: int, number: int, met: dict[tuple[int, int], list[list[Option]]]
    ) -> JointMoves:
        """Return the line of best play that begins with an option of a role.

        Args:
            tree: where it is known.
            role: who begins.
            number: of the option.
            met: the options of each role at nodes of other lines, by tree and node; those met are added.
        """
        line: list[tuple[Term, ...]] = []
        node: int | None = tree.root
        actions = self._machine.compiled.actions
        while node is not None and len(line) < _LONGEST_LINE:
            place = id(tree), node
            if place not in met:
                met[place] = [tree.options(node, other) for other in range(len(actions))]
            options = met[place]
            if not all(options):
                break
            chosen = [_preferred(each) for each in options]
            if not line:
                chosen[role] = number
            line.append(tuple([actions[r][options[r][n].action] for r, n in enumerate(chosen)]))
            node = tree.child(node, chosen)
        return tuple(line)


def _together(options: Sequence[Option]) -> Option:
    """Return what several trees know of a move."""
    if len(options) == 1:
        return options[0]
    tries = sum(option.tries for option in options)
    low, high = max(option.low for option in options), min(option.high for option in options)
    high = max(low, high)
    mean = sum(option.mean * option.tries for option in options) / tries if tries else options[0].mean
    distance = next((o.distance for o in options if o.low == o.high), 0)
    return Option(options[0].action, tries, min(max(mean, low), high), low, high, distance)


def _eagerness(option: Option) -> tuple[float, ...]:
    """Return what moves are sorted by: high bounds, then quick wins and slow losses, then visits."""
    if option.low == option.high:
        return -option.high, option.distance if option.low >= 0.5 else -option.distance, -option.tries
    return -option.high, 0, -option.tries


def _preferred(options: Sequence[Option]) -> int:
    """Return the option that a role takes in a line of best play."""
    floor = max(option.low for option in options)
    ceiling = max(option.high for option in options)

    def rank(number: int) -> tuple[float, ...]:
        option = options[number]
        if option.low >= ceiling:
            return 0, option.distance if option.low >= 0.5 else -option.distance
        return 1 + (option.high < floor), -option.tries

    return min(range(len(options)), key=rank)
