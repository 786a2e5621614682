"""Graph of all reachable states, explored breadth first, in lanes or state by state."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from time import perf_counter
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar

import numpy as np

from anygame.errors import LimitError
from anygame.native.marking import native_code
from anygame.search.goals import goal_or_nan
from anygame.search.lanes import BlockSuccessors, packed_state
from anygame.search.state_set import GrowingArray, StateSet

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from anygame.game.game import Game
    from anygame.game.roles import Role
    from anygame.game.state import State
    from anygame.language.terms import Term

_Item = TypeVar("_Item")

#: Reason of an incomplete graph after Ctrl-C.
INTERRUPTED: Final = "the exploration was interrupted"
#: Maximum number of states expanded at a time: they fill lanes, and their arrays fit the CPU caches.
MOST_AT_A_TIME: Final = 4096
#: Size in bytes of the values of a state: the ranks of two bounds, a distance, and two numbers for a table.
#: If roles move at the same time or by chance: two bounds, and two more during their computation.
_BYTES_OF_VALUES, _BYTES_OF_MIXED_VALUES = 14, 40
#: Approximate number of joint moves made at a time: their arrays stay small relative to the graph.
_EDGES: Final = 1 << 18
#: Maximum number of states: their numbers have 31 bits.
MOST_STATES: Final = (1 << 31) - 1
#: Minimum size in bytes of a state, a frozen set of some tens of facts, with its entry in a dictionary.
BYTES_OF_A_STATE: Final = 4_000


@dataclass(frozen=True, slots=True)
class ExpandedStates:
    """States and their successors.

    Attributes:
        options: int32 [states, roles]; number of legal moves of each role; all zero in terminal states and
            if a role has no legal move.
        terminal: bool [states].
        goals: float [states, roles]; nan if there is no goal or several; valid in terminal states only.
        children: int32 [edges]; the state after each joint move of each state; the move of the last role
            changes fastest.
    """

    options: NDArray[np.int32]
    terminal: NDArray[np.bool_]
    goals: NDArray[np.float64]
    children: NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class StateGraph:
    """States, numbered in the order of their distance from the first one, and the joint moves between them.

    Attributes:
        layers: int64 [layers + 1]; the first state of each distance, then the number of states.
        expanded: number of expanded states; they come first.
        offsets: uint32 or int64 [expanded + 1]; the first place of each state in ``children``.
        children: int32 [edges]; see ``ExpandedStates``.
        options: [expanded, roles], unsigned and as narrow as possible; see ``ExpandedStates``.
        ends: int64; the terminal states among the expanded ones, ascending.
        goals: float [ends, roles]; nan if the rules give no goal, several goals, or a goal without a number.
        stopped: why not all states were expanded; empty if all states were.
        bytes: size in bytes.
    """

    layers: NDArray[np.int64]
    expanded: int
    offsets: NDArray[np.integer]
    children: NDArray[np.int32]
    options: NDArray[np.int32]
    ends: NDArray[np.int64]
    goals: NDArray[np.float64]
    stopped: str
    bytes: int

    @property
    def complete(self) -> bool:
        """Whether all states were expanded."""
        return not self.stopped

    @property
    def depth(self) -> int:
        """The greatest distance up to which all states were expanded; -1 without expanded states."""
        return int(np.searchsorted(self.layers[1:], self.expanded, side="right")) - 1

    @property
    def stuck(self) -> int:
        """Number of expanded states that are not terminal although some role has no legal move."""
        return int(np.count_nonzero(self.options[:, 0] == 0)) - len(self.ends)

    @property
    def states(self) -> int:
        """Number of states."""
        return int(self.layers[-1])


class Numbering(Generic[_Item]):
    """Numbers items from 0, in the order of their first occurrence.

    Attributes:
        items: each item at its number.
    """

    def __init__(self, *items: _Item) -> None:
        self.items = list(items)
        self._numbers = {item: number for number, item in enumerate(items)}

    def of(self, item: _Item) -> int:
        """Return the number of an item; a new item gets the next number."""
        number = self._numbers.setdefault(item, len(self.items))
        if number == len(self.items):
            self.items.append(item)
        return number


class _Exploration:
    """A graph under construction."""

    def __init__(
        self,
        expansion: Expansion,
        roles: Sequence[Role],
        memory: int,
        seconds: float | None,
        states: int,
    ) -> None:
        self._expansion = expansion
        self._most = states
        self._memory = memory
        self._seconds = seconds
        self._random = [place for place, role in enumerate(roles) if role.is_random]
        self._takes_turns = True
        self._children, self._options = GrowingArray(1, np.int32), GrowingArray(len(roles), np.uint8)
        self._ends, self._goals = GrowingArray(1, np.int64), GrowingArray(len(roles), np.float64)
        self._layers = [0, 1]
        self._width = 1.0

    def run(self, progress: Callable[[int, int], None] | None) -> str:
        """Expand all states; return the reason of an earlier stop, otherwise an empty string."""
        done = 0
        began = perf_counter()
        while done < self._layers[-1]:
            if self._seconds is not None and perf_counter() - began >= self._seconds:
                return f"{self._seconds:.3g} s were too short"
            # Expect at most twice as many joint moves as in the last states.
            count = max(1, min(MOST_AT_A_TIME, int(_EDGES / self._width), self._layers[-1] - done))
            expected = int(2 * self._width * count) + 1
            needed = self._bytes_with(expected)
            if needed > self._memory:
                return f"{self._memory / 2**30:.3g} GiB are too little memory"
            if len(self._expansion) + expected > MOST_STATES:
                return f"there are more than {MOST_STATES:,}"
            self._enter(done, self._expansion.expand(done, done + count))
            done += count
            if len(self._expansion) > self._most:
                return f"there are more than {self._most:,}"
            if done == self._layers[-1] and len(self._expansion) > done:
                self._layers.append(len(self._expansion))
            if progress:
                progress(done, len(self._expansion))
        return ""

    def _bytes_with(self, edges: int) -> int:
        per_state = self._options.bytes_with(MOST_AT_A_TIME) + self._goals.bytes_with(MOST_AT_A_TIME)
        growing = self._children.bytes_with(edges) + per_state
        of_each = _BYTES_OF_VALUES if self._takes_turns else _BYTES_OF_MIXED_VALUES
        values = (len(self._expansion) + edges) * of_each
        return self._expansion.bytes_with(edges) + growing + values

    def _enter(self, first: int, states: ExpandedStates) -> None:
        over = np.flatnonzero(states.terminal)
        self._children.extend(states.children[:, None])
        self._ends.extend((first + over)[:, None])
        self._goals.extend(states.goals[over])
        if self._takes_turns:
            several = states.options > 1
            together = several.sum(axis=1).max() > 1 or several[:, self._random].any()
            self._takes_turns = not together
        # The options are last, since an interrupt before this line leaves these states out.
        self._options.extend(states.options)
        self._width = max(1.0, len(states.children) / len(states.options))

    def graph(self, stopped: str) -> StateGraph:
        """Return the graph explored so far."""
        expanded, count = self._options.count, len(self._expansion)
        layers = self._layers if not stopped else [n for n in self._layers if n <= expanded] + [count]
        ends = int(np.searchsorted(self._ends.rows[: self._goals.count, 0], expanded))
        offsets = _offsets(self._options.rows, self._children.count)
        arrays = (self._children, self._options, self._ends, self._goals)
        return StateGraph(
            layers=np.array(layers, np.int64),
            expanded=expanded,
            offsets=offsets,
            children=self._children.rows[: offsets[-1], 0],
            options=self._options.rows,
            ends=self._ends.rows[:ends, 0],
            goals=self._goals.rows[:ends],
            stopped=stopped,
            bytes=self._expansion.bytes_with(0) + offsets.nbytes + sum(array.bytes for array in arrays),
        )


def _offsets(options: NDArray[Any], edges: int) -> NDArray[np.integer]:
    """Return the place of the first child of each state, and the place after the last child."""
    offsets: NDArray[Any] = np.zeros(len(options) + 1, np.uint32 if edges < 1 << 32 else np.int64)
    offsets[1:] = options[:, 0]
    for column in options.T[1:]:
        np.multiply(offsets[1:], column, out=offsets[1:])
    return np.cumsum(offsets, dtype=offsets.dtype, out=offsets)


def explore(
    expansion: Expansion,
    roles: Sequence[Role],
    memory: int,
    progress: Callable[[int, int], None] | None = None,
    seconds: float | None = None,
    states: int = MOST_STATES,
) -> StateGraph:
    """Explore all reachable states; stop at a limit of memory, time, number or the rules, or at Ctrl-C.

    Args:
        expansion: contains the first state, and expands states.
        roles: the roles of the game.
        memory: maximum size in bytes, including the values that are computed later.
        progress: called periodically with the numbers of expanded and of known states.
        seconds: time limit; None for no limit.
        states: maximum number of states.
    """
    exploration = _Exploration(expansion, roles, memory, seconds, states)
    try:
        stopped = exploration.run(progress)
    except KeyboardInterrupt:
        stopped = INTERRUPTED
    except LimitError as error:
        stopped = error.message
    return exploration.graph(stopped)


class LaneExpansion:
    """States of a compiled game, packed with one bit a fluent.

    Raises:
        LimitError: the game has no network.
        PositionError: the network cannot hold the state.
    """

    def __init__(self, game: Game, start: State) -> None:
        machine = game.backends.needed_network()
        native_code("search")  # compiled before the time limit of an exploration begins
        first = packed_state(game, start)
        self._fluents = game.fluent_terms
        self._states = StateSet(first.shape[1])
        self._states.add(first)
        self._blocks = BlockSuccessors(machine.kernel)

    def __len__(self) -> int:
        return len(self._states)

    def bytes_with(self, more: int) -> int:
        """Return the memory in bytes after adding more states."""
        return self._states.bytes_with(more) if more else self._states.bytes

    def packed(self) -> tuple[tuple[Term, ...], StateSet]:
        """Return the fluents of the game, and all states."""
        return self._fluents, self._states

    def expand(self, first: int, end: int) -> ExpandedStates:
        """Expand a range of states by every joint move."""
        options, terminal, goals, successors = self._blocks.of(self._states.part(first, end))
        return ExpandedStates(options, terminal, goals, self._states.add(successors))


class StateExpansion:
    """States of any game, which the machine of the game expands one by one."""

    def __init__(self, start: State) -> None:
        self._roles = start.game.roles
        self._states = Numbering(start)

    def __len__(self) -> int:
        return len(self._states.items)

    def bytes_with(self, more: int) -> int:
        """Return the approximate memory in bytes after adding ``more`` states."""
        return (len(self._states.items) + more) * BYTES_OF_A_STATE

    def expand(self, first: int, end: int) -> ExpandedStates:
        """Expand a range of states by every joint move."""
        options, terminal, goals, children = [], [], [], []
        for state in self._states.items[first:end]:
            terminal.append(state.is_terminal)
            goals.append([goal_or_nan(state, role) for role in self._roles])
            legal = [() if state.is_terminal else state.legal_moves(role) for role in self._roles]
            joints = list(product(*legal))
            options.append([len(moves) if joints else 0 for moves in legal])
            children += [self._states.of(state.next(joint)) for joint in joints]
        return ExpandedStates(
            np.array(options, np.int32).reshape(-1, len(self._roles)),
            np.array(terminal, np.bool_),
            np.array(goals, np.float64).reshape(-1, len(self._roles)),
            np.array(children, np.int32),
        )

    def packed(self) -> tuple[tuple[Term, ...], StateSet]:
        """Return all facts that hold in at least one state, and all states."""
        from anygame.search.table import pack_states

        fluents, rows = pack_states([state.facts for state in self._states.items])
        states = StateSet(rows.shape[1])
        states.add(rows)
        return fluents, states


#: Numbers states in the order of their discovery, and expands them.
Expansion = LaneExpansion | StateExpansion
