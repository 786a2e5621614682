"""The rule doctor: what is wrong or odd in a rule sheet, found without playing."""

from __future__ import annotations

from typing import TYPE_CHECKING

# Imported for what they register:
from anygame.analysis.doctor import (
    cost,
    duplicates,
    firing,
    flow,
    form,
    goals,
    naming,
    recursion,
    structure,
)
from anygame.analysis.doctor.reading import Reading, read_sheet
from anygame.analysis.doctor.registry import CHECKS, SEVERITIES, run_checks
from anygame.analysis.doctor.sheet import Sheet
from anygame.analysis.safety import normal_rules
from anygame.errors import RuleSheetError
from anygame.language.diagnostics import Diagnostic

if TYPE_CHECKING:
    from anygame.language.rules import Program

__all__ = ["CHECKS", "SEVERITIES", "Reading", "check_program", "read_sheet"]

_ = (cost, duplicates, firing, flow, form, goals, naming, recursion, structure)


def check_program(program: Program, *, complete: bool = True) -> list[Diagnostic]:
    """Return what is wrong or odd in a program, sorted by place; the program's own warnings are not among it.

    Args:
        program: the rules.
        complete: whether these are all rules of the sheet; if not, checks of what is missing are left out.

    >>> from anygame.language import parse_program
    >>> program = parse_program("(role x) (<= (legal x go) (open)) (goal x 100) terminal")
    >>> [found.code for found in check_program(program) if found.severity > 1]
    ['undefined-relation']
    """
    diagnostics = list(run_checks(Sheet(program), complete=complete))
    try:
        normal_rules(program)
    except RuleSheetError as error:
        diagnostics += [found for found in error.diagnostics if isinstance(found, Diagnostic)]
    return sorted(dict.fromkeys(diagnostics))
