"""Cases: assumptions about the values of some variables that hold together.

A case is *settled* by drawing conclusions that leave no choice, until nothing changes: a chase (Maier,
Mendelzon and Sagiv 1979, "Testing implications of data dependencies"). Variables represent unknown values.
Conclusions may be missed, which is safe: then a case is not refuted.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from itertools import combinations, count, islice
from typing import TYPE_CHECKING, Final, TypeVar

from anygame.datalog.relations import Alternatives, FlatAtom, Negated, Unequal, variables_in
from anygame.language.terms import Compound, Term, Variable
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
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from anygame.datalog.relations import Relation
    from anygame.network.grounding.rules import GroundRule, Test

    Rows = Sequence[tuple[Term, ...]]
    Key = tuple[int, ...]

_Condition = TypeVar("_Condition", bound="Test")

#: Maximum number of rounds of conclusions; recursive views could yield conclusions without end.
_MOST_ROUNDS: Final = 40
#: Maximum number of rows of a static relation that are enumerated.
_FEW_ROWS: Final = 24


@dataclass(frozen=True, slots=True)
class Invariant:
    """No two rows of a relation agree in some columns.

    Attributes:
        relation: the relation.
        key: the columns.
        value: restricts the invariant to rows with this value in all these columns; None for all rows.
    """

    relation: Relation
    key: Key
    value: Term | None = None


@dataclass(frozen=True, slots=True)
class KnownAtom:
    """An atom that holds.

    Attributes:
        atom: the atom.
        depth: number of rules opened to derive it.
        is_open: whether the rules that derive it were expanded.
    """

    atom: FlatAtom
    depth: int = 0
    is_open: bool = False


@dataclass(frozen=True, slots=True)
class Case:
    """Assumptions that hold together.

    Attributes:
        positives: atoms that hold, including static ones.
        negatives: atoms that do not hold, for any value of variables that occur nowhere else.
        tests: conditions that hold.
    """

    positives: tuple[KnownAtom, ...] = ()
    negatives: tuple[FlatAtom, ...] = ()
    tests: tuple[Test, ...] = ()


def assumed(case: Case, rule: GroundRule, depth: int = 0) -> Case:
    """Return a case in which the body of a rule holds, too; equal variables of both are the same."""
    holding = [KnownAtom(atom, depth) for atom in (*rule.positives, *rule.guards)]
    return Case((*case.positives, *holding), (*case.negatives, *rule.negatives), (*case.tests, *rule.tests))


def equated(case: Case, pairs: Iterable[tuple[Term, Term]]) -> Case | None:
    """Return a case in which some terms are equal; None if that is impossible."""
    bindings = unify_all(pairs, {})
    if bindings is None:
        return None
    return _replaced(case, bindings) if bindings else case


def _replaced(case: Case, bindings: Mapping[Variable, Term]) -> Case:
    tests = []
    for test in case.tests:
        try:
            tests.append(substituted_test(test, bindings))
        except NotAVariableError:
            # Tests for constants are not used.
            continue
    positives = []
    for known in case.positives:
        atom = substituted_atom(known.atom, bindings)
        positives.append(known if atom is known.atom else KnownAtom(atom, known.depth, known.is_open))
    return Case(
        tuple(positives),
        tuple([substituted_atom(atom, bindings) for atom in case.negatives]),
        tuple(tests),
    )


def settled(case: Case, premises: Premises) -> Case | None:
    """Return a case with all forced conclusions; None if it is contradictory."""
    for _ in range(_MOST_ROUNDS):
        found = _once(_unique(case), premises)
        if found is None or found == case:
            return found
        case = found
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
    """Draw each kind of conclusion once; equations come first, because they change all other literals."""
    pairs = [*_equations(case), *_of_moves(case), *_of_keys(case, premises)]
    if pairs:
        found = equated(case, pairs)
        if found is None or found != case:
            return found
    if _same_role_moves_twice(case):
        return None
    by_rows = _of_static_rows(case, premises)
    if by_rows is None:
        return None
    if by_rows:
        return equated(case, by_rows)
    tested = _tested(case, premises)
    if tested is None or _contradicts(tested):
        return None
    return _with_negated_views(tested, premises)


def _equations(case: Case) -> list[tuple[Term, Term]]:
    return [(test.left, test.right) for test in case.tests if isinstance(test, Unequal) and test.negated]


def _moves(case: Case) -> list[FlatAtom]:
    return [known.atom for known in case.positives if known.atom.relation.predicate == "does"]


def _of_moves(case: Case) -> list[tuple[Term, Term]]:
    """Return equations from the law that a role makes one move."""
    return [
        pair
        for one, other in combinations(_moves(case), 2)
        if one.columns[0] == other.columns[0] and one.relation == other.relation
        for pair in zip(one.columns, other.columns, strict=True)
    ]


def _same_role_moves_twice(case: Case) -> bool:
    return any(
        one.columns[0] == other.columns[0] and one.relation != other.relation
        for one, other in combinations(_moves(case), 2)
    )


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
    """Whether two atoms of a relation are the same if both hold."""
    same = {number for number, term in enumerate(one.columns) if term is other.columns[number]}
    found = next(filter(same.issuperset, keys), None)
    if premises.is_static(one.relation) or (found is None and not same):
        return found is not None
    if found is not None:
        used = {Invariant(one.relation, found)}
    else:
        ground = sorted(number for number in same if one.columns[number].is_ground)
        lone = (Invariant(one.relation, (number,), one.columns[number]) for number in ground)
        used = set(islice(filter(premises.lone.__contains__, lone), 1))
    premises.used |= used
    return bool(used)


def _of_static_rows(case: Case, premises: Premises) -> list[tuple[Term, Term]] | None:
    """Return equations that hold in all matching rows; None if an atom matches no row.

    Variables keep the values that all atoms with few rows allow: arc consistency (Mackworth 1977,
    "Consistency in networks of relations").
    """
    left: dict[Variable, set[Term]] = {}
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
                left[term] = left[term] & values if term in left else values
    if not all(left.values()):
        return None
    return [(variable, value) for variable, values in left.items() if len(values) == 1 for value in values]


def _tested(case: Case, premises: Premises) -> Case | None:
    """Decide tests, and move atoms among them to the positives and negatives."""
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


def _matched(
    pattern: FlatAtom, atom: FlatAtom, fixed: set[Variable], bindings: Mapping[Variable, Term] | None = None
) -> dict[Variable, Term] | None:
    """Return the values of the pattern's own variables that make it the atom; None if there are none."""
    found = dict(bindings or {})
    pending = list(zip(pattern.columns, atom.columns, strict=True))
    while pending:
        one, other = pending.pop()
        if isinstance(one, Variable) and one not in fixed:
            if found.setdefault(one, other) != other:
                return None
        elif one != other:
            if not isinstance(one, Compound) or not isinstance(other, Compound):
                return None
            if (one.functor, len(one.arguments)) != (other.functor, len(other.arguments)):
                return None
            pending += zip(one.arguments, other.arguments, strict=True)
    return found


# -- views that do not hold ------------------------------------------------------------------------


def _with_negated_views(case: Case, premises: Premises) -> Case | None:
    """If a view does not hold, none of its bodies does: the last undecided literal of a body fails."""
    fixed = {v for known in case.positives for v in variables_of_atom(known.atom)}
    fixed |= variables_in(case.tests)
    positives, negatives = list(case.positives), list(case.negatives)
    for atom in case.negatives:
        for rule in premises.rules_of(atom.relation) or ():
            fresh = premises.renamed(rule)
            bindings = _matched(fresh.head, atom, fixed)
            if bindings is None:
                continue
            body = _left_of(fresh, bindings, premises)
            if body is None:
                continue
            if _all_hold(body, case, fixed, premises):
                return None
            rest = [*body.positives, *body.negatives, *body.guards, *body.tests]
            if len(rest) == 1 and body.positives:
                negatives.append(body.positives[0])
            elif len(rest) == 1 and body.negatives and fixed.issuperset(variables_of_atom(rest[0])):  # type: ignore[arg-type]
                positives.append(KnownAtom(body.negatives[0]))
    found = Case(tuple(positives), tuple(negatives), case.tests)
    known = set(case.negatives)
    # Skip conclusions that differ in names only.
    shapes = {_shape(atom, fixed) for atom in known}
    fresh_negatives: list[FlatAtom] = []
    for atom in negatives:
        if atom in known:
            fresh_negatives.append(atom)
        elif _shape(atom, fixed) not in shapes:
            shapes.add(_shape(atom, fixed))
            fresh_negatives.append(atom)
    return replace(_unique(found), negatives=tuple(fresh_negatives))


def _shape(atom: FlatAtom, fixed: set[Variable]) -> FlatAtom:
    return substituted_atom(atom, named_by_place([atom], " any {}", fixed))


def _left_of(rule: GroundRule, bindings: Mapping[Variable, Term], premises: Premises) -> GroundRule | None:
    """Return a rule with variables replaced and certain parts removed; None if a part cannot hold."""
    try:
        tests = [substituted_test(test, bindings) for test in rule.tests]
    except NotAVariableError:
        return None
    replaced = rule.with_atoms(lambda atom: substituted_atom(atom, bindings))
    left_tests, left_guards = _undecided(tests, premises), _undecided(replaced.guards, premises)
    if left_tests is None or left_guards is None:
        return None
    return replace(replaced, guards=tuple(left_guards), tests=tuple(left_tests))


def _undecided(conditions: Iterable[_Condition], premises: Premises) -> list[_Condition] | None:
    left = []
    for condition in conditions:
        holds = premises.decided(condition)
        if holds is False:
            return None
        if holds is None:
            left.append(condition)
    return left


def _all_hold(body: GroundRule, case: Case, fixed: set[Variable], premises: Premises) -> bool:
    """Whether a body holds in a case for some values of its own variables."""
    wanted = [*body.positives, *body.guards]

    def search(index: int, bindings: dict[Variable, Term]) -> bool:
        if index == len(wanted):
            return _rest_holds(body, case, bindings, fixed, premises)
        atom = substituted_atom(wanted[index], bindings)
        if premises.decided(atom):
            return search(index + 1, bindings)
        for known in case.positives:
            if known.atom.relation == atom.relation:
                found = _matched(wanted[index], known.atom, fixed, bindings)
                if found is not None and search(index + 1, found):
                    return True
        return False

    return search(0, {})


def _rest_holds(
    body: GroundRule,
    case: Case,
    bindings: Mapping[Variable, Term],
    fixed: set[Variable],
    premises: Premises,
) -> bool:
    for atom in body.negatives:
        wanted = substituted_atom(atom, bindings)
        if not any(
            other.relation == wanted.relation and _matched(other, wanted, fixed) is not None
            for other in case.negatives
        ):
            return False
    for test in body.tests:
        try:
            wanted_test = substituted_test(test, bindings)
        except NotAVariableError:
            return False
        if wanted_test not in case.tests and not premises.decided(wanted_test):
            return False
    return True


#: Maximum width of static relations whose keys are searched; every set of columns is a candidate.
_WIDEST: Final = 4


class Premises:
    """Premises of proofs.

    Args:
        rules: all rules and facts of each dynamic relation; a missing relation has none, None means too many.
        is_static: whether a relation depends on neither state nor moves.
        rows: the rows of a static relation; None if there are too many.
        values: the possible values of a column of a dynamic relation; None if unknown.
        definition: the rules of a static relation with very many rows; None for others.

    Attributes:
        assumed: keys of fluents that are assumed.
        lone: invariants of single values that are assumed.
        used: the assumptions on which conclusions so far rely.
    """

    def __init__(
        self,
        rules: Mapping[Relation, Sequence[GroundRule] | None],
        is_static: Callable[[Relation], bool],
        rows: Callable[[Relation], Rows | None],
        values: Callable[[Relation, int], frozenset[Term] | None],
        definition: Callable[[Relation], Sequence[GroundRule] | None],
    ) -> None:
        self.is_static = is_static
        self.assumed: dict[Relation, list[Key]] = {}
        self.lone: set[Invariant] = set()
        self.used: set[Invariant] = set()
        self._rules = rules
        self._rows = rows
        self._values = values
        self._definition = definition
        self._numbers = count(1)
        #: Per rule (by identity), the rule and its renamed copies; and how many of these are in use.
        self._copies: dict[int, list[GroundRule]] = {}
        self._taken = Counter[int]()
        self._by_columns: dict[tuple[Relation, Key], dict[tuple[Term, ...], Rows] | None] = {}
        #: Whether rules (by identity) may derive atoms of a shape; with the rule, which keeps its id valid.
        self._derives: dict[tuple[int, FlatAtom], tuple[GroundRule, bool]] = {}
        self._static_keys: dict[Relation, list[Key]] = {}

    def rules_of(self, relation: Relation) -> Sequence[GroundRule] | None:
        """Return all rules that derive a relation; None if there are too many, or if its rows are known."""
        if self.is_static(relation):
            return self._definition(relation)
        return self._rules.get(relation, ())

    def renamed(self, rule: GroundRule) -> GroundRule:
        """Return a rule with variables that are fresh since ``begin_anew``."""
        copies = self._copies.setdefault(id(rule), [rule])
        self._taken[id(rule)] += 1
        if self._taken[id(rule)] == len(copies):
            copies.append(renamed_apart(rule, next(self._numbers)))
        return copies[self._taken[id(rule)]]

    def begin_anew(self) -> None:
        """Release the variables of renamed rules for reuse."""
        self._taken.clear()

    def may_derive(self, rule: GroundRule, atom: FlatAtom) -> bool:
        """Whether a rule may derive an atom, judging by its head and static body."""
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
        """Return sets of columns in which no two rows are equal."""
        if not self.is_static(relation):
            return self.assumed.get(relation, ())
        if relation not in self._static_keys:
            self._static_keys[relation] = self._keys_of_rows(relation)
        return self._static_keys[relation]

    def decided(self, test: Test) -> bool | None:
        """Return whether a condition holds; None if it depends on values or on the state."""
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
        """Return the possible values of a column of an atom; None if unknown."""
        if self.is_static(atom.relation):
            rows = self.rows_like(atom)
            return None if rows is None else frozenset([row[column] for row in rows])
        return self._values(atom.relation, column)

    def _index(self, relation: Relation, known: Key) -> dict[tuple[Term, ...], Rows] | None:
        if (relation, known) not in self._by_columns:
            rows = self._rows(relation)
            index: dict[tuple[Term, ...], list[tuple[Term, ...]]] = {}
            for row in rows or ():
                index.setdefault(tuple([row[number] for number in known]), []).append(row)
            self._by_columns[relation, known] = None if rows is None else dict(index)
        return self._by_columns[relation, known]

    def _keys_of_rows(self, relation: Relation) -> list[Key]:
        rows = self._rows(relation)
        if rows is None or relation.width > _WIDEST:
            return []
        found = [key for key in candidate_keys(relation, [rows]) if key]
        return [key for key in found if not is_implied(key, found)]


def candidate_keys(relation: Relation, states: Collection[Sequence[Sequence[object]]]) -> list[Key]:
    """Return the sets of columns in which no two rows of any state are equal, small ones first."""
    return [
        key
        for size in range(relation.width)
        for key in combinations(range(relation.width), size)
        if all(len({tuple([row[n] for n in key]) for row in rows}) == len(rows) for rows in states)
    ]


def is_implied(key: Key, others: Iterable[Key]) -> bool:
    """Whether a proper subset of a key is a key, too."""
    return any(set(other) < set(key) for other in others)
