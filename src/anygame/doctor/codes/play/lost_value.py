"""What each role, or each cell of a board, had at the start, one has no more."""

from __future__ import annotations

from typing import Final

from anygame.doctor.code import PRACTICE, Code
from anygame.language.diagnostics import Severity

_SHEET: Final = """\
(role x) (role o)
(init (score x 0)) (init (score o 0)) (init (left 2))
(<= (legal ?r win) (role ?r))
(<= (next (score x 1)) (does x win))
(<= (next (left 1)) (true (left 2)))
(<= terminal (not (true (left 2))) (not (true (left 1))))
(<= (goal ?r 100) (true (score ?r 1)))
(<= (goal ?r 0) (role ?r) (not (true (score ?r 1))))
"""

CODE: Final = Code(
    "lost-value",
    Severity.WARNING,
    "a value that every role or cell has at the start, and one has lost",
    demand="What each role has at the start, or each cell of a board, each has until the end.",
    why="Nothing stays by itself: beside the `next` that says what changes, one has to say what stays.",
    source=PRACTICE,
    bad=_SHEET,
    good=f"{_SHEET}(<= (next (score o ?n)) (true (score o ?n)))\n",
)
