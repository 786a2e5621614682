"""One name for a relation and for a function."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from anygame.doctor.code import VALIDATOR, Check, Code
from anygame.language.diagnostics import Note, Severity, shown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from anygame.doctor.sheet import Name, Sheet
    from anygame.language.diagnostics import Diagnostic

_CODE: Final = Code(
    "shared-name",
    Severity.INFO,
    "one name for a relation and for a function",
    demand="A name is that of a relation or of a function, not of both.",
    why="It is allowed, but confuses people, and hides where `true` is missing.",
    source=VALIDATOR,
    bad="(init (row 1))\n(<= (row ?x) (true (row ?x)))",
    good="(init (line 1))\n(<= (row ?x) (true (line ?x)))",
)


def _check(sheet: Sheet) -> Iterator[Diagnostic]:
    """Report functions that are named as a relation is."""
    first: dict[str, Name] = {}
    for name in sheet.names:
        if name.kind == "relation":
            first.setdefault(name.text, name)
    reported = set()
    for name in sheet.names:
        if name.kind == "function" and name.text in first and name.text not in reported:
            reported.add(name.text)
            yield _CODE.found(
                f"{shown(name.text)} is the name of a function here and of a relation elsewhere",
                name.span,
                Note("the relation", first[name.text].span),
                hint="a name of its own for each",
            )


CHECK: Final = Check((_CODE,), _check, needs_all=False)
