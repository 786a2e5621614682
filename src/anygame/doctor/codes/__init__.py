"""All codes of diagnostics, and the checks that report them.

Each module has checks, and the TOML file of the same name describes their codes. The codes of other stages
have no checks here: those of the parser, of the preparation of rules for the reasoner, and of play.
"""

from __future__ import annotations

from typing import Final

from anygame.doctor.code import CODES, PLAY, READING, REASONING, Check
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

_MODULES: Final = (
    conditions, declarations, foreign, goals, large_join, likely_typo, lost_fluent,
    names, never_fires, recursion, same_rules, swapped_arguments, symmetry, tables,
)  # fmt: skip
#: All checks.
CHECKS: Final = tuple(
    check for module in _MODULES for check in vars(module).values() if isinstance(check, Check)
)
#: Current names of codes by their names in earlier versions.
ALIASES: Final = {alias: code.name for code in CODES.values() for alias in code.aliases}
