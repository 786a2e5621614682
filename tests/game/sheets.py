"""Ways to ask rule sheets, above all tiny ones that tests write inline."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

import anygame
from anygame.language.diagnostics import Diagnostic

if TYPE_CHECKING:
    from collections.abc import Iterable

    from anygame.language.terms import Term

#: The folder of the rule sheets that come with the project.
SHEETS: Final = Path(__file__).parents[2] / "gdl"

#: Two players bid at once; three bids end the match.
BIDS: Final = """
(role left) (role right)
(number 1) (number 2)
(init (round 0))
(succ 0 1) (succ 1 2) (succ 2 3)
(<= (legal ?r (bid ?n)) (role ?r) (number ?n))
(<= (legal left pass) (true (round 0)))
(<= (next (round ?n)) (true (round ?m)) (succ ?m ?n))
(<= (next (bid ?r ?n)) (does ?r (bid ?n)))
(<= over (true (round 3)))
(<= terminal over)
(<= (ahead ?r) (true (bid ?r 2)) (true (bid ?other 1)))
(<= (goal ?r 100) (ahead ?r))
(<= (goal ?r 0) (role ?r) (not (ahead ?r)))
"""

#: What a sheet needs besides the rules that a test is about.
_ROLE: Final = "(role robot) "


def start_of(rules: str, *, case_sensitive: bool = True) -> anygame.State:
    """Return the initial state of a sheet; the role ``robot`` is declared already."""
    return anygame.loads(_ROLE + rules, case_sensitive=case_sensitive).initial_state()


def texts(terms: Iterable[Term]) -> list[str]:
    """Return the KIF of some terms, sorted."""
    return sorted(map(str, terms))


def asked(rules: str, pattern: str, *, case_sensitive: bool = True) -> list[str]:
    """Return what a pattern's variables stand for in the initial state, each answer as words."""
    answers = start_of(rules, case_sensitive=case_sensitive).query(pattern)
    return [" ".join(map(str, answer.values())) for answer in answers]


def moves_of(rules: str, *, case_sensitive: bool = True) -> list[str]:
    """Return the legal moves of ``robot`` in the initial state."""
    state = start_of(rules, case_sensitive=case_sensitive)
    return list(map(str, state.legal_moves("robot")))


def facts_after(rules: str, *moves: str) -> list[str]:
    """Return what is true after some moves of ``robot``."""
    state = start_of(rules)
    for move in moves:
        state = state.next([move])
    return texts(state.facts)


def errors_of(rules: str) -> list[tuple[str, list[str]]]:
    """Return code and pointed-at texts of each reason why a sheet is refused, in order of place."""
    with pytest.raises(anygame.RuleSheetError) as refused:
        anygame.loads(_ROLE + rules)
    faults = [fault for fault in refused.value.diagnostics if isinstance(fault, Diagnostic)]
    return [(fault.code, _pointed_at(fault)) for fault in faults]


def _pointed_at(fault: Diagnostic) -> list[str]:
    spans = [fault.span, *(note.span for note in fault.notes)]
    return [span.text for span in spans if span is not None]


def answers_of(state: anygame.State) -> tuple[object, ...]:
    """Return much of what can be asked of a state."""
    legal = [texts(state.legal_moves(role)) for role in state.game.roles]
    return (
        legal,
        state.is_terminal,
        texts(state.facts),
        [str(found) for found in state.query("(legal ?r ?m)")],
    )


def following(state: anygame.State) -> list[str]:
    """Return what is true after everybody's last move."""
    return texts(state.next([state.legal_moves(role)[-1] for role in state.game.roles]).facts)
