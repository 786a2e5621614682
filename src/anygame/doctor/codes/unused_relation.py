"""A relation that nothing needs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from anygame.doctor.code import VALIDATOR, Check, Code
from anygame.doctor.sheet import span_of
from anygame.doctor.wording import named
from anygame.language.diagnostics import Severity
from anygame.language.rules import KEYWORDS, atoms_in

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from anygame.doctor.sheet import Sheet
    from anygame.language.diagnostics import Diagnostic
    from anygame.language.rules import Rule

_CODE: Final = Code(
    "unused-relation",
    Severity.INFO,
    "a relation that nothing needs",
    demand="Every relation has a part in what the game exchanges with its players.",
    why="Relations that no keyword depends on cost time to read and change nothing.",
    source=VALIDATOR,
    bad="(<= (line ?x) (true (row ?x)))\n(<= terminal (true over))",
    good="(<= (line ?x) (true (row ?x)))\n(<= terminal (line ?x))",
)


def _check(sheet: Sheet) -> Iterator[Diagnostic]:
    """Report relations on which no keyword depends."""
    pending = [key for key in sheet.heads if KEYWORDS.get(key[0]) == key[1]]
    needed = set(pending)
    while pending:
        for rule in sheet.heads.get(pending.pop(), ()):
            for atom, _ in atoms_in(rule.body):
                if atom.key not in needed:
                    needed.add(atom.key)
                    pending.append(atom.key)
    for key, rules in sheet.heads.items():
        if key not in needed:
            reader = "nothing reads it" if key not in sheet.reads else "only what nothing needs reads it"
            yield _CODE.found(
                f"{named(key)} has no part in the game: {reader}",
                span_of(rules[0].head, rules[0]),
                hint=f"leave out its {_count(rules)}",
            )


def _count(rules: Iterable[Rule]) -> str:
    count = len(list(rules))
    return "rule" if count == 1 else f"{count} rules"


CHECK: Final = Check(
    (_CODE,),
    _check,
)
