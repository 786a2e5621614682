"""Conditions of a rule: their form and order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from anygame.analysis.normal import binds
from anygame.doctor.code import CODES, check
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


#: Relations that systems evaluate separately from bodies.
_NOT_READ: Final = frozenset(("init", "next", "base", "input"))


@check("keyword-in-body", needs_all=False)
def _keyword_in_body(sheet: Sheet) -> Iterator[Diagnostic]:
    for atoms in sheet.reads.values():
        for atom in atoms if atoms[0].predicate in _NOT_READ else ():
            yield CODES["keyword-in-body"].found(
                f"`{atom.predicate}` belongs in heads; other systems read it as empty in a body",
                atom.span,
                hint="define a relation of your own, and read it in both rules",
            )


@check("negated-formula", needs_all=False)
def _negated_formula(sheet: Sheet) -> Iterator[Diagnostic]:
    words = {Or: "or", And: "and", Not: "not", Distinct: "distinct"}
    for inner, rule in sheet.formulas:
        if isinstance(inner, Not) and not isinstance(inner.formula, Literal):
            word = words.get(type(inner.formula), "formula")
            hint = "negate each sentence separately, or define a relation for the formula"
            yield CODES["negated-formula"].found(
                f"GDL allows `not` only before a sentence, found `{word}`; other systems read it differently",
                span_of(inner, rule),
                hint="write the same variable twice" if word == "distinct" else hint,
            )


@check("nested-or", needs_all=False)
def _nested_or(sheet: Sheet) -> Iterator[Diagnostic]:
    for inner, rule in sheet.formulas:
        for part in inner.formulas if isinstance(inner, Or) else ():
            if isinstance(part, Or):
                message = "this disjunction is an alternative of another one"
                hint = "list its alternatives in the outer `or`"
                yield CODES["nested-or"].found(message, span_of(part, rule), hint=hint)


@check("literal-order", needs_all=False)
def _literal_order(sheet: Sheet) -> Iterator[Diagnostic]:
    for rule in sheet.program.rules:
        binders = _binders(rule)
        for number, formula in enumerate(rule.body):
            if isinstance(formula, Not | Distinct):
                late = {v: binders[v] for v in formula.variables() if binders.get(v, -1) > number}
                if late:
                    variable, place = max(late.items(), key=lambda item: item[1])
                    word = "not" if isinstance(formula, Not) else "distinct"
                    yield CODES["literal-order"].found(
                        f"this `{word}` comes before the literal that binds {variable}; some systems "
                        "evaluate from left to right",
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


@check("idle-distinct", needs_all=False)
def _idle_distinct(sheet: Sheet) -> Iterator[Diagnostic]:
    for inner, rule in sheet.formulas:
        if isinstance(inner, Distinct) and unify(inner.left, inner.right, {}) is None:
            message = f"{inner.left} and {inner.right} are always distinct"
            hint = "delete it, or compare a variable"
            yield CODES["idle-distinct"].found(message, span_of(inner, rule), hint=hint)


#: Maximum number of rules with repeated conditions; programs write sheets with more.
_MOST_RULES: Final = 2


@check("repeated-literal", needs_all=False)
def _repeated_literal(sheet: Sheet) -> Iterator[Diagnostic]:
    repeated = [(rule, *pair) for rule in sheet.program.rules for pair in _repeated(rule)]
    if len({id(rule) for rule, _, _ in repeated}) <= _MOST_RULES:
        for rule, first, again in repeated:
            message = f"{shown(str(again))} is repeated in this rule"
            note = Note("the first time", span_of(first, rule))
            yield CODES["repeated-literal"].found(
                message, span_of(again, rule), note, hint="change it, or delete it"
            )


def _repeated(rule: Rule) -> Iterator[tuple[Formula, Formula]]:
    known: dict[Formula, Formula] = {}
    for formula in rule.body:
        if formula in known:
            yield known[formula], formula
        known.setdefault(formula, formula)
