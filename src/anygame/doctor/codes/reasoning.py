"""Codes of what is found when rules are put in order for the reasoner."""

from __future__ import annotations

from typing import Final

from anygame.doctor.code import codes_of

CODES: Final = tuple(codes_of(__name__).values())
