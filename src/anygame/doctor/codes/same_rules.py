"""Rules that repeat other rules: copies and special cases."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from anygame.doctor.code import CODES, check
from anygame.doctor.comparison import STEPS_IN_ALL, parts_of, subsumes
from anygame.doctor.work import Budget
from anygame.language.diagnostics import Note
from anygame.language.rules import Atom, Literal, Not, Rule
from anygame.language.terms import Compound

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from anygame.doctor.sheet import Sheet
    from anygame.language.diagnostics import Diagnostic
    from anygame.language.rules import Formula


#: Maximum number of pairs of rules that are compared.
_MOST_PAIRS: Final = 300_000


@check("duplicate-rule", "subsumed-rule", needs_all=False)
def _duplicate_rule(sheet: Sheet) -> Iterator[Diagnostic]:
    budget, pairs = Budget(STEPS_IN_ALL), iter(range(_MOST_PAIRS))
    for rules in sheet.heads.values():
        facts: dict[Atom, Rule] = {}
        inner: list[Rule] = []
        for rule in rules:
            if rule.body:
                inner.append(rule)
            elif rule.head in facts and rule.head.arguments:  # a head without arguments is stray text
                yield _duplicate(rule, facts[rule.head])
            else:
                facts[rule.head] = rule
        for rule in inner:
            if rule.head in facts:
                yield _subsumed(rule, facts[rule.head])
        yield from _among(inner, budget, pairs)


def _among(rules: Sequence[Rule], budget: Budget, pairs: Iterator[int]) -> Iterator[Diagnostic]:
    shapes = [_shape(rule) for rule in rules]
    parts = [parts_of(rule) for rule in rules]
    gone: set[int] = set()
    for second, rule in enumerate(rules):
        for first in range(second):
            if next(pairs, None) is None or budget.left <= 0:
                return
            if first in gone or second in gone:
                continue
            forward = shapes[first] <= shapes[second] and subsumes(parts[first], parts[second], budget)
            back = shapes[second] <= shapes[first] and subsumes(parts[second], parts[first], budget)
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
    message = f"this {what} repeats an earlier {what}"
    return CODES["duplicate-rule"].found(
        message, rule.span, Note(f"the earlier {what}", other.span), hint="delete one of the two"
    )


def _subsumed(rule: Rule, other: Rule) -> Diagnostic:
    message = "this rule has no effect: it is a special case of another rule"
    hint = "delete this rule; if the other rule is too general, delete that rule instead"
    return CODES["subsumed-rule"].found(message, rule.span, Note("the other rule", other.span), hint=hint)


def _shape(rule: Rule) -> frozenset[object]:
    """Return features of a rule; the rule can subsume only rules with all these features."""
    last = rule.head.arguments[-1:]
    head = [("head", term.functor) for term in last if isinstance(term, Compound)]
    return frozenset([*head, *map(_formula_shape, rule.body)])


def _formula_shape(formula: Formula) -> tuple[object, ...]:
    inner = formula.formula if isinstance(formula, Not) else formula
    if not isinstance(inner, Literal):
        return type(formula).__name__, type(inner).__name__
    names = [term.functor for term in inner.atom.arguments if isinstance(term, Compound)]
    return type(formula).__name__, inner.atom.key, *names
