"""Patterns: how many literals hold of each conjunction that defines the end of a game.

A line of four is four fluents that have to hold together, and the same four cells are a line of either role.
An estimate counts the lines that one role has begun and no other has touched, by the number of fluents that
hold; all lines of a length and a role share the weights of these counts. Fluxplayer evaluates states by goals
that hold in part (Schiffel and Thielscher 2007, "Fluxplayer: a successful general game player"); here their
weights are learned.

The numbers of fluents of each side of a pattern that hold are the digits of one number, its *tally*. So a
fluent adds a step to the tallies of its patterns, and a table gives the row of weights that a tally adds.
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
from anygame.search.lanes import lowest_bit, words_for
from anygame.search.tree.worker import MOST_PATTERNS, MOST_ROWS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from anygame.language.terms import Term
    from anygame.network.network import Network

    Conjunction = frozenset[int]

#: Fluents of a conjunction.
_FEWEST, _MOST = 3, 12
#: Tallies of all kinds of patterns; a game with more has no patterns.
_MOST_TALLIES: Final = 1 << 14
#: Upper bounds: gates of ends and goals, and alternatives of a gate.
_MOST_GATES, _MOST_ALTERNATIVES = 1 << 15, 12
_ANYTHING: Final[Conjunction] = frozenset()


class Patterns(NamedTuple):
    """The patterns of a game: the names of the rows of weights, and arrays; see ``ValueNetwork``."""

    names: tuple[str, ...]
    pattern_starts: NDArray[np.int32]
    pattern_numbers: NDArray[np.int32]
    pattern_steps: NDArray[np.int32]
    first_tallies: NDArray[np.int32]
    tally_rows: NDArray[np.int32]

    @property
    def rows(self) -> int:
        """The number of rows of weights."""
        return len(self.names)


_NO_PATTERNS: Final = Patterns((), *(np.zeros(0, np.int32) for _ in range(5)))
#: A cache: a trial makes many searchers of one game.
_KNOWN: Final[WeakKeyDictionary[Network, Patterns]] = WeakKeyDictionary()


def patterns_of(network: Network, fluents: Sequence[Term]) -> Patterns:
    """Return the patterns of a game with named fluents, none if there are too many; they are cached."""
    patterns = _KNOWN.get(network)
    if patterns is None:
        patterns = _KNOWN[network] = _patterns_in(network, fluents)
    return patterns


def _patterns_in(network: Network, fluents: Sequence[Term]) -> Patterns:
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
    contested = [each for each in sides.values() if len(each) > 1]
    return _arranged(contested, 64 * words_for(len(fluents)))


def _arranged(patterns: Sequence[dict[tuple[str, ...], Conjunction]], room: int) -> Patterns:
    """Return patterns, each given by its sides, as arrays."""
    names: list[str] = []
    first_rows: dict[tuple[int, tuple[str, ...]], int] = {}
    tables: dict[tuple[int, tuple[tuple[str, ...], ...]], int] = {}
    rows: list[int] = []
    firsts: list[int] = []
    parts: list[tuple[int, int, int]] = []
    for number, pattern in enumerate(patterns):
        sides = sorted(pattern)
        length = len(pattern[sides[0]])
        for side in sides:
            if (length, side) not in first_rows:
                first_rows[length, side] = len(names)
                names += [f"{held} of {length} {' '.join(side)}" for held in range(1, length + 1)]
        kind = (length, tuple(sides))
        if kind not in tables:
            tables[kind] = len(rows)
            if len(rows) + (length + 1) ** len(sides) > _MOST_TALLIES:
                return _NO_PATTERNS
            of_sides = [first_rows[length, side] for side in sides]
            for tally in product(range(length + 1), repeat=len(sides)):
                begun = [first + held - 1 for first, held in zip(of_sides, tally, strict=True) if held]
                rows.append(begun[0] if len(begun) == 1 else MOST_ROWS)
        firsts.append(tables[kind])
        for place, side in enumerate(reversed(sides)):
            parts += [(fluent, number, (length + 1) ** place) for fluent in pattern[side]]
    if not firsts or len(firsts) > MOST_PATTERNS or len(names) > MOST_ROWS:
        return _NO_PATTERNS
    fluents, numbers, steps = np.array(sorted(parts), np.int32).T.copy()
    starts = np.searchsorted(fluents, np.arange(room + 1)).astype(np.int32)
    return Patterns(
        tuple(names), starts, numbers, steps, np.array(firsts, np.int32), np.array(rows, np.int32)
    )


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
def begin_from_base(net, worker):
    """Set the tallies to those of the base, and the changes of rows to 0."""
    for pattern in range(len(net.first_tallies)):
        worker.tally[pattern] = worker.base_tally[pattern]
    for row in range(len(worker.row_changes)):
        worker.row_changes[row] = np.int32(0)


@compiled
def tally(net, worker, fluent, change):
    """Tally a fluent that holds from now on, or no longer, and count the rows of weights added and lost."""
    for at in range(net.pattern_starts[fluent], net.pattern_starts[fluent + 1]):
        pattern = net.pattern_numbers[at]
        before = worker.tally[pattern]
        after = before + change * net.pattern_steps[at]
        worker.tally[pattern] = after
        worker.row_changes[net.tally_rows[before]] -= np.int32(1)
        worker.row_changes[net.tally_rows[after]] += np.int32(1)


@compiled
def count_patterns(net, worker, states, index):
    """Tally the fluents of the state of the base, and count how often each row of weights is added."""
    for row in range(len(worker.base_rows)):
        worker.base_rows[row] = np.int32(0)
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
        worker.base_rows[net.tally_rows[worker.base_tally[pattern]]] += np.int32(1)
