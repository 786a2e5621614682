"""Checks of what every game needs: moves, an end, goals, and roles that exist."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from anygame.analysis.doctor.registry import check, define, found
from anygame.analysis.doctor.sheet import key_of, span_of
from anygame.language.diagnostics import Severity
from anygame.language.rules import atoms_in
from anygame.language.source import Span
from anygame.language.terms import Constant, Variable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from anygame.analysis.doctor.sheet import Key, Sheet
    from anygame.language.diagnostics import Diagnostic

_INTEGER: Final = re.compile(r"[+-]?\d+")
_HIGHEST_GOAL: Final = 100
_ROLE_FIRST: Final = frozenset(("legal", "does", "goal", "input", "sees", "percept"))


@check("no-legal", Severity.ERROR, "a role without any legal move")
def no_legal(sheet: Sheet) -> Iterator[Diagnostic]:
    """Report roles to which no rule can give a move: nobody could make a first step."""
    yield from _roles_without(
        sheet, ("legal", 2), "no-legal", "no rule ever gives {} a legal move", "(<= (legal {} ...) ...)"
    )


@check("no-goal", Severity.WARNING, "a role without any goal")
def no_goal(sheet: Sheet) -> Iterator[Diagnostic]:
    """Report roles to which no rule can give a goal."""
    yield from _roles_without(
        sheet, ("goal", 2), "no-goal", "no rule ever gives {} a goal", "(<= (goal {} 100) ...)"
    )


def _roles_without(sheet: Sheet, relation: Key, code: str, message: str, hint: str) -> Iterator[Diagnostic]:
    known = sheet.domains.tops(*relation, 0) if sheet.is_safe else None
    for role in sheet.roles:
        if str(role) == "random" and code == "no-goal":
            continue
        named = any(
            isinstance(rule.head.arguments[0], Variable) or rule.head.arguments[0] is role
            for rule in sheet.heads.get(relation, ())
        )
        if not named or (known is not None and key_of(role) not in map(_key, known)):
            yield found(code, message.format(role), sheet.role_span(role), hint=hint.format(role))


def _key(top: object) -> object:
    return (top.name, 0) if isinstance(top, Constant) else top


@check("no-terminal", Severity.WARNING, "a game without an end")
def no_terminal(sheet: Sheet) -> Iterator[Diagnostic]:
    """Report a sheet without a rule for `terminal`."""
    if ("terminal", 0) not in sheet.heads and sheet.program.rules:
        yield found(
            "no-terminal",
            "no rule says when the game is over: no match of it ever ends",
            _start(sheet),
            hint="(<= terminal ...)",
        )


@check("no-declarations", Severity.INFO, "no base or no input")
def no_declarations(sheet: Sheet) -> Iterator[Diagnostic]:
    """Report a sheet that leaves out `base` or `input`."""
    missing = [
        word for word, key in (("base", ("base", 1)), ("input", ("input", 2))) if key not in sheet.heads
    ]
    if missing and sheet.program.rules:
        yield found(
            "no-declarations",
            f"the sheet does not declare {' and '.join(missing)}: systems that build networks need it",
            _start(sheet),
            hint="(base (control white)), (input white noop): what can be true, what can be done",
        )


def _start(sheet: Sheet) -> Span | None:
    first = sheet.program.rules[0].node
    return Span(first.source, first.start, first.start + 1) if first else None


@check("unknown-role", Severity.WARNING, "somebody who is no role moves or has a goal")
def unknown_role(sheet: Sheet) -> Iterator[Diagnostic]:
    """Report constants in the place of a role that are none."""
    if not sheet.roles:
        return
    names = ", ".join(map(str, sheet.roles[:5]))
    for rule in sheet.program.rules:
        atoms = [rule.head, *(atom for atom, _ in atoms_in(rule.body))]
        for atom in atoms:
            if atom.predicate in _ROLE_FIRST and len(atom.arguments) == 2:
                role = atom.arguments[0]
                if role.is_ground and role not in sheet.roles:
                    node = atom.node
                    place = node.argument(0).span if node and node.children else span_of(atom, rule)
                    yield found(
                        "unknown-role", f"{role} is no role: the roles are {names}", place, hint=names
                    )


define("goal-range", Severity.WARNING, "a goal outside 0..100")


@check("goal-value", Severity.ERROR, "a goal that is no integer", needs_all=False)
def goal_value(sheet: Sheet) -> Iterator[Diagnostic]:
    """Report goals that are no integers from 0 to 100."""
    for rule in sheet.program.rules:
        head = rule.head
        if head.key != ("goal", 2) or isinstance(head.arguments[1], Variable):
            continue
        value = head.arguments[1]
        place = head.node.argument(1).span if head.node and head.node.children else rule.span
        if not _INTEGER.fullmatch(str(value)):
            yield found("goal-value", f"a goal is an integer from 0 to 100, found {value}", place)
        elif not 0 <= int(str(value)[:9]) <= _HIGHEST_GOAL:
            yield found("goal-range", f"a goal is an integer from 0 to 100, found {value}", place)
