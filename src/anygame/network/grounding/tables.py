"""Tables: relations as integer columns that only grow, searched by hashed keys (a hash join's build side)."""

from __future__ import annotations

from itertools import cycle
from typing import TYPE_CHECKING, Final, Literal

import numpy as np

from anygame.errors import LimitError
from anygame.network.budget import COMPOSED
from anygame.network.ragged import order_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from anygame.datalog.relations import Relation, TermTable
    from anygame.network.budget import Budget

    Rows = NDArray[np.int32]
    Ids = NDArray[np.int64]

#: Odd factors, one per column, over and over: a multiplicative hash; whatever it finds is compared in full.
_FACTORS: Final = list(np.random.default_rng(20130501).integers(1, 2**63, 256, np.uint64) | np.uint64(1))
#: An index is merged with what came last when that is this part of it: to merge takes as long as it is large.
_LAST: Final = 16
#: So many keys are sought faster in order: then those that are compared lie in the caches.
_MANY: Final = 3_000
#: Rows for which a table has room at first: most relations of a game have fewer.
_SMALLEST: Final = 64


def hashed(columns: Sequence[Rows], count: int) -> NDArray[np.uint64]:
    """Return one key per row; equal rows have equal keys, and others hardly ever."""
    keys = np.zeros(count, np.uint64)
    for column, factor in zip(columns, cycle(_FACTORS), strict=False):
        keys += np.multiply(column, factor, dtype=np.uint64, casting="unsafe")
    keys ^= keys >> np.uint64(29)
    return keys


class SortedKeys:
    """Rows of a table in the order of the keys of some columns.

    Attributes:
        keys: ascending.
        order: the number of the row of each.
    """

    __slots__ = ("_different", "keys", "order")

    def __init__(self, keys: NDArray[np.uint64]) -> None:
        self.order: Ids = order_of(keys)
        self.keys = keys[self.order]
        self._different = 0

    def grow(self, keys: NDArray[np.uint64]) -> None:
        """Take in the keys of the rows that came last: as if all were sorted anew, but in linear time."""
        order = order_of(keys)
        self.insert(keys[order], order + len(self.keys))

    def insert(self, keys: NDArray[np.uint64], order: Ids) -> None:
        """Take in keys in ascending order, and the numbers of their rows, which came last."""
        places = np.searchsorted(self.keys, keys, side="right") + np.arange(len(keys))
        before = np.ones(len(self.keys) + len(keys), np.bool_)
        before[places] = False
        both, rows = np.empty(len(before), np.uint64), np.empty(len(before), np.int64)
        both[places], rows[places] = keys, order
        both[before], rows[before] = self.keys, self.order
        self.keys, self.order = both, rows
        self._different = 0

    @property
    def different(self) -> int:
        """How many different keys there are."""
        if not self._different and len(self.keys):
            self._different = 1 + int(np.count_nonzero(self.keys[1:] != self.keys[:-1]))
        return self._different


class Table:
    """Distinct rows of one relation, numbered in the order in which they came."""

    def __init__(self, width: int) -> None:
        self.width = width
        self.count = 0
        self._data: Rows = np.empty((width, _SMALLEST), np.int32)
        self._indexes: dict[tuple[int, ...], SortedKeys] = {}
        self._everything = tuple(range(width))
        #: By all columns, the rows that came last: they are taken into the index when they are many.
        self._last = SortedKeys(np.zeros(0, np.uint64))

    def column(self, number: int) -> Rows:
        """Return a column of all rows."""
        return self._data[number, : self.count]

    def rows(self) -> Rows:
        """Return all rows, [count, width]."""
        return self._data[:, : self.count].T

    def index(self, columns: tuple[int, ...]) -> SortedKeys:
        """Return the index on some columns, up to date."""
        found = self._indexes.get(columns)
        if found is None:
            found = SortedKeys(hashed([self.column(number) for number in columns], self.count))
            self._indexes[columns] = found
        elif len(found.keys) != self.count:
            news = [self.column(number)[len(found.keys) :] for number in columns]
            found.grow(hashed(news, self.count - len(found.keys)))
        return found

    def distinct(self, columns: tuple[int, ...]) -> int:
        """Return how many different values some columns have, 1 at least."""
        if not columns or not self.count:
            return 1
        return self.index(columns).different

    def find(self, columns: Sequence[Rows], count: int) -> Ids:
        """Return the number of each of some rows, given by columns; -1 for rows that are not here."""
        return self._find(columns, hashed(columns, count))

    def _find(self, columns: Sequence[Rows], keys: NDArray[np.uint64]) -> Ids:
        if not self.count:
            return np.full(len(keys), -1, np.int64)
        index = self._indexes.get(self._everything)
        if index is None or len(index.keys) + len(self._last.keys) != self.count:
            index, self._last = self.index(self._everything), SortedKeys(keys[:0])
        found = self._looked_up(index, columns, keys)
        if not len(self._last.keys):
            return found
        return np.maximum(found, self._looked_up(self._last, columns, keys))

    def _looked_up(self, index: SortedKeys, columns: Sequence[Rows], keys: NDArray[np.uint64]) -> Ids:
        (places,) = _places(index.keys, keys, "left")
        found = index.order[np.minimum(places, len(index.keys) - 1)]
        for number, column in enumerate(columns):
            found = np.where(self._data[number, found] == column, found, -1)
        return found

    def add(self, columns: Sequence[Rows], count: int) -> Ids:
        """Add rows that are not here yet and return the number of each.

        Raises:
            LimitError: two different rows have one key.
        """
        if not count:
            return np.zeros(0, np.int64)
        keys = hashed(columns, count)
        numbers = self._find(columns, keys)
        fresh = np.flatnonzero(numbers < 0)
        if not len(fresh):
            return numbers
        keys = keys[fresh]
        order = order_of(keys)
        keys = keys[order]
        begins = np.ones(len(keys), np.bool_)
        np.not_equal(keys[1:], keys[:-1], out=begins[1:])
        ordered = fresh[order]
        for column in columns if not begins.all() else ():
            values = column[ordered]
            if not (begins[1:] | (values[1:] == values[:-1])).all():
                raise LimitError("two rows have one hash value", limit="hash", bound=1)
        # In the order of arrival, whatever the keys.
        is_first = np.zeros(count, np.bool_)
        is_first[ordered[begins]] = True
        added = np.flatnonzero(is_first)
        rank = (self.count - 1 + np.cumsum(is_first))[ordered[begins]]
        numbers[ordered] = rank[np.cumsum(begins) - 1]
        self._append([column[added] for column in columns], len(added))
        index = self._indexes.setdefault(self._everything, SortedKeys(keys[:0]))
        if not len(self._last.keys) and len(rank) * _LAST >= len(index.keys):
            index.insert(keys[begins], rank)
            return numbers
        self._last.insert(keys[begins], rank)
        if len(self._last.keys) * _LAST >= len(index.keys):
            index.insert(self._last.keys, self._last.order)
            self._last = SortedKeys(keys[:0])
        return numbers

    def _append(self, columns: Sequence[Rows], count: int) -> None:
        needed = self.count + count
        if needed > self._data.shape[1]:
            grown = np.empty((self.width, max(needed, 2 * self._data.shape[1])), np.int32)
            grown[:, : self.count] = self._data[:, : self.count]
            self._data = grown
        for number, column in enumerate(columns):
            self._data[number, self.count : needed] = column
        self.count = needed


def _places(
    ordered: NDArray[np.uint64], keys: NDArray[np.uint64], *sides: Literal["left", "right"]
) -> list[Ids]:
    """Return where keys come among others, as ``numpy.searchsorted`` says; many are sought in order."""
    if len(keys) < _MANY:
        return [np.searchsorted(ordered, keys, side) for side in sides]
    order = order_of(keys)
    sought = keys[order]
    found = [np.empty(len(keys), np.int64) for _ in sides]
    for places, side in zip(found, sides, strict=True):
        places[order] = np.searchsorted(ordered, sought, side)
    return found


def too_many_rows(most: int) -> LimitError:
    """Return the error of a join that has more rows than it may have."""
    return LimitError(
        f"the conditions of a rule hold together in more than {most:,} ways", limit="instances", bound=most
    )


def matches(table: Table, on: tuple[int, ...], keys: NDArray[np.uint64], most: int) -> tuple[Ids, Ids]:
    """Return the pairs (number of a key, number of a row of the table) with equal keys.

    Raises:
        LimitError: there are more than ``most``.
    """
    index = table.index(on)
    low, high = _places(index.keys, keys, "left", "right")
    counts = high - low
    total = int(counts.sum())
    if total > most:
        raise too_many_rows(most)
    left = np.repeat(np.arange(len(keys)), counts)
    within = np.arange(total) - np.repeat(np.cumsum(counts) - counts, counts)
    return left, index.order[np.repeat(low, counts) + within]


class Tables:
    """The tables by relation, and the values in them.

    Args:
        values: ground terms as numbers.
        most: how many rows a join may have.
        budget: what joins cost is spent from it.

    Attributes:
        of: the table of each relation that has one.
    """

    def __init__(self, values: TermTable, most: int, budget: Budget) -> None:
        self.values = values
        self.most = most
        self.budget = budget
        self.of: dict[Relation, Table] = {}
        self._composed: dict[tuple[str, int], Table] = {}
        self._depths: Rows = np.zeros(0, np.int32)

    def table(self, relation: Relation) -> Table:
        """Return the table of a relation, an empty one where it has none."""
        found = self.of.get(relation)
        if found is None:
            found = self.of[relation] = Table(relation.width)
        return found

    def parts(self, functor: tuple[str, int]) -> Table:
        """Return the compound values of a functor: the value, and its parts."""
        table = self._composed.setdefault(functor, Table(functor[1] + 1))
        composer = self.values.composer(functor)
        if len(composer.parts) > table.count:
            news = list(composer.parts.items())[table.count :]
            rows = [(value, *_tuple(parts[0])) for value, parts in news]
            table.add(list(np.array(rows, np.int32).T), len(rows))
        return table

    def compose(self, functor: tuple[str, int], parts: Sequence[Rows], count: int) -> Rows:
        """Return the values of a functor over columns of parts."""
        if not count:
            return np.zeros(0, np.int32)
        composer = self.values.composer(functor)
        distinct, inverse = np.unique(np.stack(parts, axis=1), axis=0, return_inverse=True)
        self.budget.spend(COMPOSED * len(distinct))
        wholes = [composer(row[0] if len(row) == 1 else tuple(row)) for row in distinct.tolist()]
        return np.array(wholes, np.int32)[inverse.reshape(-1)]

    def are_constants(self, column: Rows) -> NDArray[np.bool_]:
        """Return which values of a column are constants."""
        if len(self._depths) < len(self.values.depths):
            self._depths = np.array(self.values.depths, np.int32)
        found: NDArray[np.bool_] = self._depths[column] == 0
        return found


def _tuple(value: object) -> tuple[int, ...]:
    return value if isinstance(value, tuple) else (value,)
