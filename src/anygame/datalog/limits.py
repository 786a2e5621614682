"""The guard that watches the bounds of a game inside generated code."""

from __future__ import annotations

from itertools import islice, repeat
from time import monotonic
from typing import TYPE_CHECKING, Any

from anygame.errors import LimitError
from anygame.language.diagnostics import format_excerpt

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from anygame.datalog.relations import FlatRule
    from anygame.language.limits import Limits

__all__ = ["Guard", "TooCostly", "blame"]

_ADVICE = {
    "facts": "split the rule, bind more of its variables, or load the game with a larger Limits(facts=...)",
    "depth": "let the recursion end: count with constants (succ 1 2) or bound what it builds on",
    "size": "let the recursion end: terms that hold another one twice double in size with each round",
    "text": "let rules hand on what large terms stand for, not the terms",
    "terms": "let the recursion end: count with constants (succ 1 2) or bound what it builds on",
    "seconds": "split the rule that joins most, or load the game with a larger Limits(seconds=...)",
}
_MOST_PLACES = 3

_TICKS_BETWEEN_LOOKS_AT_THE_CLOCK = 5000
_CHUNK = 50_000
#: Columns beyond which a row counts for more than one.
_WIDE = 20


class TooCostly(Exception):  # noqa: N818  (a signal between this module and the compiler)
    """A trial went past its budget."""


class Guard:
    """Counts what generated code does and stops it at the bounds.

    Generated code calls ``next(tick)`` in loops that may be long, and ``grow`` for sets that may be large;
    ``try_tick`` and ``try_grow`` while it is on trial.

    Args:
        limits: the bounds.
        namespace: the globals of the generated code; the guard keeps its names in there.
    """

    def __init__(self, limits: Limits, namespace: dict[str, Any]) -> None:
        self._limits = limits
        self._namespace = namespace
        self._deadline = 0.0
        self._trial_rows = 0
        namespace["grow"] = self._grow
        namespace["try_grow"] = self._try_grow
        namespace["tick"] = self._ticks()

    def start_question(self) -> None:
        """Let the time for one question begin anew, with its next tick."""
        self._deadline = 0.0

    def start_trial(self, iterations: int, rows: int) -> None:
        """Raise ``TooCostly`` after so many iterations or rows of what is on trial."""
        self._trial_rows = rows
        self._namespace["try_tick"] = _budgeted(iterations)

    def _ticks(self) -> Iterator[bool]:
        while True:
            if self._deadline == 0.0:
                self._deadline = monotonic() + self._limits.seconds
            elif monotonic() > self._deadline:
                # A generator that raised is spent: the next question needs a fresh one.
                self._deadline = 0.0
                self._namespace["tick"] = self._ticks()
                seconds = self._limits.seconds
                raise LimitError(f"no answer within {seconds:g} seconds", limit="seconds", bound=seconds)
            yield from repeat(True, _TICKS_BETWEEN_LOOKS_AT_THE_CLOCK)

    def _grow(self, rows: set[Any], more: Iterator[Any], name: str) -> None:
        while chunk := list(islice(more, min(self._limits.facts + 1, _CHUNK))):
            rows.update(chunk)
            if len(rows) > self._limits.facts:
                self.stop(name)
            elif isinstance(chunk[0], tuple) and len(chunk[0]) > _WIDE:
                most = self._limits.facts * _WIDE // len(chunk[0])
                if len(rows) > most:
                    self.stop(name, most)

    def _try_grow(self, rows: set[Any], more: Iterator[Any], _name: str) -> None:
        while chunk := list(islice(more, self._trial_rows + 1)):
            rows.update(chunk)
            if len(rows) > self._trial_rows:
                raise TooCostly

    def stop(self, name: str, most: int | None = None) -> None:
        """Raise the error for a relation, given as name/arity, that has more rows than it may have."""
        bound = self._limits.facts if most is None else most
        raise LimitError(
            f"relation {name} grew past {bound} facts",
            limit="facts",
            bound=bound,
            relation=name,
        )


def blame(
    error: LimitError, running: Sequence[FlatRule], rules_of: Callable[[str], list[FlatRule]]
) -> LimitError:
    """Return the error again, with the places of the rules that are to blame and what to try.

    Args:
        error: as raised.
        running: the rules that were being evaluated.
        rules_of: the rules of a relation given as name/arity.
    """
    relation = error.relation
    if relation is None:
        head = running[0].head.relation
        relation = f"{head.predicate}/{len(head.shapes)}"
    rules = rules_of(relation) or running
    spans = list(dict.fromkeys(rule.origin.span for rule in rules if rule.origin.body and rule.origin.span))
    lines = [f"{span.place}: a rule of {relation}\n{format_excerpt(span)}" for span in spans[:_MOST_PLACES]]
    if len(spans) > _MOST_PLACES:
        lines.append(f"... and {len(spans) - _MOST_PLACES} more rules of {relation}")
    lines.append(f"  try: {_ADVICE.get(error.limit, 'simplify the rule')}")
    return LimitError(error.message, error.limit, error.bound, relation, "\n".join(lines))


def _budgeted(iterations: int) -> Iterator[bool]:
    yield from repeat(True, iterations)
    raise TooCostly
