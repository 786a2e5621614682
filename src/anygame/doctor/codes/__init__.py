"""Every code of a diagnostic: what it means, examples, and the check that finds it.

Codes of ``reading``, ``reasoning`` and ``play`` are found by other stages: while a sheet is read, when its
rules are put in order for the reasoner, and in play. A check stands with the codes that it alone finds.
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
#: Every code there is, by its name.
CODES: Final[dict[str, Code]] = {
    code.name: code
    for codes in (reading.CODES, reasoning.CODES, *(check.codes for check in CHECKS), play.CODES)
    for code in codes
}
#: The names of codes by those that earlier versions had for them.
ALIASES: Final = {alias: code.name for code in CODES.values() for alias in code.aliases}
