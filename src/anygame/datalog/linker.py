"""Where generated code lives: one namespace, what its names stand for, and the agenda it asks at run time."""

from __future__ import annotations

from collections import defaultdict
from threading import RLock
from typing import TYPE_CHECKING, Any

from anygame.datalog.source import Kind, Need, emit_index

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from anygame.datalog.schema import Frame, Index, Schema
    from anygame.datalog.source import Source


class Linker:
    """Turns sources into functions.

    Args:
        schema: what slots stand for.
        static: the frame of static relations; those that a source needs are in it when it is linked.

    Attributes:
        namespace: the globals of all generated code.
        tables: those whose code has been linked. Where one is taken out, it is written anew when next needed.
    """

    def __init__(self, schema: Schema, static: Frame) -> None:
        self._schema = schema
        self._static = static
        self.tables: set[Index] = set()
        self.namespace: dict[str, Any] = {
            "Agenda": Agenda,
            "DEPTHS": schema.terms.depths,
            "EMPTY": frozenset(),
            "UNIT": frozenset({()}),
            "defaultdict": defaultdict,
        }

    def closure(self, source: Source, source_of_table: Callable[[Index], Source]) -> list[Source]:
        """Return a source with those of all tables that it asks, directly or not, and that are not linked.

        Stops at a source that misses a whole relation, which is then the last one.
        """
        found = [source]
        seen = {source.table, *self.tables}
        pending = [source]
        while pending and found[-1].missing is None:
            for index in pending.pop().tables:
                if index not in seen:
                    seen.add(index)
                    found.append(source_of_table(index))
                    pending.append(found[-1])
                    if found[-1].missing is not None:
                        break
        return found

    def link(self, sources: Sequence[Source]) -> None:
        """Define the functions of some sources, and what they need."""
        needs: dict[Need, None] = {}
        for source in sources:
            self._define(source)
            needs |= dict.fromkeys(source.needs)
        for need in needs:
            if need.kind is Kind.INDEX_CODE and need.name not in self.namespace:
                self._define(emit_index(need.of))
        for need in needs:
            # A constant stays what it is, and so does code of indexes.
            if need.name not in self.namespace and need.kind is not Kind.STATIC_TABLE:
                self.namespace[need.name] = self._constant(need)
        for need in needs:
            # Making a table takes the facts and indexes that its code needs.
            if need.kind is Kind.STATIC_TABLE and need.name not in self.namespace:
                self.namespace[need.name] = self.table(need.of)(self._static)
        # Only now: what was interrupted is linked again.
        self.tables.update(source.table for source in sources if source.table is not None)

    def function(self, source: Source) -> Callable[[Frame], None]:
        """Return the function of a source that has been linked."""
        found: Callable[[Frame], None] = self.namespace[source.name]
        return found

    def table(self, index: Index) -> Callable[[Frame], Callable[[Any], Any]]:
        """Return the function that makes a table in a frame; its code has been linked."""
        found: Callable[[Frame], Callable[[Any], Any]] = self.namespace[Need(Kind.TABLE_CODE, index).name]
        return found

    def _define(self, source: Source) -> None:
        exec(compile(source.text, f"<{source.name}>", "exec"), self.namespace)

    def _constant(self, need: Need) -> object:
        schema = self._schema
        match need.kind:
            case Kind.STATIC_ROWS:
                return self._static[need.of]
            case Kind.FACTS:
                return frozenset(schema.facts.get(schema.relation(need.of), ()))
            case Kind.TITLE:
                return schema.relation(need.of).title
            case Kind.STATIC_INDEX:
                index = self.namespace[Need(Kind.INDEX_CODE, need.of).name](self._static)
                return index.get if isinstance(index, dict) else index
        composer = schema.terms.composer(list(schema.functors)[need.of])
        parts = {Kind.MAKE: composer, Kind.KNOWN: composer.known.get, Kind.PARTS: composer.parts.get}
        return parts[need.kind]


class Agenda:
    """The keys of one recursive component that are being answered in one frame.

    A relation that is large, and of which little is asked, is not computed as a whole. A *look-up* answers
    for one key from the rules, with the key's columns bound, and remembers the answer in its frame (tabling;
    what magic sets do bottom-up). Where the relation is recursive, an *agenda* repeats all keys that are
    under way until nothing new comes out (iterated query-subquery, Vieille 1986), which is complete whatever
    cycles the data hold.

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
