"""A fact that breaks a count."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Final

from anygame.analysis.doctor.code import PRACTICE, Check, Code
from anygame.language.diagnostics import Note, Severity, shown
from anygame.language.terms import Constant

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from anygame.analysis.doctor.sheet import Key, Sheet
    from anygame.language.diagnostics import Diagnostic
    from anygame.language.rules import Atom
    from anygame.language.terms import Term

__all__ = ["CHECK"]

#: Facts that agree: fewer may count by chance.
_FEWEST: Final = 3

_CODE: Final = Code(
    "odd-fact",
    Severity.WARNING,
    "a fact that breaks a count",
    demand="Facts that count go on by the same step.",
    why="A count with a hole or a turn ends there: a number is misspelt, or two are exchanged.",
    source=PRACTICE,
    bad="(succ 1 2)\n(succ 2 3)\n(succ 4 3)\n(succ 4 5)\n(succ 5 6)",
    good="(succ 1 2)\n(succ 2 3)\n(succ 3 4)\n(succ 4 5)\n(succ 5 6)",
)


def _check(sheet: Sheet) -> Iterator[Diagnostic]:
    """Report the one fact of two numbers (or letters) that does not go on by one as all its others do."""
    groups: dict[Key, list[Atom]] = defaultdict(list)
    for rule in sheet.program.rules:
        if not rule.body and len(rule.head.arguments) == 2:
            groups[rule.head.key].append(rule.head)
    for group in groups.values():
        if len(group) > _FEWEST:
            yield from _odd_one(group)


def _odd_one(group: Sequence[Atom]) -> Iterator[Diagnostic]:
    pairs = [(_number(atom.arguments[0]), _number(atom.arguments[1])) for atom in group]
    steps = Counter(b - a for a, b in pairs if a is not None and b is not None)
    step, agreeing = steps.most_common(1)[0] if steps else (0, 0)
    if abs(step) != 1 or agreeing != len(group) - 1:
        return
    place = next(n for n, (a, b) in enumerate(pairs) if a is None or b is None or b - a != step)
    others = [a for n, (a, _) in enumerate(pairs) if n != place and a is not None]
    first, second = pairs[place]
    if first is None:
        return
    # At its end a count may go round, stop, or leave out something; but it does not turn.
    is_inside = min(others) <= first <= max(others)
    if is_inside or (second is not None and second - first == -step and second != min(others)):
        atom = group[place]
        note = Note("as here", group[place - 1 if place else 1].span)
        message = (
            f"{shown(str(atom))} breaks the count of the other {agreeing} facts of {shown(atom.predicate)}"
        )
        yield _CODE.found(message, atom.span, note)


def _number(term: Term) -> int | None:
    """Return a number, or the place of a letter; None of anything else."""
    if not isinstance(term, Constant):
        return None
    name = term.name
    if name.isascii() and name.isdigit():
        return int(name)
    return ord(name) if len(name) == 1 and name.isalpha() else None


CHECK: Final = Check((_CODE,), _check)
