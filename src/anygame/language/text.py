"""Reads files, and checks the limits, characters and parentheses of texts before parsing."""

from __future__ import annotations

import codecs
import re
from dataclasses import replace
from itertools import islice, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Final

from anygame.errors import RuleSheetError, SheetSyntaxError
from anygame.language.diagnostics import Diagnostic, Note, Severity, format_diagnostic, shown
from anygame.language.limits import ReadingLimits
from anygame.language.source import Source, Span

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator, Sequence


def read_source(path: str | os.PathLike[str], limits: ReadingLimits | None = None) -> Source:
    """Read a file of UTF-8 text, with or without a byte order mark.

    Raises:
        RuleSheetError: the file cannot be opened or read.
        SheetSyntaxError: the file is too large, or is not UTF-8 text.
    """
    limits = limits or ReadingLimits()
    name = str(path)
    try:
        with Path(path).open("rb") as file:
            data = file.read(limits.bytes + 1)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise RuleSheetError(f"cannot read {shown(name, 200)}: {reason}") from error
    if len(data) > limits.bytes:
        raise SheetSyntaxError(*_only(too_large(Source(name, ""), limits)))
    try:
        text = data.removeprefix(codecs.BOM_UTF8).decode()
    except UnicodeDecodeError as error:
        bom = len(data) - len(data.removeprefix(codecs.BOM_UTF8))
        raise SheetSyntaxError(*_only(_undecodable(name, data, error.start + bom))) from None
    if "\0" in text:
        raise SheetSyntaxError(*_only(_undecodable(name, data, data.index(b"\0"))))
    return Source(name, text)


def _only(diagnostic: Diagnostic) -> tuple[str, tuple[Diagnostic]]:
    return format_diagnostic(diagnostic), (diagnostic,)


def _undecodable(name: str, data: bytes, offset: int) -> Diagnostic:
    line = data.count(b"\n", 0, offset) + 1
    message = (
        f"{shown(name, 200)} is not UTF-8 text: byte {data[offset]:#04x} at offset {offset} (line {line})"
    )
    hint = "save the file as UTF-8"
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        hint += "; it looks like UTF-16"
    elif data[offset] == 0:
        hint = "give the path of a rule sheet, which is a plain-text file"
    return Diagnostic("bad-encoding", Severity.ERROR, message, hint=hint)


def too_large(source: Source, limits: ReadingLimits, what: str = "") -> Diagnostic:
    """Return the diagnostic of a text that exceeds a limit, by default the limit on bytes."""
    what = what or f"{limits.bytes:,} bytes"
    message = f"{shown(source.name, 200)} has more than {what}, the limit"
    return Diagnostic("too-large", Severity.ERROR, message)


_LEXEME: Final = re.compile(r"[()]|[^\s();]+|;[^\r\n]*")
_NOT_TEXT: Final = re.compile("[\0-\x08\x0e-\x1b\x7f\ud800-\udfff]")
_ITEM_START: Final = re.compile(r"(?<=[\r\n])\(")
_PARENTHESES: Final = frozenset(("unclosed-list", "unexpected-close"))
#: Pattern of KIF comments, and of strings and block comments as in other languages.
_FOREIGN: Final = re.compile(r'(?P<comment>;[^\r\n]*)|(?<![^\s(])(?P<string>"[^"\r\n]*")|(?P<block>#\|)')
_BETWEEN_NAMES: Final = re.compile(r"[\s;()]")


def foreign_marks(source: Source) -> Iterator[tuple[str, Span]]:
    """Yield the places of strings with several words (``string``) and of ``#|`` (``block``) in a KIF text."""
    # A comment can start inside a string, but a string cannot start inside a comment.
    for match in _FOREIGN.finditer(source.text):
        kind = match.lastgroup
        if kind == "block" or (kind == "string" and _BETWEEN_NAMES.search(match[0])):
            yield kind, Span(source, match.start(), match.end())


def check_text(source: Source, limits: ReadingLimits) -> list[Diagnostic]:
    """Return the faults of a text: exceeded limits, control characters, and unbalanced parentheses.

    The place of an unclosed list is its opening parenthesis.
    """
    if len(source.text) > limits.bytes:
        return [too_large(source, limits)]
    openers: list[int] = []
    faults = _check_lexemes(source, limits, openers)
    if any(fault.code not in _PARENTHESES for fault in faults):
        return faults
    faults += _unclosed(source, openers)
    return [*_with_foreign_marks(source, faults), *check_characters(source, limits)]


def _with_foreign_marks(source: Source, faults: list[Diagnostic]) -> Iterator[Diagnostic]:
    """Yield faults of parentheses, and add notes on strings and block comments to the first fault."""
    messages = {
        "string": "GDL has no strings: parentheses inside quotes count, and `;` starts a comment",
        "block": "GDL has no block comments: parentheses inside this comment count",
    }
    marks = dict(reversed(list(foreign_marks(source)))) if faults else {}
    notes = [Note(messages[kind], span) for kind, span in marks.items()]
    for fault in faults:
        yield replace(fault, notes=(*fault.notes, *notes))
        notes = []


def _check_lexemes(source: Source, limits: ReadingLimits, openers: list[int]) -> list[Diagnostic]:
    """Return the faults of tokens and of closing parentheses; add the places of open lists to ``openers``."""
    faults: list[Diagnostic] = []
    count = 0
    for match in _LEXEME.finditer(source.text):
        start = match.start()
        character = source.text[start]
        if character == ";":
            continue
        count += 1
        if count > limits.tokens:
            return [too_large(source, limits, f"{limits.tokens:,} tokens")]
        if character == "(":
            openers.append(start)
            if len(openers) > limits.depth:
                message = f"lists are nested more than {limits.depth} deep"
                first, last = (Span(source, place, place + 1) for place in (openers[0], start))
                note = Note("the outermost list starts here", first)
                return [*faults, Diagnostic("too-deep", Severity.ERROR, message, last, (note,))]
        elif character == ")":
            if openers:
                openers.pop()
            else:
                message = "this closing parenthesis has no opening one"
                span, hint = Span(source, start, start + 1), "delete it, or add the missing ( before it"
                faults.append(Diagnostic("unexpected-close", Severity.ERROR, message, span, hint=hint))
        elif match.end() - start > limits.token_length:
            message = f"a token has {match.end() - start:,} characters; the limit is {limits.token_length:,}"
            span = Span(source, start, match.end())
            faults.append(Diagnostic("token-too-long", Severity.ERROR, message, span))
        if len(faults) >= limits.problems:
            message = f"reading stopped after {len(faults):,} problems"
            return [*faults, Diagnostic("too-many-problems", Severity.ERROR, message, faults[-1].span)]
    return faults


def intact_part(source: Source, faults: Sequence[Diagnostic]) -> str:
    """Return the text with blanks instead of parts that faults of parentheses make unreadable.

    The parentheses of the result are balanced. The result contains everything before the first unclosed list,
    and later balanced rules that start a line. If there are faults of other kinds, the result is empty.
    """
    if any(fault.code not in _PARENTHESES for fault in faults):
        return ""
    text = source.text
    places = {code: [f.span.start for f in faults if f.code == code and f.span] for code in _PARENTHESES}
    suspect = min(places["unclosed-list"], default=len(text))
    strays = [place for place in places["unexpected-close"] if place < suspect]
    kept = [(start + 1, end) for start, end in pairwise([-1, *strays, suspect])]
    starts = [match.start() for match in _ITEM_START.finditer(text, suspect + 1)]
    for start, end in pairwise([*starts, len(text)]):
        if text.startswith("(<=", start) and _is_balanced(text[start:end]):
            kept.append((start, end))
    pieces = []
    position = 0
    for start, end in kept:
        pieces += [" " * (start - position), text[start:end]]
        position = end
    return "".join(pieces)


def _is_balanced(text: str) -> bool:
    depth = 0
    for match in _LEXEME.finditer(text):
        depth += {"(": 1, ")": -1}.get(match[0], 0)
        if depth < 0:
            return False
    return depth == 0


def check_characters(source: Source, limits: ReadingLimits) -> list[Diagnostic]:
    """Report control characters."""
    faults: list[Diagnostic] = []
    for match in islice(_NOT_TEXT.finditer(source.text), limits.problems):
        message = f"expected plain text, found the character U+{ord(match[0]):04X}"
        span = Span(source, match.start(), match.end())
        faults.append(Diagnostic("control-character", Severity.ERROR, message, span, hint="delete it"))
    return faults


def _unclosed(source: Source, openers: Sequence[int]) -> list[Diagnostic]:
    """Report lists that are never closed, each with a note on the next line that seems to start an item."""
    faults = []
    items = _ITEM_START.finditer(source.text)
    item = next(items, None)
    for opener in openers:
        while item and item.start() <= opener:
            item = next(items, None)
        notes: tuple[Note, ...] = ()
        hint = "add the missing )"
        if item:
            notes = (Note("a new item seems to start here", Span(source, item.start(), item.end())),)
            hint += " before the next item"
        span = Span(source, opener, opener + 1)
        message = "this list is never closed"
        faults.append(Diagnostic("unclosed-list", Severity.ERROR, message, span, notes, hint))
    return faults
