"""A role that nothing binds: ``(role ?r)`` is added."""

from __future__ import annotations

from typing import TYPE_CHECKING

from anygame.analysis.edits import Edit, Mend, end_of_line
from anygame.analysis.normal import TooManyAlternatives, normalise
from anygame.analysis.safety import unsafe_variables
from anygame.language.forms import comments_of, form_of, infix_variable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from anygame.language.rules import Program, Rule
    from anygame.language.terms import Variable


def role_mends(program: Program) -> list[Mend]:
    """Return the edits that add the roles which a program's rules leave unbound.

    The program must have been read from a text.
    """
    source = program.source
    assert source is not None
    comments = [(comment.start, comment.end) for comment in comments_of(source, form_of(source))]
    roles = [(rule, unbound_role(rule)) for rule in program.rules if rule.node is not None]
    return [role_mend(rule, role, comments) for rule, role in roles if role is not None]


def unbound_role(rule: Rule) -> Variable | None:
    """Return the variable that stands for the role in a head, if nothing binds it."""
    if rule.head.key not in {("legal", 2), ("goal", 2)} or not rule.body:
        return None
    with_role = rule.head.arguments[0]
    try:
        parts = normalise(rule)
    except TooManyAlternatives:
        return None
    unbound = {variable for part in parts for variable, _ in unsafe_variables(part)}
    return next((variable for variable in unbound if variable is with_role), None)


def role_mend(rule: Rule, role: Variable, comments: Sequence[tuple[int, int]]) -> Mend:
    """Return the mend that says of a role's variable that it is a role."""
    node = rule.head.node
    first = rule.body[0].node
    assert node is not None
    assert first is not None
    text = node.source.text
    start = first.start
    between = text[node.end : start]
    if "(" in between and not {"%", ";"} & set(between):  # parentheses round an infix literal
        start = node.end + between.index("(")
    line = max(text.rfind("\n", node.end, start), text.rfind("\r", node.end, start)) + 1
    gap = f"\n{text[line:start]}" if line else " "
    message = f"nothing says what {role} may be: (role {role}) is added"
    if form_of(node.source) == "kif":
        position = end_of_line(text, node.end, comments)
        if position > node.end:
            gap = gap if line else "\n    "
        edit = Edit(position, position, (f"{gap}(role {role})",))
    else:
        edit = Edit(start, start, (f"role({infix_variable(role.name)}) &{gap}",))
    return Mend("role", message, node.span, (edit,))
