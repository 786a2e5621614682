"""Splitting at keys: conditions on variables that have one value in each state are looked at one by one.

::

    good(x) :- true(at(x, 1, u)), true(at(x, 2, v)), true(at(x, 3, w)), true(at(x, 4, z)), u != v, u != w, ...

becomes, where a place (the first two columns) holds one thing::

    good(x) :- apart(x), other(x), ...
    apart(x) :- true(at(x, 1, u)), true(at(x, 2, v)), u != v
    other(x) :- true(at(x, 1, u)), true(at(x, 3, w)), u != w

Where the key of a relation is known, the rest of its row is, so a conjunction holds for some values exactly
where each of its parts does: a join along keys loses nothing (Heath 1971, "Unacceptable file operations in a
relational data base"). Instances add where they multiplied, however the conditions are tied together.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from anygame.datalog.relations import FlatAtom
from anygame.datalog.termination import known_columns
from anygame.network.grounding.rules import (
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
    from collections.abc import Iterable, Sequence

    from anygame.language.terms import Variable
    from anygame.network.grounding.passes.context import Context
    from anygame.network.grounding.rules import GroundRule

#: Where no more variables than this are joined at once, decomposing bodies is as good.
_FEW: Final = 3
_NOTHING: Final[frozenset[Variable]] = frozenset()


def split_at_keys(rule: GroundRule, context: Context) -> list[GroundRule]:
    """Give conditions on several determined variables relations of their own, if many are tied together."""
    if rule.composed or len(rule.positives) <= _FEW:
        return [rule]
    head = frozenset(variables_of_atom(rule.head))
    items = items_of(rule)
    rows = _determining(items, head, context)
    changing = {v for row in rows if row.kind == "positives" for v in row.variables - head}
    known = head.union(*(row.variables for row in rows))
    rest = [item for item in items if item not in rows]
    groups = [*connected(rest, known), *([item] for item in rest if item.variables <= known)]
    ties = [group for group in groups if len(variables_of_items(group) & changing) > 1]
    if len(ties) < 2 or _width([variables_of_items(tie) & changing for tie in ties]) <= _FEW:
        return [rule]
    made = []
    for tie in ties:
        part = _part(tie, rows, items, head, context)
        made.append(part)
        items = [item for item in items if item not in tie]
        items.append(Item.of("positives", part.head))
    return [*made, rule_of(rule.head, items)]


def _determining(items: Sequence[Item], head: frozenset[Variable], context: Context) -> list[Item]:
    """Return the literals whose rows are determined by the head, those that determine others first."""
    found: list[Item] = []
    known = set(head)
    changed = True
    while changed:
        changed = False
        for item in items:
            atom = item.what
            if item in found or item.kind not in ("positives", "guards") or not isinstance(atom, FlatAtom):
                continue
            given = set(known_columns(atom, known))
            if any(given.issuperset(key) for key in context.keys(atom.relation)):
                found.append(item)
                known |= item.variables
                changed = True
    return found


def _part(
    tie: Sequence[Item],
    rows: Sequence[Item],
    items: Sequence[Item],
    head: frozenset[Variable],
    context: Context,
) -> GroundRule:
    """Return a rule for some conditions, with the literals that determine their variables."""
    wanted = set(variables_of_items(tie))
    for row in reversed(rows):
        if row.variables & wanted - head:
            wanted |= row.variables
    used = [item for item in items if item in rows and item.variables & wanted - head]
    columns = in_order(wanted & head)
    bound = {v for item in (*used, *tie) if item.kind in ("positives", "guards") for v in item.variables}
    others = [item.what for item in items if item.kind in ("positives", "guards")]
    binding = binders([atom for atom in others if isinstance(atom, FlatAtom)], wanted - bound)
    guards = [Item.of("guards", atom) for atom in binding]
    return rule_of(FlatAtom(context.new_relation(len(columns)), columns), [*used, *tie, *guards])


def _width(ties: Iterable[frozenset[Variable]]) -> int:
    """Return how many variables must be joined at once, by eliminating the loosest one after the other."""
    left = set(ties)
    widest = 0
    while left:
        around = {v: _NOTHING.union(*(tie for tie in left if v in tie)) for v in _NOTHING.union(*left)}
        loosest = min(around, key=lambda variable: (len(around[variable]), variable.name))
        widest = max(widest, len(around[loosest]))
        left = {tie for tie in left if loosest not in tie} | {around[loosest] - {loosest}}
        left.discard(_NOTHING)
    return widest
