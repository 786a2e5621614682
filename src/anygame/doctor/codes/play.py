"""Codes of diagnostics found in play, or by proof."""

from __future__ import annotations

from typing import Final

from anygame.doctor.code import codes_of

CODES: Final = tuple(codes_of(__name__).values())
