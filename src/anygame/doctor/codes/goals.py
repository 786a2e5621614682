"""Values of goals."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from anygame.analysis.normal import substitute_formula
from anygame.doctor.code import CODES, check
from anygame.language.diagnostics import Note
from anygame.language.rules import Literal, Not
from anygame.language.terms import Variable, integer_of, substitute
from anygame.language.unification import unify

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from anygame.analysis.normal import NormalRule
    from anygame.doctor.sheet import Sheet
    from anygame.language.diagnostics import Diagnostic
    from anygame.language.rules import Formula
    from anygame.language.terms import Term


_HIGHEST_GOAL: Final = 100


@check("goal-value", "goal-range", "goal-spelling", needs_all=False)
def _goal_value(sheet: Sheet) -> Iterator[Diagnostic]:
    for rule in sheet.program.rules:
        head = rule.head
        if head.key != ("goal", 2) or isinstance(head.arguments[1], Variable):
            continue
        value = head.arguments[1]
        place = head.node.argument(1).span if head.node and head.node.children else rule.span
        goal = integer_of(value)
        if goal is None:
            yield CODES["goal-value"].found(f"a goal is an integer from 0 to 100, found {value}", place)
            continue
        if not 0 <= goal <= _HIGHEST_GOAL:
            yield CODES["goal-range"].found(f"a goal is an integer from 0 to 100, found {value}", place)
        if str(value) != str(goal):
            # Rules that read goals may contain the value in the same spelling, so there is no hint.
            hint = "" if ("goal", 2) in sheet.reads else f"(goal {head.arguments[0]} {goal})"
            yield CODES["goal-spelling"].found(
                f"the goal {value} is another spelling of {goal}", place, hint=hint
            )


_MOST_RULES: Final = 300
_NOTED: Final = 3


@check("overlapping-goals")
def _overlapping_goals(sheet: Sheet) -> Iterator[Diagnostic]:
    """Report goal rules with different values, unless different roles or a negation make them exclusive."""
    parts = [part for part in sheet.normal if part.head.key == ("goal", 2)][:_MOST_RULES]
    for number, part in enumerate(parts):
        others = {
            id(other.origin): other
            for other in parts[:number]
            if other.origin is not part.origin and _may_overlap(other, part)
        }
        if others:
            values = sorted({str(other.head.arguments[1]) for other in others.values()})
            yield CODES["overlapping-goals"].found(
                f"a role may have the goals {part.head.arguments[1]} and {' or '.join(values[:_NOTED])} "
                "at the same time: no condition excludes this case",
                part.origin.span,
                *[Note("the other rule", other.origin.span) for other in list(others.values())[:_NOTED]],
                hint="add the negation of one rule's condition to the other rule",
            )


def _may_overlap(first: NormalRule, second: NormalRule) -> bool:
    apart: dict[Variable, Term] = {
        variable: Variable(f"{variable.name} other")
        for variables in (second.head.variables(), *(item.variables() for item in second.body))
        for variable in variables
    }
    left, right = first.head.arguments, tuple(substitute(term, apart) for term in second.head.arguments)
    if left[1] is right[1] and left[1].is_ground:
        return False
    bindings = unify(left[0], right[0], {})
    if bindings is None:
        return False
    one = [substitute_formula(item, bindings) for item in first.body]
    two = [substitute_formula(substitute_formula(item, apart), bindings) for item in second.body]
    return not (_excludes(one, two) or _excludes(two, one))


def _excludes(positive: Sequence[Formula], negative: Sequence[Formula]) -> bool:
    denied = [item.formula for item in negative if isinstance(item, Not)]
    return any(item in denied for item in positive if isinstance(item, Literal))
