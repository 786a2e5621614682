"""A fluent that no rule asks about."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from anygame.doctor.code import PRACTICE, Check, Code
from anygame.doctor.sheet import key_of
from anygame.doctor.wording import named
from anygame.language.diagnostics import Severity
from anygame.language.rules import atoms_in

if TYPE_CHECKING:
    from collections.abc import Iterator

    from anygame.doctor.sheet import Key, Sheet
    from anygame.language.diagnostics import Diagnostic

_CODE: Final = Code(
    "unread-fluent",
    Severity.INFO,
    "a fluent that no rule asks about",
    demand="Some rule asks about every fluent, other than to keep it.",
    why="A fluent that nobody asks about changes nothing but the number of states.",
    source=PRACTICE,
    bad="(init (colour red))\n(<= (next (colour red)) (true (colour red)))",
    good="(init (colour red))\n(<= terminal (true (colour red)))",
)


def _check(sheet: Sheet) -> Iterator[Diagnostic]:
    """Report fluents that are written and read by nothing but the rules that keep them."""
    read: set[Key] = set()
    for rule in sheet.program.rules:
        kept = rule.head.arguments[0] if rule.head.predicate == "next" else None
        for atom, _ in atoms_in(rule.body):
            if atom.predicate != "true":
                continue
            key = key_of(atom.arguments[0])
            if key is None and atom.arguments[0] is not kept:
                return
            if key is not None and (kept is None or key != key_of(kept)):
                read.add(key)
    for key, heads in sheet.writers.items():
        if key not in read:
            yield _CODE.found(
                f"no rule asks whether {named(key)} is true, but for rules that keep it",
                heads[0].span,
                hint="leave it out, unless it is there for people to see",
            )


CHECK: Final = Check(
    (_CODE,),
    _check,
)
