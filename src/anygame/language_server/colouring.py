"""What each token is, for editors that colour by meaning."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from anygame.language_server.names import is_keyword

if TYPE_CHECKING:
    from collections.abc import Iterator

    from anygame.language_server.lines import Lines
    from anygame.language_server.names import Occurrence
    from anygame.language_server.sheet import WrittenSheet

#: The types of tokens, by number, with names that the protocol knows.
TYPES: Final = (
    "comment", "keyword", "operator", "function", "property", "event", "variable", "enumMember", "number",
)  # fmt: skip
#: Sets of modifiers are sums of powers of two.
MODIFIERS: Final = ("declaration", "defaultLibrary")
_DECLARATION: Final = 1
_LIBRARY: Final = 2


def colours(sheet: WrittenSheet, lines: Lines, start: int = 0, end: int | None = None) -> Iterator[int]:
    """Yield five numbers for each token of a part of the text, as the protocol encodes them.

    They are: lines since the token before, units since its start if it is on the same line, units it is long,
    number of its type, sum of its modifiers.
    """
    last = len(sheet.text) if end is None else end
    tokens = [(comment.start, comment.end, 0, 0) for comment in sheet.comments]
    tokens += [(each.start, each.end, *_type_of(each)) for each in sheet.occurrences]
    before_line = before_unit = 0
    reached = -1
    for first, after, kind, modifiers in sorted(tokens):
        if after <= start or first >= last or first < reached:
            continue
        reached = after
        line, unit = lines.place(first)
        yield line - before_line
        yield unit if line != before_line else unit - before_unit
        yield lines.width(first, after)
        yield kind
        yield modifiers
        before_line, before_unit = line, unit


def _type_of(found: Occurrence) -> tuple[int, int]:
    symbol = found.symbol
    if symbol.kind == "operator":
        return TYPES.index("operator"), _LIBRARY
    if is_keyword(symbol):
        return TYPES.index("keyword"), _LIBRARY
    if symbol.kind == "relation":
        return TYPES.index("function"), _DECLARATION if found.in_head else 0
    if symbol.kind == "variable":
        return TYPES.index("variable"), 0
    if found.is_fluent:
        return TYPES.index("property"), _DECLARATION if found.in_head else 0
    if found.is_move:
        return TYPES.index("event"), _DECLARATION if found.in_head else 0
    return TYPES.index("number" if symbol.name.isdecimal() else "enumMember"), 0
