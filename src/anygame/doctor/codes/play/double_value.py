"""What had one value at the start, and has two."""

from __future__ import annotations

from typing import Final

from anygame.doctor.code import PRACTICE, Code
from anygame.language.diagnostics import Severity

_SHEET: Final = """\
(role x) (init (step 1)) (succ 1 2) (succ 2 3)
(<= (legal x go) (true (step ?n)))
(<= (next (step ?m)) (true (step ?n)) (succ ?n ?m))
(<= terminal (true (step 3)))
(goal x 100)
"""

CODE: Final = Code(
    "double-value",
    Severity.WARNING,
    "a fluent with one value at the start that has two",
    demand="What goes on from one value to another, such as whose turn it is, has one at a time.",
    why="Most often a rule keeps the old value where another says the new one: a condition is missing.",
    source=PRACTICE,
    bad=f"{_SHEET}(<= (next (step ?n)) (true (step ?n)))",
    good=_SHEET,
)
