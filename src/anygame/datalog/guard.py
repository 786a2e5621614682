"""The guard that watches the bounds of a game inside generated code."""

from __future__ import annotations

from itertools import islice, repeat
from time import monotonic
from typing import TYPE_CHECKING, Any, Final

from anygame.errors import LimitError
from anygame.language.diagnostics import format_excerpt

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from anygame.datalog.relations import FlatRule
    from anygame.datalog.strategy import Strategy
    from anygame.language.limits import Limits

_ADVICE: Final = {
    "facts": "split the rule, bind more of its variables, or load the game with a larger Limits(facts=...)",
    "depth": "let the recursion end: count with constants (succ 1 2) or bound what it builds on",
    "size": "let the recursion end: terms that hold another one twice double in size with each round",
    "text": "let rules hand on what large terms stand for, not the terms",
    "terms": "let the recursion end: count with constants (succ 1 2) or bound what it builds on",
    "steps": "split the rule that joins most, or load the game with a larger Limits(steps=...)",
    "seconds": "split the rule that joins most, or load the game with a larger Limits(seconds=...)",
}
#: Rules of a relation that an error quotes; more would hide what it says.
_MOST_QUOTED: Final = 3


class TooCostly(Exception):  # noqa: N818  (a signal from here to the engine)
    """A trial went past its budget."""


class Guard:
    """Counts what generated code does and stops it at the bounds.

    Generated code calls ``next(tick)`` in loops that may be long, and ``grow`` for sets that may be large;
    ``try_tick`` and ``try_grow`` while it is on trial.

    Args:
        limits: the bounds.
        strategy: how often they are looked at.
        namespace: the globals of the generated code; the guard has its names in there.
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
        """Let what one question may take begin anew, with its next tick."""
        self._deadline = 0.0
        self._steps_left = self._limits.steps

    def start_trial(self, iterations: int, rows: int) -> None:
        """Raise ``TooCostly`` after so many iterations or rows of what is on trial."""
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
        # A generator that raised is spent: the next question needs a fresh one.
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
        """Raise the error for a relation, given as name/arity, that has more rows than it may have."""
        raise TooCostly if on_trial else _grown_past(self._limits.facts, name)


def _grown_past(most: int, name: str) -> LimitError:
    return LimitError(f"relation {name} grew past {most} facts", limit="facts", bound=most, relation=name)


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
