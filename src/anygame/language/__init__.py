"""Parser and printer of rule sheets: terms, rules and programs, and diagnostics with places."""

from __future__ import annotations

from anygame.language.diagnostics import (
    Diagnostic,
    Note,
    Severity,
    format_diagnostic,
    format_diagnostics,
    format_excerpt,
    raise_if_errors,
)
from anygame.language.limits import Limits, ReadingLimits
from anygame.language.parser import parse_atom, parse_nodes, parse_program, parse_term
from anygame.language.rules import (
    KEYWORDS,
    And,
    Atom,
    Distinct,
    Formula,
    Literal,
    Not,
    Or,
    Program,
    Rule,
    atoms_in,
    format_program,
    format_rule,
    map_atoms,
    map_terms,
    walk,
)
from anygame.language.sentences import fold, fold_head
from anygame.language.source import Node, Source, Span
from anygame.language.terms import Compound, Constant, Term, Variable, substitute, variables_of
from anygame.language.text import read_source

__all__ = [
    "KEYWORDS",
    "And",
    "Atom",
    "Compound",
    "Constant",
    "Diagnostic",
    "Distinct",
    "Formula",
    "Limits",
    "Literal",
    "Node",
    "Not",
    "Note",
    "Or",
    "Program",
    "ReadingLimits",
    "Rule",
    "Severity",
    "Source",
    "Span",
    "Term",
    "Variable",
    "atoms_in",
    "fold",
    "fold_head",
    "format_diagnostic",
    "format_diagnostics",
    "format_excerpt",
    "format_program",
    "format_rule",
    "map_atoms",
    "map_terms",
    "parse_atom",
    "parse_nodes",
    "parse_program",
    "parse_term",
    "raise_if_errors",
    "read_source",
    "substitute",
    "variables_of",
    "walk",
]
