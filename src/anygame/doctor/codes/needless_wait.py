"""Who can move may wait, and who cannot may not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from anygame.doctor.code import PRACTICE, Check, Code
from anygame.language.diagnostics import Severity, shown
from anygame.language.rules import KEYWORDS, Literal
from anygame.language.terms import Compound, Constant

if TYPE_CHECKING:
    from collections.abc import Iterator

    from anygame.doctor.sheet import Key, Sheet
    from anygame.language.diagnostics import Diagnostic
    from anygame.language.rules import Rule

_MOVES: Final = """\
(<= (free ?n) (true (cell ?n empty)))
(<= (legal x (mark ?n)) (free ?n))
(<= canMark (free ?n))
"""

_CODE: Final = Code(
    "needless-wait",
    Severity.WARNING,
    "a role that may wait only where it has a move",
    demand="What says that there is a move is denied where a role may wait.",
    why="To wait is for who has nothing else to do: as it stands, that one has no move at all.",
    source=PRACTICE,
    bad=f"{_MOVES}(<= (legal x noop) canMark)",
    good=f"{_MOVES}(<= (legal x noop) (not canMark))",
)


def _check(sheet: Sheet) -> Iterator[Diagnostic]:
    """Report a wait on a relation that holds where a move is legal, and that no rule denies."""
    legal = sheet.heads.get(("legal", 2), ())
    allowing: set[Key] = {("legal", 2)}
    for rule in legal:
        if isinstance(rule.head.arguments[1], Compound):
            allowing |= _asked(sheet, rule)
    for rule in legal:
        move = rule.head.arguments[1]
        if isinstance(move, Constant) and sheet.is_never_asked(move):
            for formula in rule.body:
                if isinstance(formula, Literal) and _says_that_one_can(sheet, formula.atom.key, allowing):
                    what = shown(str(formula.atom))
                    message = f"{move} is legal where {what} says that there is a move, which no rule denies"
                    yield _CODE.found(message, formula.atom.span, hint=f"(not {what})")


def _says_that_one_can(sheet: Sheet, key: Key, allowing: set[Key]) -> bool:
    """Return whether a relation holds where what a move asks for does, and is never denied."""
    rules = sheet.heads.get(key, ())
    if not rules or key[0] in KEYWORDS or key in allowing or key in sheet.denied:
        return False
    return all(_asked(sheet, rule) & allowing for rule in rules)


def _asked(sheet: Sheet, rule: Rule) -> set[Key]:
    """Return the relations other than the state's that a rule asks for, and that change."""
    keys = {formula.atom.key for formula in rule.body if isinstance(formula, Literal)}
    return {key for key in keys if key in sheet.varying and (key[0] not in KEYWORDS or key[0] == "legal")}


CHECK: Final = Check((_CODE,), _check)
