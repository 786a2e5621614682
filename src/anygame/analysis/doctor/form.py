"""Checks of the form of single rules: what other systems read differently, or refuse."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from anygame.analysis.doctor.registry import check, found
from anygame.analysis.doctor.sheet import span_of
from anygame.language.diagnostics import Note, Severity
from anygame.language.rules import And, Distinct, Literal, Not, Or, atoms_in, walk
from anygame.language.unification import unify

if TYPE_CHECKING:
    from collections.abc import Iterator

    from anygame.analysis.doctor.sheet import Sheet
    from anygame.language.diagnostics import Diagnostic
    from anygame.language.rules import Formula, Rule
    from anygame.language.terms import Variable

#: Relations that a system computes for itself, and that some therefore cannot look up in a body.
_NOT_READ: Final = frozenset(("init", "next", "base", "input"))


@check("keyword-in-body", Severity.WARNING, "init, next, base or input in a body", needs_all=False)
def keyword_in_body(sheet: Sheet) -> Iterator[Diagnostic]:
    """Report atoms of relations that no body should read."""
    for rule in sheet.program.rules:
        for formula in rule.body:
            for atom, _ in atoms_in((formula,)):
                if atom.predicate in _NOT_READ:
                    yield found(
                        "keyword-in-body",
                        f"`{atom.predicate}` is for heads; in a body other systems do not find it",
                        span_of(atom, rule),
                        hint="a relation of your own that both rules read",
                    )


@check("negated-formula", Severity.WARNING, "a negation of something other than a sentence", needs_all=False)
def negated_formula(sheet: Sheet) -> Iterator[Diagnostic]:
    """Report `not` in front of `or`, `and`, `not` and `distinct`."""
    words = {Or: "or", And: "and", Not: "not", Distinct: "distinct"}
    for rule in sheet.program.rules:
        for formula in rule.body:
            for inner, _ in walk((formula,)):
                if isinstance(inner, Not) and not isinstance(inner.formula, Literal):
                    word = words.get(type(inner.formula), "formula")
                    hint = (
                        "write the same variable twice"
                        if word == "distinct"
                        else "negate each sentence alone, or give the formula a relation of its own"
                    )
                    yield found(
                        "negated-formula",
                        f"GDL has `not` in front of a sentence only, found `{word}`; other systems read it "
                        "differently",
                        span_of(inner, rule),
                        hint=hint,
                    )


@check("nested-or", Severity.INFO, "a disjunction inside a disjunction", needs_all=False)
def nested_or(sheet: Sheet) -> Iterator[Diagnostic]:
    """Report an `or` that stands directly in another one."""
    for rule in sheet.program.rules:
        for formula in rule.body:
            for inner, _ in walk((formula,)):
                if isinstance(inner, Or):
                    for part in inner.formulas:
                        if isinstance(part, Or):
                            yield found(
                                "nested-or",
                                "a disjunction that is an alternative of another one",
                                span_of(part, rule),
                                hint="list its alternatives in the outer `or`",
                            )


@check("literal-order", Severity.INFO, "a test before what binds its variables", needs_all=False)
def literal_order(sheet: Sheet) -> Iterator[Diagnostic]:
    """Report `not` and `distinct` that stand before the literal that binds one of their variables."""
    for rule in sheet.program.rules:
        binders = _binders(rule)
        for number, formula in enumerate(rule.body):
            if isinstance(formula, Not | Distinct):
                late = {v: binders[v] for v in formula.variables() if binders.get(v, -1) > number}
                if late:
                    variable, place = max(late.items(), key=lambda item: item[1])
                    word = "not" if isinstance(formula, Not) else "distinct"
                    yield found(
                        "literal-order",
                        f"this `{word}` stands before the literal that binds {variable}; some systems go "
                        "from left to right",
                        span_of(formula, rule),
                        Note("bound here", span_of(rule.body[place], rule)),
                        hint=f"move the `{word}` behind it",
                    )


def _binders(rule: Rule) -> dict[Variable, int]:
    """Return for each variable the number of the first formula of the body that binds it."""
    first: dict[Variable, int] = {}
    for number, formula in enumerate(rule.body):
        for variable in _bound_by(formula):
            first.setdefault(variable, number)
    return first


def _bound_by(formula: Formula) -> set[Variable]:
    if isinstance(formula, Literal):
        return set(formula.variables())
    if isinstance(formula, And):
        return {variable for part in formula.formulas for variable in _bound_by(part)}
    if isinstance(formula, Or) and formula.formulas:
        return set.intersection(*map(_bound_by, formula.formulas))
    return set()


@check("idle-distinct", Severity.INFO, "a distinct that always holds", needs_all=False)
def idle_distinct(sheet: Sheet) -> Iterator[Diagnostic]:
    """Report a `distinct` whose sides can never be the same."""
    for rule in sheet.program.rules:
        for formula in rule.body:
            for inner, _ in walk((formula,)):
                if isinstance(inner, Distinct) and unify(inner.left, inner.right, {}) is None:
                    yield found(
                        "idle-distinct",
                        f"{inner.left} and {inner.right} are always distinct",
                        span_of(inner, rule),
                        hint="leave it out, or compare a variable",
                    )
