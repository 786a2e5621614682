"""What pages show of states: the cells by which a side won, boards with a bottom, counts of playouts."""

from __future__ import annotations

import itertools
import re
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

import anygame
from anygame.boards import Painter
from anygame.match.course import summary_of
from anygame.web.hosting.questions import StateSearch
from anygame.web.hosting.views import state_view

if TYPE_CHECKING:
    from anygame.game.state import State


def _end(game: anygame.Game, seed: int) -> State:
    """Return the end of a random match."""
    state, random = game.initial_state(), Random(seed)
    while not state.is_terminal:
        state = state.next([random.choice(state.legal_moves(role)) for role in game.roles])
    return state


def _shown(state: State, game: anygame.Game) -> dict[str, Any]:
    view: dict[str, Any] = state_view(state, summary_of(state), Painter.of(game), before=None, joint=None)
    return view


@pytest.mark.parametrize(("name", "length"), [("tic_tac_toe", 3), ("connect_four", 4)])
def test_the_chain_of_a_winner_is_a_line_of_its_own(name: str, length: int) -> None:
    game = anygame.load(name)
    for seed in range(20):
        state = _end(game, seed)
        svg = _shown(state, game)["picture"]["svg"]
        chain = re.search(r'<g class="chain">(.*?)</g>', svg, re.DOTALL)
        assert (chain is None) == (len(set(map(state.goal, game.roles))) == 1)
        if chain:
            rings = set(re.findall(r'cx="([\d.-]+)" cy="([\d.-]+)"', chain[1]))
            assert len(rings) == length
            places = sorted((float(x), float(y)) for x, y in rings)
            steps = {(round(b[0] - a[0]), round(b[1] - a[1])) for a, b in itertools.pairwise(places)}
            assert len(steps) == 1


def test_only_boards_into_which_things_are_dropped_have_a_bottom() -> None:
    upright = {name for name in anygame.games() if Painter.of(anygame.load(name)).upright}
    assert upright == {"connect_four"}
    turned = anygame.loads(
        "(role me) (n 1) (n 2) (n 3) (<= (base (cell ?row ?column full)) (n ?row) (n ?column))"
        "(init (cell 1 1 full)) (<= (legal me (push ?row)) (n ?row)) (<= (next ?fact) (true ?fact))"
        "(<= (next (cell ?row 3 full)) (does me (push ?row))) (goal me 0)"
    )
    assert not Painter.of(turned).upright


def test_the_count_of_playouts_covers_all_calls() -> None:
    game = anygame.load("tic_tac_toe")
    search, state = StateSearch(game), game.initial_state()
    counts = []
    for _ in range(3):
        found = search.of(state, 0.05)
        counts.append(found["playouts"])
        assert found["playouts"] == max(
            sum(move["visits"] for move in moves) for moves in found["moves"].values()
        )
    assert counts == sorted(counts)
