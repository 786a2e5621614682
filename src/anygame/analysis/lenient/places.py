"""Places of a program that was read leniently: those of the text that its author wrote."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from anygame.language.rules import Program, Rule


def in_places_of(written: Program, plain: Program) -> Program:
    """Return the rules of a plain program in the places of the rules that they were made from.

    Lenient reading keeps the order of the rules. What it adds speaks of relations of its own, and stands in
    the place of the rule before it. Where rules and places do not fit each other, all stay where they are.

    Args:
        written: the program as its author wrote it.
        plain: the same program after lenient reading.
    """
    known = {rule.head.key for rule in written.rules}
    kept = sum(rule.head.key in known for rule in plain.rules)
    if kept != len(written.rules):
        return plain
    return replace(plain, rules=tuple(_placed(written, plain, known)))


def _placed(written: Program, plain: Program, known: set[tuple[str, int]]) -> Iterator[Rule]:
    places = iter(written.rules)
    place: Rule | None = None
    for rule in plain.rules:
        is_written = rule.head.key in known
        place = next(places) if is_written or place is None else place
        node = place.head.node if is_written else place.node
        yield replace(rule, head=replace(rule.head, node=node), node=place.node)
