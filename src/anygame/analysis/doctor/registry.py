"""The checks of a rule sheet: each has a code and a severity, and yields diagnostics."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from anygame.language.diagnostics import Diagnostic, Note, Severity, register_codes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from anygame.analysis.doctor.sheet import Sheet
    from anygame.language.source import Span

    CheckFunction = Callable[[Sheet], Iterable[Diagnostic]]

__all__ = ["CHECKS", "SEVERITIES", "Check", "check", "define", "found", "run_checks"]

#: Diagnostics of one check that are kept; a sheet that has more of one kind has one fault, many times.
_MOST_OF_A_KIND: Final = 200


@dataclass(frozen=True, slots=True)
class Check:
    """A check: a function of a sheet.

    Attributes:
        code: the kind of what it yields first of all; others are defined beside it.
        function: yields the diagnostics.
        needs_all: whether it makes sense only where all rules could be read.
    """

    code: str
    function: CheckFunction
    needs_all: bool


#: All checks, in the order in which they run.
CHECKS: Final[list[Check]] = []
#: The severity of each code of the checks.
SEVERITIES: Final[dict[str, Severity]] = {}


def define(code: str, severity: Severity, title: str) -> None:
    """Make a code known."""
    register_codes({code: title})
    SEVERITIES[code] = severity


def check(
    code: str, severity: Severity, title: str, *, needs_all: bool = True
) -> Callable[[CheckFunction], CheckFunction]:
    """Return a decorator that makes a function a check and its code known."""
    define(code, severity, title)

    def register(function: CheckFunction) -> CheckFunction:
        CHECKS.append(Check(code, function, needs_all))
        return function

    return register


def found(code: str, message: str, span: Span | None, *notes: Note, hint: str = "") -> Diagnostic:
    """Return a diagnostic of a check, with the severity of its code."""
    return Diagnostic(code, SEVERITIES[code], message, span, notes, hint)


def run_checks(sheet: Sheet, *, complete: bool = True) -> Iterator[Diagnostic]:
    """Yield what all checks find; without those that need all rules where some could not be read."""
    for each in CHECKS:
        if complete or not each.needs_all:
            yield from _bounded(each.function(sheet))


def _bounded(diagnostics: Iterable[Diagnostic]) -> Iterator[Diagnostic]:
    """Yield diagnostics up to the bound; the last one then says that there are more."""
    last: Diagnostic | None = None
    for number, diagnostic in enumerate(diagnostics, 1):
        if number > _MOST_OF_A_KIND:
            assert last is not None
            yield replace(last, notes=(*last.notes, Note("... and more of this kind after this one")))
            return
        if last is not None:
            yield last
        last = diagnostic
    if last is not None:
        yield last
