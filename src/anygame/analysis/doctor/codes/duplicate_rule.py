"""Rules that say what others say already: copies, and special cases of another rule."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from anygame.analysis.doctor.code import PRACTICE, Check, Code
from anygame.analysis.normal import substitute_atom, substitute_formula
from anygame.language.diagnostics import Note, Severity
from anygame.language.rules import Atom, Distinct, Literal, Not
from anygame.language.terms import Compound, Constant, Variable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from anygame.analysis.doctor.sheet import Sheet
    from anygame.language.diagnostics import Diagnostic
    from anygame.language.rules import Formula, Rule
    from anygame.language.terms import Term

__all__ = ["CHECK"]

_STEPS_A_PAIR: Final = 2_000
_STEPS_IN_ALL: Final = 200_000
_PAIRS: Final = 300_000
Bindings = dict[Variable, "Term"]

_DUPLICATE_RULE: Final = Code(
    "duplicate-rule",
    Severity.WARNING,
    "a rule or fact that stands in the sheet twice",
    demand="No rule stands in the sheet twice.",
    why=(
        "A copy says nothing. It was meant to be changed after copying, or is a burden to whoever changes"
        " the other."
    ),
    source=PRACTICE,
    bad="(<= (p ?x) (q ?x))\n(<= (p ?y) (q ?y))",
    good="(<= (p ?x) (q ?x))\n(<= (p ?y) (r ?y))",
)
_SUBSUMED_RULE: Final = Code(
    "subsumed-rule",
    Severity.INFO,
    "a rule that is a special case of another one",
    demand="No rule is a special case of another one.",
    why="It adds nothing. Often the general rule says more than was meant.",
    source=PRACTICE,
    bad="(<= (p ?x) (q ?x))\n(<= (p a) (q a) (r a))",
    good="(<= (p ?x) (q ?x))\n(<= (p a) (r a))",
)


def _check(sheet: Sheet) -> Iterator[Diagnostic]:
    """Report copies, whatever their variables are called, and rules that another one makes needless."""
    budget = _Budget()
    for rules in sheet.heads.values():
        facts: dict[Atom, Rule] = {}
        inner: list[Rule] = []
        for rule in rules:
            if rule.body:
                inner.append(rule)
            elif rule.head in facts and rule.head.arguments:  # bare words twice are stray text
                yield _duplicate(rule, facts[rule.head])
            else:
                facts[rule.head] = rule
        for rule in inner:
            if rule.head in facts:
                yield _subsumed(rule, facts[rule.head])
        yield from _among(inner, budget)


def _among(rules: Sequence[Rule], budget: _Budget) -> Iterator[Diagnostic]:
    shapes = [_shape(rule) for rule in rules]
    ground = [_Ground(rule) for rule in rules]
    gone: set[int] = set()
    for second, rule in enumerate(rules):
        for first in range(second):
            budget.pairs -= 1
            if budget.pairs < 0 or budget.steps < 0:
                return
            if first in gone or second in gone:
                continue
            forward = shapes[first] <= shapes[second] and budget.subsumes(rules[first], ground[second])
            back = shapes[second] <= shapes[first] and budget.subsumes(rule, ground[first])
            if forward and back:
                gone.add(second)
                yield _duplicate(rule, rules[first])
            elif forward:
                gone.add(second)
                yield _subsumed(rule, rules[first])
            elif back:
                gone.add(first)
                yield _subsumed(rules[first], rule)


def _duplicate(rule: Rule, other: Rule) -> Diagnostic:
    what = "rule" if rule.body else "fact"
    message = f"this {what} says the same as an earlier one"
    return _DUPLICATE_RULE.found(
        message, rule.span, Note("the earlier one", other.span), hint="delete one of them"
    )


def _subsumed(rule: Rule, other: Rule) -> Diagnostic:
    message = "this rule adds nothing: another one holds wherever it does"
    hint = "delete it, or the other one, if that says too much"
    return _SUBSUMED_RULE.found(message, rule.span, Note("the other one", other.span), hint=hint)


def _shape(rule: Rule) -> frozenset[object]:
    """Return what a rule that it makes needless must have as well."""
    last = rule.head.arguments[-1:]
    head = [("head", term.functor) for term in last if isinstance(term, Compound)]
    return frozenset([*head, *map(_formula_shape, rule.body)])


def _formula_shape(formula: Formula) -> tuple[object, ...]:
    inner = formula.formula if isinstance(formula, Not) else formula
    if not isinstance(inner, Literal):
        return type(formula).__name__, type(inner).__name__
    names = [term.functor for term in inner.atom.arguments if isinstance(term, Compound)]
    return type(formula).__name__, inner.atom.key, *names


class _Ground:
    """A rule whose variables have become constants that stand in no sheet."""

    def __init__(self, rule: Rule) -> None:
        names: Bindings = {
            variable: Constant(" " + variable.name)
            for variables in (rule.head.variables(), *(formula.variables() for formula in rule.body))
            for variable in variables
        }
        self.head = substitute_atom(rule.head, names)
        self.body = [substitute_formula(formula, names) for formula in rule.body]


class _Budget:
    """How much may still be tried."""

    def __init__(self) -> None:
        self.pairs = _PAIRS
        self.steps = _STEPS_IN_ALL

    def subsumes(self, rule: Rule, other: _Ground) -> bool:
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
    pending = list(zip(patterns, terms, strict=True))
    while pending:
        pattern, term = pending.pop()
        if isinstance(pattern, Variable):
            if extended.setdefault(pattern, term) is not term:
                return None
        elif isinstance(pattern, Compound):
            if not isinstance(term, Compound) or term.functor != pattern.functor:
                return None
            if len(term.arguments) != len(pattern.arguments):
                return None
            pending += zip(pattern.arguments, term.arguments, strict=True)
        elif pattern is not term:
            return None
    return extended


CHECK: Final = Check(
    (
        _DUPLICATE_RULE,
        _SUBSUMED_RULE,
    ),
    _check,
    needs_all=False,
)
