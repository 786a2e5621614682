"""Codes of what is found in play, or proved of it."""

from __future__ import annotations

from typing import Final

from anygame.doctor.code import LIMITS, PLAY, PRACTICE, VALIDATOR, Code
from anygame.language.diagnostics import Severity

#: The game that the examples break.
_STEPS: Final = """\
(role solo)
(init (at 1))
(succ 1 2) (succ 2 3)
(<= (legal solo go) (true (at ?x)) (succ ?x ?_y))
(<= (next (at ?y)) (does solo go) (true (at ?x)) (succ ?x ?y))
"""
_END: Final = "(<= terminal (true (at 3)))\n"
_GOAL: Final = "(<= (goal solo 100) (true (at 3)))"
_GAME: Final = _STEPS + _END + _GOAL
_LOST_VALUE_SHEET: Final = """\
(role x) (role o)
(init (score x 0)) (init (score o 0)) (init (left 2))
(<= (legal ?r win) (role ?r))
(<= (next (score x 1)) (does x win))
(<= (next (left 1)) (true (left 2)))
(<= terminal (not (true (left 2))) (not (true (left 1))))
(<= (goal ?r 100) (true (score ?r 1)))
(<= (goal ?r 0) (role ?r) (not (true (score ?r 1))))
"""
_DOUBLE_VALUE_SHEET: Final = """\
(role x) (init (step 1)) (succ 1 2) (succ 2 3)
(<= (legal x go) (true (step ?n)))
(<= (next (step ?m)) (true (step ?n)) (succ ?n ?m))
(<= terminal (true (step 3)))
(goal x 100)
"""
_OUT_OF_TURN_SHEET: Final = """\
(role x) (role o) (init (control x)) (other x o) (other o x)
(<= (legal ?r noop) (other ?r ?s) (true (control ?s)))
(<= (next (control ?r)) (other ?r ?s) (true (control ?s)))
(<= (next (marked ?n)) (does ?r (mark ?n)))
(<= terminal (true (marked 1)))
(<= (goal ?r 50) (role ?r))
"""

CODES: Final[tuple[Code, ...]] = (
    Code(
        "fluent-outside-base",
        Severity.WARNING,
        "a fluent becomes true that base does not declare",
        demand="Everything that becomes true is declared by `base`, where there is one.",
        why="Systems that trust `base` lose what it does not declare, and play another game.",
        source=VALIDATOR,
        bad=f"{_GAME}\n(base (at 1)) (base (at 2))",
        good=f"{_GAME}\n(base (at 1)) (base (at 2)) (base (at 3))",
    ),
    Code(
        "move-outside-input",
        Severity.WARNING,
        "a move is legal that input does not declare",
        demand="Every legal move is declared by `input`, where there is one.",
        why="Systems that trust `input` cannot make the others.",
        source=VALIDATOR,
        bad=f"{_GAME}\n(legal solo (wait 1))\n(input solo go) (input solo (wait 2))",
        good=f"{_GAME}\n(legal solo (wait 1))\n(input solo go) (input solo (wait 1))",
    ),
    Code(
        "no-move",
        Severity.ERROR,
        "a role has no legal move though the game is not over",
        demand="Until the game is over every role has a legal move.",
        why="All roles move at every step. With nothing to do a role needs a move such as noop.",
        source=PLAY,
        bad=f"{_STEPS}(<= terminal (true (at 4)))\n(init (at 4 never))\n{_GOAL}",
        good=_GAME,
    ),
    Code(
        "over-at-start",
        Severity.WARNING,
        "the game is over before anybody moves",
        demand="The initial state is not terminal.",
        why="A game without a move is none; most often a condition of `terminal` lacks its `not`.",
        source=PLAY,
        bad="(role solo)\n(init (at 1))\n(legal solo go)\n(goal solo 0)\n(<= terminal (not (true (at 9))))",
        good=_GAME,
    ),
    Code(
        "goal-missing",
        Severity.ERROR,
        "the game is over and a role has no goal",
        demand="When the game is over every role has a goal.",
        why="Who has none does not know how the game ended.",
        source=PLAY,
        bad=f"{_STEPS}{_END}(<= (goal solo 100) (true (at 2)))",
        good=_GAME,
    ),
    Code(
        "goal-conflict",
        Severity.ERROR,
        "the game is over and a role has several goals",
        demand="When the game is over no role has two goals.",
        why="Nobody knows which of them counts; systems take either, or stop.",
        source=PLAY,
        bad=f"{_GAME}\n(<= (goal solo 50) (true (at ?x)))",
        good=_GAME,
    ),
    Code(
        "goal-in-play",
        Severity.ERROR,
        "the game is over and a goal is no integer from 0 to 100",
        demand="When the game is over every goal is an integer from 0 to 100.",
        why="Players and tournaments count on the range.",
        source=PLAY,
        bad=f"{_STEPS}{_END}(<= (goal solo ?x) (points ?x))\n(points many)",
        good=_GAME,
    ),
    Code(
        "endless",
        Severity.WARNING,
        "a playout does not come to an end",
        demand="Every game ends after finitely many steps.",
        why=(
            "Players cannot think to the end of a game that has none. That random games did not end within "
            "the bound is no proof (`anygame check --prove` looks for one); a counter of steps makes sure."
        ),
        source=PLAY,
        bad="(role solo)\n(legal solo go)\n(goal solo 0)\n(<= terminal (true over))\n"
        "(<= (next over) (does solo stop) (legal solo stop))",
        good=_GAME,
    ),
    Code(
        "dead-rule",
        Severity.WARNING,
        "a rule that fires in no match",
        demand="Every rule fires in some match.",
        why=(
            "What its conditions ask for never holds at once, in no state that play leads to: a condition is "
            "wrong, or the rule is left over. `anygame check --prove` finds it, by proof."
        ),
        source=PRACTICE,
        bad=f"{_GAME}\n(<= (goal solo 0) (true (at 1)) (true (at 2)))",
        good=_GAME,
    ),
    Code(
        "play-cut",
        Severity.INFO,
        "playing stopped before all playouts were played",
        demand="Playing ends when so much work has been done as is allowed, or at the latest by the clock.",
        why="Slow games are played as far as that goes, and what was found until then is shown.",
        source=LIMITS,
    ),
    Code(
        "standstill",
        Severity.WARNING,
        "nothing changes any more, and the game is not over",
        demand="Until the game is over some move changes something.",
        why="From such a state on the game never ends; most often a fluent that rules ask about is lost.",
        source=PLAY,
        bad="(role solo)\n(init (at 1))\n(legal solo go)\n(goal solo 0)\n(<= terminal (true (at 9)))\n"
        "(<= (next (at ?x)) (true (at ?x)))",
        good=_GAME,
    ),
    Code(
        "lost-value",
        Severity.WARNING,
        "a value that every role or cell has at the start, and one has lost",
        demand="What each role has at the start, or each cell of a board, each has until the end.",
        why="Nothing stays by itself: beside the `next` that says what changes, one has to say what stays.",
        source=PRACTICE,
        bad=_LOST_VALUE_SHEET,
        good=f"{_LOST_VALUE_SHEET}(<= (next (score o ?n)) (true (score o ?n)))\n",
    ),
    Code(
        "double-value",
        Severity.WARNING,
        "a fluent with one value at the start that has two",
        demand="What goes on from one value to another, such as whose turn it is, has one at a time.",
        why="Most often a rule keeps the old value where another says the new one: a condition is missing.",
        source=PRACTICE,
        bad=f"{_DOUBLE_VALUE_SHEET}(<= (next (step ?n)) (true (step ?n)))",
        good=_DOUBLE_VALUE_SHEET,
    ),
    Code(
        "out-of-turn",
        Severity.WARNING,
        "a move that a role can make though another one has the turn",
        demand="Where one role has the turn and another can wait, waiting is all that the other can do.",
        why="A move that does not ask whose turn it is can be made at any time: that was left out.",
        source=PRACTICE,
        bad=f"{_OUT_OF_TURN_SHEET}(<= (legal ?r (mark 1)) (role ?r))",
        good=f"{_OUT_OF_TURN_SHEET}(<= (legal ?r (mark 1)) (true (control ?r)))",
    ),
)
