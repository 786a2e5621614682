"""Rules that repeat other rules: copies, special cases, rules that lack a condition, and aliases."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from anygame.analysis.groups import grouped
from anygame.doctor.code import check, codes_of
from anygame.doctor.codes.tables import frame_of
from anygame.doctor.comparison import STEPS_IN_ALL, blind, numbered, parts_of, subsumes, words_of
from anygame.doctor.work import Budget
from anygame.language.diagnostics import Note, shown
from anygame.language.rules import Atom, Literal, Not, Rule
from anygame.language.terms import Compound

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from anygame.doctor.sheet import Sheet
    from anygame.language.diagnostics import Diagnostic
    from anygame.language.rules import Formula

_CODES: Final = codes_of(__name__)

#: Maximum number of pairs of rules that are compared.
_MOST_PAIRS: Final = 300_000
#: Minimum number of rules that differ only in numbers and names; fewer may well have different conditions.
_FEWEST_OF_KIND: Final = 4

_DUPLICATE_RULE: Final = _CODES["duplicate-rule"]
_SUBSUMED_RULE: Final = _CODES["subsumed-rule"]
_LACKING: Final = _CODES["lacking-condition"]


@check(_DUPLICATE_RULE, _SUBSUMED_RULE, _LACKING, needs_all=False)
def _duplicate_rule(sheet: Sheet) -> Iterator[Diagnostic]:
    budget, pairs = Budget(STEPS_IN_ALL), iter(range(_MOST_PAIRS))
    for rules in sheet.heads.values():
        facts: dict[Atom, Rule] = {}
        inner: list[Rule] = []
        for rule in rules:
            if rule.body:
                inner.append(rule)
            elif rule.head in facts and rule.head.arguments:  # repeated bare words are stray text
                yield _duplicate(rule, facts[rule.head])
            else:
                facts[rule.head] = rule
        for rule in inner:
            if rule.head in facts:
                yield _subsumed(rule, facts[rule.head])
        yield from _among(inner, budget, pairs)
    yield from _lacking_of_kind([rule for rule in sheet.heads.get(("next", 1), ()) if rule.body])


def _lacking_of_kind(rules: Sequence[Rule]) -> Iterator[Diagnostic]:
    """Report a rule that lacks a condition of all others of its kind, which differ only in values."""
    by_frame = grouped((frame_of(rule)[0], rule) for rule in rules)
    for alike in by_frame.values():
        like = alike[0]
        if len(alike) < _FEWEST_OF_KIND or not frame_of(like)[1]:
            continue
        shorter = [
            (rule, condition)
            for number, condition in enumerate(like.body)
            for rule in by_frame.get(frame_of(_without(like, number))[0], ())
        ]
        if len(shorter) == 1:
            ((rule, condition),) = shorter
            message = f"this rule lacks a condition that {len(alike)} rules of its kind have"
            hint = f"a condition such as {shown(str(condition))}"
            yield _LACKING.found(message, rule.span, Note("compare", like.span), hint=hint)


def _without(rule: Rule, number: int) -> Rule:
    return Rule(rule.head, rule.body[:number] + rule.body[number + 1 :])


def _among(rules: Sequence[Rule], budget: Budget, pairs: Iterator[int]) -> Iterator[Diagnostic]:
    shapes = [_shape(rule) for rule in rules]
    said = [parts_of(rule) for rule in rules]
    gone: set[int] = set()
    for second, rule in enumerate(rules):
        for first in range(second):
            if next(pairs, None) is None or budget.left <= 0:
                return
            if first in gone or second in gone:
                continue
            forward = shapes[first] <= shapes[second] and subsumes(said[first], said[second], budget)
            back = shapes[second] <= shapes[first] and subsumes(said[second], said[first], budget)
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
    """Return the diagnostic of a rule that another makes superfluous, or of one that lacks a condition."""
    if len(rule.body) == len(other.body) + 1 and other.body and _is_renamed(rule.head, other.head):
        left = list(map(blind, parts_of(other)[1:]))
        more = [part for part in rule.body if blind(words_of(part)) not in left]
        message = "this rule is another one without a condition: the other one adds nothing"
        hint = f"{shown(str(more[0])) if more else 'the condition'}, or delete the other rule"
        return _LACKING.found(message, other.span, Note("the other one", rule.span), hint=hint)
    message = "this rule adds nothing: another one covers it"
    hint = "delete it, or the other one if that is too general"
    return _SUBSUMED_RULE.found(message, rule.span, Note("the other one", other.span), hint=hint)


def _is_renamed(one: Atom, other: Atom) -> bool:
    """Return whether two heads differ only in the names of their variables."""
    return numbered(parts_of(Rule(one))[0]) == numbered(parts_of(Rule(other))[0])


def _shape(rule: Rule) -> frozenset[object]:
    """Return the parts of a rule that every rule it subsumes must share."""
    last = rule.head.arguments[-1:]
    head = [("head", term.functor) for term in last if isinstance(term, Compound)]
    return frozenset([*head, *map(_formula_shape, rule.body)])


def _formula_shape(formula: Formula) -> tuple[object, ...]:
    inner = formula.formula if isinstance(formula, Not) else formula
    if not isinstance(inner, Literal):
        return type(formula).__name__, type(inner).__name__
    names = [term.functor for term in inner.atom.arguments if isinstance(term, Compound)]
    return type(formula).__name__, inner.atom.key, *names


_SAME_CONDITIONS: Final = _CODES["same-conditions"]


@check(_SAME_CONDITIONS)
def _same_conditions(sheet: Sheet) -> Iterator[Diagnostic]:
    groups = grouped(
        ((fluent.arguments, frozenset(rule.body)), rule)
        for rule in sheet.heads.get(("next", 1), ())
        if isinstance(fluent := rule.head.arguments[0], Compound)
        and any(_is_of_state(sheet, each) for each in rule.body)
    )
    for group in groups.values():
        if len(group) == 2 and group[0].head != group[1].head:
            first, second = group
            message = (
                f"{shown(str(second.head.arguments[0]))} is true whenever "
                f"{shown(str(first.head.arguments[0]))} is: the conditions are the same"
            )
            note = Note("the other rule", first.span)
            yield _SAME_CONDITIONS.found(message, second.span, note, hint="a `not` in one of them")


def _is_of_state(sheet: Sheet, formula: Formula) -> bool:
    """Return whether a condition reads the state, not only the moves."""
    inner = formula.formula if isinstance(formula, Not) else formula
    return isinstance(inner, Literal) and inner.atom.key in sheet.varying and inner.atom.predicate != "does"
