"""Rules in the normal form of the reasoner.

The body of a normal rule consists of literals, negated literals, ``distinct``, and *tests*. A test is a
disjunction whose variables are all bound by positive literals of the body. Negation applies to atoms only (De
Morgan). Equations (negated ``distinct``) are solved. A disjunction that binds variables becomes several
rules.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Final

from anygame.language.rules import And, Atom, Distinct, Formula, Literal, Not, Or, Rule, map_terms, walk
from anygame.language.terms import are_ground
from anygame.language.unification import apply, measure, unify_all

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from anygame.language.terms import Term, Variable


#: Maximum number of normal rules per rule of the sheet.
MOST_OF_A_RULE: Final = 4096
#: Maximum nesting depth of a term that equations build.
_DEEPEST: Final = 200


@dataclass(slots=True)
class Allowance:
    """Remaining growth that normal forms of an untrusted sheet may cause; each rule reduces the allowance."""

    rules: int = 20_000  # number of additional rules
    characters: int = 1_000_000  # number of characters that equations add to terms

    @property
    def is_spent(self) -> bool:
        """Whether the remaining growth is less than a single rule may cause."""
        return self.rules < MOST_OF_A_RULE or self.characters < 0


@dataclass(frozen=True, slots=True, eq=False)
class NormalRule:
    """A rule in normal form; ``origin`` is the rule of the sheet from which the normal rule was made."""

    head: Atom
    body: tuple[Formula, ...]
    origin: Rule

    def __str__(self) -> str:
        return str(Rule(self.head, self.body))


class TooManyAlternatives(Exception):  # noqa: N818  (a signal to the caller, who knows the rule)
    """The disjunctions of a rule expand to too many normal rules."""


class TermsTooLarge(TooManyAlternatives):
    """The equations of a rule build terms that are too large."""


def is_ground_fact(rule: Rule) -> bool:
    """Whether a rule is a ground fact."""
    return not rule.body and are_ground(rule.head.arguments)


def negation_normal(formula: Formula, *, positive: bool = True) -> Formula:
    """Return an equivalent formula in which only atoms and ``distinct`` are negated."""
    if isinstance(formula, Not):
        return negation_normal(formula.formula, positive=not positive)
    if isinstance(formula, Or | And):
        parts = tuple(negation_normal(part, positive=positive) for part in formula.formulas)
        conjunctive = isinstance(formula, And) == positive
        return And(parts, formula.node) if conjunctive else Or(parts, formula.node)
    return formula if positive else Not(formula, formula.node)


def _conjuncts(formulas: Iterable[Formula]) -> Iterator[Formula]:
    for formula in formulas:
        if isinstance(formula, And) or (isinstance(formula, Or) and len(formula.formulas) == 1):
            yield from _conjuncts(formula.formulas)
        else:
            yield formula


def bound_by_literals(body: Iterable[Formula]) -> set[Variable]:
    """Return the variables that positive literals bind."""
    return {variable for item in body if isinstance(item, Literal) for variable in item.variables()}


def substitute_atom(atom: Atom, bindings: Mapping[Variable, Term]) -> Atom:
    """Return the atom with the bindings applied."""
    return Atom(atom.predicate, tuple([apply(argument, bindings) for argument in atom.arguments]), atom.node)


def substitute_formula(formula: Formula, bindings: Mapping[Variable, Term]) -> Formula:
    """Return the formula with the bindings applied."""
    return map_terms(formula, lambda term: apply(term, bindings))


def normalise(rule: Rule, allowance: Allowance | None = None) -> list[NormalRule]:
    """Return the normal rules that are equivalent to a rule; reduce the allowance by their growth.

    Raises:
        TooManyAlternatives: the rule expands to more than ``MOST_OF_A_RULE`` rules, or exceeds the allowance.
        TermsTooLarge: the equations of the rule build terms that are too long or too deeply nested.
    """
    if not rule.body:
        return [NormalRule(rule.head, (), rule)]
    allowance = allowance or Allowance()
    body = tuple(_conjuncts(negation_normal(formula) for formula in rule.body))
    choices = _distribute(body, min(MOST_OF_A_RULE, allowance.rules + 1))
    allowance.rules -= len(choices) - 1
    return [
        NormalRule(solved[0], solved[1], rule)
        for choice in choices
        if (solved := _solve_equations(rule.head, choice, allowance)) is not None
    ]


def _distribute(body: tuple[Formula, ...], limit: int) -> list[tuple[Formula, ...]]:
    """Expand the disjunctions that bind variables; return one body for each combination of alternatives."""
    bound = bound_by_literals(body)
    options: list[list[tuple[Formula, ...]]] = []
    count = 1
    for item in body:
        if isinstance(item, Or) and not bound.issuperset(item.variables()):
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
    # An alternative of one disjunction can bind variables of another disjunction, so distribute again.
    return [inner for choice in bodies for inner in _distribute(choice, limit)]


def _solve_equations(
    head: Atom, body: tuple[Formula, ...], allowance: Allowance
) -> tuple[Atom, tuple[Formula, ...]] | None:
    """Solve the equations of a body and apply the solution to the rule; None if there is no solution."""
    equations = []
    others = []
    for item in body:
        if isinstance(item, Not) and isinstance(item.formula, Distinct):
            equations.append((item.formula.left, item.formula.right))
        else:
            others.append(item)
    if not equations:
        return head, body
    bindings = unify_all(equations, {})
    if bindings is None:
        return None
    # Each equation can double the length of terms, so measure them before building them.
    terms = list(head.arguments)
    for formula, _ in walk(others):
        if isinstance(formula, Literal):
            terms += formula.atom.arguments
        elif isinstance(formula, Distinct):
            terms += (formula.left, formula.right)
    measured = measure(terms, bindings)
    assert measured is not None  # unification never binds a variable to a term that contains it
    characters, nesting = measured
    allowance.characters -= max(0, characters - sum(len(str(term)) for term in terms))
    if allowance.characters < 0 or nesting > _DEEPEST:
        raise TermsTooLarge
    return substitute_atom(head, bindings), tuple([substitute_formula(item, bindings) for item in others])


def binding_order(body: Sequence[Formula], bound: Iterable[Variable] = ()) -> list[int]:
    """Return the indices of the body in an order that binds the variables of each test before the test.

    The order ignores variables that no formula binds.
    """
    bound_by = [binds(formula) for formula in body]
    bindable = set().union(*bound_by)
    needs = [(_needs(formula) & bindable) - own for formula, own in zip(body, bound_by, strict=True)]
    bound_so_far = set(bound)
    order: list[int] = []
    waiting: list[int] = []
    for number in range(len(body)):
        waiting.append(number)
        while (ready := next((n for n in waiting if needs[n] <= bound_so_far), None)) is not None:
            waiting.remove(ready)
            order.append(ready)
            bound_so_far |= bound_by[ready]
    return order + waiting


def binds(formula: Formula) -> set[Variable]:
    """Return the variables to which a formula gives values wherever it holds."""
    if isinstance(formula, Literal):
        return set(formula.variables())
    if isinstance(formula, And):
        return {variable for part in formula.formulas for variable in binds(part)}
    if isinstance(formula, Or) and formula.formulas:
        return set.intersection(*map(binds, formula.formulas))
    return set()


def _needs(formula: Formula) -> set[Variable]:
    """Return the variables that must have values before a formula is tested."""
    if isinstance(formula, Literal):
        return set()
    if isinstance(formula, And):
        return {variable for part in formula.formulas for variable in _needs(part)} - binds(formula)
    if isinstance(formula, Or):
        return {variable for part in formula.formulas for variable in _needs(part) - binds(part)}
    return set(formula.variables())
