"""Cases of proofs: sets of assumptions, and the conclusions that follow from them.

``settled`` draws conclusions that need no case distinction, until nothing changes. This is a chase (Maier,
Mendelzon and Sagiv 1979, "Testing implications of data dependencies"). Variables represent unknown values. If
a conclusion is missed, a proof may fail, but no proof becomes wrong.
"""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations, count, islice
from typing import TYPE_CHECKING, Final, TypeVar

from anygame.analysis.domains import Domains
from anygame.datalog.relations import Alternatives, FlatAtom, Negated, Unequal, variables_in
from anygame.language.terms import Compound, Constant, Term, Variable
from anygame.language.unification import unify_all
from anygame.network.grounding.rules import (
    NotAVariableError,
    named_by_place,
    renamed_apart,
    substituted_atom,
    substituted_test,
    variables_of_atom,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from anygame.analysis.domains import Top
    from anygame.datalog.reasoner import Reasoner
    from anygame.datalog.relations import Relation
    from anygame.network.grounding.rules import GroundRule, Test
    from anygame.network.grounding.static import StaticRelations

    Rows = Sequence[tuple[Term, ...]]
    Key = tuple[int, ...]

_Condition = TypeVar("_Condition", bound="Test")

#: Maximum number of rounds in which a case draws conclusions, since recursive views can cause endless rounds.
_MOST_ROUNDS: Final = 40
#: An equation that is never true.
_NEVER_EQUAL: Final = (Constant("one"), Constant("other"))
#: Maximum number of matching rows of a static relation that a proof enumerates.
_FEW_ROWS: Final = 24


@dataclass(frozen=True, slots=True)
class Invariant:
    """Mutual exclusion: in each state, no two rows of a relation are equal in all columns of the key.

    With a ``value``, the invariant covers only rows that have the value in all columns of the key.
    """

    relation: Relation
    key: Key
    value: Term | None = None


@dataclass(frozen=True, slots=True)
class KnownAtom:
    """An atom that holds in a case.

    ``depth`` is the number of rule expansions that led to the atom. ``is_open`` says whether the rules that
    derive the atom are expanded.
    """

    atom: FlatAtom
    depth: int = 0
    is_open: bool = False


@dataclass(frozen=True, slots=True)
class Case:
    """Assumptions that hold together.

    If a variable occurs only in one negative, the negative fails for every value of the variable.
    """

    positives: tuple[KnownAtom, ...] = ()
    negatives: tuple[FlatAtom, ...] = ()
    tests: tuple[Test, ...] = ()


def assumed(case: Case, rule: GroundRule, depth: int = 0) -> Case:
    """Return a case in which the body of a rule holds, too. Variables with the same name are shared."""
    holding = [KnownAtom(atom, depth) for atom in (*rule.positives, *rule.guards)]
    return Case((*case.positives, *holding), (*case.negatives, *rule.negatives), (*case.tests, *rule.tests))


def equated(case: Case, pairs: Iterable[tuple[Term, Term]]) -> Case | None:
    """Return the case with both terms of each pair made equal; None if that is impossible."""
    bindings = unify_all(pairs, {})
    if not bindings:
        return None if bindings is None else case
    tests = []
    for test in case.tests:
        try:
            tests.append(substituted_test(test, bindings))
        except NotAVariableError:
            continue  # proofs do not need tests for constants
    positives = []
    for known in case.positives:
        atom = substituted_atom(known.atom, bindings)
        positives.append(known if atom is known.atom else KnownAtom(atom, known.depth, known.is_open))
    return Case(
        tuple(positives), tuple([substituted_atom(atom, bindings) for atom in case.negatives]), tuple(tests)
    )


def settled(case: Case, premises: Premises) -> Case | None:
    """Return a case with all conclusions from its assumptions; None if these contradict each other."""
    for _ in range(_MOST_ROUNDS):
        concluded = _once(_unique(case), premises)
        if concluded is None or concluded == case:
            return concluded
        case = concluded
    return case


def _unique(case: Case) -> Case:
    positives: dict[FlatAtom, KnownAtom] = {}
    for known in case.positives:
        before = positives.setdefault(known.atom, known)
        if known.is_open and not before.is_open:
            positives[known.atom] = known
    return Case(
        tuple(positives.values()), tuple(dict.fromkeys(case.negatives)), tuple(dict.fromkeys(case.tests))
    )


def _once(case: Case, premises: Premises) -> Case | None:
    equations = [(test.left, test.right) for test in case.tests if isinstance(test, Unequal) and test.negated]
    pairs = [*equations, *_of_moves(case), *_of_keys(case, premises)]
    if pairs:
        equal = equated(case, pairs)
        if equal is None or equal != case:
            return equal
    by_rows = _of_static_rows(case, premises)
    if by_rows is None:
        return None
    if by_rows:
        return equated(case, by_rows)
    tested = _tested(case, premises)
    if tested is None or _contradicts(tested):
        return None
    return _with_negated_views(tested, premises)


def _of_moves(case: Case) -> list[tuple[Term, Term]]:
    """Return equations between moves of the same role, which are equal since a role makes one move."""
    moves = [known.atom for known in case.positives if known.atom.relation.predicate == "does"]
    pairs: list[tuple[Term, Term]] = []
    for one, other in combinations(moves, 2):
        if one.columns[0] == other.columns[0]:
            is_same = one.relation == other.relation
            pairs += zip(one.columns, other.columns, strict=True) if is_same else [_NEVER_EQUAL]
    return pairs


def _of_keys(case: Case, premises: Premises) -> list[tuple[Term, Term]]:
    of_relation: dict[Relation, list[FlatAtom]] = {}
    for known in case.positives:
        of_relation.setdefault(known.atom.relation, []).append(known.atom)
    return [
        pair
        for relation, atoms in of_relation.items()
        if len(atoms) > 1
        for keys in [premises.keys(relation)]
        for one, other in combinations(atoms, 2)
        if _are_one(one, other, keys, premises)
        for pair in zip(one.columns, other.columns, strict=True)
    ]


def _are_one(one: FlatAtom, other: FlatAtom, keys: Iterable[Key], premises: Premises) -> bool:
    same = {number for number, term in enumerate(one.columns) if term is other.columns[number]}
    key = next(filter(same.issuperset, keys), None)
    if premises.is_static(one.relation) or (key is None and not same):
        return key is not None
    if key is not None:
        used = {Invariant(one.relation, key)}
    else:
        ground = sorted(number for number in same if one.columns[number].is_ground)
        lone = (Invariant(one.relation, (number,), one.columns[number]) for number in ground)
        used = set(islice(filter(premises.lone.__contains__, lone), 1))
    premises.used |= used
    return bool(used)


def _of_static_rows(case: Case, premises: Premises) -> list[tuple[Term, Term]] | None:
    """Return the value of each variable with one possible value; None if a variable has no possible value.

    A value is possible if all atoms with few rows allow the value, as in arc consistency (Mackworth 1977,
    "Consistency in networks of relations").
    """
    values_of: dict[Variable, set[Term]] = {}
    for known in case.positives:
        atom = known.atom
        rows = premises.rows_like(atom)
        if rows is None or len(rows) > _FEW_ROWS:
            continue
        if not rows:
            return None
        for column, term in enumerate(atom.columns):
            if isinstance(term, Variable):
                values = {row[column] for row in rows}
                values_of[term] = values_of[term] & values if term in values_of else values
    if not all(values_of.values()):
        return None
    return [
        (variable, value) for variable, values in values_of.items() if len(values) == 1 for value in values
    ]


def _tested(case: Case, premises: Premises) -> Case | None:
    positives, negatives, tests = list(case.positives), list(case.negatives), []
    for test in case.tests:
        if isinstance(test, FlatAtom):
            positives.append(KnownAtom(test))
        elif isinstance(test, Negated) and not premises.is_static(test.atom.relation):
            negatives.append(test.atom)
        else:
            holds = premises.decided(test)
            if holds is False:
                return None
            if holds is None:
                tests.append(test)
    return Case(tuple(positives), tuple(negatives), tuple(tests))


def _contradicts(case: Case) -> bool:
    used = {v for known in case.positives for v in variables_of_atom(known.atom)}
    for atom in case.negatives:
        for known in case.positives:
            if known.atom.relation == atom.relation and _matched(atom, known.atom, used) is not None:
                return True
    return False


def _matched(pattern: FlatAtom, atom: FlatAtom, fixed: set[Variable]) -> dict[Variable, Term] | None:
    """Return values for variables of a pattern that make the pattern equal to an atom, or None."""
    bindings: dict[Variable, Term] = {}
    pending = list(zip(pattern.columns, atom.columns, strict=True))
    while pending:
        one, other = pending.pop()
        if isinstance(one, Variable) and one not in fixed:
            if bindings.setdefault(one, other) != other:
                return None
        elif one != other:
            if not isinstance(one, Compound) or not isinstance(other, Compound):
                return None
            if (one.functor, len(one.arguments)) != (other.functor, len(other.arguments)):
                return None
            pending += zip(one.arguments, other.arguments, strict=True)
    return bindings


def _with_negated_views(case: Case, premises: Premises) -> Case:
    """Add conclusions from failing views: if all other conditions of a body hold, its only positive fails."""
    fixed = {v for known in case.positives for v in variables_of_atom(known.atom)}
    fixed |= variables_in(case.tests)
    # If conclusions differ only in the names of variables, keep one of them.
    negatives = {_shape(atom, fixed): atom for atom in case.negatives}
    for atom in case.negatives:
        for rule in premises.rules_of(atom.relation) or ():
            fresh = premises.renamed(rule)
            bindings = _matched(fresh.head, atom, fixed)
            if bindings is None or len(fresh.positives) != 1 or fresh.negatives:
                continue
            with suppress(NotAVariableError):
                conditions = [substituted_test(part, bindings) for part in (*fresh.guards, *fresh.tests)]
                if all(map(premises.decided, conditions)):
                    failing = substituted_atom(fresh.positives[0], bindings)
                    negatives.setdefault(_shape(failing, fixed), failing)
    return replace(case, negatives=tuple(negatives.values()))


def _shape(atom: FlatAtom, fixed: set[Variable]) -> FlatAtom:
    return substituted_atom(atom, named_by_place([atom], " any {}", fixed))


#: Maximum number of columns of a static relation whose keys are computed.
_WIDEST: Final = 4
#: Maximum number of columns of a relation of fluents whose keys are computed.
_WIDEST_FLUENT: Final = 6


class Premises:
    """Premises of proofs: the rules of a game, and assumed keys of fluents, computed on first use.

    A proof may assume all keys that hold in the initial state. ``used`` has the assumptions on which the
    conclusions rely.
    """

    def __init__(self, reasoner: Reasoner, static: StaticRelations) -> None:
        self.is_static = static.is_static
        self.used: set[Invariant] = set()
        self._reasoner = reasoner
        self._static = static
        self._numbers = count(1)
        #: For each rule, by ``id``: the rule with its renamed copies. ``_taken`` counts the copies in use.
        self._copies: dict[int, list[GroundRule]] = {}
        self._taken = Counter[int]()
        self._by_columns: dict[tuple[Relation, Key], dict[tuple[Term, ...], Rows] | None] = {}
        #: Whether a rule (by ``id``) can derive an atom. The stored rule stays alive, so its id stays unique.
        self._derives: dict[tuple[int, FlatAtom], tuple[GroundRule, bool]] = {}
        self._static_keys: dict[Relation, list[Key]] = {}

    @cached_property
    def _rules(self) -> Mapping[Relation, Sequence[GroundRule] | None]:
        return self._static.rules_by_head()

    @cached_property
    def _domains(self) -> Domains:
        return Domains(self._reasoner.rules)

    @cached_property
    def _initial(self) -> list[tuple[Relation, list[tuple[int, ...]]]]:
        relations = self._reasoner.layout.variants(("true", 1))
        rows_of = zip(relations, self._reasoner.initial(), strict=True)
        return [(r, list(map(r.unpacked, rows))) for r, rows in rows_of if r.width <= _WIDEST_FLUENT]

    @cached_property
    def assumed(self) -> dict[Relation, list[Key]]:
        """The keys of fluents that proofs may assume."""
        return {relation: candidate_keys(relation, rows) for relation, rows in self._initial}

    @cached_property
    def lone(self) -> set[Invariant]:
        """Invariants that proofs may assume: values that occur once in a column of the initial state."""
        terms = self._reasoner.terms.terms
        return {
            Invariant(relation, (column,), terms[value])
            for relation, rows in self._initial
            for column in range(relation.width)
            for value, times in Counter(row[column] for row in rows).items()
            if times == 1
        }

    def rules_of(self, relation: Relation) -> Sequence[GroundRule] | None:
        """Return all rules that derive a relation; None if they cannot be enumerated."""
        if self.is_static(relation):
            return self._static.definition(relation, dense=True)
        return self._rules.get(relation, ())

    def renamed(self, rule: GroundRule) -> GroundRule:
        """Return a copy of a rule that shares no variable with any copy made since ``begin_anew``."""
        copies = self._copies.setdefault(id(rule), [rule])
        self._taken[id(rule)] += 1
        if self._taken[id(rule)] == len(copies):
            copies.append(renamed_apart(rule, next(self._numbers)))
        return copies[self._taken[id(rule)]]

    def begin_anew(self) -> None:
        """Allow ``renamed`` to return the same copies again."""
        self._taken.clear()

    def may_derive(self, rule: GroundRule, atom: FlatAtom) -> bool:
        """Return whether the head and the static literals of a rule allow it to derive an atom."""
        key = id(rule), _shape(atom, set())
        if key not in self._derives:
            fresh = self.renamed(rule)
            body = Case(tuple(map(KnownAtom, fresh.guards)), tests=fresh.tests)
            case = equated(body, zip(atom.columns, fresh.head.columns, strict=True))
            self._derives[key] = rule, case is not None and settled(case, self) is not None
        return self._derives[key][1]

    def rows_like(self, atom: FlatAtom) -> Rows | None:
        """Return the rows of a static relation that match an atom; None if they are unknown."""
        if not self.is_static(atom.relation):
            return None
        known = tuple(number for number, term in enumerate(atom.columns) if term.is_ground)
        index = self._index(atom.relation, known)
        if index is None:
            return None
        rows = index.get(tuple([atom.columns[number] for number in known]), ())
        twice = [
            (one, other)
            for one, other in combinations(range(len(atom.columns)), 2)
            if isinstance(atom.columns[one], Variable) and atom.columns[one] == atom.columns[other]
        ]
        return [row for row in rows if all(row[one] == row[other] for one, other in twice)] if twice else rows

    def keys(self, relation: Relation) -> Sequence[Key]:
        """Return the keys of a relation: for a static relation minimal keys, otherwise assumed keys."""
        if not self.is_static(relation):
            return self.assumed.get(relation, ())
        if relation not in self._static_keys:
            rows = self._static.rows_as_terms(relation)
            keys: list[Key] = []
            if rows is not None and relation.width <= _WIDEST:
                keys = [key for key in candidate_keys(relation, rows) if key]
            self._static_keys[relation] = [key for key in keys if not is_implied(key, keys)]
        return self._static_keys[relation]

    def decided(self, test: Test) -> bool | None:
        """Return whether a condition holds; None if that depends on variables or on the state."""
        if isinstance(test, Unequal):
            if test.left == test.right:
                return test.negated
            return not test.negated if test.left.is_ground and test.right.is_ground else None
        if isinstance(test, FlatAtom):
            rows = self.rows_like(test)
            if rows is None:
                return None
            if not rows:
                return False
            return True if all(term.is_ground for term in test.columns) else None
        if isinstance(test, Negated):
            holds = self.decided(test.atom)
            return None if holds is None else not holds
        if isinstance(test, Alternatives):
            choices = [[self.decided(part) for part in choice] for choice in test.choices]
            if any(all(choice) for choice in choices):
                return True
            return False if all(False in choice for choice in choices) else None
        return None

    def values(self, atom: FlatAtom, column: int) -> frozenset[Term] | None:
        """Return the possible values in a column of an atom; None if they are unknown."""
        if self.is_static(atom.relation):
            rows = self.rows_like(atom)
            return None if rows is None else frozenset([row[column] for row in rows])
        tops = self.tops(atom.relation, column)
        constants: frozenset[Term] = frozenset([top for top in tops if isinstance(top, Constant)])
        return constants if len(constants) == len(tops) else None

    def values_in(self, atoms: Iterable[FlatAtom], term: Term) -> frozenset[Term] | None:
        """Return the values that a term can have if it occurs in the columns of atoms; None if unknown."""
        if term.is_ground:
            return frozenset([term])
        values_by_column = [
            self.values(atom, column)
            for atom in atoms
            for column, other in enumerate(atom.columns)
            if other == term
        ]
        known = [values for values in values_by_column if values is not None]
        return frozenset.intersection(*known) if known else None

    def tops(self, relation: Relation, column: int) -> frozenset[Top]:
        """Return the possible constants and functors in a column of a relation."""
        places = [
            (argument, part)
            for argument, shape in enumerate(relation.shapes)
            for part in (range(shape[1]) if isinstance(shape, tuple) else [None])
        ]
        argument, part = places[column]
        shape = relation.shapes[argument]
        if part is None or not isinstance(shape, tuple):
            return self._domains.tops(*relation.key, argument)
        return self._domains.below((*relation.key, argument), shape, part)

    def _index(self, relation: Relation, known: Key) -> dict[tuple[Term, ...], Rows] | None:
        if (relation, known) not in self._by_columns:
            rows = self._static.rows_as_terms(relation)
            index: dict[tuple[Term, ...], list[tuple[Term, ...]]] = {}
            for row in rows or ():
                index.setdefault(tuple([row[number] for number in known]), []).append(row)
            self._by_columns[relation, known] = None if rows is None else dict(index)
        return self._by_columns[relation, known]


def candidate_keys(relation: Relation, rows: Sequence[Sequence[object]]) -> list[Key]:
    """Return the keys of some rows, the smallest first."""
    return [
        key
        for size in range(relation.width)
        for key in combinations(range(relation.width), size)
        if len({tuple([row[n] for n in key]) for row in rows}) == len(rows)
    ]


def is_implied(key: Key, others: Iterable[Key]) -> bool:
    """Whether a proper subset of a key is among the keys."""
    return any(set(other) < set(key) for other in others)
