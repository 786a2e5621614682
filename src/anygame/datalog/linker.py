"""Where generated code lives: one namespace, and what its names stand for."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

from anygame.datalog.index_source import emit_index
from anygame.datalog.source import (
    ComposerPart,
    Facts,
    IndexCode,
    StaticIndex,
    StaticRows,
    StaticTable,
    TableCode,
    Title,
)
from anygame.datalog.tabling import Agenda

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from anygame.datalog.schema import Frame, Index, Schema
    from anygame.datalog.source import Need, Source


class Linker:
    """Turns sources into functions.

    Args:
        schema: what slots stand for.
        static: the frame of static relations; those that a source needs are in it when it is linked.

    Attributes:
        namespace: the globals of all generated code.
    """

    def __init__(self, schema: Schema, static: Frame) -> None:
        self._schema = schema
        self._static = static
        self._tables: set[Index] = set()
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
        seen = {source.table, *self._tables}
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
            if isinstance(need, IndexCode) and need.name not in self.namespace:
                self._define(emit_index(need.index))
        for need in needs:
            # A constant stays what it is, and so does code of indexes.
            if need.name not in self.namespace and not isinstance(need, StaticTable):
                self.namespace[need.name] = self._constant(need)
        for need in needs:
            # Making a table takes the facts and indexes that its code needs.
            if isinstance(need, StaticTable) and need.name not in self.namespace:
                self.namespace[need.name] = self.table(need.index)(self._static)
        # Only now: what was interrupted is linked again.
        self._tables.update(source.table for source in sources if source.table is not None)

    def function(self, source: Source) -> Callable[[Frame], None]:
        """Return the function of a source that has been linked."""
        found: Callable[[Frame], None] = self.namespace[source.name]
        return found

    def has_table(self, index: Index) -> bool:
        """Whether the code of a table has been linked."""
        return index in self._tables

    def table(self, index: Index) -> Callable[[Frame], Callable[[Any], Any]]:
        """Return the function that makes a table in a frame; its code has been linked."""
        found: Callable[[Frame], Callable[[Any], Any]] = self.namespace[TableCode(index).name]
        return found

    def forget_tables(self) -> None:
        """Let the code of all tables be written anew when it is next needed."""
        self._tables.clear()

    def _define(self, source: Source) -> None:
        exec(compile(source.text, f"<{source.name}>", "exec"), self.namespace)

    def _constant(self, need: Need) -> object:
        if isinstance(need, StaticRows):
            return self._static[need.slot]
        if isinstance(need, Facts):
            return frozenset(self._schema.facts.get(self._schema.relation(need.slot), ()))
        if isinstance(need, Title):
            return self._schema.relation(need.slot).title
        if isinstance(need, ComposerPart):
            composer = self._schema.terms.composer(need.functor)
            return {"make": composer, "known": composer.known.get, "parts": composer.parts.get}[need.part]
        assert isinstance(need, StaticIndex), need
        index = self.namespace[IndexCode(need.index).name](self._static)
        return index.get if isinstance(index, dict) else index
