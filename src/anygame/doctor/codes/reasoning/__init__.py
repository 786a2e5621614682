"""Codes of what is found when rules are put in order for the reasoner."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from anygame.doctor.codes.reasoning import (
    action_dependent,
    limit_reached,
    static_relation,
    terms_too_large,
    too_many_alternatives,
    unsafe_variable,
    unstratified,
)

if TYPE_CHECKING:
    from anygame.doctor.code import Code

__all__ = ["CODES"]

CODES: Final[tuple[Code, ...]] = (
    unsafe_variable.CODE,
    too_many_alternatives.CODE,
    terms_too_large.CODE,
    unstratified.CODE,
    static_relation.CODE,
    action_dependent.CODE,
    limit_reached.CODE,
)
