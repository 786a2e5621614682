"""Rules made ready for grounding: flat columns, alternatives told apart, loosely tied parts split off.

A rule of the sheet joins literals of three kinds: *gates*, which depend on state or moves and become inputs
of the rule's instances; *guards*, which only say for which values there are instances (static relations,
and what stands in for the rest of a rule that was split); and *negatives*, whose atoms may or may not arise.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import count, product
from typing import TYPE_CHECKING, Final

from anygame.datalog.relations import Alternatives, FlatAtom, IsConstant, Negated, Relation, Unequal
from anygame.language.terms import Compound, Term, Variable, variables_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from anygame.datalog.relations import Condition, FlatRule

__all__ = ["Composed", "GroundRule", "prepare"]

_MOST_COPIES: Final = 32


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


def prepare(rules: Iterable[FlatRule], is_static: Callable[[Relation], bool]) -> list[GroundRule]:
    """Return rules ready for grounding, with new relations for the parts that were split off."""
    preparation = _Preparation(is_static)
    return [ready for rule in rules for ready in preparation.prepare(rule)]


class _Preparation:
    def __init__(self, is_static: Callable[[Relation], bool]) -> None:
        self._is_static_in_rules = is_static
        self._numbers = count(1)
        self._own: set[Relation] = set()

    def _is_static(self, relation: Relation) -> bool:
        return relation not in self._own and self._is_static_in_rules(relation)

    def prepare(self, rule: FlatRule) -> Iterator[GroundRule]:
        tests = [test for test in rule.conditions if self._is_plain(test)]
        others = [test for test in rule.conditions if not self._is_plain(test)]
        choices = [self._choices(test) for test in others]
        copies = 1
        for choice in choices:
            copies *= len(choice)
        if copies > _MOST_COPIES:
            yield from self._apart(rule, tests, others)
            return
        for picked in product(*choices):
            conditions = [*tests, *(condition for choice in picked for condition in choice)]
            yield from self._split(self._ground_rule(rule.head, rule.literals, conditions))

    def _is_plain(self, test: Condition) -> bool:
        """Whether a test depends on nothing but values and static relations."""
        if isinstance(test, FlatAtom):
            return self._is_static(test.relation)
        if isinstance(test, Negated):
            return self._is_static(test.atom.relation)
        if isinstance(test, Alternatives):
            return all(self._is_plain(part) for choice in test.choices for part in choice)
        return True

    def _choices(self, test: Condition) -> list[tuple[Condition, ...]]:
        """Return conjunctions, without alternatives that depend on the state, of which one must hold."""
        if not isinstance(test, Alternatives) or self._is_plain(test):
            return [(test,)]
        found = []
        for choice in test.choices:
            for picked in product(*(self._choices(part) for part in choice)):
                found.append(tuple(part for parts in picked for part in parts))
        return found

    def _apart(self, rule: FlatRule, tests: list[Condition], others: list[Condition]) -> Iterator[GroundRule]:
        """Give each test with many alternatives a relation of its own, over what the rule binds."""
        extra: list[FlatAtom] = []
        for test in others:
            variables = _in_order(_variables_of_test(test))
            atom = FlatAtom(self._new_relation(len(variables)), tuple(variables))
            extra.append(atom)
            for choice in self._choices(test):
                ready = self._ground_rule(atom, (), list(choice))
                ready.guards += [
                    self._flat(guard, ready) for guard in self._guards(rule.literals, set(variables))
                ]
                yield from self._projected(ready)
        yield from self._split(self._ground_rule(rule.head, (*rule.literals, *extra), tests))

    def _new_relation(self, width: int) -> Relation:
        relation = Relation(f" part {next(self._numbers)}", (None,) * width)
        self._own.add(relation)
        return relation

    # -- columns -----------------------------------------------------------------------------------

    def _ground_rule(
        self, head: FlatAtom, literals: Sequence[FlatAtom], conditions: Sequence[Condition]
    ) -> GroundRule:
        ready = GroundRule(head)
        ready.head = self._flat(head, ready)
        for literal in literals:
            flat = self._flat(literal, ready)
            (ready.guards if self._is_static(literal.relation) else ready.gates).append(flat)
        for condition in conditions:
            if isinstance(condition, FlatAtom):
                flat = self._flat(condition, ready)
                (ready.guards if self._is_static(condition.relation) else ready.gates).append(flat)
            elif isinstance(condition, Negated) and not self._is_static(condition.atom.relation):
                ready.negatives.append(self._flat(condition.atom, ready))
            else:
                ready.tests.append(condition)
        return ready

    def _flat(self, atom: FlatAtom, ready: GroundRule) -> FlatAtom:
        return FlatAtom(atom.relation, tuple([self._name(term, ready) for term in atom.columns]))

    def _name(self, term: Term, ready: GroundRule) -> Term:
        if not isinstance(term, Compound) or term.is_ground:
            return term
        parts = tuple([self._name(part, ready) for part in term.arguments])
        functor = (term.functor, len(parts))
        for known in ready.composed:
            if known.functor == functor and known.parts == parts:
                return known.whole
        whole = Variable(f" {len(ready.composed)}")
        ready.composed.append(Composed(whole, functor, parts))
        return whole

    # -- parts -------------------------------------------------------------------------------------

    def _split(self, rule: GroundRule) -> Iterator[GroundRule]:
        """Split off what hangs together by variables that the head does not have.

        Instances of such parts then add up where they multiplied.
        """
        if rule.composed:
            yield rule
            return
        head = set(_variables(rule.head))
        dynamic: list[tuple[str, FlatAtom]] = [("gates", atom) for atom in rule.gates]
        dynamic += [("negatives", atom) for atom in rule.negatives]
        parts = _parts(
            [set(_variables(atom)) - head for _, atom in dynamic]
            + [set(_variables(atom)) - head for atom in rule.guards]
            + [_variables_of_test(test) - head for test in rule.tests]
        )
        parts = [part for part in parts if any(number < len(dynamic) for number in part)]
        rest = set(range(len(dynamic))) - {number for part in parts for number in part}
        if len(parts) + bool(rest) < 2:
            yield rule
            return
        main = GroundRule(rule.head)
        taken = {number for part in parts for number in part}
        guards_at, tests_at = len(dynamic), len(dynamic) + len(rule.guards)
        free_guards = [g for n, g in enumerate(rule.guards, guards_at) if n not in taken]
        free_tests = [t for n, t in enumerate(rule.tests, tests_at) if n not in taken]
        for part in parts:
            split = GroundRule(rule.head)
            for number in sorted(part):
                if number < guards_at:
                    kind, atom = dynamic[number]
                    getattr(split, kind).append(atom)
                elif number < tests_at:
                    split.guards.append(rule.guards[number - guards_at])
                else:
                    split.tests.append(rule.tests[number - tests_at])
            variables = _in_order(set(_all_variables(split)) & head)
            split.head = FlatAtom(self._new_relation(len(variables)), tuple(variables))
            split.guards += [guard for guard in free_guards if set(_variables(guard)) <= set(variables)]
            split.tests += [test for test in free_tests if _variables_of_test(test) <= set(variables)]
            others = [atom for n, (kind, atom) in enumerate(dynamic) if n not in part and kind == "gates"]
            split.guards += self._guards([*others, *free_guards], set(_all_variables(split)) - _bound(split))
            yield from self._projected(split)
            main.gates.append(split.head)
        for number in sorted(rest):
            kind, atom = dynamic[number]
            getattr(main, kind).append(atom)
        main.guards += free_guards
        main.tests += free_tests
        # What bound a variable of the head may have gone into a part that has it too.
        yield main

    def _guards(self, literals: Sequence[FlatAtom], wanted: set[Variable]) -> list[FlatAtom]:
        """Return literals that bind some variables, those that bind most first."""
        found: list[FlatAtom] = []
        wanted = set(wanted)
        while wanted:
            best = max(
                literals,
                key=lambda atom: (len(wanted & set(_variables(atom))), -len(set(_variables(atom)))),
                default=None,
            )
            if best is None or not wanted & set(_variables(best)):
                break
            found.append(best)
            wanted -= set(_variables(best))
        return found

    def _projected(self, rule: GroundRule) -> Iterator[GroundRule]:
        """Replace guards by their projections to what the rule uses."""
        for number, guard in enumerate(rule.guards):
            if self._is_static(guard.relation):
                continue
            elsewhere = set(_variables(rule.head)) | {
                variable
                for atom in (*rule.gates, *rule.negatives, *(g for g in rule.guards if g is not guard))
                for variable in _variables(atom)
            }
            elsewhere |= {variable for test in rule.tests for variable in _variables_of_test(test)}
            used = _in_order(set(_variables(guard)) & elsewhere)
            if len(used) < len(set(_variables(guard))) or any(isinstance(t, Compound) for t in guard.columns):
                projected = GroundRule(FlatAtom(self._new_relation(len(used)), tuple(used)))
                flat = self._flat(guard, projected)
                projected.guards.append(flat)
                yield projected
                rule.guards[number] = projected.head
        yield rule


def _parts(items: list[set[Variable]]) -> list[set[int]]:
    """Return the groups of items that are connected by variables; items without any are in no group."""
    groups: list[tuple[set[Variable], set[int]]] = []
    for number, variables in enumerate(items):
        if not variables:
            continue
        joined_variables, joined = set(variables), {number}
        apart = []
        for group in groups:
            if group[0] & joined_variables:
                joined_variables |= group[0]
                joined |= group[1]
            else:
                apart.append(group)
        groups = [*apart, (joined_variables, joined)]
    return sorted((group[1] for group in groups), key=min)


def _variables(atom: FlatAtom) -> Iterator[Variable]:
    for term in atom.columns:
        yield from variables_of(term)


def _in_order(variables: Iterable[Variable]) -> list[Variable]:
    return sorted(set(variables), key=lambda variable: variable.name)


def _variables_of_test(test: Condition) -> set[Variable]:
    if isinstance(test, FlatAtom):
        return set(_variables(test))
    if isinstance(test, Negated):
        return set(_variables(test.atom))
    if isinstance(test, Unequal):
        return {*variables_of(test.left), *variables_of(test.right)}
    if isinstance(test, IsConstant):
        return {test.variable}
    return {v for choice in test.choices for part in choice for v in _variables_of_test(part)}


def _bound(rule: GroundRule) -> set[Variable]:
    return {variable for atom in (*rule.gates, *rule.guards) for variable in _variables(atom)}


def _all_variables(rule: GroundRule) -> Iterator[Variable]:
    for atom in (*rule.gates, *rule.negatives, *rule.guards):
        yield from _variables(atom)
    for test in rule.tests:
        yield from _variables_of_test(test)
