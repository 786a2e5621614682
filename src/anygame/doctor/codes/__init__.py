"""All codes of diagnostics, and the checks that report them.

Each module has checks and their codes. Codes of ``reading``, ``reasoning`` and ``play`` are reported by other
stages: the parser, the preparation of rules for the reasoner, and play.
"""

from __future__ import annotations

from typing import Final

from anygame.doctor.code import Check, Code
from anygame.doctor.codes import (
    conditions,
    declarations,
    foreign,
    goals,
    large_join,
    likely_typo,
    lost_fluent,
    moves,
    names,
    never_fires,
    play,
    reading,
    reasoning,
    recursion,
    same_rules,
    swapped_arguments,
    symmetry,
    tables,
)

__all__ = ["ALIASES", "CHECKS", "CODES"]

_THEMES: Final = (
    conditions, declarations, foreign, goals, large_join, likely_typo, lost_fluent,
    moves, names, never_fires, recursion, same_rules, swapped_arguments, symmetry, tables,
)  # fmt: skip
#: All checks.
CHECKS: Final = tuple(
    found for theme in _THEMES for found in vars(theme).values() if isinstance(found, Check)
)
#: All codes by name.
CODES: Final[dict[str, Code]] = {
    code.name: code
    for codes in (reading.CODES, reasoning.CODES, *(check.codes for check in CHECKS), play.CODES)
    for code in codes
}
#: The names of codes, by the names of earlier versions.
ALIASES: Final = {alias: code.name for code in CODES.values() for alias in code.aliases}
