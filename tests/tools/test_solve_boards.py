"""Small boards are solved as minimax by the reasoner solves them, and strategies are checked by play."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
import pytest
from tools.small_boards import TETROMINOES, breakthrough, connect_four, dots_and_boxes, tic_tac_toe
from tools.solve_boards import StrategyError, check, main

import anygame
from anygame.proving import prove
from anygame.search.graph import Exploration, LaneExpansion

if TYPE_CHECKING:
    from anygame.game import Game, State

_BOARDS = {
    "breakthrough": breakthrough(2, 4),
    "connect four": connect_four(3, 4),
    "dots and boxes": dots_and_boxes(1, 2),
    "fatty": tic_tac_toe(3, "fatty", 1, 1),
    "two stones": tic_tac_toe(3, "elly", 1, 2),
}


def _minimax(game: Game, role: str) -> int:
    """Return what a role can make sure of, by the rules."""

    @cache
    def value(state: State) -> int:
        if state.is_terminal:
            return state.goal(role) or 0
        legal = [state.legal_moves(each) for each in game.roles]
        best = max if len(legal[game.role_index(role)]) > 1 else min
        return best(value(state.next(joint)) for joint in product(*legal))

    return value(game.initial_state())


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.slow] * (name in ("connect four", "two stones")))
        for name in _BOARDS
    ],
)
def test_values_are_those_of_minimax_and_strategies_keep_them(name: str) -> None:
    game = anygame.loads(_BOARDS[name])
    solution = anygame.solve(game, table=True)
    assert solution.table is not None
    by_rules = anygame.loads(_BOARDS[name], machine="reasoner")
    for role in game.roles:
        assert solution.goals[role] == _minimax(by_rules, role)
        assert check(game, solution.table, role) > len(solution.line)


def test_a_strategy_that_does_not_keep_the_value_is_refused() -> None:
    game = anygame.loads(_BOARDS["fatty"])
    table = anygame.solve(game, table=True).table
    assert table is not None
    better = replace(table, bounds=np.full_like(table.bounds, 100))
    for role in game.roles:
        with pytest.raises(StrategyError, match=r"has (0|50) and not 100 at"):
            check(game, better, role)


@pytest.mark.parametrize("name", ["breakthrough", "connect four", "fatty", "two stones"])
def test_bounded_search_finds_wins_as_short_as_counting_all_states(name: str) -> None:
    game = anygame.loads(_BOARDS[name])
    graph = Exploration(LaneExpansion(game, game.initial_state()), game.roles, 1 << 30).run()
    assert graph.complete
    found = prove(game, ["winnable"])
    for place, role in enumerate(game.roles):
        wins = graph.ends[graph.goals[:, place] == 100]
        shortest = int(np.searchsorted(graph.layers, wins.min(), side="right")) - 1 if len(wins) else None
        shown = found[f"winnable {role}"]
        assert (None if shown.match is None else len(shown.match)) == shortest
        assert shown.is_shortest == (shortest is not None)


def test_shapes_lie_as_often_as_they_should() -> None:
    # The orientations of tetrominoes on a board of four by four (Golomb 1994, "Polyominoes").
    wins = {shape: tic_tac_toe(4, shape, 1, 1).count("(<= (won ?p)") for shape in TETROMINOES}
    assert wins == {"skinny": 8, "knobby": 24, "elly": 48, "tippy": 24, "fatty": 9}


def test_a_table_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    main(["dots_and_boxes_2x2"])
    assert "| dots_and_boxes_2x2 | 5,349 | x 100 o 0 | 12 |" in capsys.readouterr().out
