"""Decomposing bodies: loosely tied parts of a body become relations; instances add where they multiplied.

::

    line :- true(at(a, b)), true(at(b, c)), true(at(c, d))

becomes::

    line :- part(b), true(at(b, c)), true(at(c, d))
    part(b) :- true(at(a, b))

and so on. The parts are found by eliminating one variable after the other, the one whose literals share
fewest variables with the rest first: a heuristic tree decomposition of the body (Bichler, Morak and Woltran
2016, "The power of non-ground rules in answer set programming").
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from anygame.datalog.relations import FlatAtom
from anygame.network.grounding.rules import (
    GroundRule,
    Item,
    binders,
    connected,
    in_order,
    items_of,
    rule_of,
    variables_of_atom,
    variables_of_items,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from anygame.language.terms import Variable
    from anygame.network.grounding.passes.context import Context

#: A part that shares more variables than this with the rest has about as many rows as the join it saves.
_MOST_COLUMNS: Final = 4


def decompose_bodies(rule: GroundRule, context: Context) -> list[GroundRule]:
    """Split off the parts of a body that only head variables tie together, or the loosest part."""
    if rule.composed:
        return [rule]
    head = frozenset(variables_of_atom(rule.head))
    items = items_of(rule)
    parts = [part for part in connected(items, head) if any(item.is_dynamic for item in part)]
    inside = {item for part in parts for item in part}
    if len(parts) + any(item.is_dynamic for item in items if item not in inside) < 2:
        loose = _loosest(items, head)
        parts = [] if loose is None else [loose]
    made: list[GroundRule] = []
    for part in parts:
        split, items = split_off(items, part, head, context)
        made.append(split)
    return [*made, rule_of(rule.head, items)] if made else [rule]


def _loosest(items: Sequence[Item], head: frozenset[Variable]) -> list[Item] | None:
    """Return the items around one variable that are tied to the rest by fewest others, if that helps."""
    found: list[Item] | None = None
    best: tuple[int, int, str] | None = None
    dynamic = {item for item in items if item.is_dynamic}
    for variable in variables_of_items(items) - head:
        part = [item for item in items if variable in item.variables]
        rest = [item for item in items if variable not in item.variables]
        inside = variables_of_items(part)
        outside = variables_of_items(rest)
        # Without anything that changes on the other side, splitting would come back to the same rule.
        if variables_of_items(item for item in rest if item.variables - head) <= inside:
            continue
        if not any(item.kind == "positives" for item in part) or dynamic.issubset(part):
            continue
        shared = inside & (outside | head)
        key = (len(shared), len(part), variable.name)
        if len(shared) <= _MOST_COLUMNS and (best is None or key < best):
            best, found = key, part
    return found


def split_off(
    items: Sequence[Item], part: Sequence[Item], head: frozenset[Variable], context: Context
) -> tuple[GroundRule, list[Item]]:
    """Return the rule of a part, and the items with one literal in the part's place."""
    members = set(part)
    rest = [item for item in items if item not in members]
    own = variables_of_items(part)
    columns = in_order(own & (head | variables_of_items(rest)))
    atom = FlatAtom(context.new_relation(len(columns)), columns)
    shared = frozenset(columns)
    # What the others say of the shared variables alone keeps the part small.
    kept = [
        item
        for item in rest
        if item.kind in ("guards", "tests") and item.variables and item.variables <= shared
    ]
    split = rule_of(atom, [*part, *kept])
    literals = [
        item.what for item in rest if item.kind in ("positives", "guards") and isinstance(item.what, FlatAtom)
    ]
    bound = binders(literals, _unbound(split, own, shared))
    first = min(number for number, item in enumerate(items) if item in members)
    before = [item for item in items[:first] if item not in members]
    after = [item for item in items[first:] if item not in members]
    left = [*before, Item("positives", atom, shared), *after]
    return replace(split, guards=(*split.guards, *bound)), left


def _unbound(split: GroundRule, own: frozenset[Variable], shared: frozenset[Variable]) -> frozenset[Variable]:
    """Return the variables of a part that need literals from the rest of the rule to bind them."""
    bound = {v for atom in (*split.positives, *split.guards) for v in variables_of_atom(atom)}
    unbound = own - bound
    if [atom.relation.predicate for atom in split.positives] == ["does"]:
        # Guards that hold variables of the move may turn into their complement, and then bind nothing.
        sure = [guard for guard in split.guards if shared.issuperset(variables_of_atom(guard))]
        unbound |= shared - {v for atom in (*split.positives, *sure) for v in variables_of_atom(atom)}
    return unbound
