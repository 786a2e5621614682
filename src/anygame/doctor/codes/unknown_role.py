"""Somebody who is no role moves or has a goal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from anygame.doctor.code import PRACTICE, Check, Code
from anygame.doctor.sheet import span_of
from anygame.language.diagnostics import Severity
from anygame.language.rules import atoms_in
from anygame.language.terms import Variable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from anygame.doctor.sheet import Sheet
    from anygame.language.diagnostics import Diagnostic

_ROLE_FIRST: Final = frozenset(("legal", "does", "goal", "input", "sees", "percept"))

_CODE: Final = Code(
    "unknown-role",
    Severity.WARNING,
    "somebody who is no role moves or has a goal",
    demand="Who moves, or has a goal, is a role.",
    why="Rules about anybody else never matter; most often a name is misspelt.",
    source=PRACTICE,
    bad="(role white)\n(<= (legal wite go) (true on))",
    good="(role white)\n(<= (legal white go) (true on))",
)


def _check(sheet: Sheet) -> Iterator[Diagnostic]:
    """Report constants in the place of a role that are none."""
    if not sheet.roles:
        return
    names = ", ".join(map(str, sheet.roles[:5]))
    for rule in sheet.program.rules:
        atoms = [rule.head, *(atom for atom, _ in atoms_in(rule.body))]
        for atom in atoms:
            if atom.predicate in _ROLE_FIRST and len(atom.arguments) == 2:
                role = atom.arguments[0]
                if not isinstance(role, Variable) and role not in sheet.roles:
                    node = atom.node
                    place = node.argument(0).span if node and node.children else span_of(atom, rule)
                    yield _CODE.found(f"{role} is no role: the roles are {names}", place, hint=names)


CHECK: Final = Check(
    (_CODE,),
    _check,
)
