"""The game that the examples of play break."""

from __future__ import annotations

from typing import Final

STEPS: Final = """\
(role solo)
(init (at 1))
(succ 1 2) (succ 2 3)
(<= (legal solo go) (true (at ?x)) (succ ?x ?_y))
(<= (next (at ?y)) (does solo go) (true (at ?x)) (succ ?x ?y))
"""
END: Final = "(<= terminal (true (at 3)))\n"
GOAL: Final = "(<= (goal solo 100) (true (at 3)))"
GAME: Final = STEPS + END + GOAL
