"""Finds the definitions and references of a name, and renames it."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from anygame.errors import AnygameError
from anygame.language.diagnostics import shown
from anygame.language.forms import kif_variable
from anygame.language.rules import KEYWORDS
from anygame.language.sentences import OPERATORS
from anygame.language_server.sheet import Range, Symbol, is_keyword

if TYPE_CHECKING:
    from anygame.language_server.sheet import Occurrence, WrittenSheet


def definitions(sheet: WrittenSheet, offset: int) -> list[Range]:
    """Return the definitions of the name at an offset.

    A relation is defined in the heads of its rules and facts. A fluent or move is defined in the heads that
    make it true or legal, a role in its fact. Any other constant or function is defined at its first place,
    and a variable in the first sentence of the body that binds it.
    """
    name = sheet.name_at(offset)
    return [Range(each.start, each.end) for each in _defining(sheet, name.symbol)] if name else []


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
    return declaring or making or _as_relation(sheet, symbol) or places[:1]


def _as_relation(sheet: WrittenSheet, symbol: Symbol) -> list[Occurrence]:
    """Return the definition of a relation with the name of a term, in case a parenthesis is missing."""
    if not symbol.arity or len(sheet.by_symbol[symbol]) > 1:
        return []
    return [each for each in sheet.by_symbol.get(replace(symbol, kind="relation"), ()) if each.in_head]


def references(sheet: WrittenSheet, offset: int, *, declaration: bool = True) -> list[Range]:
    """Return all places of the symbol at an offset, without its definitions unless ``declaration``."""
    name = sheet.name_at(offset)
    if name is None:
        return []
    omitted = set() if declaration else {each.start for each in _defining(sheet, name.symbol)}
    places = sheet.by_symbol[name.symbol]
    return [Range(each.start, each.end) for each in places if each.start not in omitted]


def highlights(sheet: WrittenSheet, offset: int) -> list[tuple[Range, bool]]:
    """Return all places of the symbol at an offset, and whether each is in a head."""
    name = sheet.name_at(offset)
    places = sheet.by_symbol[name.symbol] if name else ()
    return [(Range(each.start, each.end), each.in_head) for each in places]


#: Maximum number of characters of a name.
_LONGEST: Final = 200
_NAME: Final = re.compile(r"[^\s();?%'\"\x00-\x1f\x7f][^\s();\x00-\x1f\x7f]*")
_VARIABLE: Final = re.compile(r"\??[^\s();?\x00-\x1f\x7f]+")
_INFIX_VARIABLE: Final = re.compile(r"[A-Z_][A-Za-z0-9_]*")
#: The role whose moves are sampled at random (GDL-II).
_RANDOM: Final = "random"
_RESERVED: Final = frozenset((*KEYWORDS, *OPERATORS))


class RenamingError(AnygameError):
    """A name cannot be changed at all, or not to the new name; the message says why."""


def can_rename(sheet: WrittenSheet, offset: int) -> Occurrence:
    """Return the name at an offset. Raises RenamingError if it cannot be changed."""
    occurrence = sheet.name_at(offset)
    if occurrence is None or sheet.comment_at(offset):
        raise RenamingError("there is no name here")
    symbol = occurrence.symbol
    name = shown(symbol.name)
    if is_keyword(symbol) or (symbol.kind == "relation" and symbol.name in KEYWORDS):
        raise RenamingError(f"{name} is a keyword of GDL and keeps its name")
    if symbol.kind == "term" and symbol.name == _RANDOM and not symbol.arity:
        raise RenamingError("random is the role whose moves are sampled, and keeps its name")
    if symbol.kind == "term" and any(each.place == ("goal", 2, 1) for each in sheet.by_symbol[symbol]):
        raise RenamingError(f"{name} is the value of a goal, not a name")
    if symbol.kind == "variable" and sheet.text[occurrence.start : occurrence.end] == "_":
        raise RenamingError("each _ is a separate variable without a name")
    if not symbol.name:
        raise RenamingError("a variable needs a name after its question mark")
    return occurrence


def rename(sheet: WrittenSheet, offset: int, new: str) -> list[tuple[Range, str]]:
    """Return the edits that change the name at an offset, and all its other occurrences.

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
            f"expected a name without blanks, parentheses and quotes, and not a variable; found {shown(new)}"
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
