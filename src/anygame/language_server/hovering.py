"""What is told about the name under the pointer."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from anygame.language.diagnostics import shown
from anygame.language_server.meanings import (
    KEYWORD_TEXTS,
    argument_names,
    argument_values,
    kind_of,
    values_of_variable,
)
from anygame.language_server.names import Symbol, is_keyword
from anygame.language_server.sheet import Range

if TYPE_CHECKING:
    from collections.abc import Iterator

    from anygame.language_server.domains import DomainTable, Values
    from anygame.language_server.names import Occurrence
    from anygame.language_server.sheet import WrittenSheet

#: Values of an argument that are listed; the others are counted.
_MOST_LISTED: Final = 12
_BACKTICKS: Final = re.compile("`+")
_SPECIAL: Final = re.compile(r"([\\`*_{}\[\]()<>#+\-.!|~&$])")
_NUMBER: Final = re.compile(r"[0-9]{1,9}")


@dataclass(frozen=True, slots=True)
class Hover:
    """What is told.

    Attributes:
        range: the name.
        markdown: the text in Markdown.
        plain: the same without marks.
    """

    range: Range
    markdown: str
    plain: str


def hover(sheet: WrittenSheet, offset: int, table: DomainTable) -> Hover | None:
    """Return what is told about the name at an offset; None where there is none."""
    found = sheet.name_at(offset)
    if found is None or sheet.comment_at(offset):
        return None
    parts = list(_parts(sheet, found, table))
    return Hover(
        Range(found.start, found.end),
        "\n\n".join(markdown for markdown, _ in parts),
        "\n".join(plain for _, plain in parts),
    )


def code(text: str) -> str:
    """Return a stranger's text as Markdown shows it unchanged on one line."""
    text = shown(text, 200)
    fence = "`" * (1 + max((len(run) for run in _BACKTICKS.findall(text)), default=0))
    padding = " " if text[:1] == "`" or text[-1:] == "`" else ""
    return f"{fence}{padding}{text}{padding}{fence}"


def pattern(sheet: WrittenSheet, symbol: Symbol) -> str:
    """Return a relation or function with names for its arguments, as the sheet's form spells it."""
    arguments = [_spelled_variable(sheet, name) for name in argument_names(sheet, symbol)]
    name = sheet.spelled(symbol)
    if not arguments:
        return name
    return f"{name}({','.join(arguments)})" if sheet.form == "infix" else f"({name} {' '.join(arguments)})"


def _spelled_variable(sheet: WrittenSheet, name: str) -> str:
    return "..." if name == "..." else sheet.spelled(Symbol("variable", name, 0))


def told_values(values: Values) -> str:
    """Return the values of a place: numbers in their order, the first of many."""
    constants = sorted(values.constants, key=lambda name: (*_as_number(name), name))
    told = [f"({name} ...)" for name, arity in sorted(values.functors) if arity]
    told += constants[: max(1, _MOST_LISTED - len(told))]
    left = len(values.constants) + len(values.functors) - len(told)
    if not values.complete:
        return f"{', '.join(told)} and many more"
    return ", ".join(told) + (f" and {left} more" if left > 0 else "")


def _as_number(name: str) -> tuple[bool, int]:
    return (False, int(name)) if _NUMBER.fullmatch(name) else (True, 0)


def _parts(sheet: WrittenSheet, found: Occurrence, table: DomainTable) -> Iterator[tuple[str, str]]:
    """Yield paragraphs, each in Markdown and plain."""
    symbol = found.symbol
    if is_keyword(symbol):
        keyword = KEYWORD_TEXTS[symbol.name]
        title = " ".join((symbol.name, *keyword.arguments))
        title = f"({title})" if keyword.arguments else title
        yield f"{code(title)} keyword", f"{title} keyword"
        yield keyword.text, keyword.text
        yield f"Example: {code(keyword.example)}", f"Example: {keyword.example}"
        if symbol.kind == "relation":
            yield from _counts(sheet, symbol)
        return
    title = sheet.spelled(symbol) if symbol.kind == "variable" else pattern(sheet, symbol)
    kind = kind_of(sheet, symbol)
    yield f"{code(title)} {kind}", f"{title} {kind}"
    if symbol.kind == "variable":
        yield from _of_variable(sheet, found, table)
        return
    arguments = zip(argument_names(sheet, symbol), argument_values(sheet, symbol, table), strict=True)
    lines = [
        (f"{code(_spelled_variable(sheet, name))}: {code(told_values(values))}",
         f"{_spelled_variable(sheet, name)}: {told_values(values)}")
        for name, values in arguments
        if values
    ]  # fmt: skip
    if lines:
        yield "\n".join(f"- {line}" for line, _ in lines), "\n".join(plain for _, plain in lines)
    yield from _counts(sheet, symbol)
    if comment := sheet.comment_above(_first_item(sheet, symbol, found)):
        yield _SPECIAL.sub(r"\\\1", comment).replace("\n", "  \n"), comment


def _of_variable(sheet: WrittenSheet, found: Occurrence, table: DomainTable) -> Iterator[tuple[str, str]]:
    values = values_of_variable(sheet, found.symbol, table)
    if values is None:
        yield "no positive literal of the body binds it", "no positive literal of the body binds it"
    elif values:
        told = told_values(values)
        yield f"may be {code(told)}", f"may be {told}"


def _counts(sheet: WrittenSheet, symbol: Symbol) -> Iterator[tuple[str, str]]:
    """Yield how many rules and facts there are for a symbol, and how often it stands elsewhere."""
    items = items_about(sheet, symbol)
    rules = sum(map(sheet.is_rule, items))
    facts = len(items) - rules
    parts = [_count(rules, "rule"), _count(facts, "fact")]
    others = sum(each.item not in items or not each.in_head for each in sheet.by_symbol.get(symbol, ()))
    parts.append(f"{_count(others, 'other place')}" if others else "")
    if told := ", ".join(filter(None, parts)):
        yield told, told


def _count(number: int, word: str) -> str:
    return f"{number:,} {word}{'s' * (number != 1)}" if number else ""


def items_about(sheet: WrittenSheet, symbol: Symbol) -> list[int]:
    """Return the rules and facts that define a symbol: of a fluent or move those that make it so."""
    if symbol.kind == "relation":
        return sheet.heads.get(symbol, [])
    found = [each for each in sheet.by_symbol.get(symbol, ()) if each.in_head]
    return list(dict.fromkeys(each.item for each in found if each.is_fluent or each.is_move))


def _first_item(sheet: WrittenSheet, symbol: Symbol, found: Occurrence) -> int:
    items = items_about(sheet, symbol)
    return items[0] if items else sheet.by_symbol[symbol][0].item if symbol in sheet.by_symbol else found.item
