"""Splitting views: rules that do not depend on some columns form a new view without these columns.

::

    clear(x, z, u) :- [next(x, z)], [cell(u)]
    clear(x, z, u) :- [next(x, y)], true(empty(y)), clear(y, z, u)
    clear(x, z, u) :- [next(x, u)], clear(u, z, u)

becomes the following rules. ``free`` has the squares that are clear for every ``u``, and ``bound`` the
squares that are clear because of ``u``::

    free(x, z) :- [next(x, z)]
    free(x, z) :- [next(x, y)], true(empty(y)), free(y, z)
    bound(x, z, u) :- [next(x, y)], true(empty(y)), bound(y, z, u)
    bound(x, z, u) :- [next(x, u)], free(u, z), [cell(u)]
    bound(x, z, u) :- [next(x, u)], bound(u, z, u)

Rules that read the view then read both parts: ``clear(x, z, u)`` holds if ``bound(x, z, u)`` holds, or if
``u`` is a cell and ``free(x, z)`` holds. So ``u`` does not multiply the instances of ``free``. This extends
the removal of existential arguments (Ramakrishnan, Beeri and Krishnamurthy 1988, "Optimizing existential
Datalog queries") to arguments that some rules need. Without this pass, the network of chess has 1.5 times as
many gate inputs.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Final

from anygame.datalog.relations import FlatAtom, reads_of, variables_in
from anygame.language.terms import Variable, variables_of
from anygame.network.grounding.passes.normal_form import expand_disjunctions
from anygame.network.grounding.rules import GroundRule, variables_of_atom

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from anygame.datalog.relations import Relation
    from anygame.language.terms import Term
    from anygame.network.grounding.passes.context import Context

    Columns = frozenset[int]
    #: Per column, the unary static relations that contain its values.
    Kinds = dict[int, frozenset[Relation]]

#: Maximum number of split views that a rule reads. Each split view doubles the rule, so a rule that reads
#: more views reads whole views.
_MOST_READ: Final = 1


def part_views(rules: Sequence[GroundRule], context: Context) -> list[GroundRule]:
    """Split views into a part that does not depend on some columns, and a part that does."""
    return _Parting(rules, context).rules()


@dataclass(frozen=True, slots=True)
class _Parts:
    """The two parts of a view: ``free`` does not depend on ``columns``, and ``bound`` does.

    ``bound`` is None if it has no rules. ``kinds`` are the kinds of values in these columns.
    """

    columns: Columns
    kinds: Kinds
    free: Relation
    bound: Relation | None


class _Parting:
    def __init__(self, rules: Sequence[GroundRule], context: Context) -> None:
        self._context = context
        self._given = rules
        self._rules: list[GroundRule] = []
        for rule in rules:
            is_view = context.static.is_view(rule.head.relation)
            self._rules += expand_disjunctions(rule, context) if is_view else [rule]
        self._views: dict[Relation, list[GroundRule]] = defaultdict(list)
        for rule in self._rules:
            relation = rule.head.relation
            if context.static.is_view(relation) and not context.static.has_facts(relation):
                self._views[relation].append(rule)
        #: The ``id`` of each rule that is treated as if it used all columns of its head.
        self._bound: set[int] = set()
        self._columns: dict[Relation, Columns] = {}
        self._kinds: dict[Relation, Kinds] = {}
        self._choose()
        self._parts: dict[Relation, _Parts] = {}
        for view, columns in self._columns.items():
            free = context.new_relation(view.width - len(columns))
            bound = context.new_relation(view.width) if view in self._with_bound else None
            self._parts[view] = _Parts(columns, self._kinds[view], free, bound)

    def rules(self) -> list[GroundRule]:
        if not self._parts:
            return list(self._given)
        rules = [one for rule in self._rules for one in self._made_of(rule)]
        read = {atom.relation for rule in rules for atom in rule.atoms}
        read |= {read.atom.relation for rule in rules for read in reads_of(rule.tests)}
        for view, parts in self._parts.items():
            if view in read:
                # Rules still read the whole view, so derive the view from its parts.
                head = FlatAtom(view, tuple([Variable(f"?{number}") for number in range(view.width)]))
                rules += _split(GroundRule(head, positives=(head,)), head, parts)
        return rules

    def _choose(self) -> None:
        while True:
            self._columns = {view: frozenset(range(view.width)) for view in self._views if view.width}
            while self._narrow() or self._drop_lone():
                pass
            self._kinds = {}
            while self._learn_kinds():
                pass
            differing = [id(rule) for rules in self._views.values() for rule in rules if self._differs(rule)]
            if not differing:
                return
            self._bound.update(differing)

    def _narrow(self) -> bool:
        """Drop the columns on which a free rule depends; return whether a column was dropped."""
        changed = False
        for view in list(self._columns):
            free = [self._free_columns(rule) for rule in self._views[view]]
            nonempty = [columns for columns in free if columns]
            kept = frozenset.intersection(*nonempty) if nonempty else frozenset[int]()
            if kept == self._columns[view]:
                continue
            changed = True
            if kept:
                self._columns[view] = kept
            else:
                del self._columns[view]
        return changed

    def _drop_lone(self) -> bool:
        """Drop a view whose rules pass its columns to no other view, since a split would save too little."""
        for view, rules in self._views.items():
            if view in self._columns and not any(
                self._is_free(rule) and self._handed(rule) for rule in rules
            ):
                del self._columns[view]
                return True
        return False

    def _free_columns(self, rule: GroundRule) -> Columns:
        """Return the head's columns whose variables occur only in unary guards and the handed literal."""
        columns = self._columns[rule.head.relation]
        if rule.composed or id(rule) in self._bound:
            return frozenset()
        handed = self._handed(rule)
        atoms = [atom for atom in (*rule.positives, *rule.negatives) if atom is not handed]
        atoms += [guard for guard in rule.guards if guard.relation.width > 1]
        tied = {variable for atom in atoms for variable in variables_of_atom(atom)} | variables_in(rule.tests)
        if handed is not None:
            kept = _without(handed.columns, self._columns[handed.relation])
            tied.update(variable for term in kept for variable in variables_of(term))
        once = _met_once(rule.head.columns)
        return frozenset(n for n in columns if rule.head.columns[n] in once.difference(tied))

    def _handed(self, rule: GroundRule) -> FlatAtom | None:
        """Return the only literal to which a rule hands its free columns unchanged; None if not unique."""
        own = {rule.head.columns[number] for number in self._columns.get(rule.head.relation, ())}
        handed = []
        for atom in rule.positives:
            terms = [atom.columns[number] for number in self._columns.get(atom.relation, ())]
            if terms and own.issuperset(terms) and _met_once(atom.columns).issuperset(terms):
                handed.append(atom)
        return handed[0] if len(handed) == 1 else None

    def _is_free(self, rule: GroundRule) -> bool:
        return self._free_columns(rule) >= self._columns[rule.head.relation]

    def _learn_kinds(self) -> bool:
        changed = False
        for view in self._columns:
            for rule in self._views[view]:
                if view not in self._kinds and self._is_free(rule):
                    kinds = self._kinds_by(rule)
                    if kinds is not None:
                        self._kinds[view] = kinds
                        changed = True
        return changed

    def _kinds_by(self, rule: GroundRule) -> Kinds | None:
        # Return None if the rule reads a view whose kinds are still unknown.
        view, handed = rule.head.relation, self._handed(rule)
        inherited: dict[Term, frozenset[Relation]] = {}
        if handed is not None:
            inherited_kinds = self._kinds.get(handed.relation)
            if inherited_kinds is None:
                return None
            inherited = {handed.columns[number]: kinds for number, kinds in inherited_kinds.items()}
        kinds_of: Kinds = {}
        for number in self._columns[view]:
            term = rule.head.columns[number]
            own = {guard.relation for guard in rule.guards if guard.columns == (term,)}
            kinds_of[number] = inherited.get(term, frozenset()) | own
        return kinds_of

    def _differs(self, rule: GroundRule) -> bool:
        """Return whether the kinds of a free rule's columns are unknown, or differ from its view's kinds."""
        view = rule.head.relation
        if view not in self._columns or not self._is_free(rule):
            return False
        kinds = self._kinds.get(view)
        return not kinds or not all(kinds.values()) or self._kinds_by(rule) != kinds

    @cached_property
    def _with_bound(self) -> set[Relation]:
        """The views whose part ``bound`` can have rows."""
        views: set[Relation] = set()
        while more := {
            view
            for view in self._columns.keys() - views
            for rule in self._views[view]
            for handed in [self._handed(rule)]
            if not self._is_free(rule) or (handed is not None and handed.relation in views)
        }:
            views |= more
        return views

    def _made_of(self, rule: GroundRule) -> Iterator[GroundRule]:
        parts = self._parts.get(rule.head.relation)
        if parts is None:
            yield from self._reading(rule)
        elif not self._is_free(rule):
            assert parts.bound is not None
            yield from self._reading(replace(rule, head=FlatAtom(parts.bound, rule.head.columns)))
        else:
            handed = self._handed(rule)
            dropped = {rule.head.columns[number] for number in parts.columns}
            guards = tuple([guard for guard in rule.guards if dropped.isdisjoint(guard.columns)])
            head = FlatAtom(parts.free, _without(rule.head.columns, parts.columns))
            free = replace(rule, head=head, guards=guards)
            if handed is None:
                yield from self._reading(free)
                return
            handed_parts = self._parts[handed.relation]
            instead = FlatAtom(handed_parts.free, _without(handed.columns, handed_parts.columns))
            yield from self._reading(_replaced(free, handed, instead))
            if handed_parts.bound is not None:
                assert parts.bound is not None
                bound = replace(rule, head=FlatAtom(parts.bound, rule.head.columns))
                yield from self._reading(
                    _replaced(bound, handed, FlatAtom(handed_parts.bound, handed.columns))
                )

    def _reading(self, rule: GroundRule) -> list[GroundRule]:
        negatives = [part for atom in rule.negatives for part in self._parts_not(rule, atom)]
        rule = replace(rule, negatives=tuple(negatives))
        read = [atom for atom in rule.positives if atom.relation in self._parts]
        if len(read) > _MOST_READ:
            return [rule]
        copies = [rule]
        for atom in read:
            copies = [copy for one in copies for copy in _split(one, atom, self._parts[atom.relation])]
        return copies

    def _parts_not(self, rule: GroundRule, atom: FlatAtom) -> list[FlatAtom]:
        parts = self._parts.get(atom.relation)
        if parts is None or not all(
            self._is_of_kind(rule, atom.columns[number], kind)
            for number, kinds in parts.kinds.items()
            for kind in kinds
        ):
            return [atom]
        free = FlatAtom(parts.free, _without(atom.columns, parts.columns))
        return [free] if parts.bound is None else [free, FlatAtom(parts.bound, atom.columns)]

    def _is_of_kind(self, rule: GroundRule, term: Term, kind: Relation) -> bool:
        every = self._context.premises.values(FlatAtom(kind, (Variable("?"),)), 0)
        possible = self._context.premises.values_in((*rule.positives, *rule.guards), term)
        return every is not None and possible is not None and possible <= every


def _met_once(terms: Sequence[Term]) -> set[Term]:
    often = Counter(variable for term in terms for variable in variables_of(term))
    return {term for term in terms if isinstance(term, Variable) and often[term] == 1}


def _without(terms: Sequence[Term], columns: Columns) -> tuple[Term, ...]:
    return tuple([term for number, term in enumerate(terms) if number not in columns])


def _replaced(rule: GroundRule, atom: FlatAtom, other: FlatAtom) -> GroundRule:
    return replace(rule, positives=tuple([other if one is atom else one for one in rule.positives]))


def _split(rule: GroundRule, atom: FlatAtom, parts: _Parts) -> list[GroundRule]:
    kinds = [
        FlatAtom(kind, (atom.columns[number],))
        for number, kinds in sorted(parts.kinds.items())
        for kind in sorted(kinds, key=str)
    ]
    free = _replaced(rule, atom, FlatAtom(parts.free, _without(atom.columns, parts.columns)))
    split_rules = [replace(free, guards=(*free.guards, *dict.fromkeys(kinds)))]
    if parts.bound is not None:
        split_rules.append(_replaced(rule, atom, FlatAtom(parts.bound, atom.columns)))
    return split_rules
