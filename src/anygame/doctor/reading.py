"""Reading of sheets with errors."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from anygame.errors import RuleSheetError
from anygame.language.diagnostics import Diagnostic, Severity
from anygame.language.limits import ReadingLimits
from anygame.language.parser import parse_items, read_items
from anygame.language.rules import Program
from anygame.language.sentences import Reader, TooManyProblemsError, arrows_and_others

if TYPE_CHECKING:
    from anygame.language.rules import Rule
    from anygame.language.source import Source

#: Errors after which all rules can still be read.
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
        errors = [fault for fault in faults if fault.severity is Severity.ERROR]
        broken = [fault for fault in errors if fault.code not in _COMPLETE]
        _, others = arrows_and_others(nodes)
        spans = [
            fault.span for fault in broken if fault.span is not None and fault.span.end > fault.span.start
        ]
        intact = [node for node in others if not any(node.start <= s.start < node.end for s in spans)]
        reader = Reader(limits, case_sensitive, open_facts=True)
        rules: tuple[Rule, ...] = ()
        with suppress(TooManyProblemsError):
            rules = reader.rules(intact)
        return Reading(Program(rules, source), faults, not broken)
    return Reading(program, program.warnings, True)
