"""Rules made ready for grounding: flat columns, alternatives told apart, loosely tied parts split off."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Final

from anygame.datalog.relations import Alternatives, FlatAtom, Negated
from anygame.language.terms import Compound, Term, Variable
from anygame.network.grounding.parts import Composed, GroundRule, Splitter, variables_of_test

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from anygame.datalog.relations import Condition, FlatRule, Relation
    from anygame.network.grounding.parts import Test

__all__ = ["prepare"]

_MOST_COPIES: Final = 32


def prepare(
    rules: Iterable[FlatRule],
    is_static: Callable[[Relation], bool],
    is_dense: Callable[[Relation], bool],
) -> list[GroundRule]:
    """Return rules ready for grounding, with new relations for the parts that were split off.

    Args:
        rules: those that depend on state or moves.
        is_static: whether a relation depends on neither.
        is_dense: whether a static relation has more than half of the rows it could have.
    """
    preparation = _Preparation(Splitter(is_static, is_dense))
    return [ready for rule in rules for ready in preparation.prepare(rule)]


class _Preparation:
    def __init__(self, splitter: Splitter) -> None:
        self._splitter = splitter

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
            yield from self._splitter.split(self._ground_rule(rule.head, rule.literals, conditions))

    def _is_plain(self, test: Condition) -> bool:
        """Whether a test depends on nothing but values and static relations."""
        if isinstance(test, FlatAtom):
            return self._splitter.is_static(test.relation)
        if isinstance(test, Negated):
            return self._splitter.is_static(test.atom.relation)
        if isinstance(test, Alternatives):
            return all(self._is_plain(part) for choice in test.choices for part in choice)
        return True

    def _choices(self, test: Condition) -> list[tuple[Condition, ...]]:
        """Return conjunctions, without alternatives that depend on the state, of which one must hold."""
        if not isinstance(test, Alternatives) or self._is_plain(test):
            return [(test,)]
        return [
            tuple(part for parts in picked for part in parts)
            for choice in test.choices
            for picked in product(*(self._choices(part) for part in choice))
        ]

    def _apart(self, rule: FlatRule, tests: list[Condition], others: list[Condition]) -> Iterator[GroundRule]:
        """Give each test with many alternatives a relation of its own, over what the rule binds."""
        extra: list[FlatAtom] = []
        for test in others:
            variables = sorted(variables_of_test(test), key=lambda variable: variable.name)
            atom = FlatAtom(self._splitter.new_relation(len(variables)), tuple(variables))
            extra.append(atom)
            for choice in self._choices(test):
                ready = self._ground_rule(atom, (), list(choice))
                binders = self._splitter.binders(rule.literals, variables)
                ready.guards += [self._flat(guard, ready) for guard in binders]
                yield from self._splitter.projected(ready)
        yield from self._splitter.split(self._ground_rule(rule.head, (*rule.literals, *extra), tests))

    def _ground_rule(
        self, head: FlatAtom, literals: Sequence[FlatAtom], conditions: Sequence[Condition]
    ) -> GroundRule:
        ready = GroundRule(head)
        ready.head = self._flat(head, ready)
        for literal in literals:
            self._enter(literal, ready)
        for condition in conditions:
            if isinstance(condition, FlatAtom):
                self._enter(condition, ready)
            elif isinstance(condition, Negated) and not self._splitter.is_static(condition.atom.relation):
                ready.negatives.append(self._flat(condition.atom, ready))
            else:
                test: Test = condition
                ready.tests.append(test)
        return ready

    def _enter(self, literal: FlatAtom, ready: GroundRule) -> None:
        flat = self._flat(literal, ready)
        (ready.guards if self._splitter.is_static(literal.relation) else ready.gates).append(flat)

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
