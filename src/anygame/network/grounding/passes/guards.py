"""Projecting guards: of a guard, only the columns that the rule uses are matched.

::

    far(x) :- true(at(x)), [part(x, y)]

becomes::

    far(x) :- true(at(x)), [some(x)]
    some(x) :- [part(x, y)]

where every ``y`` made an instance: projections are pushed below joins, as in relational databases (Ullman
1988, "Principles of database and knowledge-base systems"). Static guards stay as they are: their rows are few
or counted already.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from anygame.datalog.relations import FlatAtom
from anygame.network.grounding.rules import GroundRule, in_order, variables_of_atom, variables_of_rule

if TYPE_CHECKING:
    from anygame.network.grounding.passes.context import Context


def project_guards(rule: GroundRule, context: Context) -> list[GroundRule]:
    """Replace the guards of a rule by their projections to what the rule uses."""
    if len(rule.atoms) < 2:
        # A projection already.
        return [rule]
    made: list[GroundRule] = []
    guards = list(rule.guards)
    for number, guard in enumerate(guards):
        own = set(variables_of_atom(guard))
        if context.is_static(guard.relation):
            continue
        others = (*guards[:number], *guards[number + 1 :])
        used = own & variables_of_rule(replace(rule, guards=others))
        if len(used) < len(own):
            columns = in_order(used)
            guards[number] = FlatAtom(context.new_relation(len(columns)), columns)
            made.append(GroundRule(guards[number], guards=(guard,)))
    return [*made, replace(rule, guards=tuple(guards))] if made else [rule]
