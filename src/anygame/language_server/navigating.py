"""Definitions, references and renaming of names; the outline, foldable parts and tokens of a sheet."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from anygame.errors import AnygameError
from anygame.language.diagnostics import counted, shown
from anygame.language.forms import kif_variable
from anygame.language.rules import KEYWORDS
from anygame.language.sentences import OPERATORS
from anygame.language_server.meanings import kind_of, pattern
from anygame.language_server.sheet import Range, Symbol, is_keyword

if TYPE_CHECKING:
    from collections.abc import Iterator

    from anygame.language_server.documents import Lines
    from anygame.language_server.sheet import Occurrence, WrittenSheet


def definitions(sheet: WrittenSheet, offset: int) -> list[Occurrence]:
    """Return the definitions of the name at an offset.

    A relation is defined in the heads of its rules and facts. A fluent is defined in heads that make it true.
    A move is defined in heads that make it legal. A role is defined in a ``role`` fact. A variable is defined
    in the first sentence of the body that binds it. Any other name is defined at its first place.
    """
    name = sheet.name_at(offset)
    return _defining(sheet, name.symbol) if name else []


def _defining(sheet: WrittenSheet, symbol: Symbol) -> list[Occurrence]:
    places = sheet.by_symbol.get(symbol, [])
    if symbol.kind == "operator":
        return []
    if symbol.kind == "variable":
        binding = [each for each in places if each.positive and not each.in_head]
        return (binding or places)[:1]
    if symbol.kind == "relation":
        return [each for each in places if each.in_head]
    declaring = [each for each in places if each.place == ("role", 1, 0) and not sheet.is_rule(each.item)]
    making = [each for each in places if each.in_head and (each.is_fluent or each.is_move)]
    if declaring or making:
        return declaring or making
    if symbol.arity and len(places) == 1:  # perhaps a sentence, if a parenthesis is missing
        relation = replace(symbol, kind="relation")
        return [each for each in sheet.by_symbol.get(relation, ()) if each.in_head] or places
    return places[:1]


def references(sheet: WrittenSheet, offset: int, *, declaration: bool = True) -> list[Occurrence]:
    """Return all places of the symbol at an offset, without definitions if ``declaration`` is false."""
    name = sheet.name_at(offset)
    if name is None:
        return []
    omitted = set() if declaration else {each.start for each in _defining(sheet, name.symbol)}
    return [each for each in sheet.by_symbol[name.symbol] if each.start not in omitted]


#: Maximum number of characters of a name.
_LONGEST: Final = 200
_NAME: Final = re.compile(r"[^\s();?%'\"\x00-\x1f\x7f][^\s();\x00-\x1f\x7f]*")
_VARIABLE: Final = re.compile(r"\??[^\s();?\x00-\x1f\x7f]+")
_INFIX_VARIABLE: Final = re.compile(r"[A-Z_][A-Za-z0-9_]*")
#: The role whose moves are sampled at random (GDL-II).
_RANDOM: Final = "random"
_RESERVED: Final = frozenset((*KEYWORDS, *OPERATORS))


class RenamingError(AnygameError):
    """A name cannot be changed, or the new name is not possible; the message gives the reason."""


def can_rename(sheet: WrittenSheet, offset: int) -> Occurrence:
    """Return the name at an offset. Raises RenamingError if the name cannot be changed."""
    occurrence = sheet.name_at(offset)
    if occurrence is None or sheet.comment_at(offset):
        raise RenamingError("there is no name here")
    symbol = occurrence.symbol
    name = shown(symbol.name)
    if is_keyword(symbol) or (symbol.kind == "relation" and symbol.name in KEYWORDS):
        raise RenamingError(f"{name} is a keyword of GDL and cannot be renamed")
    if symbol.kind == "term" and symbol.name == _RANDOM and not symbol.arity:
        raise RenamingError("random is the role whose moves are sampled, and cannot be renamed")
    if symbol.kind == "term" and any(each.place == ("goal", 2, 1) for each in sheet.by_symbol[symbol]):
        raise RenamingError(f"{name} is the value of a goal, not a name")
    if symbol.kind == "variable" and sheet.text[occurrence.start : occurrence.end] == "_":
        raise RenamingError("each _ is a separate variable without a name")
    if not symbol.name:
        raise RenamingError("a variable needs a name after its question mark")
    return occurrence


def rename(sheet: WrittenSheet, offset: int, new: str) -> list[tuple[Range, str]]:
    """Return the edits that rename all occurrences of the name at an offset.

    Raises RenamingError if the name cannot be changed, or if the new name is invalid or used already.
    """
    occurrence = can_rename(sheet, offset)
    old = occurrence.symbol
    name = _variable(sheet, new) if old.kind == "variable" else _constant(new)
    symbol = Symbol(old.kind, name, old.arity, old.item)
    if symbol == old:
        return []
    if symbol in sheet.by_symbol:
        line = sheet.source.position(sheet.by_symbol[symbol][0].start)[0]
        where = "in this rule" if old.kind == "variable" else f"in line {line}"
        raise RenamingError(
            f"{shown(sheet.spelled(symbol))} is used already, {where}: two names would become one"
        )
    text = sheet.spelled(symbol)
    return [(Range(each.start, each.end), text) for each in sheet.by_symbol[old]]


def _constant(new: str) -> str:
    name = new.strip()
    if len(name) > _LONGEST or not _NAME.fullmatch(name):
        raise RenamingError(
            f"expected a name without blanks, parentheses or quotes, not a variable; found {shown(new)}"
        )
    if name.lower() in _RESERVED or name.lower() == _RANDOM:
        raise RenamingError(f"{shown(name)} is a keyword of GDL")
    return name


def _variable(sheet: WrittenSheet, new: str) -> str:
    name = new.strip()
    if sheet.form == "infix":
        if len(name) > _LONGEST or not _INFIX_VARIABLE.fullmatch(name) or name == "_":
            raise RenamingError(f"expected a variable, which starts with a capital, found {shown(new)}")
        return kif_variable(name).removeprefix("?")
    if len(name) > _LONGEST or not _VARIABLE.fullmatch(name):
        raise RenamingError(f"expected a variable such as ?x, found {shown(new)}")
    return name.removeprefix("?")


#: Maximum number of listed rules in a group.
_MOST_RULES: Final = 500


@dataclass(frozen=True, slots=True)
class Entry:
    """Entry of the outline: a group of rules and facts with the same head, or a rule of a group.

    ``range`` covers the whole entry, ``selection`` covers the name; ``children`` are the rules of a group.
    """

    name: str
    detail: str
    kind: str
    range: Range
    selection: Occurrence
    children: tuple[Entry, ...] = ()


def outline(sheet: WrittenSheet) -> list[Entry]:
    """Return the groups of rules and facts with the same head, in the order of the sheet.

    Heads of ``init``, ``next``, ``legal``, ``base`` and ``input`` are grouped by their fluent or move.
    """
    groups: dict[tuple[str, Symbol], list[Occurrence]] = {}
    for item in range(len(sheet.items)):
        head, subject = sheet.head(item), sheet.subject(item)
        if head is not None and subject is not None:
            groups.setdefault((head.symbol.name, subject), []).append(head)
    return [_group(sheet, name, subject, heads) for (name, subject), heads in groups.items()]


def _group(sheet: WrittenSheet, name: str, subject: Symbol, heads: list[Occurrence]) -> Entry:
    rules = [head for head in heads if sheet.is_rule(head.item)]
    counts = ((len(rules), "rule"), (len(heads) - len(rules), "fact"))
    about = pattern(sheet, subject)
    title = about if subject.kind == "relation" else f"{name} {about}"
    children = tuple(_rule(sheet, head) for head in rules[:_MOST_RULES]) if len(heads) > 1 else ()
    first, last = sheet.items[heads[0].item], sheet.items[heads[-1].item]
    kind = kind_of(sheet, subject)
    kind = "view" if kind.startswith("view") else "relation" if "relation" in kind else kind
    detail = ", ".join(counted(number, noun) for number, noun in counts if number)
    return Entry(shown(title, 80), detail, kind, Range(first.start, last.end), heads[0], children)


def _rule(sheet: WrittenSheet, head: Occurrence) -> Entry:
    node = sheet.items[head.item]
    children = node.children or ()
    text = children[1].span.text if len(children) > 1 else node.span.text
    line = sheet.source.position(node.start)[0]
    return Entry(shown(text, 80), f"line {line}", "rule", Range(node.start, node.end), head)


def folds(sheet: WrittenSheet, lines: Lines) -> Iterator[tuple[int, int, bool]]:
    """Yield the first and the last line of each foldable part, and whether the part is a comment."""
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


#: Token types of the protocol. A type is encoded as an index of this tuple.
TYPES: Final = (
    "comment", "keyword", "operator", "function", "property", "event", "variable", "enumMember", "number",
)  # fmt: skip
#: Token modifiers of the protocol. A set of modifiers is encoded as a sum of powers of two.
MODIFIERS: Final = ("declaration", "defaultLibrary")
_DECLARATION: Final = 1
_LIBRARY: Final = 2


def colours(sheet: WrittenSheet, lines: Lines, start: int = 0, end: int | None = None) -> Iterator[int]:
    """Yield five numbers for each token of a part of the text, as the protocol encodes them.

    The numbers are: lines since the last token; code units since the start of that token or of a new line;
    length in code units; type; sum of the modifiers.
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
