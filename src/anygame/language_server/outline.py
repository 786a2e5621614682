"""The groups of rules of a sheet, its foldable parts, and the types of its tokens."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from anygame.language.diagnostics import counted, shown
from anygame.language_server.meanings import kind_of, pattern
from anygame.language_server.sheet import Range, is_keyword

if TYPE_CHECKING:
    from collections.abc import Iterator

    from anygame.language_server.lines import Lines
    from anygame.language_server.sheet import Occurrence, Symbol, WrittenSheet


#: Maximum number of listed rules in a group.
_MOST_RULES: Final = 500


@dataclass(frozen=True, slots=True)
class Entry:
    """A group of rules and facts with the same head, or one of its rules.

    ``range`` covers the whole entry, ``selection`` its name; ``children`` are the rules of a group.
    """

    name: str
    detail: str
    kind: str
    range: Range
    selection: Range
    children: tuple[Entry, ...] = ()


def outline(sheet: WrittenSheet) -> list[Entry]:
    """Return the groups of rules and facts with the same head, in the order of the sheet.

    Heads of ``init``, ``next``, ``legal``, ``base`` and ``input`` are grouped by their fluent or move.
    """
    groups: dict[tuple[str, Symbol], list[int]] = {}
    for item in range(len(sheet.items)):
        head, subject = sheet.head(item), sheet.subject(item)
        if head is not None and subject is not None:
            groups.setdefault((head.symbol.name, subject), []).append(item)
    return [_group(sheet, name, subject, items) for (name, subject), items in groups.items()]


def _group(sheet: WrittenSheet, name: str, subject: Symbol, items: list[int]) -> Entry:
    rules = [item for item in items if sheet.is_rule(item)]
    counts = ((len(rules), "rule"), (len(items) - len(rules), "fact"))
    about = pattern(sheet, subject)
    title = about if subject.kind == "relation" else f"{name} {about}"
    children = tuple(_rule(sheet, item) for item in rules[:_MOST_RULES]) if len(items) > 1 else ()
    first, last = sheet.items[items[0]], sheet.items[items[-1]]
    kind = kind_of(sheet, subject)
    kind = "view" if kind.startswith("view") else "relation" if "relation" in kind else kind
    detail = ", ".join(counted(number, noun) for number, noun in counts if number)
    selection = _selection(sheet, items[0])
    return Entry(shown(title, 80), detail, kind, Range(first.start, last.end), selection, children)


def _rule(sheet: WrittenSheet, item: int) -> Entry:
    node = sheet.items[item]
    children = node.children or ()
    head = children[1].span.text if len(children) > 1 else node.span.text
    line = sheet.source.position(node.start)[0]
    range_ = Range(node.start, node.end)
    return Entry(shown(head, 80), f"line {line}", "rule", range_, _selection(sheet, item))


def _selection(sheet: WrittenSheet, item: int) -> Range:
    head = sheet.head(item)
    assert head is not None
    return Range(head.start, head.end)


def folds(sheet: WrittenSheet, lines: Lines) -> Iterator[tuple[int, int, bool]]:
    """Yield the first and the last line of each foldable part, and whether it is a comment."""
    for item in sheet.items:
        first, last = lines.line_of(item.start), lines.line_of(item.end)
        if last > first:
            yield first, last, False
    block: list[int] = []
    for comment in sheet.comments:
        line = lines.line_of(comment.start)
        if comment.own_line and block and line == block[-1] + 1:
            block.append(line)
            continue
        if len(block) > 1:
            yield block[0], block[-1], True
        block = [line] if comment.own_line else []
    if len(block) > 1:
        yield block[0], block[-1], True


#: The names of the types of tokens in the protocol. The type of a token is an index of this tuple.
TYPES: Final = (
    "comment", "keyword", "operator", "function", "property", "event", "variable", "enumMember", "number",
)  # fmt: skip
#: The modifiers of tokens; a set of them is encoded as a sum of powers of two.
MODIFIERS: Final = ("declaration", "defaultLibrary")
_DECLARATION: Final = 1
_LIBRARY: Final = 2


def colours(sheet: WrittenSheet, lines: Lines, start: int = 0, end: int | None = None) -> Iterator[int]:
    """Yield five numbers for each token of a part of the text, as the protocol encodes them.

    The numbers are the lines since the last token, the code units since its start if it is on the same line,
    the length in code units, the type, and the sum of the modifiers.
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


def _type_of(name: Occurrence) -> tuple[int, int]:
    symbol = name.symbol
    if is_keyword(symbol):
        return TYPES.index("operator" if symbol.kind == "operator" else "keyword"), _LIBRARY
    if symbol.kind == "variable":
        return TYPES.index("variable"), 0
    if symbol.kind == "relation" or name.is_fluent or name.is_move:
        kind = "function" if symbol.kind == "relation" else "property" if name.is_fluent else "event"
        return TYPES.index(kind), _DECLARATION if name.in_head else 0
    return TYPES.index("number" if symbol.name.isdecimal() else "enumMember"), 0
