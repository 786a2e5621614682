"""Codes of what is found in play, or proved of it."""

from __future__ import annotations

from typing import Final

from anygame.doctor.code import codes_of

CODES: Final = tuple(codes_of(__name__).values())
