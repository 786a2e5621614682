"""Codes of diagnostics reported while rules are prepared for the reasoner."""

from __future__ import annotations

from typing import Final

from anygame.doctor.code import codes_of

CODES: Final = tuple(codes_of(__name__).values())
