"""Joining negations: if only one row supplies an argument of a negated view, join the view with this row.

::

    legal(r, go(x)) :- true(at(r, k)), not attacked(x, k), [cell(x)]
    attacked(x, k) :- true(on(s)), line(s, k), [apart(s, x)]

If ``r`` is at only one ``k``, these rules become::

    legal(r, go(x)) :- true(at(r, k)), not joined(r, x), [cell(x)]
    joined(r, x) :- true(on(s)), part(r, s), [apart(s, x)]
    part(r, s) :- true(at(r, k)), line(s, k)

The rules for ``joined`` and ``part`` are the old rules unfolded (see ``folding``), with the literals about
the joined row split off. In the old rules, the numbers of values of ``x``, ``s`` and ``k`` multiply. In the
new rules, the numbers for ``x`` and ``k`` add up. Without this pass, chess has 2.6 times as many gate inputs.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Final

from anygame.datalog.relations import FlatAtom
from anygame.language.terms import variables_of
from anygame.language.unification import apply
from anygame.network.grounding.large.cases import Invariant
from anygame.network.grounding.passes.decomposition import determining, split_off
from anygame.network.grounding.passes.folding import meaning, unfolded
from anygame.network.grounding.passes.normal_form import expand_disjunctions
from anygame.network.grounding.rules import (
    MOST_COPIES,
    GroundRule,
    Item,
    NotAVariableError,
    items_of,
    rule_of,
    sorted_by_name,
    variables_of_atom,
    variables_of_items,
    variables_of_rule,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from anygame.datalog.relations import Relation
    from anygame.language.terms import Variable
    from anygame.language.unification import Bindings
    from anygame.network.grounding.passes.context import Context

    Variables = frozenset[Variable]

#: Maximum nesting depth of unfolded views.
_DEEPEST: Final = 5
#: Maximum number of rules that unfolding adds to a game.
_MOST_UNFOLDED: Final = 1000


def join_negations(rules: Sequence[GroundRule], context: Context) -> list[GroundRule]:
    """Join each negated view with the only row that supplies its arguments, and split off literals."""
    return _Joining(rules, context).rules()


class _Joining:
    def __init__(self, rules: Sequence[GroundRule], context: Context) -> None:
        self._rules = rules
        self._context = context
        self._made: list[GroundRule] = []
        self._room = _MOST_UNFOLDED
        self._known: dict[object, Relation] = {}
        self._views: dict[Relation, list[GroundRule]] = defaultdict(list)
        for rule in rules:
            if context.static.is_view(rule.head.relation) and not context.static.has_facts(
                rule.head.relation
            ):
                self._views[rule.head.relation].append(rule)

    def rules(self) -> list[GroundRule]:
        joined = [rule if rule.composed else self._joined(rule) for rule in self._rules]
        return [*self._made, *joined]

    def _joined(self, rule: GroundRule) -> GroundRule:
        negatives: list[FlatAtom] = []
        insides: list[Variables] = []
        for atom in (*rule.negatives, *rule.positives):
            known, rows = self._rows_beside(rule, atom)
            inside = variables_of_items(rows) - known
            if inside:
                insides.append(inside)
            if inside and len(negatives) < len(rule.negatives):
                columns = sorted_by_name(known)
                head = FlatAtom(self._context.new_relation(len(columns)), columns)
                whole = rule_of(head, [*rows, Item.of("positives", atom)])
                atom = FlatAtom(self._relation_of(whole, inside, _DEEPEST), columns)
            negatives.append(atom)
        rule = replace(rule, negatives=tuple(negatives[: len(rule.negatives)]))
        for inside in insides:
            rule = self._split(rule, inside, _DEEPEST)
        return rule

    def _rows_beside(self, rule: GroundRule, atom: FlatAtom) -> tuple[Variables, list[Item]]:
        """Find the row that supplies some variables of an atom; return the other variables and the row."""
        own, head = frozenset(variables_of_atom(atom)), frozenset(variables_of_atom(rule.head))
        rows = [Item.of("positives", one) for one in rule.positives if one.relation.predicate == "true"]
        static = filter(lambda guard: self._context.static.is_static(guard.relation), rule.guards)
        guards = [Item.of("guards", guard) for guard in static]
        for row in rows if self._bodies(atom.relation) else []:
            known = own - (row.variables - head)
            determined = (
                determining([row, *guards], known, partial(self._is_row, rule)) if known < own else []
            )
            if row in determined:
                used = [row]
                for item in reversed(determined[: determined.index(row)]):
                    if item.variables & variables_of_items(used) - known:
                        used.append(item)
                return known, used
        return own, []

    def _is_row(self, rule: GroundRule, atom: FlatAtom, given: set[int]) -> bool:
        context = self._context
        return context.is_row(atom, given) or any(
            values
            and all(context.prover.holds(Invariant(atom.relation, (column,), value)) for value in values)
            for column in given
            for values in [context.premises.values_in(rule.guards, atom.columns[column])]
        )

    def _relation_of(self, rule: GroundRule, inside: Variables, depth: int) -> Relation:
        key = meaning(rule)
        if key not in self._known:
            self._known[key] = rule.head.relation
            self._made += self._unfold(rule, inside, depth)
        return self._known[key]

    def _split(self, rule: GroundRule, inside: Variables, depth: int) -> GroundRule:
        """Move the items that contain variables of ``inside`` into a new relation, unless all items do."""
        items = items_of(rule)
        part = [item for item in items if item.variables & inside]
        rest = [item for item in items if not item.variables & inside]
        if not part or not rest:
            return rule
        split, items_left = split_off(items, part, frozenset(variables_of_atom(rule.head)), self._context)
        # The rule of a part has copies of guards, so splitting off all other items could repeat forever.
        if not (any(item.is_dynamic for item in rest) or variables_of_rule(split) < variables_of_rule(rule)):
            return rule
        atom = FlatAtom(self._relation_of(split, inside, depth), split.head.columns)
        items_left = [Item.of("positives", atom) if item.what == split.head else item for item in items_left]
        return rule_of(rule.head, items_left)

    def _unfold(self, rule: GroundRule, inside: Variables, depth: int) -> list[GroundRule]:
        """Replace views with variables of ``inside`` by their bodies, each body in a separate relation."""
        rule = self._split(rule, inside, depth)
        copies = self._copies(rule, inside) if depth else []
        if not 0 < len(copies) <= min(MOST_COPIES, self._room):
            return [rule]
        self._room -= len(copies)
        if len(copies) == 1:
            return self._unfold(*copies[0], depth - 1)
        return [self._apart(*copy, depth - 1) for copy in copies]

    def _apart(self, rule: GroundRule, inside: Variables, depth: int) -> GroundRule:
        split = self._split(rule, inside, depth)
        if split is not rule:
            return split
        columns = sorted_by_name(variables_of_atom(rule.head))
        part = replace(rule, head=FlatAtom(self._context.new_relation(len(columns)), columns))
        return GroundRule(rule.head, (FlatAtom(self._relation_of(part, inside, depth), columns),))

    def _copies(self, rule: GroundRule, inside: Variables) -> list[tuple[GroundRule, Variables]]:
        """Return for each body of a view a copy of the rule, and the new names of ``inside``."""
        expanded = expand_disjunctions(rule, self._context)
        if len(expanded) > 1:
            return [(one, inside) for one in expanded]
        for atom in rule.positives:
            bodies = self._bodies(atom.relation)
            if bodies is not None and not inside.isdisjoint(variables_of_atom(atom)):
                try:
                    unfoldings = [unfolded(rule, atom, body) for body in bodies]
                except NotAVariableError:
                    return []
                return [(copy, _renamed(inside, copy, to)) for copy, to in filter(None, unfoldings)]
        return []

    def _bodies(self, relation: Relation) -> list[GroundRule] | None:
        rules = self._views.get(relation)
        if not rules or any(rule.composed for rule in rules):
            return None
        reads = {atom.relation for rule in rules for atom in rule.atoms}
        return None if relation in reads else rules


def _renamed(inside: Variables, rule: GroundRule, bindings: Bindings) -> Variables:
    """Return the variables that replace ``inside`` in a rule, except variables of the rule's head."""
    renamed = {v for variable in inside for v in variables_of(apply(variable, bindings))}
    return frozenset(renamed.difference(variables_of_atom(rule.head)))
