"""Analyses in one call: of a game or a state, and with what a table knows."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING

import pytest

import anygame
from anygame.search import Search

if TYPE_CHECKING:
    from collections.abc import Callable

GAME = anygame.load("tic_tac_toe")
STATE = GAME.initial_state().next(["(mark 1 1)", "noop"])


def test_a_game_with_a_state_and_a_state_alone_are_the_same() -> None:
    found = anygame.analyse(GAME, STATE, iterations=2000, seed=3)
    again = anygame.analyse(STATE, iterations=2000, seed=3)
    searched = Search(GAME, seed=3).run(STATE, iterations=2000)
    assert found.moves == again.moves == searched.moves
    assert found.iterations <= 2600
    assert anygame.analyse(GAME, iterations=100, seed=1).moves[GAME.roles[0]][0].line
    assert anygame.perft(STATE, 2) == anygame.perft(GAME, 2, STATE) == 56
    assert anygame.solve(STATE).goals == anygame.solve(GAME, STATE).goals == {"x": 50, "o": 50}


def _perft(game: anygame.Game | anygame.State, state: anygame.State) -> int:
    return anygame.perft(game, 2, state)


@pytest.mark.parametrize("call", [anygame.analyse, anygame.solve, _perft])
def test_states_of_other_games_are_refused(call: Callable[..., object]) -> None:
    other = anygame.load("pig").initial_state()
    with pytest.raises(anygame.PositionError, match="expected a state of tic_tac_toe, found a state of pig"):
        call(GAME, other)
    with pytest.raises(anygame.PositionError, match="found two states"):
        call(STATE, other)


def test_an_analysis_with_a_table_has_proven_values() -> None:
    table = anygame.solve(GAME, table=True).table
    assert table is not None
    told: list[anygame.Analysis] = []
    found = anygame.analyse(STATE, iterations=200, seed=1, table=table, progress=told.append)
    assert found.proven == {"x": 50, "o": 50}
    assert found.moves[GAME.roles[1]][0].proven == 50
    assert {each.proven for each in found.moves[GAME.roles[1]][1:]} == {0}
    other = anygame.load("pig")
    with pytest.raises(anygame.PositionError):
        anygame.analyse(other, iterations=200, table=table)


def test_without_a_limit_the_analysis_ends_when_solved() -> None:
    last = STATE.next(["noop", "(mark 2 1)"]).next(["(mark 1 2)", "noop"]).next(["noop", "(mark 3 3)"])
    found = anygame.analyse(last, seconds=inf, seed=1)
    assert found.is_solved
    assert found.best("x") == last.legal_moves("x")[0]


def test_it_is_read_at_the_prompt_and_in_a_notebook() -> None:
    found = anygame.analyse(GAME, iterations=300, seed=1)
    assert repr(found) == str(found)
    html = found._repr_html_()
    assert html.count("<tr>") == 10
    assert "<code>(mark 2 2)</code>" in html
    assert "<caption>x" in html
    assert "iterations in" in html
