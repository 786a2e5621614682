"""Patterns: inputs of a network that count how many fluents of a conjunction hold.

The conjunctions define the ends and goals of the game. For example, a line of four consists of four fluents,
and the same four cells are a line of either role. The owner of a line, such as a role, is a *side*. A
*pattern* has one conjunction for each side. If all fluents that hold belong to one side, their number selects
a row of weights. All lines with the same length and side share rows. Fluxplayer evaluates states by the
degree to which goals hold (Schiffel and Thielscher 2007, "Fluxplayer: a successful general game player").
Here, the network learns a weight for each degree.

The *tally* of a pattern is one number. Each digit of a tally is the number of fluents of one side that hold.
Each fluent adds a fixed number to the tallies of its patterns, and a table maps a tally to a row of weights.
``windows`` adds patterns of neighboring cells.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import product
from math import prod
from typing import TYPE_CHECKING, Final, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from anygame.language.terms import Compound
from anygame.native.marking import compiled
from anygame.search.evaluation.windows import windows_of
from anygame.search.lanes import lowest_bit, words_for
from anygame.search.tree.store import NONE
from anygame.search.tree.worker import MOST_PATTERNS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from anygame.game.game import Game
    from anygame.language.terms import Term
    from anygame.network.network import Network
    from anygame.search.evaluation.windows import Window

    Conjunction = frozenset[int]

#: Minimum number of fluents of a conjunction that becomes a pattern.
_FEWEST: Final = 3
#: Maximum number of fluents of a conjunction that becomes a pattern.
_MOST: Final = 12
#: Maximum number of different tallies of lines. A game with more tallies has no patterns of lines.
_MOST_TALLIES: Final = 1 << 14
#: Maximum number of gates on which terminal states and goals depend.
_MOST_GATES: Final = 1 << 15
#: Maximum number of alternative conjunctions that make a gate true.
_MOST_ALTERNATIVES: Final = 12
_ANYTHING: Final[Conjunction] = frozenset()


class Patterns(NamedTuple):
    """The patterns of a game. ``ValueNetwork`` describes the arrays."""

    names: tuple[str, ...]  # Names of the weight rows of lines, then one name for each set of window offsets.
    lines: int  # Number of weight rows for lines.
    rows: int  # Number of weight rows. The rows for windows follow the rows for lines.
    pattern_starts: NDArray[np.int32]
    pattern_numbers: NDArray[np.int32]
    pattern_steps: NDArray[np.int32]
    first_tallies: NDArray[np.int32]
    tally_rows: NDArray[np.int32]


#: Patterns of each network, without and with windows, cached because a trial creates many searchers.
_PATTERNS: Final[WeakKeyDictionary[Network, dict[bool, Patterns]]] = WeakKeyDictionary()


def patterns_of(game: Game, network: Network, *, windows: bool) -> Patterns:
    """Return the patterns of a compiled game, without lines or windows if there are too many of them."""
    cached = _PATTERNS.setdefault(network, {})
    if windows not in cached:
        fluents = game.fluent_terms
        arranged = _Arranged()
        arranged.add_lines(_contested(network, fluents))
        arranged.add_windows(windows_of(game, fluents) if windows else [])
        cached[windows] = arranged.patterns(64 * words_for(len(fluents)))
    return cached[windows]


def _contested(network: Network, fluents: Sequence[Term]) -> list[dict[tuple[str, ...], Conjunction]]:
    """Return the patterns of lines with several sides: for each pattern, the conjunction of each side."""
    parts = [words_of(fluent) for fluent in fluents]
    lines = _largest(set(_alike(_conjunctions(network), parts)))
    # Lines go in all directions, so coordinates vary. An argument that is constant in most lines names the
    # side that owns the line.
    constant = [_constant_places([parts[fluent] for fluent in line]) for line in lines]
    widths = [len(parts[min(line)]) for line in lines]
    totals = Counter(widths)
    counts = Counter(
        (width, place) for width, places in zip(widths, constant, strict=True) for place in places
    )
    sides: dict[frozenset[tuple[str, ...]], dict[tuple[str, ...], Conjunction]] = defaultdict(dict)
    for line, places in zip(lines, constant, strict=True):
        words = parts[min(line)]
        marks = [place for place in places if 2 * counts[len(words), place] > totals[len(words)]]
        cells = frozenset(
            tuple(word for place, word in enumerate(parts[fluent]) if place not in marks) for fluent in line
        )
        sides[cells][tuple(words[place] for place in marks)] = line
    return [conjunctions for conjunctions in sides.values() if len(conjunctions) > 1]


class _Arranged:
    """Builder of the arrays of patterns. The builder omits lines or windows if there are too many of them."""

    def __init__(self) -> None:
        self._names: list[str] = []
        self._rows = self._lines = 0
        self._tally_rows: list[int] = []
        self._first_tallies: list[int] = []
        #: Triples of fluent, pattern and step.
        self._parts: list[tuple[int, int, int]] = []

    def add_lines(self, patterns: Sequence[dict[tuple[str, ...], Conjunction]]) -> None:
        """Add patterns of lines. A tally has a row of weights if fluents of exactly one side hold."""
        lengths = {(len(next(iter(pattern.values()))), tuple(sorted(pattern))) for pattern in patterns}
        tallies = sum((length + 1) ** len(sides) for length, sides in lengths)
        if len(patterns) > MOST_PATTERNS or tallies > _MOST_TALLIES:
            return
        first_rows: dict[tuple[int, tuple[str, ...]], int] = {}
        tables: dict[tuple[int, tuple[tuple[str, ...], ...]], int] = {}
        for number, pattern in enumerate(patterns):
            sides = sorted(pattern)
            length = len(pattern[sides[0]])
            for side in sides:
                if (length, side) not in first_rows:
                    first_rows[length, side] = len(self._names)
                    self._names += [f"{held} of {length} {' '.join(side)}" for held in range(1, length + 1)]
            kind = (length, tuple(sides))
            if kind not in tables:
                tables[kind] = len(self._tally_rows)
                of_sides = [first_rows[length, side] for side in sides]
                for tally in product(range(length + 1), repeat=len(sides)):
                    begun = [first + held - 1 for first, held in zip(of_sides, tally, strict=True) if held]
                    self._tally_rows.append(begun[0] if len(begun) == 1 else NONE)
            self._first_tallies.append(tables[kind])
            for place, side in enumerate(reversed(sides)):
                self._parts += [(fluent, number, (length + 1) ** place) for fluent in pattern[side]]
        self._rows = self._lines = len(self._names)

    def add_windows(self, windows: Sequence[Window]) -> None:
        """Add patterns of windows. Each tally except 0, which means empty cells, has a row of weights."""
        first_number = len(self._first_tallies)
        if len(windows) > MOST_PATTERNS - first_number:
            return
        tables: dict[tuple[tuple[int, int], ...], int] = {}
        for number, window in enumerate(windows, first_number):
            if window.offsets not in tables:
                tables[window.offsets] = len(self._tally_rows)
                self._names.append(f"window {window.offsets}")
                self._tally_rows += [NONE, *range(self._rows, self._rows + window.contents - 1)]
                self._rows += window.contents - 1
            self._first_tallies.append(tables[window.offsets])
            self._parts += [(fluent, number, step) for fluent, step in window.steps.items()]

    def patterns(self, room: int) -> Patterns:
        """Return the patterns of a game with up to ``room`` fluents."""
        parts = np.array(sorted(self._parts), np.int32).reshape(-1, 3)
        fluents, numbers, steps = parts.T.copy()
        starts = np.searchsorted(fluents, np.arange(room + 1)).astype(np.int32)
        firsts, rows = np.array(self._first_tallies, np.int32), np.array(self._tally_rows, np.int32)
        return Patterns(tuple(self._names), self._lines, self._rows, starts, numbers, steps, firsts, rows)


def _constant_places(rows: Sequence[tuple[str, ...]]) -> list[int]:
    return [place for place, column in enumerate(zip(*rows, strict=True)) if len(set(column)) == 1]


def words_of(fluent: Term) -> tuple[str, ...]:
    """Return the functor and the arguments of a fluent as strings."""
    if isinstance(fluent, Compound):
        return fluent.functor, *map(str, fluent.arguments)
    return (str(fluent),)


def _alike(conjunctions: Iterable[Conjunction], parts: Sequence[tuple[str, ...]]) -> Iterator[Conjunction]:
    """Yield, for each conjunction, the largest set of fluents of one relation if its size is in range."""
    for conjunction in conjunctions:
        groups = defaultdict(set)
        for fluent in conjunction:
            groups[parts[fluent][0], len(parts[fluent])].add(fluent)
        largest = max(groups.values(), key=len, default=set())
        if _FEWEST <= len(largest) <= _MOST:
            yield frozenset(largest)


def _largest(conjunctions: set[Conjunction]) -> list[Conjunction]:
    """Return the conjunctions that are not subsets of others, in order; empty if there are too many."""
    if len(conjunctions) > 2 * MOST_PATTERNS:
        return []
    of_fluent = defaultdict(list)
    for conjunction in conjunctions:
        for fluent in conjunction:
            of_fluent[fluent].append(conjunction)
    return sorted(
        (one for one in conjunctions if not any(one < other for other in of_fluent[min(one)])), key=sorted
    )


def _conjunctions(network: Network) -> Iterator[Conjunction]:
    """Yield conjunctions of fluents that make a gate true, for the gates on which ends and goals depend."""
    goals = [literal for values in network.goals for _, literal in values]
    gates = _gates_below(network, [network.terminal, *goals])
    first = network.first_gate
    ways: dict[int, list[Conjunction]] = {}

    def ways_of(literal: int) -> list[Conjunction]:
        node, inverted = literal >> 1, literal & 1
        if 1 <= node <= network.fluents and not inverted:
            return [frozenset((node - 1,))]
        if node not in ways:
            return [_ANYTHING]
        if not inverted:
            return ways[node]
        # By De Morgan, an inverted gate is a disjunction of its inverted inputs.
        inputs = _inputs(network, node - first)
        alternatives = [way for input_literal in inputs for way in ways_of(input_literal ^ 1)]
        return alternatives if len(alternatives) <= _MOST_ALTERNATIVES and all(alternatives) else [_ANYTHING]

    for gate in gates:
        parts = [ways_of(literal) for literal in _inputs(network, gate)]
        if prod(map(len, parts)) > _MOST_ALTERNATIVES:
            parts = [part for part in parts if len(part) == 1]
        ways[first + gate] = [_ANYTHING.union(*choice) for choice in product(*parts)]
        yield from ways[first + gate]


def _inputs(network: Network, gate: int) -> list[int]:
    literals: list[int] = network.inputs[network.starts[gate] : network.starts[gate + 1]].tolist()
    return literals


def _gates_below(network: Network, literals: Iterable[int]) -> list[int]:
    """Return the gates on which literals depend, in order; empty if there are too many."""
    first = network.first_gate
    gates: set[int] = set()
    pending = [literal >> 1 for literal in literals]
    while pending and len(gates) <= _MOST_GATES:
        gate = pending.pop() - first
        if gate >= 0 and gate not in gates:
            gates.add(gate)
            pending += [literal >> 1 for literal in _inputs(network, gate)]
    return sorted(gates) if len(gates) <= _MOST_GATES else []


@compiled
def row_of_tally(net, tally):
    """Return the number of the row of weights for a tally, or NONE."""
    # If a cell has two contents at once, the tally can exceed the table.
    return np.int64(net.tally_rows[min(np.int64(tally), np.int64(len(net.tally_rows) - 1))])


@compiled
def change_tallies(net, worker, fluent, change, count):
    """Change the tallies of a fluent's patterns, and add the patterns to ``worker.changed``.

    ``count`` is the length of ``worker.changed``. The result is the new length.
    """
    for at in range(net.pattern_starts[fluent], net.pattern_starts[fluent + 1]):
        pattern = net.pattern_numbers[at]
        worker.tally[pattern] += change * net.pattern_steps[at]
        if not worker.is_changed[pattern]:
            worker.is_changed[pattern] = True
            worker.changed[count] = pattern
            count += 1
    return count


@compiled
def count_patterns(net, worker, states, index):
    """Set the base tallies of all patterns to the tallies of a state."""
    for pattern in range(len(net.first_tallies)):
        worker.base_tally[pattern] = net.first_tallies[pattern]
    for word in range(states.shape[1]):
        bits = states[index, word]
        while bits:
            fluent = 64 * word + lowest_bit(bits)
            bits &= bits - np.uint64(1)
            for at in range(net.pattern_starts[fluent], net.pattern_starts[fluent + 1]):
                worker.base_tally[net.pattern_numbers[at]] += net.pattern_steps[at]
    for pattern in range(len(net.first_tallies)):
        worker.tally[pattern] = worker.base_tally[pattern]
