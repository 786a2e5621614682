"""Graph of all reachable states, explored breadth first."""

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

#: Value of ``StateGraph.stopped`` after Ctrl-C.
INTERRUPTED: Final = "the exploration was interrupted"
#: Maximum number of states expanded at a time: enough to fill the lanes, few enough for the CPU caches.
MOST_AT_A_TIME: Final = 4096
#: Size in bytes of a state's values: the ranks of two bounds, a distance, and two numbers for a table.
_BYTES_OF_VALUES: Final = 14
#: Size in bytes of a state's values in a game with chance or simultaneous moves.
_BYTES_OF_MIXED_VALUES: Final = 40
#: Approximate maximum number of joint moves made at a time: their arrays stay smaller than the graph.
_EDGES: Final = 1 << 18
#: Maximum number of states. A state number has 31 bits.
MOST_STATES: Final = (1 << 31) - 1
#: Approximate size in bytes of a state with tens of facts, plus the state's entry in a dictionary.
BYTES_OF_A_STATE: Final = 4_000


@dataclass(frozen=True, slots=True)
class ExpandedStates:
    """States and their successors. In the order of joint moves, the move of the last role varies fastest."""

    options: NDArray[np.int32]  # [states, roles]; numbers of legal moves; 0 in terminal states
    terminal: NDArray[np.bool_]  # [states]
    goals: NDArray[np.float64]  # [states, roles]; goals in terminal states; nan without exactly one goal
    children: NDArray[np.int32]  # [edges]; the successors of each state, ordered by joint move


@dataclass(frozen=True, slots=True)
class StateGraph:
    """States, numbered in the order of distance from the first state, and edges between states."""

    layers: NDArray[np.int64]  # [layers + 1]; the first state of each distance, then the number of states
    expanded: int  # number of expanded states, which have the lowest numbers
    offsets: NDArray[np.integer]  # [expanded + 1]; index of each state's first successor
    children: NDArray[np.int32]  # [edges]; see ``ExpandedStates``
    options: NDArray[np.int32]  # [expanded, roles]; see ``ExpandedStates``
    ends: NDArray[np.int64]  # the expanded terminal states, ascending
    goals: NDArray[np.float64]  # [ends, roles]; nan for a role without exactly one numeric goal
    stopped: str  # why the exploration ended early; empty if it expanded all states
    bytes: int  # size in bytes

    @property
    def complete(self) -> bool:
        """Whether all states are expanded."""
        return not self.stopped

    @property
    def depth(self) -> int:
        """The greatest distance up to which all states are expanded; -1 without expanded states."""
        return int(np.searchsorted(self.layers[1:], self.expanded, side="right")) - 1

    @property
    def stuck(self) -> int:
        """Number of non-terminal expanded states in which a role has no legal move."""
        return int(np.count_nonzero(self.options[:, 0] == 0)) - len(self.ends)

    @property
    def states(self) -> int:
        """Number of states."""
        return int(self.layers[-1])


class Numbering(Generic[_Item]):
    """Numbers items from 0, in the order of their first occurrence.

    Attributes:
        items: the items, by number.
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


class Exploration:
    """Explores all reachable states, until a limit is exceeded or the user presses Ctrl-C.

    Args:
        expansion: stores and expands the states, beginning with the first state.
        roles: the roles of the game.
        memory: maximum size in bytes of the graph and of the values of states.
        seconds: time limit; None for no limit.
        states: maximum number of states.
    """

    def __init__(
        self,
        expansion: Expansion,
        roles: Sequence[Role],
        memory: int,
        seconds: float | None = None,
        states: int = MOST_STATES,
    ) -> None:
        self._expansion, self._memory, self._seconds, self._most = expansion, memory, seconds, states
        self._random = [place for place, role in enumerate(roles) if role.is_random]
        self._takes_turns = True
        self._children, self._options = GrowingArray(1, np.int32), GrowingArray(len(roles), np.uint8)
        self._ends, self._goals = GrowingArray(1, np.int64), GrowingArray(len(roles), np.float64)
        self._layers = [0, 1]
        self._width = 1.0

    def run(self, progress: Callable[[int, int], None] | None = None) -> StateGraph:
        """Explore; ``progress`` gets the number of expanded states and the number of known states."""
        try:
            stopped = self._expand_all(progress)
        except KeyboardInterrupt:
            stopped = INTERRUPTED
        except LimitError as error:
            stopped = error.message
        return self._graph(stopped)

    def _expand_all(self, progress: Callable[[int, int], None] | None) -> str:
        """Expand states; return why the exploration must stop early, or an empty string."""
        done = 0
        began = perf_counter()
        while done < self._layers[-1]:
            if self._seconds is not None and perf_counter() - began >= self._seconds:
                return f"{self._seconds:.3g} s were too short to visit all states"
            # Assume that a state has at most twice as many joint moves as an average state of the last step.
            count = max(1, min(MOST_AT_A_TIME, int(_EDGES / self._width), self._layers[-1] - done))
            expected = int(2 * self._width * count) + 1
            needed = self._bytes_with(expected)
            if needed > self._memory:
                return f"{self._memory / 2**30:.3g} GiB are too little memory for all states"
            if len(self._expansion) + expected > MOST_STATES:
                return f"there are more than {MOST_STATES:,} states"
            self._enter(done, self._expansion.expand(done, done + count))
            done += count
            if len(self._expansion) > self._most:
                return f"there are more than {self._most:,} states"
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
        # Append the options last: if Ctrl-C comes earlier, the graph omits the states just expanded.
        self._options.extend(states.options)
        self._width = max(1.0, len(states.children) / len(states.options))

    def _graph(self, stopped: str) -> StateGraph:
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
    """Return ``StateGraph.offsets``."""
    offsets: NDArray[Any] = np.zeros(len(options) + 1, np.uint32 if edges < 1 << 32 else np.int64)
    offsets[1:] = options[:, 0]
    for column in options.T[1:]:
        np.multiply(offsets[1:], column, out=offsets[1:])
    return np.cumsum(offsets, dtype=offsets.dtype, out=offsets)


class LaneExpansion:
    """Packed states of a compiled game, expanded in lanes.

    Raises:
        LimitError: the game has no network.
        PositionError: the network cannot hold the state.
    """

    def __init__(self, game: Game, start: State) -> None:
        machine = game.backends.needed_network()
        native_code("search")  # Compile the native code now, before the clock of the exploration starts.
        first = packed_state(game, start)
        self._fluents = game.fluent_terms
        self._states = StateSet(first.shape[1])
        self._states.add(first)
        self._blocks = BlockSuccessors(machine.kernel)

    def __len__(self) -> int:
        return len(self._states)

    def bytes_with(self, more: int) -> int:
        """Return the size in bytes after adding ``more`` states."""
        return self._states.bytes_with(more) if more else self._states.bytes

    def packed(self) -> tuple[tuple[Term, ...], StateSet]:
        """Return the fluents of the game and the packed states."""
        return self._fluents, self._states

    def expand(self, first: int, end: int) -> ExpandedStates:
        """Expand a range of states by every joint move."""
        options, terminal, goals, successors = self._blocks.of(self._states.at(slice(first, end)))
        return ExpandedStates(options, terminal, goals, self._states.add(successors))


class StateExpansion:
    """States of any game, expanded one by one by the machine of the game."""

    def __init__(self, start: State) -> None:
        self._roles = start.game.roles
        self._states = Numbering(start)

    def __len__(self) -> int:
        return len(self._states.items)

    def bytes_with(self, more: int) -> int:
        """Return the approximate size in bytes after adding ``more`` states."""
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
        """Return the facts that hold in at least one state, and the states with a bit for each fact."""
        from anygame.search.table import pack_states

        fluents, rows = pack_states([state.facts for state in self._states.items])
        states = StateSet(rows.shape[1])
        states.add(rows)
        return fluents, states


#: An expansion numbers and expands states in the order of discovery.
Expansion = LaneExpansion | StateExpansion
