"""A keyword with a wrong number of arguments."""

from __future__ import annotations

from typing import Final

from anygame.doctor.code import GDL, GDL2, Code
from anygame.language.diagnostics import Severity

CODE: Final = Code(
    "keyword-arity",
    Severity.ERROR,
    "a keyword with a wrong number of arguments",
    demand=(
        "role, init, true, next and base take one argument; legal, does, goal, input and sees two; "
        "terminal none."
    ),
    why=(
        "These relations are what a game and its players exchange; with other arguments nobody knows what"
        " they say."
    ),
    source=f"{GDL}; {GDL2}",
    bad="(<= (next cell 1 x) (true go))",
    good="(<= (next (cell 1 x)) (true go))",
)
