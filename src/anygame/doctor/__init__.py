"""The rule doctor finds errors and oddities in rule sheets.

This package has the codes and the checks that need no play. `anygame.doctor.examination` runs all checks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from anygame.analysis.safety import normal_rules
from anygame.doctor.code import Check, Code
from anygame.doctor.codes import ALIASES, CHECKS, CODES
from anygame.doctor.reading import Reading, read_sheet
from anygame.doctor.sheet import Sheet
from anygame.errors import RuleSheetError
from anygame.language.diagnostics import Diagnostic
from anygame.language.terms import collector_paused

if TYPE_CHECKING:
    from anygame.language.rules import Program

__all__ = [
    "ALIASES",
    "CHECKS",
    "CODES",
    "Check",
    "Code",
    "Reading",
    "check_program",
    "read_sheet",
]


def check_program(program: Program, *, complete: bool = True) -> list[Diagnostic]:
    """Return the diagnostics of all static checks, sorted by place, without the warnings of the parser.

    Args:
        program: the rules.
        complete: whether the program has all rules of the sheet. If not, checks that need all rules are
            skipped.

    >>> from anygame.language import parse_program
    >>> program = parse_program("(role x) (<= (legal x go) (open)) (goal x 100) terminal")
    >>> [found.code for found in check_program(program) if found.severity > 1]
    ['undefined-relation']
    """
    sheet = Sheet(program)
    checks = [check for check in CHECKS if complete or not check.needs_all]
    with collector_paused():
        diagnostics = [diagnostic for check in checks for diagnostic in check.diagnostics(sheet)]
        try:
            normal_rules(program, diagnostics)
        except RuleSheetError as error:
            diagnostics += [each for each in error.diagnostics if isinstance(each, Diagnostic)]
    return sorted(dict.fromkeys(diagnostics))
