"""Codes of what is found while a sheet is read, and when its rules are put in order for the reasoner."""

from __future__ import annotations

from typing import Final

from anygame.doctor.code import Code, codes_of

_CODES: Final = codes_of(__name__)

CODES: Final[tuple[Code, ...]] = (
    _CODES["bad-encoding"],
    _CODES["control-character"],
    _CODES["too-deep"],
    _CODES["too-large"],
    _CODES["too-many-problems"],
    _CODES["token-too-long"],
    _CODES["unclosed-list"],
    _CODES["unexpected-close"],
    _CODES["infix-character"],
    _CODES["infix-name"],
    _CODES["infix-dialect"],
    _CODES["infix-syntax"],
    _CODES["empty-list"],
    _CODES["empty-variable"],
    _CODES["list-as-name"],
    _CODES["too-many-arguments"],
    _CODES["variable-as-name"],
    _CODES["variable-sentence"],
    _CODES["zero-arity"],
    _CODES["and-formula"],
    _CODES["bad-head"],
    _CODES["derived-role"],
    _CODES["empty-body"],
    _CODES["empty-or"],
    _CODES["formula-arity"],
    _CODES["keyword-arity"],
    _CODES["keyword-in-term"],
    _CODES["no-role"],
    _CODES["old-declaration"],
    _CODES["state-in-head"],
    _CODES["stray-rule"],
    _CODES["variable-in-fact"],
    _CODES["wrong-arrow"],
)


#: What is found when rules are put in order for the reasoner.
OF_REASONING: Final[tuple[Code, ...]] = (
    _CODES["unsafe-variable"],
    _CODES["too-many-alternatives"],
    _CODES["terms-too-large"],
    _CODES["unstratified"],
    _CODES["static-relation"],
    _CODES["action-dependent"],
    _CODES["limit-reached"],
)
