"""A recursive rule that asks for itself without a link to what it says."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from anygame.doctor.code import PRACTICE, Check, Code
from anygame.doctor.sheet import names_of_rule
from anygame.language.diagnostics import Severity, shown
from anygame.language.rules import KEYWORDS, Literal
from anygame.language.terms import Variable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from anygame.doctor.sheet import Sheet
    from anygame.language.diagnostics import Diagnostic

_CODE: Final = Code(
    "loose-recursion",
    Severity.WARNING,
    "a recursive rule that does not go on from what it asks for",
    demand="Where a relation is asked for in its own rule, the variables that change stand elsewhere, too.",
    why="What holds somewhere then holds everywhere: the literal that leads from one to the next is missing.",
    source=PRACTICE,
    bad="(<= (reach ?y) (reach ?x) (cell ?y))\n(cell 1)\n(reach 1)",
    good="(<= (reach ?y) (reach ?x) (cell ?y) (near ?x ?y))\n(cell 1)\n(reach 1)",
)


def _check(sheet: Sheet) -> Iterator[Diagnostic]:
    """Report literals of a rule's own relation with a variable that stands nowhere else in the rule."""
    for rule in sheet.program.rules:
        own = [f.atom for f in rule.body if isinstance(f, Literal) and f.atom.key == rule.head.key]
        if not own or rule.head.predicate in KEYWORDS:
            continue
        often = Counter(name.text for name in names_of_rule(rule) if name.kind == "variable")
        for atom in own:
            loose = [each for each in atom.arguments if isinstance(each, Variable) and often[each.name] == 1]
            if loose:
                names = " and ".join(map(str, loose))
                stand = "stands" if len(loose) == 1 else "stand"
                message = f"{shown(names)} {stand} nowhere else in this rule: it does not go on from there"
                hint = "a literal that leads from there to what the rule says"
                yield _CODE.found(message, atom.span, hint=hint)


CHECK: Final = Check((_CODE,), _check)
