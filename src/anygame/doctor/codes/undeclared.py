"""Fluents, moves and percepts that `base`, `input` and `percept` do not declare."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from anygame.doctor.code import GDL2, VALIDATOR, Check, Code
from anygame.doctor.likes.nearness import nearest
from anygame.doctor.sheet import span_of
from anygame.doctor.wording import named, pattern
from anygame.language.diagnostics import Note, Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from anygame.doctor.sheet import Key, Sheet
    from anygame.language.diagnostics import Diagnostic
    from anygame.language.rules import Atom
    from anygame.language.source import Span

_UNDECLARED_FLUENT: Final = Code(
    "undeclared-fluent",
    Severity.WARNING,
    "a fluent that base does not declare",
    demand="If there is a `base`, it declares every fluent.",
    why="Systems that trust `base` never see the others.",
    source=VALIDATOR,
    bad="(base (lamp on))\n(init (lamp on))\n(init (step 1))",
    good="(base (lamp on))\n(base (step 1))\n(init (lamp on))\n(init (step 1))",
)
_UNDECLARED_MOVE: Final = Code(
    "undeclared-move",
    Severity.WARNING,
    "a move that input does not declare",
    demand="If there is an `input`, it declares every move.",
    why="Systems that trust `input` never make the others.",
    source=VALIDATOR,
    bad="(role x)\n(input x go)\n(legal x go)\n(legal x stop)",
    good="(role x)\n(input x go)\n(input x stop)\n(legal x go)\n(legal x stop)",
)
_UNDECLARED_PERCEPT: Final = Code(
    "undeclared-percept",
    Severity.WARNING,
    "a percept that percept does not declare",
    demand="If there is a `percept`, it declares every percept.",
    why="A player that trusts `percept` does not know what the others mean; most often a name is misspelt.",
    source=GDL2,
    bad="(role x)\n(init dark)\n(percept x bell)\n(<= (sees x bel) (true dark))",
    good="(role x)\n(init dark)\n(percept x bell)\n(<= (sees x bell) (true dark))",
)


def _check(sheet: Sheet) -> Iterator[Diagnostic]:
    """Report what is written, can be legal or is seen, where none of its kind is declared."""
    yield from _undeclared(sheet, ("base", 1), sheet.writers, _UNDECLARED_FLUENT, "(base {})")
    yield from _undeclared(sheet, ("input", 2), sheet.moves, _UNDECLARED_MOVE, "(input ?role {})")
    yield from _undeclared(sheet, ("percept", 2), sheet.percepts, _UNDECLARED_PERCEPT, "(percept ?role {})")


def _undeclared(
    sheet: Sheet, declaration: Key, written: dict[Key, list[Atom]], code: Code, hint: str
) -> Iterator[Diagnostic]:
    if declaration not in sheet.heads or not sheet.is_safe:
        return
    tops = sheet.domains.tops(*declaration, declaration[1] - 1)
    declared = {top if isinstance(top, tuple) else (top.name, 0) for top in tops}
    for key, heads in written.items():
        if key not in declared:
            yield code.found(
                f"`{declaration[0]}` is declared, but not for {named(key)}",
                heads[0].span,
                Note(f"`{declaration[0]}` is declared here", _first(sheet, declaration)),
                hint=_near(key, declared) or hint.format(pattern(key)),
            )


def _near(key: Key, declared: set[Key]) -> str:
    """Return the declared name that one is nearly, with as many arguments; nothing if there is none."""
    return nearest(key[0], [name for name, arity in declared if arity == key[1]]) or ""


def _first(sheet: Sheet, key: Key) -> Span | None:
    rule = sheet.heads[key][0]
    return span_of(rule.head, rule)


CHECK: Final = Check(
    (
        _UNDECLARED_FLUENT,
        _UNDECLARED_MOVE,
        _UNDECLARED_PERCEPT,
    ),
    _check,
)
