"""Programs, rules and terms as KIF text; reading it back gives the same again.

``parse_program(format_program(program)) == program`` for every program that was read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from anygame.language.rules import Formula, Program, Rule
    from anygame.language.terms import Term

_WIDTH: Final = 100
_INDENT: Final = " " * 4


def format_program(program: Program) -> str:
    """Return a whole sheet: facts on one line, one literal per line, a blank line where the relation changes.

    >>> from anygame.language.parser import parse_program
    >>> print(format_program(parse_program("(role x) (<= (legal ?r noop) (role ?r)) (init a)")), end="")
    (role x)
    <BLANKLINE>
    (<= (legal ?r noop)
        (role ?r))
    <BLANKLINE>
    (init a)
    """
    lines: list[str] = []
    previous = None
    for rule in program.rules:
        if previous not in (None, rule.head.key):
            lines.append("")
        previous = rule.head.key
        lines.append(format_rule(rule))
    return "".join(f"{line}\n" for line in lines)


def format_rule(rule: Rule) -> str:
    """Return a rule, its literals on lines of their own, or a fact on one line; without a line end."""
    if not rule.body:
        return str(rule.head)
    body = "".join(f"\n{_INDENT}{_format_formula(formula, _INDENT)}" for formula in rule.body)
    return f"(<= {rule.head}{body})"


def format_term(term: Term) -> str:
    """Return a term as KIF on one line, with single blanks; the same as ``str(term)``."""
    return str(term)


def _format_formula(formula: Formula, indent: str) -> str:
    """Return a formula on one line, or its parts on lines of their own where one line would be too long."""
    line = str(formula)
    if len(indent) + len(line) <= _WIDTH or not formula.parts:
        return line
    operator = type(formula).__name__.lower()
    indent += " " * (len(operator) + 2)
    return f"({operator} " + f"\n{indent}".join(_format_formula(part, indent) for part in formula.parts) + ")"
