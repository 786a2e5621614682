"""Diagnostics: what is wrong or odd in a rule sheet, where, and what to try.

Diagnostics are values. A stage collects all it finds, sorts them by place, and only then gives up::

    sheet.kif:12:18: error[unbound-variable]: nothing binds ?x
       12 |     (not (bad ?x))
          |               ^~
      try: add a literal such as (true (cell ?x)) to the body
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING, Final

from anygame.errors import RuleSheetError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from anygame.language.source import Span

__all__ = [
    "CODES",
    "Diagnostic",
    "Note",
    "Severity",
    "format_diagnostic",
    "format_diagnostics",
    "format_excerpt",
    "raise_if_errors",
    "register_codes",
    "shown",
]

#: Every code with what it means. A later stage adds its own with `register_codes`.
CODES: Final[dict[str, str]] = {
    # the text
    "bad-encoding": "the file is not UTF-8 text",
    "control-character": "a character that cannot be part of a rule sheet",
    "too-deep": "lists are nested deeper than the limit",
    "too-large": "the text has more characters or tokens than the limit",
    "too-many-problems": "reading stopped, since nearly everything is wrong",
    "token-too-long": "a single token is longer than the limit",
    "unclosed-list": "an opening parenthesis has no closing one",
    "unexpected-close": "a closing parenthesis has no opening one",
    # the structure
    "and-formula": "`and` is KIF but not GDL",
    "bad-head": "something other than a sentence stands as the head of a rule or as a fact",
    "derived-role": "a rule, not a fact, declares roles",
    "empty-body": "a rule without a body",
    "empty-list": "a list with nothing in it",
    "empty-or": "a disjunction of nothing, which is false",
    "empty-variable": "a question mark without a name",
    "formula-arity": "`not`, `and`, `distinct` or `<=` with a wrong number of parts",
    "keyword-arity": "a keyword with a wrong number of arguments",
    "keyword-in-term": "a keyword inside a term, where it has no meaning",
    "list-as-name": "a list stands where a name belongs",
    "no-role": "no fact declares a role",
    "old-declaration": "a `base` or `input` sentence of an older style, which is ignored",
    "state-in-head": "`true` or `does` is stated or concluded",
    "stray-rule": "`<=` stands elsewhere than at the start of a rule",
    "too-many-arguments": "a sentence or term has more arguments than the limit",
    "variable-as-name": "a variable stands where a relation or function belongs",
    "variable-in-fact": "a fact has variables",
    "variable-sentence": "a variable stands where a sentence belongs",
    "zero-arity": "parentheses round a single name",
}


def register_codes(codes: Mapping[str, str]) -> None:
    """Add a stage's codes to the table. Raises ValueError when a code is taken with another meaning."""
    for code, description in codes.items():
        if CODES.setdefault(code, description) != description:
            raise ValueError(f"the diagnostic code {code!r} is taken: {CODES[code]}")


class Severity(IntEnum):
    """How bad it is; errors compare greatest."""

    INFO = 1
    WARNING = 2
    ERROR = 3

    def __str__(self) -> str:
        return self.name.lower()


@dataclass(frozen=True, slots=True)
class Note:
    """A remark that belongs to a diagnostic, with a place of its own or none."""

    message: str
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One fault or oddity.

    Attributes:
        code: its kind, a key of `CODES`; stable, so that tools can rely on it.
        severity: how bad it is.
        message: what was expected and what was found, one line.
        span: where; None where the text as a whole is meant.
        notes: other places that have to do with it.
        hint: what to try, or empty.
    """

    code: str
    severity: Severity
    message: str
    span: Span | None = None
    notes: tuple[Note, ...] = ()
    hint: str = ""

    def __post_init__(self) -> None:
        if self.code not in CODES:
            raise ValueError(f"unknown diagnostic code {self.code!r}: add it with register_codes")

    def __lt__(self, other: object) -> bool:
        return self._sort_key < other._sort_key if isinstance(other, Diagnostic) else NotImplemented

    @property
    def _sort_key(self) -> tuple[str, int, int, int, str, str]:
        name, start, end = (
            (self.span.source.name, self.span.start, self.span.end) if self.span else ("", 0, 0)
        )
        return name, start, end, -self.severity, self.code, self.message

    def __str__(self) -> str:
        return format_diagnostic(self)


_LONG: Final = 200
_WINDOW: Final = 100
_TAB: Final = 4


def shown(text: str, width: int = 60) -> str:
    """Return a piece of a stranger's text as it may stand in a message: short, and printable throughout."""
    if len(text) > width:
        text = text[: width - 3] + "..."
    return " ".join("".join(map(_printable, text)).split())


def _printable(character: str) -> str:
    return character if character.isprintable() or character.isspace() else "\N{REPLACEMENT CHARACTER}"


def _cells(text: str) -> str:
    """Return text for a terminal: tabs become blanks, and what does not print a replacement character."""
    cells = []
    column = 0
    for character in text:
        if character == "\t":
            drawn = " " * (_TAB - column % _TAB)
        else:
            drawn = character if character.isprintable() else "\N{REPLACEMENT CHARACTER}"
        cells.append(drawn)
        column += _width(drawn)
    return "".join(cells)


def _width(text: str) -> int:
    return sum(
        0 if unicodedata.combining(character) else 2 if unicodedata.east_asian_width(character) in "WF" else 1
        for character in text
    )


def format_excerpt(span: Span, indent: str = "  ") -> str:
    """Return the source line of a span and, below it, a line that underlines the span: ``^~~~``.

    Of a long line only the surroundings of the span are shown, between ``...``; of a span over several
    lines only the first is underlined.
    """
    line, mark = _line_and_mark(span)
    return f"{indent}{line}\n{indent}{mark}".rstrip()


def _line_and_mark(span: Span) -> tuple[str, str]:
    text = span.source.text
    first, last = span.source.line_bounds(span.source.position(span.start)[0])
    left, right = first, last
    if last - first > _LONG:
        left = min(max(first, span.start - _WINDOW // 2), last - _WINDOW)
        right = left + _WINDOW
    end = span.start + len(text[span.start : min(span.end, right)].rstrip())
    before = ("..." if left > first else "") + text[left : span.start]
    upto = _cells(before + text[span.start : end])
    blank = _width(_cells(before))
    mark = " " * blank + "^" + "~" * (_width(upto) - blank - 1)
    return _cells(before + text[span.start : right]).rstrip() + ("..." if right < last else ""), mark


def _gutter_excerpt(span: Span, width: int) -> list[str]:
    line, mark = _line_and_mark(span)
    number = span.source.position(span.start)[0]
    return [f"{number:>{width}} | {line}".rstrip(), f"{'':>{width}} | {mark}"]


def format_diagnostic(diagnostic: Diagnostic) -> str:
    """Return a diagnostic as several lines of text: place and message, source line and caret, notes, hint."""
    spans = [span for span in (diagnostic.span, *(note.span for note in diagnostic.notes)) if span]
    width = max(5, *(2 + len(str(span.source.position(span.start)[0])) for span in spans)) if spans else 5
    head = f"{diagnostic.severity}[{diagnostic.code}]: {diagnostic.message}"
    lines = _placed(head, diagnostic.span, width)
    for note in diagnostic.notes:
        lines += _placed(f"note: {note.message}", note.span, width)
    if diagnostic.hint:
        lines.append(f"  try: {diagnostic.hint}")
    return "\n".join(lines)


def _placed(message: str, span: Span | None, width: int) -> list[str]:
    if span is None:
        return [message]
    return [f"{span.place}: {message}", *_gutter_excerpt(span, width)]


def format_diagnostics(diagnostics: Iterable[Diagnostic], limit: int = 50) -> str:
    """Return diagnostics as text, sorted by place; what the limit leaves out is counted, errors last."""
    every = sorted(diagnostics)
    chosen = sorted(sorted(every, key=lambda diagnostic: -diagnostic.severity)[:limit])
    texts = [format_diagnostic(diagnostic) for diagnostic in chosen]
    if len(every) > len(chosen):
        texts.append(f"... and {len(every) - len(chosen)} more")
    return "\n".join(texts)


def raise_if_errors(
    diagnostics: Iterable[Diagnostic], kind: type[RuleSheetError] = RuleSheetError
) -> tuple[Diagnostic, ...]:
    """Return the diagnostics sorted by place, or raise them all when one is an error.

    Raises:
        RuleSheetError: (or the kind asked for) its text shows the first 50, and its
            attribute ``diagnostics`` has them all.
    """
    every = tuple(sorted(diagnostics))
    if any(diagnostic.severity is Severity.ERROR for diagnostic in every):
        raise kind(format_diagnostics(every), every)
    return every
