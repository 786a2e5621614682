"""Codes of what is found while a sheet is read, and when its rules are put in order for the reasoner."""

from __future__ import annotations

from typing import Final

from anygame.doctor.code import Code, codes_of

_CODES: Final = codes_of(__name__)

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
#: Codes of faults in the text and in single sentences.
CODES: Final = tuple(code for code in _CODES.values() if code not in OF_REASONING)
