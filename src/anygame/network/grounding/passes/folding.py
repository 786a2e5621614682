"""Unfolding and folding (Tamaki and Sato 1984, "Unfold/fold transformation of logic programs").

Unfolding replaces a large static relation, which ties its variables together, by its definition::

    row(a, b, c) :- true(at(1, a)), true(at(2, b)), true(at(3, c)), [alike(a, b, c)]
    where alike(x, y, z) :- kind(x, k), kind(y, k), kind(z, k), and alike has a million rows

becomes::

    row(a, b, c) :- true(at(1, a)), true(at(2, b)), true(at(3, c)), [kind(a, k)], [kind(b, k)], [kind(c, k)]

Now only ``k`` ties the variables, so the body can be decomposed.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from itertools import count, islice
from typing import TYPE_CHECKING, Final

from anygame.datalog.relations import FlatAtom
from anygame.language.unification import unify_all
from anygame.network.grounding.rules import (
    MOST_COPIES,
    GroundRule,
    NotAVariableError,
    is_own,
    named_by_place,
    renamed_apart,
    substituted,
    variables_of_atom,
    variables_of_rule,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from anygame.datalog.relations import Relation
    from anygame.language.unification import Bindings
    from anygame.network.grounding.passes.context import Context


#: Maximum nesting depth of inlined definitions. Sheets define geometry (row, square, line) in about three
#: layers, and each layer doubles the copies.
_DEEPEST: Final = 4


def inline_static_relations(rule: GroundRule, context: Context) -> list[GroundRule]:
    """Replace large static relations by the bodies of their rules."""
    return _inline(rule, context, dense=False)


def inline_dense_relations(rule: GroundRule, context: Context) -> list[GroundRule]:
    """Also inline dense relations, except in rules with a move, where ``complement_moves`` needs them."""
    if any(atom.relation.predicate == "does" for atom in rule.positives):
        return [rule]
    return _inline(rule, context, dense=True)


def _inline(rule: GroundRule, context: Context, *, dense: bool) -> list[GroundRule]:
    def copies(rule: GroundRule, depth: int) -> Iterator[GroundRule]:
        for guard in rule.guards if depth else ():
            bodies = context.static.definition(guard.relation, dense)
            if bodies is None:
                continue
            try:
                unfoldings = [unfolded(rule, guard, body) for body in bodies]
            except NotAVariableError:
                continue
            for one, _ in filter(None, unfoldings):
                yield from copies(one, depth - 1)
            return
        yield rule

    inlined = list(islice(copies(rule, _DEEPEST), MOST_COPIES + 1))
    return inlined if len(inlined) <= MOST_COPIES else [rule]


def unfolded(rule: GroundRule, atom: FlatAtom, body: GroundRule) -> tuple[GroundRule, Bindings] | None:
    """Replace an atom of a rule by the body of another rule; return the new rule and the bindings.

    Returns None if the head of the other rule does not unify with the atom. Raises NotAVariableError like
    ``substituted``.
    """
    # Rename the body's variables apart, because variables are replaced one at a time.
    own = variables_of_rule(body)
    names = {variable.name for variable in variables_of_rule(rule) | own}
    fresh = next(n for n in count(1) if names.isdisjoint(f"{variable.name} {n}" for variable in own))
    body = renamed_apart(body, fresh)
    bindings = unify_all(zip(atom.columns, body.head.columns, strict=True), {})
    if bindings is None:
        return None
    whole = GroundRule(
        rule.head,
        _spliced(rule.positives, atom, body.positives),
        (*rule.negatives, *body.negatives),
        _spliced(rule.guards, atom, body.guards),
        (*rule.tests, *body.tests),
        (*rule.composed, *body.composed),
    )
    return substituted(whole, bindings), bindings


def _spliced(atoms: Sequence[FlatAtom], atom: FlatAtom, others: Sequence[FlatAtom]) -> tuple[FlatAtom, ...]:
    """Return ``atoms`` with ``others`` in place of ``atom``, or at the end if ``atom`` is missing."""
    index = next((number for number, one in enumerate(atoms) if one is atom), len(atoms))
    return (*atoms[:index], *others, *atoms[index + 1 :])


def merge_rules(rules: Sequence[GroundRule], context: Context) -> list[GroundRule]:
    """Merge rules that differ only in one literal.

    ::

        attacked(x, y) :- rook(u, v, x, y), [apart(u, v)]
        attacked(x, y) :- bishop(u, v, x, y), [apart(u, v)]

    becomes::

        attacked(x, y) :- either(u, v, x, y), [apart(u, v)]
        either(u, v, x, y) :- rook(u, v, x, y)
        either(u, v, x, y) :- bishop(u, v, x, y)

    So the other literals are joined only once. This is *folding* (Tamaki and Sato 1984).
    """
    alike: dict[object, dict[GroundRule, int]] = defaultdict(dict)
    rules = [_with_plain_head(rule) for rule in rules]
    for rule in rules:
        if len(rule.atoms) + len(rule.tests) > 1 and not rule.composed:
            for index, literal in enumerate(rule.positives):
                if literal.relation.predicate != "does":
                    alike[_without(rule, index)].setdefault(rule, index)
    made: dict[GroundRule, list[GroundRule]] = {}
    merged_literals: dict[object, Relation] = {}
    for candidates in alike.values():
        fresh = {rule: index for rule, index in candidates.items() if rule not in made}
        if len(fresh) > 1:
            first, *others = fresh
            made[first] = _merged(fresh, merged_literals, context)
            made |= {rule: [] for rule in others}
    return [one for rule in rules for one in made.get(rule, [rule])]


def _with_plain_head(rule: GroundRule) -> GroundRule:
    if rule.composed or not rule.positives:
        return rule
    return substituted(rule, named_by_place([rule.head], " head {}"))


def _without(rule: GroundRule, index: int) -> object:
    """Return a key of a rule without one of its literals; rules with the same key can be merged."""
    literal = rule.positives[index]
    rest = rule.positives[:index] + rule.positives[index + 1 :]
    bodies = [frozenset(rest), *(map(frozenset, (rule.negatives, rule.guards, rule.tests)))]
    return (rule.head, frozenset(variables_of_atom(literal)), *bodies)


def _merged(
    alike: dict[GroundRule, int], merged: dict[object, Relation], context: Context
) -> list[GroundRule]:
    first, index = next(iter(alike.items()))
    literals = [rule.positives[at] for rule, at in alike.items()]
    columns = tuple(dict.fromkeys(variables_of_atom(literals[0])))
    numbers = {variable: number for number, variable in enumerate(columns)}
    key = frozenset(
        (atom.relation, tuple([numbers.get(term, term) for term in atom.columns]))  # type: ignore[call-overload]
        for atom in literals
    )
    made = []
    if key not in merged:
        merged[key] = context.new_relation(len(columns))
        made = [GroundRule(FlatAtom(merged[key], columns), positives=(literal,)) for literal in literals]
    either = FlatAtom(merged[key], columns)
    positives = (*first.positives[:index], either, *first.positives[index + 1 :])
    return [*made, replace(first, positives=positives)]


def share_parts(rules: Sequence[GroundRule], _: Context) -> list[GroundRule]:
    """Merge relations that passes added and that have the same rules, until no such relations remain.

    ::

        part(x) :- true(at(x, y)), [cell(y)]
        other(z) :- true(at(z, w)), [cell(w)]

    Rules that read ``other`` then read ``part`` (Cocke 1970, "Global common subexpression elimination").
    """
    kept_rules = list(dict.fromkeys(rules))
    while same := _alike(kept_rules):
        different = [rule for rule in kept_rules if rule.head.relation not in same]
        kept_rules = list(dict.fromkeys(_renamed(rule, same) for rule in different))
    return kept_rules


def _alike(rules: Sequence[GroundRule]) -> dict[Relation, Relation]:
    of_relation: dict[Relation, list[GroundRule]] = defaultdict(list)
    for rule in rules:
        if is_own(rule.head.relation):
            of_relation[rule.head.relation].append(rule)
    first: dict[object, Relation] = {}
    same: dict[Relation, Relation] = {}
    for relation, made in of_relation.items():
        if any(rule.composed or not rule.atoms for rule in made):
            continue
        key = frozenset(map(meaning, made))
        representative = first.setdefault(key, relation)
        if representative != relation:
            same[relation] = representative
    return same


def meaning(rule: GroundRule) -> object:
    """Return a key of a rule, independent of the names of its variables and of its head relation."""
    same = substituted(rule, named_by_place((rule.head, *rule.atoms), " {} "))
    return same.head.columns, same.positives, same.negatives, same.guards, same.tests


def _renamed(rule: GroundRule, same: Mapping[Relation, Relation]) -> GroundRule:
    if not any(atom.relation in same for atom in rule.atoms):
        return rule
    return rule.with_atoms(lambda atom: FlatAtom(same.get(atom.relation, atom.relation), atom.columns))
