"""A role that is left out where all others have something at the start."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from anygame.doctor.code import PRACTICE, Check, Code
from anygame.doctor.sheet import by_fluent
from anygame.language.diagnostics import Severity, shown
from anygame.language.terms import Compound, Constant, Variable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from anygame.doctor.sheet import Sheet
    from anygame.language.diagnostics import Diagnostic
    from anygame.language.rules import Rule
    from anygame.language.terms import Term

#: Of two roles, one may well begin alone.
_FEWEST: Final = 3

_GOES_ON: Final = "(<= (next (at ?r ?n)) (true (at ?r ?n)))"

_CODE: Final = Code(
    "missing-role",
    Severity.WARNING,
    "a role that is left out where all others have something at the start",
    demand="What all roles but one begin with, that one does, too.",
    why="The line for one role was most often forgotten, or names something else.",
    source=PRACTICE,
    bad=f"(role a) (role b) (role c)\n(init (at a 1)) (init (at c 1))\n{_GOES_ON}",
    good=f"(role a) (role b) (role c)\n(init (at a 1)) (init (at b 1)) (init (at c 1))\n{_GOES_ON}",
)


def _check(sheet: Sheet) -> Iterator[Diagnostic]:
    """Report fluents that each of at least three roles begins with, but for one."""
    roles = {role for role in sheet.roles if str(role) != "random"}
    if len(roles) < _FEWEST:
        return
    for rules in by_fluent(sheet.heads.get(("init", 1), ())).values():
        for place in range(len(_arguments(rules[0]))):
            yield from _left_out(roles, rules, place)


def _left_out(roles: set[Term], rules: Sequence[Rule], place: int) -> Iterator[Diagnostic]:
    values = [_arguments(rule)[place] for rule in rules]
    missing = roles - set(values)
    others = [rule for rule, value in zip(rules, values, strict=True) if value not in roles]
    if len(missing) != 1 or any(isinstance(value, Variable) for value in values):
        return
    # Each of the others once: pieces on a board belong to roles, too, but more of them.
    if len(values) - len(others) != len(roles) - 1 or len(others) > 1:
        return
    (role,) = missing
    if others and isinstance(_arguments(others[0])[place], Constant):
        odd = shown(str(_arguments(others[0])[place]))
        message = f"{odd} stands where all others of these facts have a role, and {shown(str(role))} has none"
        yield _CODE.found(message, others[0].span, hint=shown(str(role)))
    elif not others:
        fluent = rules[0].head.arguments[0]
        message = f"all roles but {shown(str(role))} begin with a fact such as {shown(str(fluent))}"
        yield _CODE.found(message, rules[0].span, hint=f"the same for {shown(str(role))}")


def _arguments(rule: Rule) -> Sequence[Term]:
    fluent = rule.head.arguments[0]
    return fluent.arguments if isinstance(fluent, Compound) else ()


CHECKS: Final = (Check((_CODE,), _check),)
