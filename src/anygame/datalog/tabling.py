"""Answering on demand: tables that are filled for the keys somebody asks.

A relation that would be large, of which little is asked, is not computed as a whole. A *look-up* answers for
one key from the rules, with the key's columns bound, and remembers the answer in its frame (tabling; what
magic sets do bottom-up). Where the relation is recursive, an *agenda* repeats all keys that are under way
until nothing new comes out (iterated query-subquery, Vieille 1986), which is complete whatever cycles the
data hold.
"""

from __future__ import annotations

from threading import RLock
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable


class Agenda:
    """The keys of one recursive component that are being answered in one frame.

    Args:
        nesting: how deep questions may stand in each other; further ones wait for the next round.
    """

    __slots__ = ("_depth", "_lock", "_nesting", "_partial", "_under_way")

    def __init__(self, nesting: int) -> None:
        self._nesting = nesting
        self._lock = RLock()
        self._under_way: dict[tuple[Any, Any], tuple[set[Any], dict[Any, Any]]] = {}
        self._partial = False
        self._depth = 0

    def ask(self, rules: Callable[[Any, set[Any]], None], table: dict[Any, Any], key: Any) -> Any:
        """Return the rows for a key: all of them at the outside, those found so far inside a cycle."""
        with self._lock:
            return self._ask(rules, table, key)

    def _ask(self, rules: Callable[[Any, set[Any]], None], table: dict[Any, Any], key: Any) -> Any:
        entry = self._under_way.get((rules, key))
        if entry is not None:
            self._partial = True
            return frozenset(entry[0])
        rows: set[Any] = set()
        self._under_way[rules, key] = rows, table
        if self._depth:
            if self._depth > self._nesting:
                self._partial = True
                return ()
            self._depth += 1
            rules(key, rows)
            self._depth -= 1
            return frozenset(rows)
        self._depth = 1
        try:
            rules(key, rows)
            while self._partial:
                self._partial = False
                before = self._size()
                for (again, other), (found, _) in list(self._under_way.items()):
                    again(other, found)
                if self._size() == before:
                    break
            for (_, other), (found, where) in self._under_way.items():
                where[other] = found
        finally:
            self._under_way.clear()
            self._partial = False
            self._depth = 0
        return rows

    def _size(self) -> int:
        return len(self._under_way) + sum(len(rows) for rows, _ in self._under_way.values())
