"""Words between the rules that belong to none."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from anygame.doctor.code import GDL, Check, Code
from anygame.language.diagnostics import Severity, shown
from anygame.language.rules import KEYWORDS
from anygame.language.source import Span

if TYPE_CHECKING:
    from collections.abc import Iterator

    from anygame.doctor.sheet import Sheet
    from anygame.language.diagnostics import Diagnostic

_COMMENTS: Final = ("//", "#", "--", "/*", "%", '"""')
#: Words in other brackets: a fact of another language.
_BRACKETS: Final = re.compile(r"[\[{]([^\[\]{}]+)[\]}]")

_CODE: Final = Code(
    "stray-text",
    Severity.WARNING,
    "words between the rules that belong to none",
    demand="Between rules and facts stand comments only, which start with a semicolon.",
    why="A word alone is a fact, which says that it holds; where no rule asks about it, it was not meant so.",
    source=GDL,
    bad="// the end\n(<= terminal (true over))",
    good="; the end\n(<= terminal (true over))",
)


def _check(sheet: Sheet) -> Iterator[Diagnostic]:
    """Report words at the top level that no rule reads, those of one line together."""
    stray: Span | None = None
    for rule in sheet.program.rules:
        node, key = rule.node, rule.head.key
        if node is None or key[1] or rule.body or KEYWORDS.get(key[0]) == 0:
            continue
        if key in sheet.reads or node.children:
            continue
        if stray is not None and _follows(stray, node.span):
            stray = Span(stray.source, stray.start, node.end)
            continue
        if stray is not None:
            yield _found(stray)
        stray = node.span
    if stray is not None:
        yield _found(stray)


def _follows(before: Span, span: Span) -> bool:
    """Return whether a word stands on the same line as those before it, with nothing but blanks between."""
    between = before.source.text[before.end : span.start]
    return not between.strip(" \t")


def _found(span: Span) -> Diagnostic:
    text = span.text
    comment = next((mark for mark in _COMMENTS if text.startswith(mark)), None)
    if comment:
        message = f"`{comment}` starts no comment: these words are read as facts that no rule asks about"
        return _CODE.found(message, span, hint="a comment starts with a semicolon")
    if bracketed := _BRACKETS.fullmatch(text):
        message = f"{shown(text, 40)!r} stands in other brackets: it is read as words, not as a fact"
        return _CODE.found(message, span, hint=f"({bracketed[1].strip()})")
    words = len(text.split())
    what = f"{shown(text, 40)!r} stands" if words == 1 else f"{shown(text, 40)!r} stand"
    message = f"{what} between the rules as {'a fact' if words == 1 else 'facts'} that no rule asks about"
    hint = "leave it out, or start the line with a semicolon"
    return _CODE.found(message, span, hint=hint)


CHECKS: Final = (Check((_CODE,), _check),)
