"""Codes of diagnostics reported while a sheet is read."""

from __future__ import annotations

from typing import Final

from anygame.doctor.code import codes_of

CODES: Final = tuple(codes_of(__name__).values())
