"""Splitting rules: loosely tied parts become relations of their own; instances add where they multiplied.

A rule of the sheet joins literals of three kinds: *gates*, which depend on state or moves and become inputs
of the rule's instances; *guards*, which only say for which values there are instances (static relations,
and what stands in for the rest of a rule that was split); and *negatives*, whose atoms may or may not arise.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import count, product
from typing import TYPE_CHECKING, Final

from anygame.datalog.relations import Alternatives, FlatAtom, IsConstant, Negated, Relation, Unequal
from anygame.language.terms import Term, Variable, variables_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from anygame.datalog.relations import Condition

__all__ = ["Composed", "GroundRule", "Splitter", "Test", "is_own", "variables_of_atom", "variables_of_test"]

_MOST_COLUMNS: Final = 4
_MOST_FAILURES: Final = 8


@dataclass(frozen=True, slots=True)
class Composed:
    """A value put together from others: ``whole`` is ``functor`` of ``parts``."""

    whole: Variable
    functor: tuple[str, int]
    parts: tuple[Term, ...]

    def __str__(self) -> str:
        return f"{self.whole} = ({self.functor[0]} {' '.join(map(str, self.parts))})"


Test = Unequal | IsConstant | Alternatives | Negated | FlatAtom


@dataclass(slots=True)
class GroundRule:
    """A rule to be instantiated.

    Attributes:
        head: what it derives; its columns are constants and variables.
        gates: positive literals that depend on state or moves.
        negatives: atoms that depend on state or moves and must not hold.
        guards: positive literals over tables that are merely to be matched.
        composed: nested terms of the columns, by name.
        tests: conditions that depend on nothing but values and static relations.
    """

    head: FlatAtom
    gates: list[FlatAtom] = field(default_factory=list)
    negatives: list[FlatAtom] = field(default_factory=list)
    guards: list[FlatAtom] = field(default_factory=list)
    composed: list[Composed] = field(default_factory=list)
    tests: list[Test] = field(default_factory=list)

    def __str__(self) -> str:
        body = [*map(str, self.gates), *(f"not {atom}" for atom in self.negatives)]
        body += [*(f"[{guard}]" for guard in self.guards), *map(str, self.composed), *map(str, self.tests)]
        return f"{self.head} :- {', '.join(body)}"


@dataclass(frozen=True, slots=True, eq=False)
class _Item:
    """A gate, negative, guard or test of a rule, with its variables."""

    kind: str
    what: FlatAtom | Test
    variables: frozenset[Variable]

    @property
    def is_dynamic(self) -> bool:
        return self.kind in ("gates", "negatives")


def _items(rule: GroundRule) -> list[_Item]:
    found = [
        _Item(kind, atom, frozenset(variables_of_atom(atom)))
        for kind in ("gates", "negatives", "guards")
        for atom in getattr(rule, kind)
    ]
    return found + [_Item("tests", test, frozenset(variables_of_test(test))) for test in rule.tests]


def _with_items(head: FlatAtom, items: Iterable[_Item]) -> GroundRule:
    rule = GroundRule(head)
    for item in items:
        getattr(rule, item.kind).append(item.what)
    return rule


class Splitter:
    """Splits rules.

    Args:
        is_static: whether a relation of the rules depends on neither state nor moves.
        is_dense: whether a static relation has more than half of the rows it could have.
    """

    def __init__(self, is_static: Callable[[Relation], bool], is_dense: Callable[[Relation], bool]) -> None:
        self._is_static_in_rules = is_static
        self._is_dense = is_dense
        self._numbers = count(1)
        self._own: set[Relation] = set()

    def is_static(self, relation: Relation) -> bool:
        """Whether a relation depends on neither state nor moves."""
        return relation not in self._own and self._is_static_in_rules(relation)

    def new_relation(self, width: int) -> Relation:
        """Return a relation that no rule has."""
        relation = Relation(f" part {next(self._numbers)}", (None,) * width)
        self._own.add(relation)
        return relation

    def split(self, rule: GroundRule) -> Iterator[GroundRule]:
        """Yield rules that together derive what a rule does."""
        if rule.composed:
            yield rule
            return
        yield from self._by_projections(rule)
        head = frozenset(variables_of_atom(rule.head))
        items = _items(rule)
        parts = [part for part in _connected(items, head) if any(items[n].is_dynamic for n in part)]
        inside = {number for part in parts for number in part}
        if len(parts) + any(item.is_dynamic for n, item in enumerate(items) if n not in inside) > 1:
            for part in parts:
                yield from self._split_off(items, part, head)
            yield _with_items(rule.head, [item for item in items if item is not None])
            return
        while (loose := self._loosest(items, head)) is not None:
            yield from self._split_off(items, loose, head)
            items = [item for item in items if item is not None]
        yield _with_items(rule.head, items)

    def _by_projections(self, rule: GroundRule) -> Iterator[GroundRule]:
        """Take a move that ties literals together apart; yields the rules for its projections.

        A role makes exactly one move, so a move holds exactly where all its projections do: *from here* and
        *to there*. Literals that only the move ties together then come apart.
        """
        moves = [atom for atom in rule.gates if atom.relation.predicate == "does"]
        if len(moves) != 1 or len(rule.gates) + len(rule.negatives) < 2:
            return
        move = moves[0]
        head = frozenset(variables_of_atom(rule.head))
        role = frozenset(variables_of(move.columns[0]))
        own = frozenset(variables_of_atom(move))
        others = [item for item in _items(rule) if item.what is not move]
        tied = _connected(others, head | role)
        wanted = [
            frozenset[Variable]().union(*(others[number].variables for number in part)) & own
            for part in tied
            if any(others[number].is_dynamic for number in part)
        ]
        rest = own & (head | frozenset[Variable]().union(*(item.variables for item in others)))
        rest -= frozenset[Variable]().union(*wanted) - head
        projections = [group | role for group in [*wanted, rest] if group - role]
        if len(projections) < 2 or any(group >= own & (head | role) for group in wanted if rest - role):
            return
        place = rule.gates.index(move)
        atoms = []
        for group in projections:
            variables = _in_order(group)
            atom = FlatAtom(self.new_relation(len(variables)), tuple(variables))
            yield GroundRule(atom, gates=[move])
            atoms.append(atom)
        rule.gates[place : place + 1] = atoms

    def _split_off(
        self, items: list[_Item], part: set[int], head: frozenset[Variable]
    ) -> Iterator[GroundRule]:
        """Replace some items by one literal over what they share with the others and the head.

        Replaced items become None in the list, the first of them the literal.
        """
        inside = [items[number] for number in sorted(part)]
        outside = [item for number, item in enumerate(items) if number not in part and item is not None]
        shared = head.union(*(item.variables for item in outside))
        variables = _in_order({v for item in inside for v in item.variables} & shared)
        atom = FlatAtom(self.new_relation(len(variables)), tuple(variables))
        split = _with_items(atom, inside)
        # What the others say of the shared variables alone keeps the part small.
        kept = frozenset(variables)
        for item in outside:
            if item.kind in ("guards", "tests") and item.variables and item.variables <= kept:
                getattr(split, item.kind).append(item.what)
        bound = {v for guard in (*split.gates, *split.guards) for v in variables_of_atom(guard)}
        unbound = {v for item in inside for v in item.variables} - bound
        if [gate.relation.predicate for gate in split.gates] == ["does"]:
            # Guards that hold variables of the move may be said by their failures, and then bind nothing.
            sure = [guard for guard in split.guards if kept.issuperset(variables_of_atom(guard))]
            unbound |= kept - {v for atom in (*split.gates, *sure) for v in variables_of_atom(atom)}
        binders = [item.what for item in outside if item.kind in ("gates", "guards")]
        split.guards += self.binders(binders, unbound)  # type: ignore[arg-type]
        for number in part:
            items[number] = None  # type: ignore[call-overload]
        items[min(part)] = _Item("gates", atom, kept)
        for ready in self.projected(split):
            if ready is split:
                yield from self._by_failure(ready)
            else:
                yield ready

    def _loosest(self, items: list[_Item], head: frozenset[Variable]) -> set[int] | None:
        """Return the items around one variable that are tied to the rest by fewest others, if that helps."""
        best: tuple[int, int, str] | None = None
        found: set[int] | None = None
        for variable in frozenset[Variable]().union(*(item.variables for item in items)) - head:
            part = {number for number, item in enumerate(items) if variable in item.variables}
            inside = frozenset[Variable]().union(*(items[n].variables for n in part))
            outside = frozenset[Variable]().union(
                *(item.variables for number, item in enumerate(items) if number not in part)
            )
            # Without anything that changes on the other side, splitting would come back to the same rule.
            beside = [
                item.variables
                for number, item in enumerate(items)
                if number not in part and item.variables - head
            ]
            if not frozenset[Variable]().union(*beside) - inside:
                continue
            gates = {number for number in part if items[number].kind == "gates"}
            dynamic = {number for number, item in enumerate(items) if item.is_dynamic}
            if not gates or dynamic <= part:
                continue
            shared = inside & (outside | head)
            key = (len(shared), len(part), variable.name)
            if len(shared) <= _MOST_COLUMNS and (best is None or key < best):
                best, found = key, part
        return found

    def _by_failure(self, rule: GroundRule) -> Iterator[GroundRule]:
        """Yield a rule again, or say it by its failures.

        A role makes exactly one move: where some move of a kind passes the tests, the role makes a move of
        that kind, and none that fails them. Mostly few fail.
        """
        role = rule.gates[0].columns[0] if rule.gates and rule.gates[0].columns else None
        if isinstance(role, Variable) and role not in rule.head.columns:
            columns = (role, *rule.head.columns)
            per_role = FlatAtom(self.new_relation(len(columns)), columns)
            found = list(self._by_failure(replace(rule, head=per_role)))
            if len(found) > 1:
                yield from found
                yield GroundRule(rule.head, gates=[per_role])
                return
        head = frozenset(variables_of_atom(rule.head))
        failures = self._failures(rule, head)
        if failures is None:
            yield from self.split(rule)
            return
        move = rule.gates[0]
        own = frozenset(variables_of_atom(move))
        binding = [guard for guard in rule.guards if not frozenset(variables_of_atom(guard)) & (own - head)]
        any_variables = _in_order(own & head)
        some = FlatAtom(self.new_relation(len(any_variables)), tuple(any_variables))
        bad = FlatAtom(self.new_relation(rule.head.relation.width), rule.head.columns)
        yield GroundRule(some, gates=[move])
        for failure in failures:
            atoms = [part for part in failure if isinstance(part, FlatAtom)]
            tests: list[Test] = [part for part in failure if not isinstance(part, FlatAtom)]
            yield GroundRule(bad, gates=[move, *atoms], guards=list(binding), tests=tests)
        rest = GroundRule(rule.head, gates=[some], negatives=[bad], guards=list(binding))
        rest.tests += [test for test in rule.tests if variables_of_test(test) <= head]
        rest.negatives += [atom for atom in rule.negatives if set(variables_of_atom(atom)) <= head]
        yield rest

    def _failures(self, rule: GroundRule, head: frozenset[Variable]) -> list[tuple[Test, ...]] | None:
        """Return how a rule about one move can fail; None where it is not such a rule.

        A failure is a conjunction of tests, and of atoms that depend on the state.
        """
        if len(rule.gates) != 1 or rule.gates[0].relation.predicate != "does":
            return None
        move = rule.gates[0]
        own = frozenset(variables_of_atom(move)) - head
        role = move.columns[0]
        if not own or (isinstance(role, Variable) and role not in head):
            return None
        found: list[tuple[Test, ...]] = []
        for item in _items(rule):
            if item.what is move or not item.variables & own:
                continue
            # Of a variable that is neither the move's nor the head's, another value might do where one fails.
            failing = self._failing(item) if item.variables <= own | head else None
            if failing is None:
                return None
            found += failing
        bound = {v for g in rule.guards for v in variables_of_atom(g) if not set(variables_of_atom(g)) & own}
        if not head - frozenset(variables_of_atom(move)) <= bound:
            return None
        return found if found and len(found) <= _MOST_FAILURES else None

    def _failing(self, item: _Item) -> list[tuple[Test, ...]] | None:
        """Return how one negative, test or guard can fail; None where that is not worth saying."""
        if item.kind == "negatives":
            assert isinstance(item.what, FlatAtom)
            return [(item.what,)]
        if item.kind == "tests":
            return _failing_test(item.what)
        guard = item.what
        assert isinstance(guard, FlatAtom)
        return (
            [(Negated(guard),)] if self.is_static(guard.relation) and self._is_dense(guard.relation) else None
        )

    def binders(self, literals: Sequence[FlatAtom], wanted: Iterable[Variable]) -> list[FlatAtom]:
        """Return literals that bind some variables, those that bind most first."""
        found: list[FlatAtom] = []
        missing = set(wanted)
        while missing:
            best = max(
                literals,
                key=lambda atom: (
                    len(missing & set(variables_of_atom(atom))),
                    -len(set(variables_of_atom(atom))),
                ),
                default=None,
            )
            if best is None or not missing & set(variables_of_atom(best)):
                break
            found.append(best)
            missing -= set(variables_of_atom(best))
        return found

    def projected(self, rule: GroundRule) -> Iterator[GroundRule]:
        """Yield a rule with its guards replaced by their projections to what the rule uses."""
        for number, guard in enumerate(rule.guards):
            if self.is_static(guard.relation):
                continue
            elsewhere = set(variables_of_atom(rule.head)) | {
                variable
                for atom in (*rule.gates, *rule.negatives, *(g for g in rule.guards if g is not guard))
                for variable in variables_of_atom(atom)
            }
            elsewhere |= {variable for test in rule.tests for variable in variables_of_test(test)}
            elsewhere |= {v for item in rule.composed for part in item.parts for v in variables_of(part)}
            elsewhere |= {item.whole for item in rule.composed}
            used = _in_order(set(variables_of_atom(guard)) & elsewhere)
            if len(used) < len(set(variables_of_atom(guard))):
                projection = FlatAtom(self.new_relation(len(used)), tuple(used))
                yield GroundRule(projection, guards=[guard])
                rule.guards[number] = projection
        yield rule


def _failing_test(test: Test) -> list[tuple[Test, ...]] | None:
    """Return conjunctions of equations of which one holds where a test fails; None for other tests."""
    if isinstance(test, Unequal):
        return None if test.negated else [(Unequal(test.left, test.right, negated=True),)]
    if not isinstance(test, Alternatives):
        return None
    found: list[tuple[Test, ...]] = []
    for picked in product(*test.choices):
        equations: list[Test] = []
        for part in picked:
            failing = _failing_test(part)
            if failing is None or len(failing) != 1:
                return None
            equations += failing[0]
        found.append(tuple(equations))
        if len(found) > _MOST_FAILURES:
            return None
    return found


def _connected(items: Sequence[_Item], head: frozenset[Variable]) -> list[set[int]]:
    """Return the groups of items connected by variables that the head has not; lonely items are in none."""
    groups: list[tuple[frozenset[Variable], set[int]]] = []
    for number, item in enumerate(items):
        joined, members = item.variables - head, {number}
        if not joined:
            continue
        apart = []
        for group in groups:
            if group[0] & joined:
                joined |= group[0]
                members |= group[1]
            else:
                apart.append(group)
        groups = [*apart, (joined, members)]
    return sorted((group[1] for group in groups), key=min)


def is_own(relation: Relation) -> bool:
    """Whether grounding made a relation; no sheet can hold its name."""
    return relation.predicate.startswith(" ")


def variables_of_atom(atom: FlatAtom) -> Iterator[Variable]:
    """Yield the variables of an atom, as often as they occur."""
    for term in atom.columns:
        yield from variables_of(term)


def variables_of_test(test: Condition) -> set[Variable]:
    """Return the variables of a test."""
    if isinstance(test, FlatAtom):
        return set(variables_of_atom(test))
    if isinstance(test, Negated):
        return set(variables_of_atom(test.atom))
    if isinstance(test, Unequal):
        return {*variables_of(test.left), *variables_of(test.right)}
    if isinstance(test, IsConstant):
        return {test.variable}
    return {v for choice in test.choices for part in choice for v in variables_of_test(part)}


def _in_order(variables: Iterable[Variable]) -> list[Variable]:
    return sorted(set(variables), key=lambda variable: variable.name)
