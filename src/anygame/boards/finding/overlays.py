"""Overlays: other fluents, and facts of the rules, that lie on the cells of a board: walls, marks, movers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from anygame.boards.finding.evidence import cell_places
from anygame.boards.finding.layout import Overlay
from anygame.boards.names import BLOCKS, SIDES, SIGNS, words
from anygame.language.terms import Compound, Constant

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from anygame.boards.finding.evidence import Predicate
    from anygame.boards.finding.fluents import Fluent
    from anygame.boards.finding.layout import Content, Layout
    from anygame.boards.names import Side
    from anygame.language.rules import Rule

#: Facts of the rules that are drawn; more belong to no board that can be drawn.
_FIXED_LIMIT: Final = 4096


def find_overlays(layout: Layout, fluents: Sequence[Fluent], rules: Sequence[Rule]) -> tuple[Overlay, ...]:
    """Return what lies on the cells of a board besides its own fluent.

    A fluent does if the rules name a cell by its arguments, once, and leave at most one argument for what
    lies there. Relations that always hold do too if they are called so: walls, holes, exits.
    """
    places = cell_places(rules, layout.functor, layout.arity, layout.key)
    known = {fluent.key: fluent for fluent in fluents}
    found: list[Overlay] = []
    for predicate, keys in sorted(places.items()):
        if len(keys) > 1 or predicate == ("fluent", *layout.fluent):
            continue
        (key,) = keys
        contents = tuple(index for index in range(predicate.arity) if index not in key)
        if len(contents) > 1:
            continue
        if len(key) == 1 and not (contents and predicate.kind == "fluent"):
            # One shared variable alone is weak evidence.
            continue
        if predicate.kind == "fluent":
            fluent = known.get(predicate[1:])
            if fluent:
                values = tuple((value,) for index in contents for value in fluent.domains[index])
                found.append(_overlay(predicate, key, contents, values))
        elif predicate.kind == "relation":
            found += _fixed(predicate, key, contents, rules)
    return tuple(found)


def sides_of(values: Iterable[Content]) -> Mapping[Content, Side]:
    """Return the side of a cell that each content names, if all of them do; else nothing."""
    contents = list(values)
    found: dict[Content, Side] = {
        content: SIDES[str(content[0]).lower()]
        for content in contents
        if len(content) == 1 and str(content[0]).lower() in SIDES
    }
    return found if len(found) == len(contents) else {}


def _overlay(
    predicate: Predicate,
    key: tuple[int, ...],
    contents: tuple[int, ...],
    values: tuple[Content, ...],
    fixed: tuple[Compound, ...] = (),
) -> Overlay:
    side, sign = _side(predicate.name) if not contents else (None, "")
    return Overlay(*predicate[1:], key, contents, values, side, sign, sides_of(values), fixed)


def _fixed(
    predicate: Predicate, key: tuple[int, ...], contents: tuple[int, ...], rules: Iterable[Rule]
) -> Iterator[Overlay]:
    """Yield a relation that is given by facts alone, if its name says that it can be seen."""
    if not set(words(predicate.name)) & BLOCKS:
        return
    named = [rule for rule in rules if rule.head.key == predicate[1:]]
    facts = [rule.head.arguments for rule in named if not rule.body]
    if len(facts) < len(named) or len(facts) > _FIXED_LIMIT:
        return
    flat = [arguments for arguments in facts if all(isinstance(each, Constant) for each in arguments)]
    fixed = tuple(Compound(predicate.name, arguments) for arguments in flat)
    values = tuple({tuple(arguments[index] for index in contents) for arguments in facts} - {()})
    yield _overlay(predicate, key, contents, values, fixed)


def _side(name: str) -> tuple[Side | None, str]:
    """Return the side of a cell that a name says, with what stands there: a wall, or a sign."""
    found = words(name)
    side = next((SIDES[word] for word in found if word in SIDES), None)
    sign = next((SIGNS[word] for word in found if word in SIGNS), "")
    if side and sign and side in ("north", "south"):
        sign = {"<": "\u2227", ">": "\u2228"}[sign]
    return (side, sign) if sign or set(found) & BLOCKS else (None, "")
