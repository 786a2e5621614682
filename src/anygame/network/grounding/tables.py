"""Tables of relations: integer columns that only grow, with hash indexes for joins."""

from __future__ import annotations

from itertools import cycle
from typing import TYPE_CHECKING, Final

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

#: Odd factors of a multiplicative hash, one per column. A table with more columns reuses the factors.
_FACTORS: Final = list(np.random.default_rng(20130501).integers(1, 2**63, 256, np.uint64) | np.uint64(1))
#: Initial capacity of a table in rows. Most relations have fewer rows.
_SMALLEST: Final = 64


def hashed(columns: Sequence[Rows], count: int) -> NDArray[np.uint64]:
    """Return a hash per row, called its key. Different rows rarely have the same key."""
    keys = np.zeros(count, np.uint64)
    for column, factor in zip(columns, cycle(_FACTORS), strict=False):
        keys += np.multiply(column, factor, dtype=np.uint64, casting="unsafe")
    keys ^= keys >> np.uint64(29)
    return keys


class SortedKeys:
    """Index of a table by some columns: their sorted keys, and the row numbers in this order."""

    __slots__ = ("_different", "keys", "order")

    def __init__(self, keys: NDArray[np.uint64]) -> None:
        self.order: Ids = order_of(keys)
        self.keys = keys[self.order]
        self._different = 0

    def insert(self, keys: NDArray[np.uint64], order: Ids) -> None:
        """Merge the sorted keys of new rows, with their row numbers, in linear time."""
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
        """The number of distinct keys."""
        if not self._different and len(self.keys):
            self._different = 1 + int(np.count_nonzero(self.keys[1:] != self.keys[:-1]))
        return self._different


class Table:
    """Distinct rows of one relation, numbered in order of arrival."""

    def __init__(self, width: int) -> None:
        self.width = width
        self.count = 0
        self._data: Rows = np.empty((width, _SMALLEST), np.int32)
        self._indexes: dict[tuple[int, ...], SortedKeys] = {}
        self._everything = tuple(range(width))

    def column(self, number: int) -> Rows:
        """Return a column of all rows."""
        return self._data[number, : self.count]

    def rows(self) -> Rows:
        """Return all rows, [count, width]."""
        return self._data[:, : self.count].T

    def index(self, columns: tuple[int, ...]) -> SortedKeys:
        """Return the up-to-date index on some columns."""
        index = self._indexes.get(columns)
        if index is None:
            index = SortedKeys(hashed([self.column(number) for number in columns], self.count))
            self._indexes[columns] = index
        elif len(index.keys) != self.count:
            new_columns = [self.column(number)[len(index.keys) :] for number in columns]
            keys = hashed(new_columns, self.count - len(index.keys))
            order = order_of(keys)
            index.insert(keys[order], order + len(index.keys))
        return index

    def distinct(self, columns: tuple[int, ...]) -> int:
        """Return the number of distinct rows in some columns, at least 1."""
        if not columns or not self.count:
            return 1
        return self.index(columns).different

    def find(self, columns: Sequence[Rows], count: int) -> Ids:
        """Return the row numbers of some rows, given by columns; -1 for missing rows."""
        return self._find(columns, hashed(columns, count))

    def _find(self, columns: Sequence[Rows], keys: NDArray[np.uint64]) -> Ids:
        if not self.count:
            return np.full(len(keys), -1, np.int64)
        index = self.index(self._everything)
        numbers = index.order[np.minimum(np.searchsorted(index.keys, keys), self.count - 1)]
        for number, column in enumerate(columns):
            numbers = np.where(self._data[number, numbers] == column, numbers, -1)
        return numbers

    def add(self, columns: Sequence[Rows], count: int) -> Ids:
        """Add missing rows; return all row numbers. Raises LimitError if different rows have the same key."""
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
                raise LimitError("two different rows have the same hash value", limit="hash", bound=1)
        # Number the rows in order of first occurrence.
        is_first = np.zeros(count, np.bool_)
        is_first[ordered[begins]] = True
        added = np.flatnonzero(is_first)
        rank = (self.count - 1 + np.cumsum(is_first))[ordered[begins]]
        numbers[ordered] = rank[np.cumsum(begins) - 1]
        self._append([column[added] for column in columns], len(added))
        index = self._indexes.setdefault(self._everything, SortedKeys(keys[:0]))
        index.insert(keys[begins], rank)
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


def too_many_rows(most: int) -> LimitError:
    """Return the error for a join with too many rows."""
    return LimitError(f"the conditions of a rule have more than {most:,} solutions", "instances", most)


def matches(table: Table, on: tuple[int, ...], keys: NDArray[np.uint64], most: int) -> tuple[Ids, Ids]:
    """Return all pairs of a key (its index) and a row with that key. Raises LimitError for too many pairs."""
    index = table.index(on)
    low, high = np.searchsorted(index.keys, keys), np.searchsorted(index.keys, keys, side="right")
    counts = high - low
    total = int(counts.sum())
    if total > most:
        raise too_many_rows(most)
    key_numbers = np.repeat(np.arange(len(keys)), counts)
    offsets = np.arange(total) - np.repeat(np.cumsum(counts) - counts, counts)
    return key_numbers, index.order[np.repeat(low, counts) + offsets]


class Tables:
    """The tables of all relations (``of``), and the terms of their values (``values``)."""

    def __init__(self, values: TermTable, most: int, budget: Budget) -> None:
        self.values = values
        self.most = most
        self.budget = budget
        self.of: dict[Relation, Table] = {}
        self._composed: dict[tuple[str, int], Table] = {}
        self._depths: Rows = np.zeros(0, np.int32)

    def table(self, relation: Relation) -> Table:
        """Return the table of a relation, creating an empty one if needed."""
        table = self.of.get(relation)
        if table is None:
            table = self.of[relation] = Table(relation.width)
        return table

    def parts(self, functor: tuple[str, int]) -> Table:
        """Return a table of all compound values with a functor, each with its arguments."""
        table = self._composed.setdefault(functor, Table(functor[1] + 1))
        composer = self.values.composer(functor)
        if len(composer.parts) > table.count:
            new_parts = list(composer.parts.items())[table.count :]
            rows = [(value, *(key if isinstance(key, tuple) else (key,))) for value, (key, *_) in new_parts]
            table.add(list(np.array(rows, np.int32).T), len(rows))
        return table

    def compose(self, functor: tuple[str, int], parts: Sequence[Rows], count: int) -> Rows:
        """Return compound values, given the functor and the columns of its arguments."""
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
        are_constants: NDArray[np.bool_] = self._depths[column] == 0
        return are_constants
