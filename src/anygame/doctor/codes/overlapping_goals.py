"""Rules that may give a role two goals at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from anygame.analysis.normal import substitute_formula
from anygame.doctor.code import PLAY, Check, Code
from anygame.language.diagnostics import Note, Severity
from anygame.language.rules import Literal, Not
from anygame.language.terms import Variable, substitute
from anygame.language.unification import unify

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from anygame.analysis.normal import NormalRule
    from anygame.doctor.sheet import Sheet
    from anygame.language.diagnostics import Diagnostic
    from anygame.language.rules import Formula
    from anygame.language.terms import Term

_MOST_RULES: Final = 300
_NOTED: Final = 3

_CODE: Final = Code(
    "overlapping-goals",
    Severity.INFO,
    "rules that may give a role two goals at once",
    demand="No two goal rules give a role different values in the same state.",
    why="A role has one goal at the end. Where two rules can both hold, nobody knows which counts.",
    source=PLAY,
    bad="(<= (goal white 100) (true won))\n(<= (goal white 0) (true stuck))",
    good="(<= (goal white 100) (true won))\n(<= (goal white 0) (not (true won)))",
)


def _check(sheet: Sheet) -> Iterator[Diagnostic]:
    """Report goal rules that no negation and no role keeps apart from an earlier one of another value."""
    parts = [part for part in sheet.normal if part.head.key == ("goal", 2)][:_MOST_RULES]
    for number, part in enumerate(parts):
        others = {
            id(other.origin): other
            for other in parts[:number]
            if other.origin is not part.origin and _may_overlap(other, part)
        }
        if others:
            values = sorted({str(other.head.arguments[1]) for other in others.values()})
            yield _CODE.found(
                f"nothing in the rules keeps the goal {part.head.arguments[1]} apart from "
                f"{' and '.join(values[:_NOTED])}: where both hold, the role has no goal",
                part.origin.span,
                *[Note("the other rule", other.origin.span) for other in list(others.values())[:_NOTED]],
                hint="let one of them ask that the other does not hold",
            )


def _may_overlap(first: NormalRule, second: NormalRule) -> bool:
    """Whether two goal rules can hold for one role with different values, as far as can be seen."""
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
    """Whether some body asks for what the other denies."""
    atoms = [item.atom for item in positive if isinstance(item, Literal)]
    for item in negative:
        if isinstance(item, Not) and isinstance(item.formula, Literal):
            denied = item.formula.atom
            if any(atom == denied for atom in atoms):
                return True
    return False


CHECK: Final = Check(
    (_CODE,),
    _check,
)
