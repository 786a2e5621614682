"""Rules in normal form: what a reasoner wants to read.

A normal rule's body holds literals, negated literals, ``distinct``, and *tests*: disjunctions all of whose
variables are bound by positive literals outside them. Negation stands in front of atoms only (De Morgan),
equations (a ``distinct`` under a negation) are solved away, and a disjunction that binds variables has become
several rules.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

from anygame.language.rules import And, Atom, Distinct, Formula, Literal, Not, Or, Rule
from anygame.language.unification import apply, unify

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from anygame.language.terms import Term, Variable

__all__ = ["NormalRule", "TooManyAlternatives", "atoms_of", "binders", "negation_normal", "normalise"]


@dataclass(frozen=True, slots=True, eq=False)
class NormalRule:
    """A rule in normal form and the rule of the sheet it came from."""

    head: Atom
    body: tuple[Formula, ...]
    origin: Rule

    def __str__(self) -> str:
        return str(Rule(self.head, self.body))


class TooManyAlternatives(Exception):  # noqa: N818  (a signal to the caller, who knows the rule)
    """A rule's disjunctions multiply beyond the bound."""


def negation_normal(formula: Formula, *, positive: bool = True) -> Formula:
    """Push negation inwards until it stands in front of atoms and ``distinct`` only."""
    if isinstance(formula, Not):
        return negation_normal(formula.formula, positive=not positive)
    if isinstance(formula, Or | And):
        parts = tuple(negation_normal(part, positive=positive) for part in formula.formulas)
        conjunctive = isinstance(formula, And) == positive
        return And(parts, formula.node) if conjunctive else Or(parts, formula.node)
    return formula if positive else Not(formula, getattr(formula, "node", None))


def _conjuncts(formulas: Iterable[Formula]) -> Iterator[Formula]:
    for formula in formulas:
        if isinstance(formula, And) or (isinstance(formula, Or) and len(formula.formulas) == 1):
            yield from _conjuncts(formula.formulas)
        else:
            yield formula


def binders(body: Iterable[Formula]) -> set[Variable]:
    """Return the variables that positive literals bind."""
    return {variable for item in body if isinstance(item, Literal) for variable in item.variables()}


def atoms_of(body: Iterable[Formula]) -> Iterator[tuple[Atom, bool]]:
    """Yield every atom of a normal body, those inside tests too, with whether it stands positively."""
    for item in body:
        if isinstance(item, Literal):
            yield item.atom, True
        elif isinstance(item, Not):
            if isinstance(item.formula, Literal):
                yield item.formula.atom, False
        elif isinstance(item, Or | And):
            yield from atoms_of(item.formulas)


def substitute_atom(atom: Atom, bindings: Mapping[Variable, Term]) -> Atom:
    """Return the atom with the bindings applied."""
    return Atom(atom.predicate, tuple([apply(argument, bindings) for argument in atom.arguments]), atom.node)


def substitute_formula(formula: Formula, bindings: Mapping[Variable, Term]) -> Formula:
    """Return the formula with the bindings applied."""
    if isinstance(formula, Literal):
        return Literal(substitute_atom(formula.atom, bindings))
    if isinstance(formula, Not):
        return Not(substitute_formula(formula.formula, bindings), formula.node)
    if isinstance(formula, Or):
        return Or(tuple(substitute_formula(part, bindings) for part in formula.formulas), formula.node)
    if isinstance(formula, And):
        return And(tuple(substitute_formula(part, bindings) for part in formula.formulas), formula.node)
    assert isinstance(formula, Distinct)
    return Distinct(apply(formula.left, bindings), apply(formula.right, bindings), formula.node)


def normalise(rule: Rule, limit: int = 4096) -> list[NormalRule]:
    """Return the normal rules that together mean the same as a rule of the sheet.

    Raises:
        TooManyAlternatives: they would be more than ``limit``.
    """
    if not rule.body:
        return [NormalRule(rule.head, (), rule)]
    body = tuple(_conjuncts(negation_normal(formula) for formula in rule.body))
    return [
        NormalRule(solved[0], solved[1], rule)
        for choice in _distribute(body, limit)
        if (solved := _solve_equations(rule.head, choice)) is not None
    ]


def _distribute(body: tuple[Formula, ...], limit: int) -> list[tuple[Formula, ...]]:
    """Multiply out the disjunctions that bind variables; keep those that only test."""
    bound = binders(body)
    options: list[list[tuple[Formula, ...]]] = []
    count = 1
    for item in body:
        if isinstance(item, Or) and not _is_test(item, bound):
            choices = [
                choice
                for alternative in item.formulas
                for choice in _distribute(tuple(_conjuncts((alternative,))), limit)
            ]
        else:
            choices = [(item,)]
        options.append(choices)
        count *= len(choices)
        if count > limit:
            raise TooManyAlternatives
    bodies = [tuple(item for part in choice for item in part) for choice in product(*options)]
    if len(bodies) == 1 and bodies[0] == body:
        return bodies
    # An alternative may have bound what a disjunction beside it could not yet count as bound.
    return [inner for choice in bodies for inner in _distribute(choice, limit)]


def _is_test(formula: Or, bound: set[Variable]) -> bool:
    return all(variable in bound for variable in formula.variables())


def _solve_equations(head: Atom, body: tuple[Formula, ...]) -> tuple[Atom, tuple[Formula, ...]] | None:
    """Solve the equations of a body; None where one cannot hold."""
    bindings: dict[Variable, Term] = {}
    rest = []
    for item in body:
        if isinstance(item, Not) and isinstance(item.formula, Distinct):
            solved = unify(item.formula.left, item.formula.right, bindings)
            if solved is None:
                return None
            bindings = solved
        else:
            rest.append(item)
    if bindings:
        head = substitute_atom(head, bindings)
        rest = [substitute_formula(item, bindings) for item in rest]
    return head, tuple(rest)
