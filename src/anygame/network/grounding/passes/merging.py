"""Merging rules: rules that differ in one literal become one, over a relation for that literal.

::

    attacked(x, y) :- rook(u, v, x, y), [apart(u, v)]
    attacked(x, y) :- bishop(u, v, x, y), [apart(u, v)]

becomes::

    attacked(x, y) :- either(u, v, x, y), [apart(u, v)]
    either(u, v, x, y) :- rook(u, v, x, y)
    either(u, v, x, y) :- bishop(u, v, x, y)

so that what the other literals multiply is multiplied once: *folding* (Tamaki and Sato 1984, "Unfold/fold
transformation of logic programs").
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING

from anygame.datalog.relations import FlatAtom
from anygame.network.grounding.rules import GroundRule, variables_of_atom
from anygame.network.grounding.substitution import named_by_place, substituted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from anygame.datalog.relations import Relation
    from anygame.network.grounding.passes.context import Context


def merge_rules(rules: Sequence[GroundRule], context: Context) -> list[GroundRule]:
    """Merge rules of two literals and more that are the same but for one that depends on the state."""
    alike: dict[object, dict[GroundRule, int]] = defaultdict(dict)
    rules = [_with_plain_head(rule) for rule in rules]
    for rule in rules:
        if len(rule.atoms) + len(rule.tests) > 1 and not rule.composed:
            for index, literal in enumerate(rule.positives):
                if literal.relation.predicate != "does":
                    alike[_without(rule, index)].setdefault(rule, index)
    made: dict[GroundRule, list[GroundRule]] = {}
    known: dict[object, Relation] = {}
    for found in alike.values():
        fresh = {rule: index for rule, index in found.items() if rule not in made}
        if len(fresh) > 1:
            first, *others = fresh
            made[first] = _merged(fresh, known, context)
            made |= {rule: [] for rule in others}
    return [one for rule in rules for one in made.get(rule, [rule])]


def _with_plain_head(rule: GroundRule) -> GroundRule:
    """Return a rule that could be merged with the variables of its head named by their places."""
    if rule.composed or not rule.positives:
        return rule
    return substituted(rule, named_by_place([rule.head], " head {}"))


def _without(rule: GroundRule, index: int) -> object:
    """Return what two rules share that differ in a literal; its variables count, not its columns."""
    literal = rule.positives[index]
    rest = rule.positives[:index] + rule.positives[index + 1 :]
    bodies = [frozenset(rest), *(map(frozenset, (rule.negatives, rule.guards, rule.tests)))]
    return (rule.head, frozenset(variables_of_atom(literal)), *bodies)


def _merged(
    found: dict[GroundRule, int], known: dict[object, Relation], context: Context
) -> list[GroundRule]:
    """Return one rule for several, and the rules of the relation for the literal in which they differ.

    Args:
        found: the rules, each with the index of that literal.
        known: relations for literals that were merged before.
        context: of the passes.
    """
    first, index = next(iter(found.items()))
    literals = [rule.positives[at] for rule, at in found.items()]
    columns = tuple(dict.fromkeys(variables_of_atom(literals[0])))
    numbers = {variable: number for number, variable in enumerate(columns)}
    key = frozenset(
        (atom.relation, tuple([numbers.get(term, term) for term in atom.columns]))  # type: ignore[call-overload]
        for atom in literals
    )
    made = []
    if key not in known:
        known[key] = context.new_relation(len(columns))
        made = [GroundRule(FlatAtom(known[key], columns), positives=(literal,)) for literal in literals]
    either = FlatAtom(known[key], columns)
    positives = (*first.positives[:index], either, *first.positives[index + 1 :])
    return [*made, replace(first, positives=positives)]
