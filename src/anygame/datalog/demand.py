"""Relations computed on demand: tables that are filled for the keys somebody asks.

A relation that would be large, of which little is asked, is not computed as a whole. A *lookup* answers for
one key from the rules, with the key's columns bound, and remembers the answer in its frame. Where the
relation is recursive, an *agenda* repeats all keys that are under way until nothing new comes out (iterated
query-subquery, after Vieille 1986), which is complete whatever cycles the data hold.
"""

from __future__ import annotations

from threading import RLock
from typing import TYPE_CHECKING, Any

from anygame.datalog.joins import row_expression
from anygame.datalog.steps import LOOKUPS

if TYPE_CHECKING:
    from collections.abc import Callable

    from anygame.datalog.generate import Generator
    from anygame.datalog.joins import IndexKey
    from anygame.datalog.steps import Step

__all__ = ["Agenda", "NeedsWhole", "lookup_source"]

#: Nested questions beyond this depth wait for the next round, far from CPython's bound on recursion.
_DEEPEST = 60


class NeedsWhole(Exception):  # noqa: N818  (a signal to the compiler)
    """A rule asks for all rows of a relation that is computed on demand.

    Attributes:
        needed: the step that computes the relation.
        asking: the step whose rule asks.
    """

    def __init__(self, needed: Step, asking: Step) -> None:
        super().__init__(needed.number, asking.number)
        self.needed = needed
        self.asking = asking


class Agenda:
    """The keys of one recursive component that are being answered in one frame."""

    __slots__ = ("_depth", "_lock", "_partial", "_under_way")

    def __init__(self) -> None:
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
            if self._depth > _DEEPEST:
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


def lookup_source(generator: Generator, number: int, key: IndexKey) -> str:
    """Return the source of a function that makes, for a frame, the lookup of a relation on demand."""
    _, keys, _ = key
    body = generator.demanded_rules(number, key)
    unpacked = row_expression([f"k{place}" for place in keys]) if keys else "_"
    head = (
        f"def demand{number}(F):\n{generator.reading('    ')}{generator.base_setup('    ')}    table = {{}}\n"
    )
    tail = f"    F[-{number + LOOKUPS}] = q{number}\n    return q{number}\n"
    if generator.step.component.recursive:
        slot = generator.step.marker
        return (
            f"{head}"
            f"    agenda = F.get(-{slot})\n"
            f"    if agenda is None: agenda = F[-{slot}] = Agenda()\n"
            f"    def rules(key, out):\n"
            f"        next(tick)\n"
            f"        {unpacked} = key\n"
            f"{body}"
            f"    def q{number}(key):\n"
            f"        out = table.get(key)\n"
            f"        return agenda.ask(rules, table, key) if out is None else out\n"
            f"{tail}"
        )
    return (
        f"{head}"
        f"    def q{number}(key):\n"
        f"        out = table.get(key)\n"
        f"        if out is not None: return out\n"
        f"        {unpacked} = key\n"
        f"        out = set()\n"
        f"{body}"
        f"        if len(table) > MANY_KEYS: table.clear()\n"
        f"        table[key] = out\n"
        f"        return out\n"
        f"{tail}"
    )
