"""Explanations of the codes of play; the examples are whole games."""

from __future__ import annotations

from typing import Final

from anygame.analysis.doctor.explanations.entry import LIMITS, PLAY, VALIDATOR, Explanation

__all__ = ["ENTRIES"]

_GAME: Final = """\
(role solo)
(init (at 1))
(succ 1 2) (succ 2 3)
(<= (legal solo go) (true (at ?x)) (succ ?x ?_y))
(<= (next (at ?y)) (does solo go) (true (at ?x)) (succ ?x ?y))
"""
_END: Final = "(<= terminal (true (at 3)))\n"
_GOAL: Final = "(<= (goal solo 100) (true (at 3)))"
_GOOD: Final = _GAME + _END + _GOAL

ENTRIES: Final = (
    Explanation(
        "fluent-outside-base",
        "Everything that becomes true is declared by `base`, where there is one.",
        "Systems that trust `base` lose what it does not declare, and play another game.",
        VALIDATOR,
        f"{_GOOD}\n(base (at 1)) (base (at 2))",
        f"{_GOOD}\n(base (at 1)) (base (at 2)) (base (at 3))",
    ),
    Explanation(
        "move-outside-input",
        "Every legal move is declared by `input`, where there is one.",
        "Systems that trust `input` cannot make the others.",
        VALIDATOR,
        f"{_GOOD}\n(legal solo (wait 1))\n(input solo go) (input solo (wait 2))",
        f"{_GOOD}\n(legal solo (wait 1))\n(input solo go) (input solo (wait 1))",
    ),
    Explanation(
        "no-move",
        "Until the game is over every role has a legal move.",
        "All roles move at every step. With nothing to do a role needs a move such as noop.",
        PLAY,
        f"{_GAME}(<= terminal (true (at 4)))\n(init (at 4 never))\n{_GOAL}",
        _GOOD,
    ),
    Explanation(
        "goal-missing",
        "When the game is over every role has a goal.",
        "Who has none does not know how the game ended.",
        PLAY,
        f"{_GAME}{_END}(<= (goal solo 100) (true (at 2)))",
        _GOOD,
    ),
    Explanation(
        "goal-conflict",
        "When the game is over no role has two goals.",
        "Nobody knows which of them counts; systems take either, or stop.",
        PLAY,
        f"{_GOOD}\n(<= (goal solo 50) (true (at ?x)))",
        _GOOD,
    ),
    Explanation(
        "goal-in-play",
        "When the game is over every goal is an integer from 0 to 100.",
        "Players and tournaments count on the range.",
        PLAY,
        f"{_GAME}{_END}(<= (goal solo ?x) (points ?x))\n(points many)",
        _GOOD,
    ),
    Explanation(
        "endless",
        "Every game ends after finitely many steps.",
        "Players cannot think to the end of a game that has none. That random games did not end within the "
        "bound is no proof; a counter of steps makes sure.",
        PLAY,
        "(role solo)\n(legal solo go)\n(goal solo 0)\n(<= terminal (true over))\n"
        "(<= (next over) (does solo stop) (legal solo stop))",
        _GOOD,
    ),
    Explanation(
        "play-cut",
        "Playing takes at most 30 seconds.",
        "Slow games are played as far as the time goes, and what was found until then is told.",
        LIMITS,
    ),
)
