"""A declaration of what never becomes true, or is never legal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from anygame.doctor.code import PRACTICE, Check, Code
from anygame.doctor.sheet import key_of
from anygame.language.diagnostics import Severity, shown
from anygame.language.terms import Compound, Constant

if TYPE_CHECKING:
    from collections.abc import Iterator

    from anygame.doctor.sheet import Key, Sheet
    from anygame.language.diagnostics import Diagnostic
    from anygame.language.rules import Rule

_CODE: Final = Code(
    "idle-declaration",
    Severity.WARNING,
    "a declaration by name of what never becomes true, or is never legal",
    demand="What `base` or `input` names, some `init`, `next` or `legal` can make.",
    why="Who names a value means it to be there: the rule that makes it is missing, or says another one.",
    source=PRACTICE,
    bad="(base (lamp on))\n(base (lamp off))\n(init (lamp off))\n(<= (next (lamp off)) (true (lamp off)))",
    good="(base (lamp on))\n(base (lamp off))\n(init (lamp off))\n(<= (next (lamp on)) (true (lamp off)))",
)
#: What declares, what that is read by, and how it comes to be.
_READ: Final = (
    (("base", 1), ("true", 1), "no `init` and no `next` makes it true"),
    (("input", 2), ("does", 2), "no `legal` allows it"),
)


def _check(sheet: Sheet) -> Iterator[Diagnostic]:
    """Report declared fluents and moves with a constant that never stands there."""
    if not sheet.is_safe:
        return
    for declaration, read, reason in _READ:
        for rule in sheet.heads.get(declaration, ()):
            term = rule.head.arguments[-1]
            if _never_is(sheet, rule, read):
                what = f"{declaration[0]} declares {shown(str(term))}"
                hint = "a rule that makes it so, or leave it out"
                yield _CODE.found(f"{what}, but {reason}", rule.head.span, hint=hint)


def _never_is(sheet: Sheet, rule: Rule, read: Key) -> bool:
    """Return whether a declaration names what never is true, or done, where others of its kind are.

    Numbers that facts declare are more than may be needed.
    """
    term = rule.head.arguments[-1]
    key = key_of(term)
    place = (*read, read[1] - 1)
    if not isinstance(term, Compound) or key not in sheet.domains.tops(*place):
        return False
    columns = [sheet.domains.below(place, key, number) for number in range(len(term.arguments))]
    pairs = zip(term.arguments, columns, strict=True)
    return any(
        isinstance(each, Constant)
        and values
        and each not in values
        and (rule.body or not each.name.isdecimal())
        for each, values in pairs
    )


CHECK: Final = Check((_CODE,), _check)
