"""Codes of what is found in play."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from anygame.doctor.codes.play import (
    double_value,
    endless,
    fluent_outside_base,
    goal_conflict,
    goal_in_play,
    goal_missing,
    lost_value,
    move_outside_input,
    no_move,
    out_of_turn,
    over_at_start,
    play_cut,
    standstill,
)

if TYPE_CHECKING:
    from anygame.doctor.code import Code

__all__ = ["CODES"]

CODES: Final[tuple[Code, ...]] = (
    fluent_outside_base.CODE,
    move_outside_input.CODE,
    no_move.CODE,
    over_at_start.CODE,
    goal_missing.CODE,
    goal_conflict.CODE,
    goal_in_play.CODE,
    endless.CODE,
    play_cut.CODE,
    standstill.CODE,
    lost_value.CODE,
    double_value.CODE,
    out_of_turn.CODE,
)
