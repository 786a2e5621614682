"""From a name to what defines it, and to all its other places."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from anygame.language_server.hovering import items_about
from anygame.language_server.sheet import Range

if TYPE_CHECKING:
    from anygame.language_server.names import Occurrence, Symbol
    from anygame.language_server.sheet import WrittenSheet


def definitions(sheet: WrittenSheet, offset: int) -> list[Range]:
    """Return where the name at an offset is defined.

    That is: a relation by the heads of its rules and facts; a fluent or move by the heads that make it true,
    or legal; a role by the fact that declares it, any other constant or function where it stands first; a
    variable by the first sentence of the body that binds it.
    """
    found = sheet.name_at(offset)
    return [Range(each.start, each.end) for each in _defining(sheet, found.symbol)] if found else []


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
    about = set(items_about(sheet, symbol))
    making = [each for each in places if each.in_head and each.item in about]
    making = [each for each in making if each.is_fluent or each.is_move]
    return declaring or making or _as_relation(sheet, symbol) or places[:1]


def _as_relation(sheet: WrittenSheet, symbol: Symbol) -> list[Occurrence]:
    """Return what defines the relation of a term's name: while a parenthesis is missing, it may be meant."""
    if not symbol.arity or len(sheet.by_symbol[symbol]) > 1:
        return []
    return [each for each in sheet.by_symbol.get(replace(symbol, kind="relation"), ()) if each.in_head]


def references(sheet: WrittenSheet, offset: int, *, declaration: bool = True) -> list[Range]:
    """Return all places of what is meant at an offset; without those that define it, if asked."""
    found = sheet.name_at(offset)
    if found is None:
        return []
    left_out = set() if declaration else {each.start for each in _defining(sheet, found.symbol)}
    places = sheet.by_symbol[found.symbol]
    return [Range(each.start, each.end) for each in places if each.start not in left_out]


def highlights(sheet: WrittenSheet, offset: int) -> list[tuple[Range, bool]]:
    """Return all places of what is meant at an offset, each with whether it is written there: in a head."""
    found = sheet.name_at(offset)
    if found is None:
        return []
    return [(Range(each.start, each.end), each.in_head) for each in sheet.by_symbol[found.symbol]]
