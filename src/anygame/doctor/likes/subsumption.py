"""Whether one rule makes another needless: it says the same, or more (theta-subsumption, Plotkin 1970)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from anygame.analysis.normal import substitute_atom, substitute_formula
from anygame.language.rules import Distinct, Literal, Not
from anygame.language.terms import Constant
from anygame.language.unification import match

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from anygame.language.rules import Formula, Rule
    from anygame.language.terms import Term
    from anygame.language.unification import Bindings

_STEPS_A_PAIR: Final = 2_000
_STEPS_IN_ALL: Final = 200_000
_PAIRS: Final = 300_000


class Ground:
    """A rule whose variables have become constants that stand in no sheet."""

    def __init__(self, rule: Rule) -> None:
        names: Bindings = {
            variable: Constant(" " + variable.name)
            for variables in (rule.head.variables(), *(formula.variables() for formula in rule.body))
            for variable in variables
        }
        self.head = substitute_atom(rule.head, names)
        self.body = [substitute_formula(formula, names) for formula in rule.body]


class Budget:
    """How much may still be tried."""

    def __init__(self) -> None:
        self.pairs = _PAIRS
        self.steps = _STEPS_IN_ALL

    def subsumes(self, rule: Rule, other: Ground) -> bool:
        """Whether some values make the rule's head the other's, and its body a part of the other's."""
        start = _match_terms(rule.head.arguments, other.head.arguments, {})
        if start is None:
            return False
        steps = _STEPS_A_PAIR
        pending: list[tuple[int, Bindings]] = [(0, start)]
        while pending and steps > 0 and self.steps > 0:
            number, bindings = pending.pop()
            if number == len(rule.body):
                return True
            for formula in other.body:
                steps -= 1
                self.steps -= 1
                pending += [(number + 1, more) for more in _match(rule.body[number], formula, bindings)]
        return False


def _match(pattern: Formula, formula: Formula, bindings: Bindings) -> Iterator[Bindings]:
    """Yield the bindings that make a pattern equal to a formula without variables."""
    if type(pattern) is not type(formula):
        return
    if isinstance(pattern, Literal) and isinstance(formula, Literal):
        if pattern.atom.key == formula.atom.key:
            extended = _match_terms(pattern.atom.arguments, formula.atom.arguments, bindings)
            if extended is not None:
                yield extended
    elif isinstance(pattern, Not) and isinstance(formula, Not):
        yield from _match(pattern.formula, formula.formula, bindings)
    elif isinstance(pattern, Distinct) and isinstance(formula, Distinct):
        for sides in ((formula.left, formula.right), (formula.right, formula.left)):
            extended = _match_terms((pattern.left, pattern.right), sides, bindings)
            if extended is not None:
                yield extended
    elif substitute_formula(pattern, bindings) == formula:
        yield bindings


def _match_terms(patterns: Sequence[Term], terms: Sequence[Term], bindings: Bindings) -> Bindings | None:
    extended = dict(bindings)
    pairs = zip(patterns, terms, strict=True)
    return extended if all(match(pattern, term, extended) for pattern, term in pairs) else None
