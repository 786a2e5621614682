"""Reading a sheet that may be broken: all its faults, and the rules that could be read nevertheless."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from anygame.errors import RuleSheetError
from anygame.language.diagnostics import Diagnostic, Severity
from anygame.language.parser import parse_nodes, parse_program
from anygame.language.rules import Program
from anygame.language.sentences import Reader, TooManyProblemsError
from anygame.language.source import Node, Span
from anygame.language.text import Limits, check_text, intact_part

if TYPE_CHECKING:
    from collections.abc import Iterable

    from anygame.language.rules import Rule
    from anygame.language.source import Source

__all__ = ["Reading", "read_sheet"]


@dataclass(frozen=True, slots=True)
class Reading:
    """What came of reading a sheet.

    Attributes:
        program: the rules that could be read.
        diagnostics: faults and oddities of the text.
        complete: whether all rules could be read.
    """

    program: Program
    diagnostics: tuple[Diagnostic, ...]
    complete: bool


def read_sheet(source: Source, *, case_sensitive: bool = True, limits: Limits | None = None) -> Reading:
    """Read a rule sheet as far as it goes; never raises for what is wrong in it."""
    limits = limits or Limits()
    try:
        program = parse_program(source, case_sensitive=case_sensitive, limits=limits)
    except RuleSheetError as error:
        faults = tuple(found for found in error.diagnostics if isinstance(found, Diagnostic))
        rules = _readable_rules(source, faults, case_sensitive, limits)
        errors = {fault.code for fault in faults if fault.severity is Severity.ERROR}
        return Reading(Program(rules, source), faults, errors == {"no-role"})
    return Reading(program, program.warnings, True)


def _readable_rules(
    source: Source, faults: Iterable[Diagnostic], case_sensitive: bool, limits: Limits
) -> tuple[Rule, ...]:
    """Return the rules without any error inside them."""
    text_faults = check_text(source, limits)
    text = intact_part(source, text_faults) if text_faults else source.text
    if check_text(replace(source, text=text), limits):
        return ()
    items = tuple([_at_home(node, source) for node in parse_nodes(text, limits=limits)])
    if len(items) == 1 and items[0].children and items[0].children[0].children is not None:
        items = items[0].children
    errors = [fault.span for fault in faults if fault.severity is Severity.ERROR and fault.span]
    reader = Reader(limits, case_sensitive)
    with suppress(TooManyProblemsError):
        return reader.rules([item for item in items if not any(_is_inside(span, item) for span in errors)])
    return ()


def _is_inside(span: Span, item: Node) -> bool:
    return item.start <= span.start < item.end and span.end > span.start


def _at_home(node: Node, source: Source) -> Node:
    """Return the node with its places in the source, of which the text that was parsed is a part."""
    children = node.children and tuple([_at_home(child, source) for child in node.children])
    return Node(source, node.start, node.end, node.text, children)
