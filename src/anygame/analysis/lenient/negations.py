"""Negations that have variables of their own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from anygame.language.rules import And, Distinct, Literal, Not, Or, map_terms, walk
from anygame.language.terms import Compound, Constant, Variable, substitute

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from anygame.language.rules import Formula, Rule
    from anygame.language.terms import Term


@dataclass(frozen=True, slots=True)
class Local:
    """A negation or ``distinct`` with variables that nothing else of its conjunction can bind.

    Attributes:
        formula: the negation, or the ``distinct``.
        free: these variables.
    """

    formula: Not | Distinct
    free: frozenset[Variable]


def local_variables(rule: Rule, unbound: Collection[Variable]) -> Iterator[Local]:
    """Yield the negations and ``distinct`` of a rule that have unbound variables of their own.

    A variable of the head is none: what may stand there is for the head to say.
    """
    return _scan(rule.body, set(), frozenset(unbound).difference(rule.head.variables()))


def _scan(
    conjuncts: Sequence[Formula], outside: set[Variable], unbound: frozenset[Variable]
) -> Iterator[Local]:
    positive = [_positive(formula) for formula in conjuncts]
    for number, formula in enumerate(conjuncts):
        beside = positive[:number] + positive[number + 1 :]
        known = outside.union(*beside)
        if isinstance(formula, Or):
            for part in formula.formulas:
                # To leave out a `distinct` here would leave out an alternative.
                inner = _scan((part,), known, unbound)
                yield from (local for local in inner if isinstance(local.formula, Not))
        elif isinstance(formula, And):
            yield from _scan(formula.formulas, known, unbound)
        elif isinstance(formula, Not) and isinstance(formula.formula, Not):
            yield from _scan((formula.formula.formula,), known, unbound)
        elif isinstance(formula, Not) and isinstance(formula.formula, Distinct):
            continue  # an equation, which binds
        elif isinstance(formula, Not | Distinct):
            free = unbound.difference(known).intersection(formula.variables())
            if free:
                yield Local(formula, free)


def _positive(formula: Formula) -> set[Variable]:
    """Return the variables of the literals that stand positively in a formula."""
    return {
        variable
        for part, positive in walk([formula])
        if positive and isinstance(part, Literal)
        for variable in part.variables()
    }


def name_of(formula: Formula) -> str:
    """Return what a formula is about: the name of its first literal's fluent, move or relation."""
    atoms = (part.atom for part, _ in walk([formula]) if isinstance(part, Literal))
    atom = next(atoms, None)
    if atom is None:
        return "values"
    about = atom.arguments[-1] if atom.predicate in {"true", "does"} else None
    if isinstance(about, Compound):
        return about.functor
    return about.name if isinstance(about, Constant) else atom.predicate


def shape_of(formula: Formula, outer: Sequence[Variable]) -> str:
    """Return a formula as text in which the names of variables do not count, but which are outer ones do."""
    names: dict[Variable, Term] = {}
    for number, variable in enumerate(dict.fromkeys(formula.variables())):
        names[variable] = Variable(f"{'outer' if variable in outer else 'inner'}{number}")
    return str(map_terms(formula, lambda term: substitute(term, names)))
