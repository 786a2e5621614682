"""Generated code at run time: compiled functions, tables of recursive relations, and limits on work."""

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
    """Compiles sources into functions."""

    def __init__(self, schema: Schema, static: Frame) -> None:
        self._schema = schema
        self._static = static
        #: The on-demand tables whose code is compiled.
        self.tables: set[Index] = set()
        #: The globals of all generated code.
        self.namespace: dict[str, Any] = {
            "Agenda": Agenda,
            "DEPTHS": schema.terms.depths,
            "EMPTY": frozenset(),
            "UNIT": frozenset({()}),
            "defaultdict": defaultdict,
        }

    def closure(self, source: Source, source_of_table: Callable[[Index], Source]) -> list[Source]:
        """Return a source and the sources of all uncompiled tables that the source queries, also indirectly.

        The search stops after the first source that needs all rows of an on-demand relation.
        """
        sources = [source]
        seen = {source.table, *self.tables}
        pending = [source]
        while pending and sources[-1].missing is None:
            for index in pending.pop().tables:
                if index not in seen:
                    seen.add(index)
                    sources.append(source_of_table(index))
                    pending.append(sources[-1])
                    if sources[-1].missing is not None:
                        break
        return sources

    def link(self, sources: Sequence[Source]) -> Callable[[Frame], None]:
        """Define the functions of the sources, and all objects that they need; return the first function."""
        needs: dict[Need, None] = {}
        for source in sources:
            self._define(source)
            needs |= dict.fromkeys(source.needs)
        for need in needs:
            if need.kind is NeedKind.INDEX_CODE and need.name not in self.namespace:
                self._define(emit_index(need.of))
        for need in needs:
            # Existing constants, and the code of existing indexes, remain valid.
            if need.name not in self.namespace and need.kind is not NeedKind.STATIC_TABLE:
                self.namespace[need.name] = self._constant(need)
        for need in needs:
            # The code of a table needs facts and indexes, so tables are created after facts and indexes.
            if need.kind is NeedKind.STATIC_TABLE and need.name not in self.namespace:
                self.namespace[need.name] = self.table(need.of)(self._static)
        # Tables are marked as linked last, so that a call after an interruption links all of them again.
        self.tables.update(source.table for source in sources if source.table is not None)
        function: Callable[[Frame], None] = self.namespace[sources[0].name]
        return function

    def table(self, index: Index) -> Callable[[Frame], Callable[[Any], Any]]:
        """Return the compiled function that creates a table in a frame."""
        make: Callable[[Frame], Callable[[Any], Any]] = self.namespace[Need(NeedKind.TABLE_CODE, index).name]
        return make

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
        if need.kind is NeedKind.MAKE:
            return composer
        return composer.known.get if need.kind is NeedKind.KNOWN else composer.parts.get


class Agenda:
    """The keys for which the rows of a recursive component are being computed in one frame.

    An on-demand relation is not computed as a whole. A *look-up* computes only the rows of one key: it
    evaluates the rules with the columns of the key bound, and caches the rows in the frame. This technique is
    tabling; magic sets are its bottom-up counterpart. For a recursive relation, the *agenda* repeats the
    rules for all keys in progress until the rules derive no new row (iterated query-subquery, Vieille 1986).
    The result is complete even if the data have cycles.

    Args:
        nesting: maximum depth of nested questions; deeper questions wait for the next round.
    """

    __slots__ = ("_depth", "_in_progress", "_lock", "_nesting", "_partial")

    def __init__(self, nesting: int) -> None:
        self._nesting = nesting
        self._lock = RLock()
        self._in_progress: dict[tuple[Any, Any], tuple[set[Any], dict[Any, Any]]] = {}
        self._partial = False
        self._depth = 0

    def ask(self, rules: Callable[[Any, set[Any]], None], table: dict[Any, Any], key: Any) -> Any:
        """Return the rows of a key.

        An outermost question gets all rows. A nested question gets the rows that have been derived so far.
        """
        with self._lock:
            return self._ask(rules, table, key)

    def _ask(self, rules: Callable[[Any, set[Any]], None], table: dict[Any, Any], key: Any) -> Any:
        entry = self._in_progress.get((rules, key))
        if entry is not None:
            self._partial = True
            return frozenset(entry[0])
        rows: set[Any] = set()
        self._in_progress[rules, key] = rows, table
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
                for (rules_of_key, other_key), (its_rows, _) in list(self._in_progress.items()):
                    rules_of_key(other_key, its_rows)
                if self._size() == before:
                    break
            for (_, other_key), (its_rows, its_table) in self._in_progress.items():
                its_table[other_key] = its_rows
        finally:
            self._in_progress.clear()
            self._partial = False
            self._depth = 0
        return rows

    def _size(self) -> int:
        return len(self._in_progress) + sum(len(rows) for rows, _ in self._in_progress.values())


_ADVICE: Final = {
    "facts": "split the rule, bind more of its variables, or load the game with a larger Limits(facts=...)",
    "depth": "let the recursion end: count with facts such as (succ 1 2), or limit the size of the terms",
    "size": "let the recursion end: the rule uses a term twice, so the terms double in size in each round",
    "text": "replace the large terms in rules with constants",
    "terms": "let the recursion end: count with facts such as (succ 1 2), or limit the size of the terms",
    "steps": "split the rule that joins the most rows, or load the game with a larger Limits(steps=...)",
    "seconds": "split the rule that joins the most rows, or load the game with a larger Limits(seconds=...)",
}
#: Maximum number of rules of a relation that an error quotes.
_MOST_QUOTED: Final = 3


class TooCostly(Exception):  # noqa: N818  (the engine always catches it)
    """A trial exceeded its limit on iterations or rows."""


class Guard:
    """Counts the work of generated code, and raises an error if the work exceeds a limit.

    Generated code calls ``next(tick)`` in long loops, and ``grow`` to extend large sets. During a trial, the
    code uses ``try_tick`` and ``try_grow`` instead.
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
        """Reset the limits on steps and time for a new question."""
        self._deadline = 0.0
        self._steps_left = self._limits.steps

    def start_trial(self, iterations: int, rows: int) -> None:
        """Start a trial, in which generated code raises ``TooCostly`` after this many iterations or rows."""

        def tick() -> Iterator[bool]:
            yield from repeat(True, iterations)
            raise TooCostly

        self._trial_rows = rows
        self._namespace["try_tick"] = tick()

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
        # A generator that raised an error cannot be resumed, so the guard makes a new generator.
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
            most = self._limits.facts
            if isinstance(chunk[0], tuple) and len(chunk[0]) > wide and len(rows) <= most:
                most = most * wide // len(chunk[0])
            if len(rows) > most:
                raise _too_many_facts(most, name)

    def _try_grow(self, rows: set[Any], more: Iterator[Any], _name: str) -> None:
        while chunk := list(islice(more, self._trial_rows + 1)):
            rows.update(chunk)
            if len(rows) > self._trial_rows:
                raise TooCostly

    def _too_many(self, name: str, on_trial: bool = False) -> None:
        raise TooCostly if on_trial else _too_many_facts(self._limits.facts, name)


def _too_many_facts(most: int, name: str) -> LimitError:
    return LimitError(f"relation {name} has more than {most} facts", limit="facts", bound=most, relation=name)


def blame(
    error: LimitError, running: Sequence[FlatRule], rules_of: Callable[[str], list[FlatRule]]
) -> LimitError:
    """Return an error with advice, and with the places of the rules that caused the error."""
    relation = running[0].head.relation.title if error.relation is None else error.relation
    rules = rules_of(relation) or running
    spans = list(dict.fromkeys(rule.origin.span for rule in rules if rule.origin.body and rule.origin.span))
    lines = [f"{span.place}: a rule of {relation}\n{format_excerpt(span)}" for span in spans[:_MOST_QUOTED]]
    if len(spans) > _MOST_QUOTED:
        lines.append(f"... and {len(spans) - _MOST_QUOTED} more rules of {relation}")
    lines.append(f"  try: {_ADVICE.get(error.limit, 'simplify the rule')}")
    return LimitError(error.message, error.limit, error.bound, relation, "\n".join(lines))
