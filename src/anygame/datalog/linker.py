"""Generated code at run time: one namespace, the objects that its names denote, and the agenda."""

from __future__ import annotations

from collections import defaultdict
from itertools import islice, repeat
from threading import RLock
from time import monotonic
from typing import TYPE_CHECKING, Any, Final

from anygame.datalog.source import Need, NeedKind, emit_index
from anygame.errors import LimitError
from anygame.language.diagnostics import format_excerpt

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from anygame.datalog.relations import FlatRule
    from anygame.datalog.schema import Frame, Index, Schema
    from anygame.datalog.source import Source
    from anygame.datalog.strategy import Strategy
    from anygame.language.limits import Limits


class Linker:
    """Compiles sources into functions.

    Attributes:
        namespace: the globals of all generated code.
        tables: the tables whose code is linked; removing one causes its code to be generated again.
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
        """Return a source with those of all unlinked tables that it queries, directly or indirectly.

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
        """Define the functions of some sources and their needs."""
        needs: dict[Need, None] = {}
        for source in sources:
            self._define(source)
            needs |= dict.fromkeys(source.needs)
        for need in needs:
            if need.kind is NeedKind.INDEX_CODE and need.name not in self.namespace:
                self._define(emit_index(need.of))
        for need in needs:
            # Constants and code of indexes never change.
            if need.name not in self.namespace and need.kind is not NeedKind.STATIC_TABLE:
                self.namespace[need.name] = self._constant(need)
        for need in needs:
            # Making a table requires the facts and indexes of its code.
            if need.kind is NeedKind.STATIC_TABLE and need.name not in self.namespace:
                self.namespace[need.name] = self.table(need.of)(self._static)
        # At the end, so that an interrupted call is repeated.
        self.tables.update(source.table for source in sources if source.table is not None)

    def function(self, source: Source) -> Callable[[Frame], None]:
        """Return the function of a linked source."""
        found: Callable[[Frame], None] = self.namespace[source.name]
        return found

    def table(self, index: Index) -> Callable[[Frame], Callable[[Any], Any]]:
        """Return the function that makes a table in a frame; its code is linked."""
        found: Callable[[Frame], Callable[[Any], Any]] = self.namespace[Need(NeedKind.TABLE_CODE, index).name]
        return found

    def _define(self, source: Source) -> None:
        exec(compile(source.text, f"<{source.name}>", "exec"), self.namespace)

    def _constant(self, need: Need) -> object:
        schema = self._schema
        match need.kind:
            case NeedKind.STATIC_ROWS:
                return self._static[need.of]
            case NeedKind.FACTS:
                return frozenset(schema.facts.get(schema.relation(need.of), ()))
            case NeedKind.TITLE:
                return schema.relation(need.of).title
            case NeedKind.STATIC_INDEX:
                index = self.namespace[Need(NeedKind.INDEX_CODE, need.of).name](self._static)
                return index.get if isinstance(index, dict) else index
        composer = schema.terms.composer(list(schema.functors)[need.of])
        parts = {
            NeedKind.MAKE: composer,
            NeedKind.KNOWN: composer.known.get,
            NeedKind.PARTS: composer.parts.get,
        }
        return parts[need.kind]


class Agenda:
    """The keys of one recursive component that are in progress in one frame.

    A large relation of which few rows are requested is not computed as a whole. A *look-up* computes the
    answer for one key from the rules, with the columns of the key bound, and caches it in the frame (tabling;
    bottom-up, this is magic sets). For recursive relations, an *agenda* repeats all keys in progress until
    nothing new appears (iterated query-subquery, Vieille 1986), which is complete for any cycles in the data.

    Args:
        nesting: depth of nested questions; deeper ones wait for the next round.
    """

    __slots__ = ("_depth", "_lock", "_nesting", "_partial", "_under_way")

    def __init__(self, nesting: int) -> None:
        self._nesting = nesting
        self._lock = RLock()
        self._under_way: dict[tuple[Any, Any], tuple[set[Any], dict[Any, Any]]] = {}
        self._partial = False
        self._depth = 0

    def ask(self, rules: Callable[[Any, set[Any]], None], table: dict[Any, Any], key: Any) -> Any:
        """Return the rows of a key: all of them outside of a cycle, those found so far inside."""
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


_ADVICE: Final = {
    "facts": "split the rule, bind more of its variables, or load the game with a larger Limits(facts=...)",
    "depth": "let the recursion end: count with constants (succ 1 2) or bound what it builds on",
    "size": "let the recursion end: terms that hold another one twice double in size with each round",
    "text": "let rules pass on constants that represent large terms, not the terms",
    "terms": "let the recursion end: count with constants (succ 1 2) or bound what it builds on",
    "steps": "split the rule that joins most, or load the game with a larger Limits(steps=...)",
    "seconds": "split the rule that joins most, or load the game with a larger Limits(seconds=...)",
}
#: Maximum number of rules of a relation that an error quotes.
_MOST_QUOTED: Final = 3


class TooCostly(Exception):  # noqa: N818  (a signal from here to the engine)
    """A trial exceeded its budget."""


class Guard:
    """Counts the work of generated code and stops it at the limits.

    Generated code calls ``next(tick)`` in long loops and ``grow`` for large sets; on trial it calls
    ``try_tick`` and ``try_grow``.
    """

    def __init__(self, limits: Limits, strategy: Strategy, namespace: dict[str, Any]) -> None:
        self._limits = limits
        self._strategy = strategy
        self._namespace = namespace
        self._deadline = 0.0
        self._steps_left = limits.steps
        self._trial_rows = 0
        namespace["grow"] = self._grow
        namespace["try_grow"] = self._try_grow
        namespace["tick"] = self._ticks()
        namespace["MOST"] = limits.facts
        namespace["too_many"] = self._too_many

    def start_question(self) -> None:
        """Reset the counters for a new question."""
        self._deadline = 0.0
        self._steps_left = self._limits.steps

    def start_trial(self, iterations: int, rows: int) -> None:
        """Start a trial: raise ``TooCostly`` after this many iterations or rows."""
        self._trial_rows = rows
        self._namespace["try_tick"] = _budgeted(iterations)

    def _ticks(self) -> Iterator[bool]:
        while True:
            self._spend(self._strategy.ticks)
            yield from repeat(True, self._strategy.ticks)

    def _spend(self, steps: int) -> None:
        self._steps_left -= steps
        seconds = self._limits.seconds
        if self._deadline == 0.0:
            self._deadline = monotonic() + seconds
        if self._steps_left >= 0 and monotonic() <= self._deadline:
            return
        # A generator that raised cannot be resumed.
        is_late = self._steps_left >= 0
        self.start_question()
        self._namespace["tick"] = self._ticks()
        if is_late:
            raise LimitError(f"no answer within {seconds:g} seconds", limit="seconds", bound=seconds)
        steps = self._limits.steps
        raise LimitError(f"no answer within {steps:,} steps", limit="steps", bound=steps)

    def _grow(self, rows: set[Any], more: Iterator[Any], name: str) -> None:
        wide = self._strategy.wide
        self._spend(0)
        while chunk := list(islice(more, min(self._limits.facts + 1, self._strategy.chunk))):
            rows.update(chunk)
            if len(rows) > self._limits.facts:
                self._too_many(name)
            elif isinstance(chunk[0], tuple) and len(chunk[0]) > wide:
                most = self._limits.facts * wide // len(chunk[0])
                if len(rows) > most:
                    raise _grown_past(most, name)

    def _try_grow(self, rows: set[Any], more: Iterator[Any], _name: str) -> None:
        while chunk := list(islice(more, self._trial_rows + 1)):
            rows.update(chunk)
            if len(rows) > self._trial_rows:
                raise TooCostly

    def _too_many(self, name: str, on_trial: bool = False) -> None:
        """Raise the error for a relation (name/arity) with too many rows."""
        raise TooCostly if on_trial else _grown_past(self._limits.facts, name)


def _grown_past(most: int, name: str) -> LimitError:
    return LimitError(f"relation {name} grew past {most} facts", limit="facts", bound=most, relation=name)


def blame(
    error: LimitError, running: Sequence[FlatRule], rules_of: Callable[[str], list[FlatRule]]
) -> LimitError:
    """Return the error with the places of the responsible rules and advice."""
    relation = error.relation
    if relation is None:
        relation = running[0].head.relation.title
    rules = rules_of(relation) or running
    spans = list(dict.fromkeys(rule.origin.span for rule in rules if rule.origin.body and rule.origin.span))
    lines = [f"{span.place}: a rule of {relation}\n{format_excerpt(span)}" for span in spans[:_MOST_QUOTED]]
    if len(spans) > _MOST_QUOTED:
        lines.append(f"... and {len(spans) - _MOST_QUOTED} more rules of {relation}")
    lines.append(f"  try: {_ADVICE.get(error.limit, 'simplify the rule')}")
    return LimitError(error.message, error.limit, error.bound, relation, "\n".join(lines))


def _budgeted(iterations: int) -> Iterator[bool]:
    yield from repeat(True, iterations)
    raise TooCostly
