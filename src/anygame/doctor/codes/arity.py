"""A relation or a function with different numbers of arguments."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Final

from anygame.doctor.code import VALIDATOR, Check, Code
from anygame.language.diagnostics import Note, Severity, shown
from anygame.language.rules import KEYWORDS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from anygame.doctor.sheet import Name, Sheet
    from anygame.language.diagnostics import Diagnostic

_RELATION_ARITY: Final = Code(
    "relation-arity",
    Severity.WARNING,
    "a relation with different numbers of arguments",
    demand="A relation has the same number of arguments everywhere.",
    why=(
        "With two numbers these are two relations, of which each knows nothing of the other. Some systems"
        " crash."
    ),
    source=VALIDATOR,
    bad="(edge a b)\n(<= (p ?x) (edge ?x))",
    good="(edge a b)\n(<= (p ?x) (edge ?x ?y))",
)
_FUNCTION_ARITY: Final = Code(
    "function-arity",
    Severity.WARNING,
    "a function with different numbers of arguments",
    demand="A function has the same number of arguments everywhere.",
    why="(cell 1 b) and (cell 1 1 b) are different fluents; one of them is most often a slip.",
    source=VALIDATOR,
    bad="(init (cell 1 1 b))\n(<= terminal (true (cell 1 b)))",
    good="(init (cell 1 1 b))\n(<= terminal (true (cell 1 1 b)))",
)


def _check(sheet: Sheet) -> Iterator[Diagnostic]:
    """Compare the uses of each relation, and of each function: of fluents, moves and other compound terms."""
    yield from _arities(sheet, "relation", _RELATION_ARITY)
    yield from _arities(sheet, "function", _FUNCTION_ARITY)


def _arities(sheet: Sheet, kind: str, code: Code) -> Iterator[Diagnostic]:
    groups: dict[str, dict[int, list[Name]]] = defaultdict(lambda: defaultdict(list))
    for name in sheet.names:
        if name.kind == kind and name.text not in KEYWORDS:
            groups[name.text][name.arity].append(name)
    for text, group in groups.items():
        if len(group) == 1:
            continue
        usual = max(group, key=lambda arity: len(group[arity]))
        for arity, places in group.items():
            if arity != usual:
                yield code.found(
                    f"{shown(text)} has {_count(arity)} here and {usual} elsewhere: these are two "
                    f"different {kind}s",
                    places[0].node.span,
                    Note(f"with {_count(usual)}", group[usual][0].node.span),
                    hint="the same number of arguments everywhere, or two names",
                )


def _count(arity: int) -> str:
    return "1 argument" if arity == 1 else f"{arity or 'no'} arguments"


CHECK: Final = Check(
    (
        _RELATION_ARITY,
        _FUNCTION_ARITY,
    ),
    _check,
    needs_all=False,
)
