"""Specialising views: a view that is only ever read with constants in some columns is grounded for these.

::

    terminal :- full(a, b, p)
    full(x, y, p) :- true(at(x, p)), true(at(y, p))

becomes::

    terminal :- full(a, b, p)
    full(x, y, p) :- true(at(x, p)), true(at(y, p)), [asked(x, y)]
    asked(a, b)

where ``full`` had a row for every two cells. These are *magic sets* for constants alone (Bancilhon, Maier,
Sagiv and Ullman 1986, "Magic sets and other strange ways to implement logic programs").
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from anygame.datalog.relations import FlatAtom, reads_of
from anygame.language.terms import Constant
from anygame.network.grounding.rules import GroundRule

if TYPE_CHECKING:
    from collections.abc import Sequence

    from anygame.datalog.relations import Relation
    from anygame.network.grounding.passes.context import Context


def specialise_views(rules: Sequence[GroundRule], context: Context) -> list[GroundRule]:
    """Restrict views to the constants with which they are read; the constants come first, as facts."""
    reads: dict[Relation, list[FlatAtom]] = {}
    for rule in rules:
        for atom in (*rule.positives, *rule.negatives, *(read.atom for read in reads_of(rule.tests))):
            if context.is_view(atom.relation):
                reads.setdefault(atom.relation, []).append(atom)
    facts: list[GroundRule] = []
    asked: dict[Relation, tuple[Relation, list[int]]] = {}
    for view, atoms in reads.items():
        fixed = [n for n in range(view.width) if all(isinstance(atom.columns[n], Constant) for atom in atoms)]
        if fixed:
            relation = context.new_relation(len(fixed))
            asked[view] = relation, fixed
            rows = dict.fromkeys(tuple([atom.columns[n] for n in fixed]) for atom in atoms)
            facts += [GroundRule(FlatAtom(relation, columns)) for columns in rows]
    return facts + [_restricted(rule, asked) for rule in rules]


def _restricted(rule: GroundRule, asked: dict[Relation, tuple[Relation, list[int]]]) -> GroundRule:
    if rule.head.relation not in asked:
        return rule
    relation, fixed = asked[rule.head.relation]
    guard = FlatAtom(relation, tuple([rule.head.columns[number] for number in fixed]))
    return replace(rule, guards=(*rule.guards, guard))
