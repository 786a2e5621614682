"""The rule doctor finds errors and oddities in rule sheets.

This package has the codes of diagnostics, and static checks. `anygame.doctor.examination` runs all checks.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from anygame.analysis.safety import normal_rules
from anygame.doctor.code import Check, Code
from anygame.doctor.codes import ALIASES, CHECKS, CODES
from anygame.doctor.sheet import Sheet
from anygame.errors import RuleSheetError
from anygame.language.diagnostics import Diagnostic, Severity
from anygame.language.limits import ReadingLimits
from anygame.language.parser import parse_items, read_items
from anygame.language.rules import Program
from anygame.language.sentences import Reader, TooManyProblemsError, arrows_and_others
from anygame.language.terms import collector_paused

if TYPE_CHECKING:
    from anygame.language.rules import Rule
    from anygame.language.source import Source

__all__ = ["ALIASES", "CHECKS", "CODES", "Check", "Code", "Reading", "check_program", "read_sheet"]

#: Codes of errors after which the parser can still read all rules.
_COMPLETE: Final = frozenset(("no-role", "variable-in-fact"))


@dataclass(frozen=True, slots=True)
class Reading:
    """The result of reading a sheet.

    Attributes:
        program: the rules that could be read.
        diagnostics: the errors and warnings of the parser.
        complete: whether all rules could be read.
    """

    program: Program
    diagnostics: tuple[Diagnostic, ...]
    complete: bool


def read_sheet(
    source: Source, *, case_sensitive: bool = True, limits: ReadingLimits | None = None
) -> Reading:
    """Read a rule sheet as far as possible; errors of the sheet are returned, not raised."""
    limits = limits or ReadingLimits()
    nodes, text_faults = parse_items(source, limits=limits)
    try:
        program = read_items(source, nodes, text_faults, case_sensitive=case_sensitive, limits=limits)
    except RuleSheetError as error:
        faults = tuple(fault for fault in error.diagnostics if isinstance(fault, Diagnostic))
    else:
        return Reading(program, program.warnings, True)
    broken = [each for each in faults if each.severity is Severity.ERROR and each.code not in _COMPLETE]
    starts = [each.span.start for each in broken if each.span and each.span.start < each.span.end]
    _, others = arrows_and_others(nodes)
    intact = [node for node in others if not any(node.start <= start < node.end for start in starts)]
    rules: tuple[Rule, ...] = ()
    with suppress(TooManyProblemsError):
        rules = Reader(limits, case_sensitive, open_facts=True).rules(intact)
    return Reading(Program(rules, source), faults, not broken)


def check_program(program: Program, *, complete: bool = True) -> list[Diagnostic]:
    """Return the diagnostics of all static checks, sorted by place, without the warnings of the parser.

    Args:
        program: the rules.
        complete: whether the program has all rules of the sheet. If rules are missing, checks that need all
            rules are skipped.

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
