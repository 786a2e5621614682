"""Unfounded sets: relations, fluents and moves that never hold because their rules need each other.

A set of atoms is unfounded if each rule for an atom of the set needs an atom of the set, or an atom that
cannot hold (Van Gelder, Ross and Schlipf, "The well-founded semantics for general logic programs", 1991).
This module treats all atoms of a relation, fluent or move (by name and arity) as one item.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Final, NamedTuple

from anygame.analysis.groups import grouped, reached
from anygame.doctor.sheet import key_of
from anygame.language.rules import KEYWORDS, Literal

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from anygame.analysis.normal import NormalRule
    from anygame.doctor.sheet import Key, Sheet
    from anygame.language.rules import Atom

#: ``("", relation)``, ``("true", fluent)`` or ``("does", move)``; None stands for all fluents or all moves.
Item = tuple[str, "Key | None"]

_STATE: Final = {"true": "true", "init": "true", "next": "true", "does": "does", "legal": "does"}


class Unfounded(NamedTuple):
    """Items that have rules but never hold."""

    #: Groups of items that need only each other, in the order of the sheet.
    roots: tuple[tuple[Item, ...], ...]
    #: For each item, the ids of its rules that cannot fire.
    stalled: dict[Item, set[int]]


def item_of(atom: Atom) -> Item:
    """Return the item of an atom: its fluent or move, or else its relation."""
    state = _STATE.get(atom.predicate)
    if state is not None and KEYWORDS[atom.predicate] == len(atom.arguments):
        return state, key_of(atom.arguments[-1])
    return "", atom.key


def unfounded(sheet: Sheet, is_dead: Callable[[NormalRule], bool]) -> Unfounded:
    """Find the items that never hold; ``is_dead`` tells which rules cannot fire for other reasons."""
    needs = {id(part): _needs(part) for part in sheet.normal}
    made = _made(sheet)
    writers = grouped((item, part) for part in sheet.normal for item in made[id(part)])
    able = [part for part in sheet.normal if not is_dead(part)]
    results = [(part, item) for part in able for item in made[id(part)]]
    # If any fluent (or move) holds, the item for all fluents (or moves) also holds.
    results += [(part, (item[0], None)) for part, item in results if item[0]]
    held = _held([(needs[id(part)], item) for part, item in results], set())
    items = {item for item in writers if item[1] is not None and item not in held}
    # A variable in a head can stand for any fluent or move, unless `moves_by_relation` lists the moves.
    if ("true", None) in writers or (("does", None) in writers and not sheet.moves_by_relation):
        items = set()
    waits: dict[Item, set[Item] | None] = {}
    for item in items:
        missing = [needs[id(part)] - held for part in writers[item]]
        others = any(is_dead(part) for part in writers[item]) or any(each - items for each in missing)
        waits[item] = None if others else set().union(*missing)
    stalled: dict[Item, set[int]] = defaultdict(set)
    for part in sheet.normal:
        if is_dead(part) or not needs[id(part)] <= held:
            stalled[item_of(part.head)].add(id(part.origin))
    return Unfounded(tuple(_roots(waits, list(writers))), dict(stalled))


def _needs(part: NormalRule) -> set[Item]:
    return {item_of(f.atom) for f in part.body if isinstance(f, Literal)}


def _made(sheet: Sheet) -> dict[int, list[Item]]:
    """Return the items that each normal rule makes: its head, and moves that `legal` takes from the head."""
    taken = [key for key in sheet.moves_by_relation if key not in sheet.moves]
    moves = grouped((id(head), ("does", key)) for key in taken for head in sheet.moves_by_relation[key])
    return {id(part): [item_of(part.head), *moves.get(id(part.origin.head), ())] for part in sheet.normal}


def starts_all(sheet: Sheet, item: Item, group: Sequence[Item]) -> bool:
    """Return whether all items of a group could hold if ``item`` held."""
    made = _made(sheet)
    heads = ((part, head) for part in sheet.normal for head in made[id(part)] if head in group)
    return _held([(_needs(part) & set(group), head) for part, head in heads], {item}) >= set(group)


def _held(rules: Sequence[tuple[set[Item], Item]], held: set[Item]) -> set[Item]:
    """Return the least fixpoint of rules; each rule has needed items and one resulting item."""
    before = -1
    while len(held) > before:
        before = len(held)
        held.update(made for needed, made in rules if needed <= held)
    return held


def _roots(waits: dict[Item, set[Item] | None], order: list[Item]) -> list[tuple[Item, ...]]:
    """Return the groups of items that need only each other.

    Args:
        waits: for each item, the missing items that its rules need; None if a rule fails for other reasons.
        order: all items in the order of the sheet.
    """
    needed = {item: set(reached(waits[item] or (), lambda other: waits.get(other) or ())) for item in waits}
    groups = {
        tuple(other for other in order if other in needed[item]): None
        for item in order
        if item in waits
        and all(waits.get(other) is not None for other in (item, *needed[item]))
        and all(needed[other] == needed[item] for other in needed[item])
    }
    return list(groups)
