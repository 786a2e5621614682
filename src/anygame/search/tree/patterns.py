"""Patterns: by how much the conjunctions hold that the rules say how a game ends by.

A line of four is four fluents that have to hold together, and the same four cells are a line of either role.
Of lines that one role has begun and no other has touched, an estimate counts how many there are with one
fluent, with two, and so on; all lines of a length and a role share the weights of these numbers. That goals
which hold in part tell who will win is the idea of Fluxplayer (Schiffel and Thielscher 2007, "Fluxplayer: a
successful general game player"); here it is learned what they tell.

How many fluents of each side of a pattern hold is one number, its *tally*, of which each side is a digit. So
a fluent adds a step to the tallies of its patterns, and a table says which row of weights a tally adds.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, fields
from itertools import product
from math import prod
from typing import TYPE_CHECKING, Final
from weakref import WeakKeyDictionary

import numpy as np

from anygame.language.terms import Compound
from anygame.native.marking import compiled
from anygame.search.tree.game_code import lowest_bit, words_for

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from anygame.language.terms import Term
    from anygame.network.network import Network
    from anygame.search.tree.game_code import GameCode

    Conjunction = frozenset[int]

#: Fluents of a conjunction.
_FEWEST, _MOST = 3, 12
#: Patterns, rows of weights, and tallies of all kinds of patterns; a game with more has none.
MOST_PATTERNS, MOST_ROWS, _MOST_TALLIES = 1024, 128, 1 << 14
#: Gates of which ends and goals are made; more are too many to look at. Alternatives of a gate, likewise.
_MOST_GATES, _MOST_ALTERNATIVES = 1 << 15, 12
_ANYTHING: Final[Conjunction] = frozenset()


@dataclass(frozen=True, eq=False)
class Patterns:
    """The patterns of a game.

    Attributes:
        names: of the rows of weights.
        pattern_starts, pattern_numbers, pattern_steps, first_tallies, tally_rows: see ``GameCode``.
    """

    names: tuple[str, ...]
    pattern_starts: NDArray[np.int32]
    pattern_numbers: NDArray[np.int32]
    pattern_steps: NDArray[np.int32]
    first_tallies: NDArray[np.int32]
    tally_rows: NDArray[np.int32]

    @property
    def rows(self) -> int:
        """How many rows of weights there are."""
        return len(self.names)

    def put_into(self, code: GameCode) -> GameCode:
        """Return a game whose estimates count the patterns."""
        _, *arrays = fields(self)
        return code._replace(**{each.name: getattr(self, each.name) for each in arrays})


_NO_PATTERNS: Final = Patterns((), *(np.zeros(0, np.int32) for _ in range(5)))
#: What was found: a trial makes many searchers of one game.
_KNOWN: Final[WeakKeyDictionary[Network, Patterns]] = WeakKeyDictionary()


def patterns_of(network: Network, fluents: Sequence[Term]) -> Patterns:
    """Return the patterns of a game, none where it has too many; they are looked for once.

    Args:
        network: the game.
        fluents: their names.
    """
    found = _KNOWN.get(network)
    if found is None:
        found = _KNOWN[network] = _found_in(network, fluents)
    return found


def _found_in(network: Network, fluents: Sequence[Term]) -> Patterns:
    parts = [words_of(fluent) for fluent in fluents]
    found = _largest(set(_alike(_conjunctions(network), parts)))
    # What is the same in most conjunctions says whose they are: a line of a board goes in any direction.
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
    """Return patterns, given of each what its sides are, as arrays."""
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
    """Yield what conjunctions say by fluents of one relation, of each the relation it says most by."""
    for one in found:
        groups = defaultdict(set)
        for fluent in one:
            groups[parts[fluent][0], len(parts[fluent])].add(fluent)
        largest = max(groups.values(), key=len, default=set())
        if _FEWEST <= len(largest) <= _MOST:
            yield frozenset(largest)


def _largest(found: set[Conjunction]) -> list[Conjunction]:
    """Return those that are no part of another one, in order; none where there are too many."""
    if len(found) > 2 * MOST_PATTERNS:
        return []
    having = defaultdict(list)
    for one in found:
        for fluent in one:
            having[fluent].append(one)
    return sorted((one for one in found if not any(one < other for other in having[min(one)])), key=sorted)


def _conjunctions(network: Network) -> Iterator[Conjunction]:
    """Yield which fluents have to hold together for gates of ends and goals; of each some of many ways."""
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
    """Return the gates that literals depend on, in order; none where there are too many."""
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
def begin_from_base(game, worker):
    """Set the tallies to those of the base, and note nothing of weights."""
    for pattern in range(len(game.first_tallies)):
        worker.tally[pattern] = worker.base_tally[pattern]
    for row in range(len(worker.amounts)):
        worker.amounts[row] = np.int32(0)


@compiled
def tally(game, worker, fluent, change):
    """Tally a fluent that holds from now on, or no longer, and note what weights patterns add and lose."""
    for at in range(game.pattern_starts[fluent], game.pattern_starts[fluent + 1]):
        pattern = game.pattern_numbers[at]
        before = worker.tally[pattern]
        after = before + change * game.pattern_steps[at]
        worker.tally[pattern] = after
        worker.amounts[game.tally_rows[before]] -= np.int32(1)
        worker.amounts[game.tally_rows[after]] += np.int32(1)


@compiled
def count_patterns(game, worker, states, index):
    """Tally the fluents of the state of the base, and count how often each row of weights is added."""
    for row in range(len(worker.counted)):
        worker.counted[row] = np.int32(0)
    for pattern in range(len(game.first_tallies)):
        worker.base_tally[pattern] = game.first_tallies[pattern]
    for word in range(states.shape[1]):
        bits = states[index, word]
        while bits:
            fluent = 64 * word + lowest_bit(bits)
            bits &= bits - np.uint64(1)
            for at in range(game.pattern_starts[fluent], game.pattern_starts[fluent + 1]):
                worker.base_tally[game.pattern_numbers[at]] += game.pattern_steps[at]
    for pattern in range(len(game.first_tallies)):
        worker.counted[game.tally_rows[worker.base_tally[pattern]]] += np.int32(1)
