"""Parting views: what of a view does not depend on some columns becomes a view without these.

::

    clear(x, z, u) :- [next(x, z)], [cell(u)]
    clear(x, z, u) :- [next(x, y)], true(empty(y)), clear(y, z, u)
    clear(x, z, u) :- [next(x, u)], clear(u, z, u)

becomes, with ``free`` for what is clear whatever ``u`` is, and ``bound`` for what it is by way of that::

    free(x, z) :- [next(x, z)]
    free(x, z) :- [next(x, y)], true(empty(y)), free(y, z)
    bound(x, z, u) :- [next(x, y)], true(empty(y)), bound(y, z, u)
    bound(x, z, u) :- [next(x, u)], free(u, z), [cell(u)]
    bound(x, z, u) :- [next(x, u)], bound(u, z, u)

What read the view reads both: ``clear(x, z, u)`` holds where ``bound(x, z, u)`` does, or ``free(x, z)`` for a
cell ``u``. All values of ``u`` multiplied the instances; now only those on the way do. It is the removal of
arguments that do not matter (Ramakrishnan, Beeri and Krishnamurthy 1988, "Optimizing existential Datalog
queries"), for arguments that matter to some of the rules.
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
    #: Per column the static relations of one column that hold of what stands there.
    Kinds = dict[int, frozenset[Relation]]

#: Each view with two parts doubles a rule that reads it: where it reads more of them, they stay whole.
_MOST_READ: Final = 1


def part_views(rules: Sequence[GroundRule], context: Context) -> list[GroundRule]:
    """Part views into what does not depend on some columns, and the rest."""
    return _Parting(rules, context).rules()


@dataclass(frozen=True, slots=True)
class _Parts:
    """The two parts of a view.

    Attributes:
        columns: those on which the first does not depend.
        kinds: of them.
        free: the part without these columns.
        bound: the part with them; None where it has no rules.
    """

    columns: Columns
    kinds: Kinds
    free: Relation
    bound: Relation | None


class _Parting:
    def __init__(self, rules: Sequence[GroundRule], context: Context) -> None:
        self._context = context
        self._given = rules
        self._rules = [one for rule in rules for one in self._expanded(rule)]
        self._views: dict[Relation, list[GroundRule]] = defaultdict(list)
        for rule in self._rules:
            relation = rule.head.relation
            if context.is_view(relation) and not context.has_facts(relation):
                self._views[relation].append(rule)
        #: Rules of views, by identity, that count as free of no column.
        self._bound: set[int] = set()
        self._columns: dict[Relation, Columns] = {}
        self._kinds: dict[Relation, Kinds] = {}
        self._choose()
        self._parts = {relation: self._parts_of(relation) for relation in self._columns}

    def rules(self) -> list[GroundRule]:
        """Return the rules of the parts, and of all else."""
        if not self._parts:
            return list(self._given)
        found = [made for rule in self._rules for made in self._made_of(rule)]
        read = {atom.relation for rule in found for atom in rule.atoms}
        read |= {read.atom.relation for rule in found for read in reads_of(rule.tests)}
        whole = [rule for view, parts in self._parts.items() if view in read for rule in _whole(view, parts)]
        return [*found, *whole]

    def _expanded(self, rule: GroundRule) -> list[GroundRule]:
        """Multiply out the rules of views, so that they read views as literals."""
        is_view = self._context.is_view(rule.head.relation)
        return expand_disjunctions(rule, self._context) if is_view else [rule]

    # Which columns.

    def _choose(self) -> None:
        """Find columns, until the kinds of what stands there are the same in all rules."""
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
        """Keep the columns on which no rule depends that is free of some; say whether any were dropped."""
        changed = False
        for view in list(self._columns):
            free = [self._free_columns(rule) for rule in self._views[view]]
            left = [columns for columns in free if columns]
            kept = frozenset.intersection(*left) if left else frozenset[int]()
            if kept == self._columns[view]:
                continue
            changed = True
            if kept:
                self._columns[view] = kept
            else:
                del self._columns[view]
        return changed

    def _drop_lone(self) -> bool:
        """Drop a view whose columns no other rule passes on: they multiply that view alone."""
        for view, rules in self._views.items():
            if view in self._columns and not any(
                self._is_free(rule) and self._handed(rule) for rule in rules
            ):
                del self._columns[view]
                return True
        return False

    def _free_columns(self, rule: GroundRule) -> Columns:
        """Return the columns that a rule's body restricts by their kind alone."""
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
        """Return the only view to which a rule hands columns that nothing else in it need depend on."""
        own = {rule.head.columns[number] for number in self._columns.get(rule.head.relation, ())}
        found = []
        for atom in rule.positives:
            terms = [atom.columns[number] for number in self._columns.get(atom.relation, ())]
            if terms and own.issuperset(terms) and _met_once(atom.columns).issuperset(terms):
                found.append(atom)
        return found[0] if len(found) == 1 else None

    def _is_free(self, rule: GroundRule) -> bool:
        return self._free_columns(rule) >= self._columns[rule.head.relation]

    # What stands there.

    def _learn_kinds(self) -> bool:
        """Note of what kind columns are by rules of which that is known; say whether anything was new."""
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
        """Return the kinds of columns by a rule; None if they are not known yet."""
        view, handed = rule.head.relation, self._handed(rule)
        inherited: dict[Term, frozenset[Relation]] = {}
        if handed is not None:
            known = self._kinds.get(handed.relation)
            if known is None:
                return None
            inherited = {handed.columns[number]: kinds for number, kinds in known.items()}
        found: Kinds = {}
        for number in self._columns[view]:
            term = rule.head.columns[number]
            own = {guard.relation for guard in rule.guards if guard.columns == (term,)}
            found[number] = inherited.get(term, frozenset()) | own
        return found

    def _differs(self, rule: GroundRule) -> bool:
        """Whether by a rule columns may be of another kind than by others, or of none that is known."""
        view = rule.head.relation
        if view not in self._columns or not self._is_free(rule):
            return False
        kinds = self._kinds.get(view)
        return not kinds or not all(kinds.values()) or self._kinds_by(rule) != kinds

    # What becomes of it.

    def _parts_of(self, view: Relation) -> _Parts:
        columns = self._columns[view]
        free = self._context.new_relation(view.width - len(columns))
        bound = self._context.new_relation(view.width) if view in self._with_bound else None
        return _Parts(columns, self._kinds[view], free, bound)

    @cached_property
    def _with_bound(self) -> set[Relation]:
        """The views that have rows which depend on their columns."""
        found: set[Relation] = set()
        changed = True
        while changed:
            before = len(found)
            for view in self._columns:
                for rule in self._views[view]:
                    handed = self._handed(rule)
                    if not self._is_free(rule) or (handed is not None and handed.relation in found):
                        found.add(view)
            changed = len(found) > before
        return found

    def _made_of(self, rule: GroundRule) -> Iterator[GroundRule]:
        """Yield what becomes of a rule."""
        parts = self._parts.get(rule.head.relation)
        if parts is None:
            yield from self._reading(rule)
        elif not self._is_free(rule):
            assert parts.bound is not None
            yield from self._reading(replace(rule, head=FlatAtom(parts.bound, rule.head.columns)))
        else:
            handed = self._handed(rule)
            gone = {rule.head.columns[number] for number in parts.columns}
            guards = tuple([guard for guard in rule.guards if gone.isdisjoint(guard.columns)])
            head = FlatAtom(parts.free, _without(rule.head.columns, parts.columns))
            free = replace(rule, head=head, guards=guards)
            if handed is None:
                yield from self._reading(free)
                return
            others = self._parts[handed.relation]
            instead = FlatAtom(others.free, _without(handed.columns, others.columns))
            yield from self._reading(_replaced(free, handed, instead))
            if others.bound is not None:
                assert parts.bound is not None
                bound = replace(rule, head=FlatAtom(parts.bound, rule.head.columns))
                yield from self._reading(_replaced(bound, handed, FlatAtom(others.bound, handed.columns)))

    def _reading(self, rule: GroundRule) -> list[GroundRule]:
        """Return a rule that reads parts in place of views."""
        negatives = [part for atom in rule.negatives for part in self._parts_not(rule, atom)]
        rule = replace(rule, negatives=tuple(negatives))
        read = [atom for atom in rule.positives if atom.relation in self._parts]
        if len(read) > _MOST_READ:
            return [rule]
        found = [rule]
        for atom in read:
            found = [copy for one in found for copy in _split(one, atom, self._parts[atom.relation])]
        return found

    def _parts_not(self, rule: GroundRule, atom: FlatAtom) -> list[FlatAtom]:
        """Return what must not hold in place of a view."""
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
        """Whether a static relation holds of whatever a term can be where a rule holds."""
        every = self._context.values(FlatAtom(kind, (Variable("?"),)), 0)
        if every is None:
            return False
        if term.is_ground:
            return term in every
        found = [
            self._context.values(known, column)
            for known in (*rule.positives, *rule.guards)
            for column, other in enumerate(known.columns)
            if other == term
        ]
        return any(values is not None and values <= every for values in found)


def _met_once(terms: Sequence[Term]) -> set[Term]:
    """Return the variables that stand in one place alone."""
    often = Counter(variable for term in terms for variable in variables_of(term))
    return {term for term in terms if isinstance(term, Variable) and often[term] == 1}


def _without(terms: Sequence[Term], columns: Columns) -> tuple[Term, ...]:
    return tuple([term for number, term in enumerate(terms) if number not in columns])


def _replaced(rule: GroundRule, atom: FlatAtom, other: FlatAtom) -> GroundRule:
    return replace(rule, positives=tuple([other if one is atom else one for one in rule.positives]))


def _split(rule: GroundRule, atom: FlatAtom, parts: _Parts) -> list[GroundRule]:
    """Return a rule for each part of a view that it reads."""
    kinds = [
        FlatAtom(kind, (atom.columns[number],))
        for number, kinds in sorted(parts.kinds.items())
        for kind in sorted(kinds, key=str)
    ]
    free = _replaced(rule, atom, FlatAtom(parts.free, _without(atom.columns, parts.columns)))
    found = [replace(free, guards=(*free.guards, *dict.fromkeys(kinds)))]
    if parts.bound is not None:
        found.append(_replaced(rule, atom, FlatAtom(parts.bound, atom.columns)))
    return found


def _whole(view: Relation, parts: _Parts) -> list[GroundRule]:
    """Return the rules of a view by its parts."""
    head = FlatAtom(view, tuple([Variable(f"?{number}") for number in range(view.width)]))
    return _split(GroundRule(head, positives=(head,)), head, parts)
