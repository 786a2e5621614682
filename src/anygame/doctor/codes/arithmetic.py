"""A sum or a comparison, which GDL cannot work out."""

from __future__ import annotations

from collections import defaultdict
from itertools import chain
from typing import TYPE_CHECKING, Final

from anygame.doctor.code import GDL, Check, Code
from anygame.language.diagnostics import Note, Severity, shown
from anygame.language.terms import Constant

if TYPE_CHECKING:
    from collections.abc import Iterator

    from anygame.doctor.sheet import Name, Sheet
    from anygame.language.diagnostics import Diagnostic
    from anygame.language.source import Node

SUMS: Final = frozenset(("+", "-", "*", "/", "%", "^", "**", "++", "--", "1+", "is"))
#: Words for sums, which are so where they stand with a number.
_WORDS: Final = frozenset(("plus", "minus", "add", "sub", "times", "mod", "div"))
COMPARISONS: Final = frozenset(("<", ">", ">=", "=<", "=", "==", "!=", "/="))
_FEWEST_STEPS: Final = 2

_CODE: Final = Code(
    "arithmetic",
    Severity.WARNING,
    "a sum inside a term",
    demand="What comes after a number, or is the sum of two, is told by facts.",
    why="GDL has no arithmetic: (+ 1 1) is a term of its own, other than 2, and (+ (+ 1 1) 1) another one.",
    source=GDL,
    bad="(init (step 1))\n(<= (next (step (+ ?n 1))) (true (step ?n)))\n(<= terminal (true (step 3)))",
    good="(init (step 1))\n(succ 1 2)\n(succ 2 3)\n(<= (next (step ?m)) (true (step ?n)) (succ ?n ?m))\n"
    "(<= terminal (true (step 3)))",
)


def _check(sheet: Sheet) -> Iterator[Diagnostic]:
    """Report terms that are written like sums, of each kind the first."""
    places: dict[str, list[Name]] = defaultdict(list)
    for name in sheet.names:
        if name.kind == "function" and _is_sum(name.text, name.node):
            places[name.text].append(name)
    for text, (first, *others) in places.items():
        term = " ".join(first.node.span.text.split())
        message = (
            f"GDL has no arithmetic: {shown(term)} is a term like any other, and {text} works out nothing"
        )
        more = [Note(f"and {len(others)} more time{'s' * (len(others) > 1)}")] if others else []
        yield _CODE.found(message, first.node.span, *more, hint=_advice(sheet))


def _is_sum(text: str, node: Node) -> bool:
    if text in SUMS:
        return True
    has_number = any(child.text.isdecimal() for child in (node.children or ())[1:])
    return text.lower() in _WORDS and has_number


def _advice(sheet: Sheet) -> str:
    steps = _steps(sheet)
    if steps:
        return f"({steps} ?n ?next) in the body, and ?next here"
    return "facts that count, (succ 1 2) (succ 2 3) and so on; (succ ?n ?next) in the body, and ?next here"


def _steps(sheet: Sheet) -> str:
    """Return a relation of facts that count, if there is one."""
    for (name, arity), rules in sheet.heads.items():
        pairs = [rule.head.arguments for rule in rules if not rule.body] if arity == 2 else []
        numbers = [
            term.name for term in chain(*pairs) if isinstance(term, Constant) and term.name.isdecimal()
        ]
        if len(pairs) >= _FEWEST_STEPS and len(numbers) == 2 * len(pairs):
            counted = zip(numbers[::2], numbers[1::2], strict=True)
            if all(int(second) - int(first) == 1 for first, second in counted):
                return name
    return ""


CHECKS: Final = (Check((_CODE,), _check, needs_all=False),)
