"""Init, next, base or input in a body."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from anygame.doctor.code import VALIDATOR, Check, Code
from anygame.doctor.sheet import span_of
from anygame.language.diagnostics import Severity
from anygame.language.rules import atoms_in

if TYPE_CHECKING:
    from collections.abc import Iterator

    from anygame.doctor.sheet import Sheet
    from anygame.language.diagnostics import Diagnostic

#: Relations that a system computes for itself, and that some therefore cannot look up in a body.
_NOT_READ: Final = frozenset(("init", "next", "base", "input"))

_CODE: Final = Code(
    "keyword-in-body",
    Severity.WARNING,
    "init, next, base or input in a body",
    demand="init, next, base and input stand in heads only.",
    why="They tell a system what to compute; in a body some systems find them empty.",
    source=VALIDATOR,
    bad="(<= (index ?x) (init (at ?x)))\n(init (at 1))",
    good="(index 1)\n(<= (init (at ?x)) (index ?x))",
)


def _check(sheet: Sheet) -> Iterator[Diagnostic]:
    """Report atoms of relations that no body should read."""
    for rule in sheet.program.rules:
        for atom, _ in atoms_in(rule.body):
            if atom.predicate in _NOT_READ:
                yield _CODE.found(
                    f"`{atom.predicate}` is for heads; in a body other systems do not find it",
                    span_of(atom, rule),
                    hint="a relation of your own that both rules read",
                )


CHECK: Final = Check((_CODE,), _check, needs_all=False)
