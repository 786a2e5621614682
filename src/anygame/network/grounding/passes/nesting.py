"""Naming nested terms: every column of a literal becomes a constant or a variable.

::

    next(count(s(n))) :- does(r, up), true(count(n))

becomes::

    next(count(w)) :- does(r, up), true(count(n)), w = s(n)

so that tables hold one number per column, as in the flattening of clauses (Rouveirol 1994, "Flattening and
saturation").
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from anygame.datalog.relations import FlatAtom
from anygame.language.terms import Compound, Term, Variable
from anygame.network.grounding.rules import Composed

if TYPE_CHECKING:
    from anygame.network.grounding.passes.context import Context
    from anygame.network.grounding.rules import GroundRule


def name_nested_terms(rule: GroundRule, _: Context) -> list[GroundRule]:
    """Name the nested terms of head, literals and guards."""
    nested = [
        term for atom in (rule.head, *rule.atoms) for term in atom.columns if isinstance(term, Compound)
    ]
    if all(term.is_ground for term in nested):
        return [rule]
    composed = list(rule.composed)

    def named(atom: FlatAtom) -> FlatAtom:
        return FlatAtom(atom.relation, tuple([_name(term, composed) for term in atom.columns]))

    found = rule.with_atoms(named)
    return [replace(found, composed=tuple(composed))]


def _name(term: Term, composed: list[Composed]) -> Term:
    if not isinstance(term, Compound) or term.is_ground:
        return term
    parts = tuple([_name(part, composed) for part in term.arguments])
    functor = (term.functor, len(parts))
    for known in composed:
        if known.functor == functor and known.parts == parts:
            return known.whole
    whole = Variable(f" {len(composed)}")
    composed.append(Composed(whole, functor, parts))
    return whole
