"""Magic sets: ground only the rows of a view that some rule asks for.

::

    legal(r, go(x, y)) :- true(at(x, r)), not attacked(x, y), [step(x, y)]
    attacked(u, v) :- true(at(w, b)), [line(w, u, v)]

becomes::

    legal(r, go(x, y)) :- true(at(x, r)), not attacked(x, y), [step(x, y)]
    asked(x, y) :- [true(at(x, r))], [step(x, y)]
    attacked(u, v) :- true(at(w, b)), [line(w, u, v)], [asked(u, v)]

After Bancilhon, Maier, Sagiv and Ullman (1986, "Magic sets and other strange ways to implement logic
programs") and Beeri and Ramakrishnan (1991, "On the power of magic"). All questions to a view bind the same
columns, namely the columns that every rule that reads the view can bind. So the view stays one relation.

A recursive view may have infinitely many rows, such as one per list or number, although rules need few. So
every literal of a rule may bind the question to a recursive view, even a literal of another view. To avoid
circular questions, non-recursive views come first, then recursive views in the order of the body.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from anygame.analysis.groups import cycles
from anygame.datalog.relations import FlatAtom, variables_in
from anygame.language.terms import variables_of
from anygame.network.grounding.passes.context import bound_by, can_be_joined, determined, narrow_guards
from anygame.network.grounding.rules import GroundRule, binding_literals, is_own, variables_of_atom

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from anygame.datalog.relations import Relation
    from anygame.language.terms import Term, Variable
    from anygame.network.grounding.passes.context import Context


#: Maximum average number of values that a guard adds per question. A guard may add the neighbours of a cell,
#: for example, but not all other cells.
_MOST_VALUES: Final = 4.0
#: Maximum number of literals that are joined to bind a question's columns.
_MOST_BINDERS: Final = 2

_Columns = frozenset[int]


@dataclass(frozen=True, slots=True)
class _Read:
    rule: GroundRule
    atom: FlatAtom
    negated: bool


def ask_for_rows(rules: Sequence[GroundRule], context: Context) -> list[GroundRule]:
    """Restrict views to the rows that rules ask for, and add rules that derive the questions."""
    return _Demand(rules, context).rules()


class _Demand:
    def __init__(self, rules: Sequence[GroundRule], context: Context) -> None:
        self._rules = rules
        self._context = context
        self._recursive = _recursive_views(rules, context)
        self._asked_by: dict[Relation, _Columns] = {
            relation: frozenset(range(relation.width)) for relation in _restrictable(rules, context)
        }
        self._reads = [
            _Read(rule, atom, negated)
            for rule in rules
            for negated, atoms in ((False, (*rule.positives, *rule.guards)), (True, rule.negatives))
            for atom in atoms
            if atom.relation in self._asked_by
        ]
        # Drop columns from the questions to a view until every reader can bind the rest at low cost.
        while self._drop_columns():
            pass
        self._asked = {
            relation: context.new_relation(len(columns)) for relation, columns in self._asked_by.items()
        }

    def rules(self) -> list[GroundRule]:
        asking = dict.fromkeys(rule for read in self._reads for rule in self._asking(read))
        restricted = [
            replace(rule, guards=(*rule.guards, *asked)) if (asked := self._head_asked(rule)) else rule
            for rule in self._rules
        ]
        return [*asking, *restricted]

    def _drop_columns(self) -> bool:
        changed = False
        for read in self._reads:
            columns = self._asked_by.get(read.atom.relation)
            if columns is None or read.negated:
                continue
            bound = self._bound(read, columns)
            kept = frozenset(
                number for number in columns if bound.issuperset(_variables(read.atom, [number]))
            )
            guards = self._binding_guards(read, kept)
            if kept and can_be_joined(read.rule, guards, self._context, self._known(read.rule)):
                self._asked_by[read.atom.relation] = kept
            else:
                del self._asked_by[read.atom.relation]
            changed |= kept != columns or read.atom.relation not in self._asked_by
        return changed

    def _known(self, rule: GroundRule) -> set[Variable]:
        """Return the variables that questions for the head of a rule bind."""
        return _variables(rule.head, self._asked_by.get(rule.head.relation, ()))

    def _bound(self, read: _Read, columns: _Columns) -> set[Variable]:
        """Return the variables that a rule can bind at low cost in its question to a view."""
        rule, known = read.rule, self._known(read.rule)
        is_recursive = read.atom.relation in self._recursive
        is_asked = rule.head.relation in self._asked_by
        if is_asked and not is_recursive:
            return determined(rule, known, self._context, _MOST_VALUES)
        literals = self._free_literals(read)
        if is_recursive:
            return bound_by(rule, known.union(*map(variables_of_atom, literals)))
        used = binding_literals(literals, _variables(read.atom, columns))[:_MOST_BINDERS]
        return {variable for atom in used for variable in variables_of_atom(atom)}

    def _free_literals(self, read: _Read) -> list[FlatAtom]:
        """Return the literals of a rule that may bind its question to a view."""
        return [
            atom
            for atom in (*read.rule.positives, *read.rule.guards)
            if self._is_free(atom.relation) or self._comes_first(atom, read)
        ]

    def _is_free(self, relation: Relation) -> bool:
        return relation not in self._asked_by and not (
            self._context.static.is_view(relation) and not is_own(relation)
        )

    def _comes_first(self, atom: FlatAtom, read: _Read) -> bool:
        """Whether a literal of a view may bind the question to a recursive view later in the body."""
        if read.atom.relation not in self._recursive or atom is read.atom:
            return False
        if atom.relation not in self._recursive:
            return True
        literals = read.rule.positives
        return atom in literals and (read.negated or literals.index(atom) < literals.index(read.atom))

    def _asking(self, read: _Read) -> Iterator[GroundRule]:
        """Yield the rule that derives the questions of a literal, unless the rule is trivial."""
        columns = self._asked_by.get(read.atom.relation)
        if columns is None:
            return
        rule = read.rule
        head = _projected(read.atom, columns, self._asked[read.atom.relation])
        guards = [*self._head_asked(rule), *self._binding_guards(read, columns)]
        if head in guards:
            return
        yield _asking_rule(head, guards, rule)

    def _binding_guards(self, read: _Read, columns: _Columns) -> list[FlatAtom]:
        """Return literals that bind a rule's question to a view, given the question for the rule's head."""
        rule, known, unbound = read.rule, self._known(read.rule), _variables(read.atom, columns)
        if read.negated:
            guards = _binding(rule, unbound)
            offered = [*rule.positives, *rule.guards]
        else:
            offered = self._free_literals(read)
            guards = []
            if rule.head.relation in self._asked_by:
                guards = narrow_guards(rule, known, self._context, _MOST_VALUES)
                unbound -= determined(rule, known, self._context, _MOST_VALUES)
            guards = list(dict.fromkeys([*guards, *binding_literals(offered, unbound)]))
            bound = known.union(*map(variables_of_atom, guards))
            if not bound_by(rule, bound).issuperset(unbound):
                # Nested terms bind the other variables, and any literal can bind parts of these terms.
                return offered
        return guards if can_be_joined(rule, guards, self._context, known) else offered

    def _head_asked(self, rule: GroundRule) -> list[FlatAtom]:
        columns = self._asked_by.get(rule.head.relation)
        return [] if columns is None else [_projected(rule.head, columns, self._asked[rule.head.relation])]


def _restrictable(rules: Sequence[GroundRule], context: Context) -> list[Relation]:
    heads = dict.fromkeys(rule.head.relation for rule in rules if rule.atoms)
    views = {relation for relation in heads if context.static.is_view(relation)}
    readers: dict[Relation, set[Relation]] = defaultdict(set)
    for rule in rules:
        for atom in (*rule.positives, *rule.guards):
            readers[atom.relation].add(rule.head.relation)
    while free := {relation for relation in views if is_own(relation) and not readers[relation] <= views}:
        views -= free
    return [relation for relation in heads if relation in views and relation.width]


def _recursive_views(rules: Sequence[GroundRule], context: Context) -> set[Relation]:
    views = [
        *dict.fromkeys(rule.head.relation for rule in rules if context.static.is_view(rule.head.relation))
    ]
    numbers = {relation: number for number, relation in enumerate(views)}
    reads: list[set[int]] = [set() for _ in views]
    for rule in rules:
        if rule.head.relation in numbers:
            read = {numbers[atom.relation] for atom in rule.atoms if atom.relation in numbers}
            reads[numbers[rule.head.relation]] |= read
    recursive = cycles(range(len(views)), lambda number: sorted(reads[number]))
    return {views[number] for cycle in recursive for number in cycle}


def _binding(rule: GroundRule, wanted: Iterable[Variable]) -> list[FlatAtom]:
    literals = [*rule.positives, *rule.guards]
    used = binding_literals(literals, wanted)
    bound = {variable for atom in used for variable in variables_of_atom(atom)}
    if not bound_by(rule, bound).issuperset(wanted):
        # Equations and nested terms bind the other variables, and any literal can bind parts of these terms.
        return literals
    return [atom for atom in literals if atom in used or bound.issuperset(variables_of_atom(atom))]


def _asking_rule(head: FlatAtom, guards: Iterable[FlatAtom], rule: GroundRule) -> GroundRule:
    kept = tuple(dict.fromkeys(guards))
    bound = bound_by(rule, (v for guard in kept for v in variables_of_atom(guard)))
    return GroundRule(
        head,
        guards=kept,
        tests=tuple(test for test in rule.tests if variables_in((test,)) <= bound),
        composed=tuple(item for item in rule.composed if item.whole in bound),
    )


def _projected(atom: FlatAtom, columns: Iterable[int], relation: Relation) -> FlatAtom:
    return FlatAtom(relation, tuple([atom.columns[number] for number in sorted(columns)]))


def _variables(atom: FlatAtom, columns: Iterable[int]) -> set[Variable]:
    terms: list[Term] = [atom.columns[number] for number in columns]
    return {variable for term in terms for variable in variables_of(term)}
