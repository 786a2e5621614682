"""All codes of diagnostics, and the checks that report them.

Each theme has a module of checks, and a TOML file of the same name that describes their codes. The parser,
the preparation of rules for the reasoner, and play report the remaining codes.
"""

from __future__ import annotations

from importlib import import_module
from typing import Final

from anygame.doctor.code import CODES, PLAY, READING, REASONING, THEMES, Check

__all__ = ["ALIASES", "CHECKS", "CODES", "PLAY", "READING", "REASONING"]

_MODULES: Final = [import_module(f"{__name__}.{theme}") for theme in THEMES]
#: All checks.
CHECKS: Final = tuple(
    check for module in _MODULES for check in vars(module).values() if isinstance(check, Check)
)
#: Current names of codes by their names in earlier versions.
ALIASES: Final = {alias: code.name for code in CODES.values() for alias in code.aliases}
