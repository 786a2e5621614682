"""Diagnostics: errors, warnings and infos about a rule sheet, with places and advice.

Each loading stage collects diagnostics. An error makes the stage raise all diagnostics, sorted by place::

    sheet.kif:12:18: error[unbound-variable]: nothing binds ?x
       12 |     (not (bad ?x))
          |               ^~
      try: add a literal such as (true (cell ?x)) to the body
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass, replace
from enum import IntEnum
from typing import TYPE_CHECKING, Final

from anygame.errors import RuleSheetError
from anygame.language.forms import as_infix, form_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from anygame.language.source import Span


class Severity(IntEnum):
    """Severity of a diagnostic: INFO is less than WARNING, and WARNING is less than ERROR."""

    INFO = 1
    WARNING = 2
    ERROR = 3

    def __str__(self) -> str:
        return self.name.lower()


@dataclass(frozen=True, slots=True)
class Note:
    """A remark that belongs to a diagnostic, with or without a place."""

    message: str
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One error, warning or info.

    Attributes:
        code: the kind, such as ``unsafe-variable``; codes never change, so tools can rely on them.
        severity: error, warning or info.
        message: what is wrong, in one line.
        span: the place; None for the text as a whole.
        notes: related places.
        hint: advice, or empty.
        follows: whether another diagnostic reports the cause of this diagnostic.
    """

    code: str
    severity: Severity
    message: str
    span: Span | None = None
    notes: tuple[Note, ...] = ()
    hint: str = ""
    follows: bool = False

    def __post_init__(self) -> None:
        """If the sheet is infix, convert terms in the message, notes and hint to infix."""
        if self.span is None or form_of(self.span.source) != "infix":
            return
        text = self.span.source.text
        notes = tuple([replace(note, message=as_infix(note.message, text)) for note in self.notes])
        object.__setattr__(self, "message", as_infix(self.message, text))
        object.__setattr__(self, "notes", notes)
        object.__setattr__(self, "hint", as_infix(self.hint, text))

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
    """Return untrusted text for a message: one printable line of at most ``width`` characters."""
    if len(text) > width:
        text = text[: width - 3] + "..."
    return " ".join("".join(map(_printable, text)).split())


def counted(number: int, noun: str) -> str:
    """Return a number with a noun, in the plural if necessary.

    >>> counted(1, "move"), counted(2_000, "move"), counted(2, "try"), counted(0, "match"), counted(3, "play")
    ('1 move', '2,000 moves', '2 tries', '0 matches', '3 plays')
    """
    if number == 1:
        return f"1 {noun}"
    if noun[-1] == "y" and noun[-2] not in "aeiou":
        return f"{number:,} {noun[:-1]}ies"
    return f"{number:,} {noun}{'es' if noun.endswith(('s', 'sh', 'ch', 'x')) else 's'}"


def did_you_mean(near: Iterable[str], otherwise: str = "") -> str:
    """Return the end of an error message: the suggestions ``near``, or ``otherwise`` without suggestions.

    >>> did_you_mean(["chess", "checkers"]), did_you_mean([], "`games` lists them"), did_you_mean([])
    ('; did you mean chess or checkers?', '; `games` lists them', '')
    """
    suggestions = list(near)
    text = f"did you mean {' or '.join(suggestions)}?" if suggestions else otherwise
    return text and f"; {text}"


def _printable(character: str) -> str:
    return character if character.isprintable() or character.isspace() else "\N{REPLACEMENT CHARACTER}"


def _cells(text: str) -> str:
    """Return text for a terminal: blanks replace tabs, and U+FFFD replaces each unprintable character."""
    line, column = "", 0
    for character in text:
        cells = " " * (_TAB - column % _TAB) if character == "\t" else character
        cells = cells if cells.isprintable() else "\N{REPLACEMENT CHARACTER}"
        line += cells
        column += _width(cells)
    return line


def _width(text: str) -> int:
    return sum(
        0 if unicodedata.combining(character) else 2 if unicodedata.east_asian_width(character) in "WF" else 1
        for character in text
    )


def format_excerpt(span: Span, indent: str = "  ") -> str:
    """Return the source line of a span and, below it, a line that underlines the span: ``^~~~``.

    In a long line, ``...`` replaces the text far from the span. Only the first line of the span is shown.
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


def format_diagnostic(diagnostic: Diagnostic) -> str:
    """Return a diagnostic as lines of text: place and message, underlined source line, notes, hint."""
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
    line, mark = _line_and_mark(span)
    number = span.source.position(span.start)[0]
    return [f"{span.place}: {message}", f"{number:>{width}} | {line}".rstrip(), f"{'':>{width}} | {mark}"]


def format_diagnostics(diagnostics: Iterable[Diagnostic], limit: int = 50) -> str:
    """Return the ``limit`` most severe diagnostics as text, sorted by place, and the number omitted."""
    ordered = sorted(diagnostics)
    chosen = sorted(sorted(ordered, key=lambda diagnostic: -diagnostic.severity)[:limit])
    texts = [format_diagnostic(diagnostic) for diagnostic in chosen]
    if len(ordered) > len(chosen):
        texts.append(f"... and {len(ordered) - len(chosen)} more")
    return "\n".join(texts)


def raise_if_errors(
    diagnostics: Iterable[Diagnostic], kind: type[RuleSheetError] = RuleSheetError
) -> tuple[Diagnostic, ...]:
    """Return the diagnostics sorted by place, or raise all of them if any is an error.

    Raises:
        RuleSheetError: a diagnostic is an error; ``kind`` can be a subclass to raise. The message shows at
            most 50 diagnostics, and the attribute ``diagnostics`` contains all diagnostics.
    """
    ordered = tuple(sorted(diagnostics))
    if any(diagnostic.severity is Severity.ERROR for diagnostic in ordered):
        raise kind(format_diagnostics(ordered), ordered)
    return ordered
