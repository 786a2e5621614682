"""The rules are more than the reasoner can hold."""

from __future__ import annotations

from typing import Final

from anygame.doctor.code import LIMITS, Code
from anygame.language.diagnostics import Severity

CODE: Final = Code(
    "limit-reached",
    Severity.ERROR,
    "the rules are more than the reasoner can hold",
    demand="A game's facts, terms and time stay within the reasoner's limits.",
    why=("Rules can stand for more than any memory holds; rather than to go on for ever the reasoner stops."),
    source=LIMITS,
    bad=f"(role x)\n(init {'(s ' * 160}zero{')' * 161}",
    good="(role x)\n(init (count 160))",
)
