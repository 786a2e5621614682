"""The outline of a sheet: its rules by what they are about; what can be folded."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from anygame.language.diagnostics import shown
from anygame.language_server.hovering import pattern
from anygame.language_server.meanings import kind_of
from anygame.language_server.names import is_keyword
from anygame.language_server.sheet import Range

if TYPE_CHECKING:
    from collections.abc import Iterator

    from anygame.language_server.lines import Lines
    from anygame.language_server.names import Symbol
    from anygame.language_server.sheet import WrittenSheet

#: Rules of one group that are listed: nobody reads more.
_MOST_RULES: Final = 500


@dataclass(frozen=True, slots=True)
class Entry:
    """A group of rules and facts with the same head, or one of its rules.

    Attributes:
        name: what it is for.
        detail: a few words more.
        kind: ``keyword``, ``fluent``, ``move``, ``relation``, ``view`` or ``rule``.
        range: the whole of it.
        selection: where its name stands.
        children: the rules of a group.
    """

    name: str
    detail: str
    kind: str
    range: Range
    selection: Range
    children: tuple[Entry, ...] = ()


def outline(sheet: WrittenSheet) -> list[Entry]:
    """Return the groups of rules and facts with the same head, in the order of the sheet.

    Heads of ``init``, ``next``, ``legal``, ``base`` and ``input`` are the same if they are about the same
    fluent or move.
    """
    groups: dict[tuple[str, Symbol], list[int]] = {}
    for item in range(len(sheet.items)):
        head, subject = sheet.head(item), sheet.subject(item)
        if head is not None and subject is not None:
            groups.setdefault((head.symbol.name, subject), []).append(item)
    return [_group(sheet, name, subject, items) for (name, subject), items in groups.items()]


def _group(sheet: WrittenSheet, name: str, subject: Symbol, items: list[int]) -> Entry:
    rules = [item for item in items if sheet.is_rule(item)]
    counts = [f"{len(rules)} rule{'s' * (len(rules) > 1)}"] if rules else []
    facts = len(items) - len(rules)
    counts += [f"{facts} fact{'s' * (facts > 1)}"] if facts else []
    about = pattern(sheet, subject)
    title = about if subject.kind == "relation" else f"{name} {about}"
    children = tuple(_rule(sheet, item) for item in rules[:_MOST_RULES]) if len(items) > 1 else ()
    first, last = sheet.items[items[0]], sheet.items[items[-1]]
    kind = kind_of(sheet, subject)
    shown_kind = "view" if kind.startswith("view") else "relation" if "relation" in kind else kind
    if is_keyword(subject):
        shown_kind = "keyword"
    return Entry(
        shown(title, 80),
        ", ".join(counts),
        shown_kind,
        Range(first.start, last.end),
        _selection(sheet, items[0]),
        children,
    )


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
    """Yield the first and the last line of what can be folded, and whether it is a comment."""
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
