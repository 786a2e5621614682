"""A keyword or an operator as an object."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from anygame.doctor.code import GDL, VALIDATOR, Check, Code
from anygame.language.diagnostics import Severity, shown
from anygame.language.rules import KEYWORDS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from anygame.doctor.sheet import Sheet
    from anygame.language.diagnostics import Diagnostic

_OPERATORS: Final = frozenset(("<=", "not", "and", "or", "distinct"))

_KEYWORD_CONSTANT: Final = Code(
    "keyword-constant",
    Severity.INFO,
    "a keyword as an object",
    demand="Keywords do not name objects.",
    why=(
        "(cell 1 goal) is a fact like any other, but systems that change the case of keywords change it too."
    ),
    source=VALIDATOR,
    bad="(init (cell 1 goal))",
    good="(init (cell 1 target))",
)
_OPERATOR_CONSTANT: Final = Code(
    "operator-constant",
    Severity.WARNING,
    "an operator as an object",
    demand="`not`, `or`, `and`, `distinct` and `<=` do not name objects.",
    why=(
        "Inside a term they join nothing. Most often a parenthesis is missing, and the rest of a formula "
        "became arguments."
    ),
    source=GDL,
    bad="(<= terminal (true (cell 1 or b)))",
    good="(<= terminal (or (true (cell 1)) (true b)))",
)


def _check(sheet: Sheet) -> Iterator[Diagnostic]:
    """Report each keyword and each operator once that stands as a constant."""
    reported = set()
    for name in sheet.names:
        keyword = name.text.lower()
        if name.kind != "constant" or keyword in reported:
            continue
        if keyword in _OPERATORS:
            reported.add(keyword)
            message = (
                f"{shown(name.text)} joins formulas; as an object it is a mere name, most likely by mistake"
            )
            hint = "is a parenthesis missing before it?"
            yield _OPERATOR_CONSTANT.found(message, name.span, hint=hint)
        elif keyword in KEYWORDS:
            reported.add(keyword)
            message = (
                f"{shown(name.text)} is a keyword of GDL; as an object it is a mere name here, and confuses "
                "other systems"
            )
            yield _KEYWORD_CONSTANT.found(message, name.span, hint="another name")


CHECK: Final = Check(
    (
        _KEYWORD_CONSTANT,
        _OPERATOR_CONSTANT,
    ),
    _check,
    needs_all=False,
)
