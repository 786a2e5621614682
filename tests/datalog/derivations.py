"""Checks derivations and failures against the rules, without knowing how they were found."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.datalog.programs import choices

from anygame.language.parser import parse_atom, parse_program
from anygame.language.rules import And, Atom, Distinct, Literal, Not, Or
from anygame.language.unification import apply, match

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from anygame.datalog.derivations import Derivation, Failure
    from anygame.language.rules import Formula, Program, Rule
    from anygame.language.terms import Term, Variable

Bindings = dict["Variable", "Term"]


def _formula(text: str) -> Formula:
    return parse_program(f"(role r) (<= checked {text})").rules[1].body[0]


class Checker:
    """Knows the rules by their places and everything that holds.

    Args:
        program: the rules, with their places.
        facts: every fact of every relation, as text, ``true`` and ``does`` among them.
    """

    def __init__(self, program: Program, facts: Mapping[tuple[str, int], set[tuple[str, ...]]]) -> None:
        self.rules: dict[str, Rule] = {rule.span.place: rule for rule in program.rules if rule.span}
        self._facts = {
            key: {parse_atom(f"({key[0]} {' '.join(row)})" if row else key[0]) for row in rows}
            for key, rows in facts.items()
        }

    def holds(self, formula: Formula) -> bool:
        """Return whether a formula holds; of an atom with variables, whether some instance does."""
        if isinstance(formula, Literal):
            known = self._facts.get(formula.atom.key, set())
            return any(_matches(formula.atom, fact, {}) is not None for fact in known)
        if isinstance(formula, Not):
            return not self.holds(formula.formula)
        if isinstance(formula, Distinct):
            return formula.left is not formula.right
        assert isinstance(formula, (And, Or))
        return (any if isinstance(formula, Or) else all)(self.holds(part) for part in formula.formulas)

    # derivations

    def check(self, derivation: Derivation) -> None:
        """Check every step of a derivation, and that nothing rests on itself."""
        uses: dict[str, set[str]] = {}
        shown: set[str] = set()
        pending = [derivation]
        while pending:
            node = pending.pop()
            pending += node.premises
            if node.reason == "shown":
                shown.add(node.conclusion)
            else:
                uses.setdefault(node.conclusion, set()).update(part.conclusion for part in node.premises)
                self._check_node(node)
        assert shown <= uses.keys(), "what is said to be shown is shown"
        _check_acyclic(uses)

    def _check_node(self, node: Derivation) -> None:
        if node.reason in {"absent", "distinct"}:
            formula = _formula(node.conclusion)
            assert isinstance(formula, Not if node.reason == "absent" else Distinct)
            assert self.holds(formula), node.conclusion
        elif node.reason == "rule" and not node.place:
            assert isinstance(_formula(node.conclusion), And)
            assert self.holds(_formula(node.conclusion)), node.conclusion
        else:
            atom = parse_atom(node.conclusion)
            assert self.holds(Literal(atom)), node.conclusion
            if node.reason == "deeper":
                assert not node.premises
            elif node.reason in {"state", "move"}:
                assert atom.predicate == {"state": "true", "move": "does"}[node.reason]
                assert not node.premises
            elif node.reason == "fact":
                # Of a body of equations, which are solved where the rule is read, nothing is left.
                assert self._is_instance(self.rules[node.place], atom, [])
            else:
                assert node.reason == "rule"
                assert self._is_instance(self.rules[node.place], atom, _parts(node.premises)), str(node)

    def _is_instance(self, rule: Rule, head: Atom, premises: Sequence[Formula]) -> bool:
        """Return whether some way of satisfying the body is made of just these premises."""
        bindings = _matches(rule.head, head, {})
        return bindings is not None and any(
            self._satisfies(
                sorted(choice, key=lambda part: not isinstance(part, Literal)), premises, bindings, ()
            )
            for choice in choices(And(rule.body))
        )

    def _satisfies(
        self,
        parts: Sequence[Formula],
        premises: Sequence[Formula],
        bindings: Bindings,
        used: tuple[Formula, ...],
    ) -> bool:
        if not parts:
            return all(premise in used for premise in premises)
        part, rest = parts[0], parts[1:]
        if isinstance(part, Literal):
            return any(
                (extended := _matches(part.atom, premise.atom, bindings)) is not None
                and self._satisfies(rest, premises, extended, (*used, premise))
                for premise in premises
                if isinstance(premise, Literal)
            )
        ground = _instance(part, bindings)
        # An equation is solved where the rule is read; it need not be told.
        told = ground in premises or (isinstance(ground, Not) and isinstance(ground.formula, Distinct))
        return told and self.holds(ground) and self._satisfies(rest, premises, bindings, (*used, ground))

    # failures

    def check_failure(self, failure: Failure) -> None:
        """Check that every rule that could give the atom is tried, and fails where it is said to."""
        atom = parse_atom(failure.atom)
        assert not self.holds(Literal(atom))
        for attempt in failure.attempts:
            assert attempt.rule == str(self.rules[attempt.place])
            assert all(self.holds(_formula(part)) for part in attempt.held), str(attempt)
            assert not self.holds(_formula(attempt.failed)), str(attempt)
        wanted = {
            place
            for place, rule in self.rules.items()
            if rule.body and "distinct" not in str(rule) and rule.head.key == atom.key
            if choices(And(rule.body)) and _matches(rule.head, atom, {}) is not None
        }
        tried = {attempt.place for attempt in failure.attempts}
        assert wanted <= tried
        assert all(_matches(self.rules[place].head, atom, {}) is not None for place in tried)


def _parts(premises: Sequence[Derivation]) -> list[Formula]:
    """Return what premises say, a conjunction as its parts."""
    found: list[Formula] = []
    for premise in premises:
        formula = _formula(premise.conclusion)
        found += _parts(premise.premises) if isinstance(formula, And) else [formula]
    return found


def _matches(pattern: Atom, ground: Atom, bindings: Bindings) -> Bindings | None:
    extended = dict(bindings)
    fits = pattern.key == ground.key and all(
        match(apply(part, extended), term, extended)
        for part, term in zip(pattern.arguments, ground.arguments, strict=True)
    )
    return extended if fits else None


def _instance(part: Formula, bindings: Bindings) -> Formula:
    if isinstance(part, Not):
        return Not(_instance(part.formula, bindings))
    if isinstance(part, Distinct):
        return Distinct(apply(part.left, bindings), apply(part.right, bindings))
    assert isinstance(part, Literal)
    return Literal(Atom(part.atom.predicate, tuple(apply(term, bindings) for term in part.atom.arguments)))


def _check_acyclic(uses: Mapping[str, set[str]]) -> None:
    done: set[str] = set()
    for start in uses:
        path = [(start, iter(uses[start]))]
        under_way = {start}
        while path:
            node, rest = path[-1]
            child = next(rest, None)
            if child is None:
                done.add(node)
                under_way.discard(node)
                path.pop()
            else:
                assert child not in under_way, f"{child} rests on itself"
                if child in uses and child not in done:
                    under_way.add(child)
                    path.append((child, iter(uses[child])))
