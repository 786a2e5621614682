"""Passes that split rules, so that numbers of instances add up instead of multiplying.

A part of a body that shares few variables with the rest becomes a separate rule::

    line :- true(at(a, b)), true(at(b, c)), true(at(c, d))

becomes, in several steps::

    line :- part(b), true(at(b, c)), true(at(c, d))
    part(b) :- true(at(a, b))

Variables are eliminated one by one. The next variable is always the variable whose literals share the fewest
variables with the rest. This is a heuristic tree decomposition of the body (Bichler, Morak and Woltran 2016,
"The power of non-ground rules in answer set programming").
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Final

from anygame.datalog.plan import known_columns
from anygame.datalog.relations import FlatAtom
from anygame.network.grounding.passes.context import determined
from anygame.network.grounding.rules import (
    GroundRule,
    Item,
    binding_literals,
    connected,
    items_of,
    rule_of,
    sorted_by_name,
    variables_of_atom,
    variables_of_items,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from anygame.language.terms import Variable
    from anygame.network.grounding.passes.context import Context


#: Maximum number of columns of a split-off part. A wider part has about as many rows as the whole join.
_MOST_COLUMNS: Final = 4


def decompose_bodies(rule: GroundRule, context: Context) -> list[GroundRule]:
    """Split off parts that share only head variables, or else the part with the fewest shared variables."""
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
    """Return the items with the variable that is easiest to eliminate; None if splitting does not help."""
    loosest: list[Item] | None = None
    best: tuple[int, int, str] | None = None
    dynamic = {item for item in items if item.is_dynamic}
    for variable in variables_of_items(items) - head:
        part = [item for item in items if variable in item.variables]
        rest = [item for item in items if variable not in item.variables]
        inside = variables_of_items(part)
        outside = variables_of_items(rest)
        # If the rest has no variables of its own, a split produces the same rule again.
        if variables_of_items(item for item in rest if item.variables - head) <= inside:
            continue
        if not any(item.kind == "positives" for item in part) or dynamic.issubset(part):
            continue
        shared = inside & (outside | head)
        key = (len(shared), len(part), variable.name)
        if len(shared) <= _MOST_COLUMNS and (best is None or key < best):
            best, loosest = key, part
    return loosest


def split_off(
    items: Sequence[Item], part: Sequence[Item], head: frozenset[Variable], context: Context
) -> tuple[GroundRule, list[Item]]:
    """Return a rule for a part, and the items with the part replaced by the head of that rule."""
    members = set(part)
    rest = [item for item in items if item not in members]
    own = variables_of_items(part)
    columns = sorted_by_name(own & (head | variables_of_items(rest)))
    atom = FlatAtom(context.new_relation(len(columns)), columns)
    shared = frozenset(columns)
    # Copy conditions on shared variables into the part, because these conditions reduce the part's rows.
    kept = [
        item
        for item in rest
        if item.kind in ("guards", "tests") and item.variables and item.variables <= shared
    ]
    split = rule_of(atom, [*part, *kept])
    literals = [
        item.what for item in rest if item.kind in ("positives", "guards") and isinstance(item.what, FlatAtom)
    ]
    bound = binding_literals(literals, _unbound(split, own, shared))
    first = min(number for number, item in enumerate(items) if item in members)
    before = [item for item in items[:first] if item not in members]
    after = [item for item in items[first:] if item not in members]
    items_left = [*before, Item("positives", atom, shared), *after]
    return replace(split, guards=(*split.guards, *bound)), items_left


def _unbound(split: GroundRule, own: frozenset[Variable], shared: frozenset[Variable]) -> frozenset[Variable]:
    """Return the variables of a part that only literals outside the part bind."""
    bound = {v for atom in (*split.positives, *split.guards) for v in variables_of_atom(atom)}
    unbound = own - bound
    if [atom.relation.predicate for atom in split.positives] == ["does"]:
        # ``complement_moves`` may negate guards on variables of the move, and a negated guard binds nothing.
        sure = [guard for guard in split.guards if shared.issuperset(variables_of_atom(guard))]
        unbound |= shared - {v for atom in (*split.positives, *sure) for v in variables_of_atom(atom)}
    return unbound


#: A head variable is independent if it has more values than this on average, given the other head variables.
_FEW: Final = 2.0
_NOTHING: Final[frozenset[Variable]] = frozenset()


def split_heads(rule: GroundRule, context: Context) -> list[GroundRule]:
    """Move the dynamic part of a body into a new relation, if the head has independent variables.

    ::

        safe(x, y, u) :- true(at(v, w)), [line(v, w, x)], [cell(y)], [cell(u)], v != y

    becomes::

        safe(x, y, u) :- part(x, y), [cell(u)]
        part(x, y) :- some(v, x), [cell(y)], v != y
        some(v, x) :- true(at(v, w)), [line(v, w, x)]

    In the old rule, the numbers of values of ``w`` and ``u`` multiplied.
    """
    if rule.composed or not rule.positives:
        return [rule]
    head = frozenset(variables_of_atom(rule.head))
    items = items_of(rule)
    dynamic = [item for item in items if item.is_dynamic]
    # Candidates: the group of tied items that contains all dynamic items, if it exists; and a lone dynamic
    # item, with the items whose variables all occur in the dynamic item.
    groups = [group for group in connected(items, _NOTHING) if any(item.is_dynamic for item in group)]
    parts = groups if len(groups) == 1 else []
    if len(dynamic) == 1:
        own = dynamic[0].variables
        parts.append([item for item in items if item in dynamic or own >= item.variables > _NOTHING])
    for part in parts:
        inside = variables_of_items(part)
        rest = [item for item in items if item not in part]
        outside = variables_of_items(rest)
        is_less = len([item for item in part if item.is_dynamic]) > 1 or not inside <= head | outside
        if is_less and head - determined(rule, inside, context, _FEW):
            split, items_left = split_off(items, part, head, context)
            return [split, rule_of(rule.head, items_left)]
    return [rule]


#: Maximum number of non-head variables in a split-off part. For larger parts, factoring is better.
_FEW_INSIDE: Final = 2


def split_within(rule: GroundRule, context: Context) -> list[GroundRule]:
    """Move a literal and the conditions on its variables into a new relation, if other variables remain.

    ::

        good(x, y) :- true(at(x, u)), open(u), not barred(x, y, u), [cell(y)]

    becomes::

        good(x, y) :- part(x, u), not barred(x, y, u), [cell(y)]
        part(x, u) :- true(at(x, u)), open(u)

    So the conditions are instantiated only once for all values of ``y``.
    """
    if rule.composed:
        return [rule]
    head = frozenset(variables_of_atom(rule.head))
    items = items_of(rule)
    dynamic = [item for item in items if item.is_dynamic]
    within = [[other for other in dynamic if other.variables <= item.variables] for item in dynamic]
    parts = [
        part
        for part in within
        if 1 < len(part) < len(dynamic) and len(variables_of_items(part) - head) <= _FEW_INSIDE
    ]
    part = max(parts, key=len, default=dynamic)
    if not variables_of_items(dynamic) - determined(rule, variables_of_items(part), context, _FEW):
        return [rule]
    split, items_left = split_off(items, part, head, context)
    return [split, rule_of(rule.head, items_left)]


#: If at most this many variables are joined at once, ``decompose_bodies`` gives equally good rules.
_FEW_VARIABLES: Final = 3


def split_at_keys(rule: GroundRule, context: Context) -> list[GroundRule]:
    """If conditions tie many variables that keys determine, move the conditions into new relations.

    ::

        good(x) :- true(at(x, 1, u)), true(at(x, 2, v)), true(at(x, 3, w)), true(at(x, 4, z)), u != v, ...

    If the first two columns are a key, this rule becomes::

        good(x) :- apart(x), other(x), ...
        apart(x) :- true(at(x, 1, u)), true(at(x, 2, v)), u != v
        other(x) :- true(at(x, 1, u)), true(at(x, 3, w)), u != w

    A key determines the rest of its row, so a conjunction holds exactly if each of its parts holds (Heath
    1971, "Unacceptable file operations in a relational data base"). So numbers of instances add up instead of
    multiplying.
    """
    if rule.composed or len(rule.positives) <= _FEW_VARIABLES:
        return [rule]
    head = frozenset(variables_of_atom(rule.head))
    items = items_of(rule)
    # Proving keys is slow, so first test with likely keys whether a split can help.
    if len(_changing(items, head)) <= _FEW_VARIABLES:
        return [rule]
    if len(_changing(determining(items, head, partial(context.is_row, likely=True)), head)) <= _FEW_VARIABLES:
        return [rule]
    rows = determining(items, head, context.is_row)
    changing = _changing(rows, head)
    known = head.union(*(row.variables for row in rows))
    rest = [item for item in items if item not in rows]
    groups = [*connected(rest, known), *([item] for item in rest if item.variables <= known)]
    ties = [group for group in groups if len(variables_of_items(group) & changing) > 1]
    if len(ties) < 2 or _width([variables_of_items(tie) & changing for tie in ties]) <= _FEW_VARIABLES:
        return [rule]
    made = []
    for tie in ties:
        part = _part(tie, rows, items, head, context)
        made.append(part)
        items = [item for item in items if item not in tie]
        items.append(Item.of("positives", part.head))
    return [*made, rule_of(rule.head, items)]


def _changing(rows: Iterable[Item], head: frozenset[Variable]) -> set[Variable]:
    return {v for row in rows if row.kind == "positives" for v in row.variables - head}


def determining(
    items: Sequence[Item], known: Iterable[Variable], is_determined: Callable[[FlatAtom, set[int]], bool]
) -> list[Item]:
    """Return the literals whose rows the known variables determine, each after the literals that it needs."""
    rows: list[Item] = []
    known = set(known)
    changed = True
    while changed:
        changed = False
        for item in items:
            atom = item.what
            if item in rows or item.kind not in ("positives", "guards") or not isinstance(atom, FlatAtom):
                continue
            given = set(known_columns(atom, known))
            if is_determined(atom, given):
                rows.append(item)
                known |= item.variables
                changed = True
    return rows


def _part(
    tie: Sequence[Item],
    rows: Sequence[Item],
    items: Sequence[Item],
    head: frozenset[Variable],
    context: Context,
) -> GroundRule:
    wanted = set(variables_of_items(tie))
    for row in reversed(rows):
        if row.variables & wanted - head:
            wanted |= row.variables
    used = [item for item in items if item in rows and item.variables & wanted - head]
    columns = sorted_by_name(wanted & head)
    bound = {v for item in (*used, *tie) if item.kind in ("positives", "guards") for v in item.variables}
    binding_items = [item.what for item in items if item.kind in ("positives", "guards")]
    binding = binding_literals([atom for atom in binding_items if isinstance(atom, FlatAtom)], wanted - bound)
    guards = [Item.of("guards", atom) for atom in binding]
    return rule_of(FlatAtom(context.new_relation(len(columns)), columns), [*used, *tie, *guards])


def _width(ties: Iterable[frozenset[Variable]]) -> int:
    """Return how many variables are joined at once, if variables with few neighbours are eliminated first."""
    edges = set(ties)
    widest = 0
    while edges:
        around = {v: _NOTHING.union(*(tie for tie in edges if v in tie)) for v in _NOTHING.union(*edges)}
        loosest = min(around, key=lambda variable: (len(around[variable]), variable.name))
        widest = max(widest, len(around[loosest]))
        edges = {tie for tie in edges if loosest not in tie} | {around[loosest] - {loosest}}
        edges.discard(_NOTHING)
    return widest
