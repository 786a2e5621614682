"""Splitting heads: what changes is grounded without the head's other variables.

::

    safe(x, y, u) :- true(at(v, w)), [line(v, w, x)], [cell(y)], [cell(u)], v != y

becomes::

    safe(x, y, u) :- part(x, y), [cell(u)]
    part(x, y) :- some(v, x), [cell(y)], v != y
    some(v, x) :- true(at(v, w)), [line(v, w, x)]

where each ``w`` and each ``u`` multiplied the instances. Like the decomposition of bodies (Bichler, Morak and
Woltran 2016, "The power of non-ground rules in answer set programming"), for the variables of the head.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from anygame.network.grounding.passes.binding import determined
from anygame.network.grounding.passes.decomposition import split_off
from anygame.network.grounding.rules import (
    connected,
    items_of,
    rule_of,
    variables_of_atom,
    variables_of_items,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from anygame.language.terms import Variable
    from anygame.network.grounding.passes.context import Context
    from anygame.network.grounding.rules import GroundRule, Item

#: A head variable multiplies instances if it has more values than this for what the rest knows.
_FEW: Final = 2.0
_NOTHING: Final[frozenset[Variable]] = frozenset()


def split_heads(rule: GroundRule, context: Context) -> list[GroundRule]:
    """Give what changes in a body a relation of its own, if the head has variables beside it."""
    if rule.composed or not rule.positives:
        return [rule]
    head = frozenset(variables_of_atom(rule.head))
    items = items_of(rule)
    for part in filter(None, (_connected_part(items), _changing_part(items))):
        inside = variables_of_items(part)
        rest = [item for item in items if item not in part]
        outside = variables_of_items(rest)
        is_less = len([item for item in part if item.is_dynamic]) > 1 or not inside <= head | outside
        if is_less and head - determined(rule, inside, context, _FEW):
            split, left = split_off(items, part, head, context)
            return [split, rule_of(rule.head, left)]
    return [rule]


def _connected_part(items: Sequence[Item]) -> list[Item]:
    """Return what changes, with everything that shares variables with it; nothing if it falls apart."""
    changing = [group for group in connected(items, _NOTHING) if any(item.is_dynamic for item in group)]
    return changing[0] if len(changing) == 1 else []


def _changing_part(items: Sequence[Item]) -> list[Item]:
    """Return the only literal that changes, with what is said of its variables alone."""
    changing = [item for item in items if item.is_dynamic]
    if len(changing) != 1:
        return []
    return [item for item in items if item in changing or changing[0].variables >= item.variables > _NOTHING]
