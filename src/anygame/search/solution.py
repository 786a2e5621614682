"""What an exact solution says."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from anygame.language.terms import Term
    from anygame.search.goals import Bounds
    from anygame.search.table import Table


@dataclass(frozen=True, slots=True)
class Solution:
    """The exact value of a state, or how far solving it came.

    Attributes:
        method: what was computed: ``best goal`` (one role, no chance), ``expectation`` (one role and chance),
            ``minimax`` (two roles that take turns, what one wins the other loses), ``expected minimax`` (the
            same with chance), ``maximin of mixed strategies`` (two such roles that move at the same time),
            ``maximin`` (what each of two roles can make sure of, proven by a search where states are too many
            to be counted); or ``none``.
        solved: whether the value is known.
        goals: per role its value under best play; None for ``random`` and where it is not known.
        bounds: per role between what its value lies, as far as that is known.
        reason: why the value is not known; empty where it is.
        states: how many different states were found.
        expanded: how many of them were continued by every joint move.
        edges: joint moves from the expanded ones.
        depth: every state that so many joint moves lead to, at the least, was expanded; -1 if none was.
        line: joint moves of best play, in the order of the roles, up to the end, to a draw of chance or to a
            mixed choice, or as far as a search kept it; where a game of one role is not solved, of the best
            line that was found.
        seconds: how long it took, compiling aside.
        bytes: memory at the peak, as far as it grows with the game.
        table: the values of all states, if they were asked for and computed.
        leaves: how many positions were evaluated in search of a proof.
        missing: per role but ``random``, how many of the states found end play without a goal for it: the
            rules give none, several, or none that is a whole number, or somebody has no move. They count as
            anything from 0 to 100; whether one role gains what the other loses, the other ends tell.
    """

    method: str
    solved: bool
    goals: Mapping[str, float | None]
    bounds: Mapping[str, Bounds | None]
    reason: str
    states: int
    expanded: int
    edges: int
    depth: int
    line: tuple[tuple[Term, ...], ...]
    seconds: float
    bytes: int
    table: Table | None = field(default=None, repr=False, compare=False)
    leaves: int = 0
    missing: Mapping[str, int] = field(default_factory=dict)
