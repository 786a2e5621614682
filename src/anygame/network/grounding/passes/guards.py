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
from anygame.language.terms import variables_of
from anygame.network.grounding.rules import GroundRule, in_order, variables_of_atom, variables_of_test

if TYPE_CHECKING:
    from anygame.language.terms import Variable
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
        used = own & _variables_beside(rule, [*guards[:number], *guards[number + 1 :]])
        if len(used) < len(own):
            columns = in_order(used)
            guards[number] = FlatAtom(context.new_relation(len(columns)), columns)
            made.append(GroundRule(guards[number], guards=(guard,)))
    return [*made, replace(rule, guards=tuple(guards))] if made else [rule]


def _variables_beside(rule: GroundRule, guards: list[FlatAtom]) -> set[Variable]:
    atoms = (rule.head, *rule.positives, *rule.negatives, *guards)
    found = {variable for atom in atoms for variable in variables_of_atom(atom)}
    found = found.union(*map(variables_of_test, rule.tests))
    for item in rule.composed:
        found.add(item.whole)
        found.update(variable for part in item.parts for variable in variables_of(part))
    return found
