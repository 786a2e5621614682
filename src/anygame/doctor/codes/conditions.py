"""Conditions of a rule: their form and order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from anygame.analysis.normal import binds
from anygame.doctor.code import check, codes_of
from anygame.doctor.sheet import span_of
from anygame.language.diagnostics import Note, shown
from anygame.language.rules import And, Distinct, Literal, Not, Or
from anygame.language.unification import unify

if TYPE_CHECKING:
    from collections.abc import Iterator

    from anygame.doctor.sheet import Sheet
    from anygame.language.diagnostics import Diagnostic
    from anygame.language.rules import Formula, Rule
    from anygame.language.terms import Variable

_CODES: Final = codes_of(__name__)


#: Relations that systems evaluate separately; some systems cannot look them up in a body.
_NOT_READ: Final = frozenset(("init", "next", "base", "input"))

_KEYWORD_IN_BODY: Final = _CODES["keyword-in-body"]


@check(_KEYWORD_IN_BODY, needs_all=False)
def _keyword_in_body(sheet: Sheet) -> Iterator[Diagnostic]:
    for atoms in sheet.reads.values():
        for atom in atoms if atoms[0].predicate in _NOT_READ else ():
            yield _KEYWORD_IN_BODY.found(
                f"`{atom.predicate}` belongs in heads; other systems do not find it in a body",
                atom.span,
                hint="a relation of your own that both rules read",
            )


_NEGATED_FORMULA: Final = _CODES["negated-formula"]


@check(_NEGATED_FORMULA, needs_all=False)
def _negated_formula(sheet: Sheet) -> Iterator[Diagnostic]:
    words = {Or: "or", And: "and", Not: "not", Distinct: "distinct"}
    for inner, rule in sheet.formulas:
        if isinstance(inner, Not) and not isinstance(inner.formula, Literal):
            word = words.get(type(inner.formula), "formula")
            hint = "negate each sentence alone, or give the formula a relation of its own"
            yield _NEGATED_FORMULA.found(
                f"GDL has `not` in front of a sentence only, found `{word}`; other systems read it "
                "differently",
                span_of(inner, rule),
                hint="write the same variable twice" if word == "distinct" else hint,
            )


_NESTED_OR: Final = _CODES["nested-or"]


@check(_NESTED_OR, needs_all=False)
def _nested_or(sheet: Sheet) -> Iterator[Diagnostic]:
    for inner, rule in sheet.formulas:
        for part in inner.formulas if isinstance(inner, Or) else ():
            if isinstance(part, Or):
                message = "a disjunction that is an alternative of another one"
                hint = "list its alternatives in the outer `or`"
                yield _NESTED_OR.found(message, span_of(part, rule), hint=hint)


_LITERAL_ORDER: Final = _CODES["literal-order"]


@check(_LITERAL_ORDER, needs_all=False)
def _literal_order(sheet: Sheet) -> Iterator[Diagnostic]:
    for rule in sheet.program.rules:
        binders = _binders(rule)
        for number, formula in enumerate(rule.body):
            if isinstance(formula, Not | Distinct):
                late = {v: binders[v] for v in formula.variables() if binders.get(v, -1) > number}
                if late:
                    variable, place = max(late.items(), key=lambda item: item[1])
                    word = "not" if isinstance(formula, Not) else "distinct"
                    yield _LITERAL_ORDER.found(
                        f"this `{word}` comes before the literal that binds {variable}; some systems read "
                        "from left to right",
                        span_of(formula, rule),
                        Note("bound here", span_of(rule.body[place], rule)),
                        hint=f"move the `{word}` after it",
                    )


def _binders(rule: Rule) -> dict[Variable, int]:
    """Return for each variable the number of the first formula of the body that binds it."""
    first: dict[Variable, int] = {}
    for number, formula in enumerate(rule.body):
        for variable in binds(formula):
            first.setdefault(variable, number)
    return first


_IDLE_DISTINCT: Final = _CODES["idle-distinct"]


@check(_IDLE_DISTINCT, needs_all=False)
def _idle_distinct(sheet: Sheet) -> Iterator[Diagnostic]:
    for inner, rule in sheet.formulas:
        if isinstance(inner, Distinct) and unify(inner.left, inner.right, {}) is None:
            message = f"{inner.left} and {inner.right} are always distinct"
            hint = "leave it out, or compare a variable"
            yield _IDLE_DISTINCT.found(message, span_of(inner, rule), hint=hint)


#: Maximum number of rules with repeated conditions; a sheet with more was written by a program.
_MOST_RULES: Final = 2

_REPEATED_LITERAL: Final = _CODES["repeated-literal"]


@check(_REPEATED_LITERAL, needs_all=False)
def _repeated_literal(sheet: Sheet) -> Iterator[Diagnostic]:
    """Report repeated conditions, if few rules have any."""
    found = [(rule, *pair) for rule in sheet.program.rules for pair in _repeated(rule)]
    if len({id(rule) for rule, _, _ in found}) <= _MOST_RULES:
        for rule, first, again in found:
            message = f"{shown(str(again))} is repeated in this rule"
            note = Note("here, too", span_of(first, rule))
            yield _REPEATED_LITERAL.found(
                message, span_of(again, rule), note, hint="change it, or leave it out"
            )


def _repeated(rule: Rule) -> Iterator[tuple[Formula, Formula]]:
    known: dict[Formula, Formula] = {}
    for formula in rule.body:
        if formula in known:
            yield known[formula], formula
        known.setdefault(formula, formula)
