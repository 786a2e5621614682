"""All codes of diagnostics, and the checks that report them.

Each module has checks and their codes. Other stages have codes without checks: the parser, the preparation of
rules for the reasoner, and play.
"""

from __future__ import annotations

from typing import Final

from anygame.doctor.code import Check, Code, codes_of
from anygame.doctor.codes import (
    conditions,
    declarations,
    foreign,
    goals,
    large_join,
    likely_typo,
    lost_fluent,
    names,
    never_fires,
    recursion,
    same_rules,
    swapped_arguments,
    symmetry,
    tables,
)

__all__ = ["ALIASES", "CHECKS", "CODES", "PLAY", "READING", "REASONING"]

READING: Final = tuple(codes_of(f"{__name__}.reading").values())
REASONING: Final = tuple(codes_of(f"{__name__}.reasoning").values())
PLAY: Final = tuple(codes_of(f"{__name__}.play").values())

_THEMES: Final = (
    conditions, declarations, foreign, goals, large_join, likely_typo, lost_fluent,
    names, never_fires, recursion, same_rules, swapped_arguments, symmetry, tables,
)  # fmt: skip
#: All checks.
CHECKS: Final = tuple(
    found for theme in _THEMES for found in vars(theme).values() if isinstance(found, Check)
)
#: All codes by name.
CODES: Final[dict[str, Code]] = {
    code.name: code
    for codes in (READING, REASONING, *(check.codes for check in CHECKS), PLAY)
    for code in codes
}
#: The names of codes, by their names in earlier versions.
ALIASES: Final = {alias: code.name for code in CODES.values() for alias in code.aliases}
