"""A hole in a row of rules that are the same but for numbers, or letters."""

from __future__ import annotations

from collections import defaultdict
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from anygame.doctor.code import PRACTICE, Check, Code
from anygame.doctor.likes.families import by_frame, frame_of, with_values
from anygame.doctor.likes.words import text_of, words_of
from anygame.language.diagnostics import Note, Severity, shown
from anygame.language.rules import Rule

if TYPE_CHECKING:
    from collections.abc import Container, Iterator, Sequence

    from anygame.doctor.likes.families import Values
    from anygame.doctor.likes.words import Words
    from anygame.doctor.sheet import Sheet
    from anygame.language.diagnostics import Diagnostic

#: Rules that are the same but for numbers: fewer leave out a number by chance.
_FEWEST: Final = 4
_FEWEST_APART: Final = 6

_RULES: Final = """\
(<= (next (at 2)) (does x go) (true (at 1)))
(<= (next (at 3)) (does x go) (true (at 2)))
(<= (next (at 5)) (does x go) (true (at 4)))
(<= (next (at 6)) (does x go) (true (at 5)))
"""

_CODE: Final = Code(
    "missing-case",
    Severity.WARNING,
    "a rule that one number or letter lacks, or that lacks a condition there, where all others have it",
    demand="Where each number (or letter) from one to another has the same rule, none is left out.",
    why="A hole in a row of rules is most often a rule that was forgotten, or changed by mistake.",
    source=PRACTICE,
    bad=_RULES,
    good=f"{_RULES}(<= (next (at 4)) (does x go) (true (at 3)))\n",
)


def _check(sheet: Sheet) -> Iterator[Diagnostic]:
    """Report a hole in a row of rules, and the one rule that lacks a condition of all others of its kind."""
    rules = by_frame(sheet.program.rules)
    heads = {words_of(rule.head) for alike in rules.values() for _, rule in alike}
    for family in rules.values():
        values, like = family[0]
        if values and len(family) >= _FEWEST:
            shorter = [(rule, n) for n, each in _without_one(like) for _, rule in rules.get(each, ())]
            if len(shorter) == 1 and like.head.predicate == "next":
                ((rule, lacking),) = shorter
                message = f"this rule lacks a condition that {len(family)} rules of its kind have"
                hint = f"a condition such as {shown(str(like.body[lacking]))}"
                yield _CODE.found(message, rule.span, Note("as here", like.span), hint=hint)
            elif not shorter:
                yield from _of_rows(family, heads)


def _of_rows(family: Sequence[tuple[Values, Rule]], heads: Container[Words]) -> Iterator[Diagnostic]:
    """Report the hole in a row of rules, all of them or those with the same names, that no rule fills."""
    by_names: dict[object, list[tuple[Values, Rule]]] = defaultdict(list)
    for values, rule in family:
        by_names[tuple(value for value in values if isinstance(value, str))].append((values, rule))
    for row in (family, *by_names.values()) if len(by_names) > 1 else (family,):
        hole = _hole([values for values, _ in row]) if len(row) >= _FEWEST else None
        if hole is not None:
            place, number = hole
            near, like = min(row, key=lambda each: abs(_number(each[0][place]) - number))
            moved = _moved([values for values, _ in row], near, place, number)
            wanted = with_values(like, moved)
            if wanted[0] == words_of(like.head) or wanted[0] not in heads:
                message = f"there are {len(row)} rules like this one in a row, but none for {moved[place]}"
                yield _CODE.found(message, like.span, hint=f"such as {text_of(wanted)}")
                return


def _hole(rows: Sequence[Values]) -> tuple[int, int] | None:
    """Return the place of a number that goes on by a step from rule to rule but once, and who is left out."""
    for place, column in enumerate(zip(*rows, strict=True)):
        letters = all(isinstance(value, str) for value in column)
        numbers = sorted({_number(value) for value in column if letters or isinstance(value, int)})
        if len(numbers) == len(rows):
            steps = [after - before for before, after in pairwise(numbers)]
            step = min(steps)
            fewest = _FEWEST if step == 1 and not letters else _FEWEST_APART
            if len(rows) >= fewest and sorted(steps) == [*[step] * (len(steps) - 1), 2 * step]:
                return place, numbers[steps.index(2 * step)] + step
    return None


def _number(value: int | str) -> int:
    """Return a number, or the place of a letter; of other names all the same."""
    if isinstance(value, int):
        return value
    return ord(value) if len(value) == 1 and value.isalpha() else 0


def _moved(rows: Sequence[Values], near: Values, place: int, number: int) -> Values:
    """Return the values of a rule moved to another number, with those that go along with it."""
    if isinstance(near[place], str):
        return (*near[:place], chr(number), *near[place + 1 :])
    step = number - int(near[place])
    goes_along = [
        all(isinstance(values[other], int) for values in rows)
        and len({int(values[other]) - int(values[place]) for values in rows}) == 1
        for other in range(len(near))
    ]
    pairs = zip(near, goes_along, strict=True)
    return tuple(int(value) + step if goes else value for value, goes in pairs)


def _without_one(rule: Rule) -> Iterator[tuple[int, Words]]:
    """Yield what a rule has in common with others of its kind, with one condition less, and its number."""
    for number in range(len(rule.body)):
        yield number, frame_of(Rule(rule.head, rule.body[:number] + rule.body[number + 1 :]))[0]


CHECKS: Final = (Check((_CODE,), _check),)
