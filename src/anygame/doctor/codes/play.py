"""Codes of what is found in play, or proved of it."""

from __future__ import annotations

from typing import Final

from anygame.doctor.code import Code, codes_of

_CODES: Final = codes_of(__name__)


CODES: Final[tuple[Code, ...]] = (
    _CODES["fluent-outside-base"],
    _CODES["move-outside-input"],
    _CODES["no-move"],
    _CODES["over-at-start"],
    _CODES["goal-missing"],
    _CODES["goal-conflict"],
    _CODES["goal-in-play"],
    _CODES["endless"],
    _CODES["dead-rule"],
    _CODES["play-cut"],
    _CODES["standstill"],
    _CODES["lost-value"],
    _CODES["double-value"],
    _CODES["out-of-turn"],
)
