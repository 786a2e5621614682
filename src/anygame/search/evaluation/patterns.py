"""Patterns: how many literals hold of each conjunction that defines the end of a game.

A line of four is four fluents that have to hold together, and the same four cells are a line of either role.
An estimate counts the lines that one role has begun and no other has touched, by the number of fluents that
hold; all lines of a length and a role share the weights of these counts. Fluxplayer evaluates states by goals
that hold in part (Schiffel and Thielscher 2007, "Fluxplayer: a successful general game player"); here their
weights are learned.

The numbers of fluents of each side of a pattern that hold are the digits of one number, its *tally*. So a
fluent adds a step to the tallies of its patterns, and a table gives the row of weights that a tally adds.
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

#: Fluents of a conjunction.
_FEWEST, _MOST = 3, 12
#: Tallies of all kinds of patterns; a game with more has no patterns.
_MOST_TALLIES: Final = 1 << 14
#: Upper bounds: gates of ends and goals, and alternatives of a gate.
_MOST_GATES, _MOST_ALTERNATIVES = 1 << 15, 12
_ANYTHING: Final[Conjunction] = frozenset()


class Patterns(NamedTuple):
    """The patterns of a game.

    Attributes:
        names: of the rows of weights of lines, then one for all rows of windows with the same offsets.
        lines: number of rows of weights of lines.
        rows: number of rows of weights; those of windows follow those of lines.
        pattern_starts, pattern_numbers, pattern_steps, first_tallies, tally_rows: see ``ValueNetwork``.
    """

    names: tuple[str, ...]
    lines: int
    rows: int
    pattern_starts: NDArray[np.int32]
    pattern_numbers: NDArray[np.int32]
    pattern_steps: NDArray[np.int32]
    first_tallies: NDArray[np.int32]
    tally_rows: NDArray[np.int32]


#: A cache, without and with windows: a trial makes many searchers of one game.
_KNOWN: Final[WeakKeyDictionary[Network, dict[bool, Patterns]]] = WeakKeyDictionary()


def patterns_of(game: Game, network: Network, *, windows: bool) -> Patterns:
    """Return the patterns of a compiled game, none if there are too many; they are cached."""
    cached = _KNOWN.setdefault(network, {})
    if windows not in cached:
        fluents = game.fluent_terms
        arranged = _Arranged()
        arranged.add_lines(_contested(network, fluents))
        arranged.add_windows(windows_of(game, fluents) if windows else [])
        cached[windows] = arranged.patterns(64 * words_for(len(fluents)))
    return cached[windows]


def _contested(network: Network, fluents: Sequence[Term]) -> list[dict[tuple[str, ...], Conjunction]]:
    """Return the conjunctions of each place, by side, where there are several."""
    parts = [words_of(fluent) for fluent in fluents]
    found = _largest(set(_alike(_conjunctions(network), parts)))
    # Parts that are the same in most conjunctions name the side: lines of a board go in any direction.
    fixed = [_fixed([parts[fluent] for fluent in one]) for one in found]
    widths = [len(parts[min(one)]) for one in found]
    all_of = Counter(widths)
    seen = Counter((width, place) for width, places in zip(widths, fixed, strict=True) for place in places)
    sides: dict[frozenset[tuple[str, ...]], dict[tuple[str, ...], Conjunction]] = defaultdict(dict)
    for one, places in zip(found, fixed, strict=True):
        some = parts[min(one)]
        marks = [place for place in places if 2 * seen[len(some), place] > all_of[len(some)]]
        where = frozenset(
            tuple(part for place, part in enumerate(parts[fluent]) if place not in marks) for fluent in one
        )
        sides[where][tuple(some[place] for place in marks)] = one
    return [conjunctions for conjunctions in sides.values() if len(conjunctions) > 1]


class _Arranged:
    """Patterns as arrays, one kind after the other; a kind with too many patterns or tallies is left out."""

    def __init__(self) -> None:
        self._names: list[str] = []
        self._rows = self._lines = 0
        self._tally_rows: list[int] = []
        self._first_tallies: list[int] = []
        #: Fluents, patterns and steps.
        self._parts: list[tuple[int, int, int]] = []

    def add_lines(self, patterns: Sequence[dict[tuple[str, ...], Conjunction]]) -> None:
        """Add patterns given by their sides; a tally has a row if one side alone has begun."""
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
        """Add windows; a tally has a row of its own unless all cells are empty."""
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
        """Return the patterns of a game with room for a number of fluents."""
        parts = np.array(sorted(self._parts), np.int32).reshape(-1, 3)
        fluents, numbers, steps = parts.T.copy()
        starts = np.searchsorted(fluents, np.arange(room + 1)).astype(np.int32)
        firsts, rows = np.array(self._first_tallies, np.int32), np.array(self._tally_rows, np.int32)
        return Patterns(tuple(self._names), self._lines, self._rows, starts, numbers, steps, firsts, rows)


def _fixed(rows: Sequence[tuple[str, ...]]) -> list[int]:
    """Return the columns whose parts are all the same."""
    return [place for place, column in enumerate(zip(*rows, strict=True)) if len(set(column)) == 1]


def words_of(fluent: Term) -> tuple[str, ...]:
    """Return the functor of a fluent and its arguments as text."""
    if isinstance(fluent, Compound):
        return fluent.functor, *map(str, fluent.arguments)
    return (str(fluent),)


def _alike(found: Iterable[Conjunction], parts: Sequence[tuple[str, ...]]) -> Iterator[Conjunction]:
    """Yield the part of each conjunction with the relation that has most of its fluents."""
    for one in found:
        groups = defaultdict(set)
        for fluent in one:
            groups[parts[fluent][0], len(parts[fluent])].add(fluent)
        largest = max(groups.values(), key=len, default=set())
        if _FEWEST <= len(largest) <= _MOST:
            yield frozenset(largest)


def _largest(found: set[Conjunction]) -> list[Conjunction]:
    """Return the conjunctions that are no part of another one, in order; none if there are too many."""
    if len(found) > 2 * MOST_PATTERNS:
        return []
    having = defaultdict(list)
    for one in found:
        for fluent in one:
            having[fluent].append(one)
    return sorted((one for one in found if not any(one < other for other in having[min(one)])), key=sorted)


def _conjunctions(network: Network) -> Iterator[Conjunction]:
    """Yield conjunctions of fluents that gates of ends and goals need; for each gate some of many."""
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
        # A disjunction is an inverted gate of inverted inputs.
        some = [way for each in _inputs(network, node - first) for way in ways_of(each ^ 1)]
        return some if len(some) <= _MOST_ALTERNATIVES and all(some) else [_ANYTHING]

    for gate in gates:
        parts = [ways_of(literal) for literal in _inputs(network, gate)]
        if prod(map(len, parts)) > _MOST_ALTERNATIVES:
            parts = [part for part in parts if len(part) == 1]
        ways[first + gate] = [_ANYTHING.union(*each) for each in product(*parts)]
        yield from ways[first + gate]


def _inputs(network: Network, gate: int) -> list[int]:
    found: list[int] = network.inputs[network.starts[gate] : network.starts[gate + 1]].tolist()
    return found


def _gates_below(network: Network, literals: Iterable[int]) -> list[int]:
    """Return the gates that literals depend on, in order; none if there are too many."""
    first = network.first_gate
    found: set[int] = set()
    waiting = [literal >> 1 for literal in literals]
    while waiting and len(found) <= _MOST_GATES:
        gate = waiting.pop() - first
        if gate >= 0 and gate not in found:
            found.add(gate)
            waiting += [literal >> 1 for literal in _inputs(network, gate)]
    return sorted(found) if len(found) <= _MOST_GATES else []


@compiled
def row_of_tally(net, tally):
    """Return the row of weights that a tally adds, NONE for none."""
    # Where a cell has two contents, which boards do not rule out, the sum may be too large.
    return np.int64(net.tally_rows[min(np.int64(tally), np.int64(len(net.tally_rows) - 1))])


@compiled
def change_tallies(net, worker, fluent, change, count):
    """Change the tallies of the patterns of a fluent, and list these patterns; return how many are listed."""
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
    """Tally the fluents of the state of the base."""
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
