"""Who only waits, since another has the turn, can move as well."""

from __future__ import annotations

from typing import Final

from anygame.doctor.code import PRACTICE, Code
from anygame.language.diagnostics import Severity

_SHEET: Final = """\
(role x) (role o) (init (control x)) (other x o) (other o x)
(<= (legal ?r noop) (other ?r ?s) (true (control ?s)))
(<= (next (control ?r)) (other ?r ?s) (true (control ?s)))
(<= (next (marked ?n)) (does ?r (mark ?n)))
(<= terminal (true (marked 1)))
(<= (goal ?r 50) (role ?r))
"""

CODE: Final = Code(
    "out-of-turn",
    Severity.WARNING,
    "a move that a role can make though another one has the turn",
    demand="Where one role has the turn and another can wait, waiting is all that the other can do.",
    why="A move that does not ask whose turn it is can be made at any time: that was left out.",
    source=PRACTICE,
    bad=f"{_SHEET}(<= (legal ?r (mark 1)) (role ?r))",
    good=f"{_SHEET}(<= (legal ?r (mark 1)) (true (control ?r)))",
)
