"""What little work proves of a game, for environments."""

from __future__ import annotations

from typing import TYPE_CHECKING

import anygame
from anygame.proving import proving
from anygame.proving.proving import Facts, facts_of

if TYPE_CHECKING:
    import pytest


def test_turns_a_bound_on_moves_and_a_sum_of_goals_are_proved() -> None:
    assert facts_of(anygame.load("tic_tac_toe")) == Facts(takes_turns=True, most_moves=10, goal_sum=100)


def test_roles_that_choose_at_once_are_found_and_random_is_none_of_them() -> None:
    assert facts_of(anygame.load("rock_paper_scissors")).takes_turns is False
    text = """
        (role random) (role a) (legal random left) (legal random right) (legal a left) (legal a right)
        (<= (next over) (does a ?m)) (<= terminal (true over)) (goal a 100)
    """
    assert facts_of(anygame.loads(text)) == Facts(takes_turns=True, most_moves=1, goal_sum=100)


def test_nothing_is_known_of_large_games(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(proving, "_MOST_GATES", 10)
    assert facts_of(anygame.load("liars_dice")) == Facts()


def test_a_goal_sum_needs_matches_that_cannot_get_stuck() -> None:
    text = """
        (role a) (init (at 1)) (<= (legal a go) (true (at 1))) (<= (legal a rest) (true (at 1)))
        (<= (next (at 2)) (does a go)) (<= (next (at 3)) (does a rest))
        (<= terminal (true (at 3))) (<= (goal a 100) (true (at 3)))
    """
    assert facts_of(anygame.loads(text)).goal_sum is None
