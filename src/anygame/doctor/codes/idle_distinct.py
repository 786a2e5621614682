"""A distinct that always holds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from anygame.doctor.code import PRACTICE, Check, Code
from anygame.doctor.sheet import span_of
from anygame.language.diagnostics import Severity
from anygame.language.rules import Distinct, walk
from anygame.language.unification import unify

if TYPE_CHECKING:
    from collections.abc import Iterator

    from anygame.doctor.sheet import Sheet
    from anygame.language.diagnostics import Diagnostic

_CODE: Final = Code(
    "idle-distinct",
    Severity.INFO,
    "a distinct that always holds",
    demand="A `distinct` compares what could be the same.",
    why="Two different constants always differ: the author meant a variable, or the literal is needless.",
    source=PRACTICE,
    bad="(<= (p ?x) (q ?x) (distinct a b))",
    good="(<= (p ?x) (q ?x) (distinct ?x b))",
)


def _check(sheet: Sheet) -> Iterator[Diagnostic]:
    """Report a `distinct` whose sides can never be the same."""
    for rule in sheet.program.rules:
        for inner, _ in walk(rule.body):
            if isinstance(inner, Distinct) and unify(inner.left, inner.right, {}) is None:
                yield _CODE.found(
                    f"{inner.left} and {inner.right} are always distinct",
                    span_of(inner, rule),
                    hint="leave it out, or compare a variable",
                )


CHECK: Final = Check((_CODE,), _check, needs_all=False)
