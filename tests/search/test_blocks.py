"""Blocks of lanes in native code: they find what the reasoner finds, state by state."""

from __future__ import annotations

import numpy as np
import pytest
from tests.search.board_sheets import breakthrough, connect, dots_and_boxes, nim

import anygame
from anygame.search.graph import Exploration, LaneExpansion, StateExpansion

_SIMULTANEOUS = """
(role a) (role b) (init (at 0)) (follows 1 0) (follows 2 1) (legal a 0) (legal a 1) (legal b 0) (legal b 1)
(<= (legal b 2) (true (at 1))) (<= (next (did ?r ?m)) (does ?r ?m))
(<= (next (at ?m)) (true (at ?n)) (follows ?m ?n))
(<= terminal (true (at 2))) (<= (goal a 10) (true (did a 1))) (<= (goal a 20) (true (did b 1)))
(<= (goal b 5) (true (did b 2)))
"""
#: Nothing is legal for the second role after a move of 1.
_STUCK = """
(role a) (role b) (init start) (legal a 0) (legal a 1) (<= (legal b go) (not (true (did 1))))
(<= (next (did ?m)) (does a ?m)) (<= terminal (true (did 0)) (true (did 1))) (goal a 50)
"""


@pytest.mark.parametrize(
    "text",
    [connect(4, 3, 3), breakthrough(3, 4), dots_and_boxes(2, 1), nim(3, 4, 5), _SIMULTANEOUS, _STUCK],
    ids=["connect", "breakthrough", "dots and boxes", "nim", "at the same time", "stuck"],
)
def test_blocks_find_the_graph_that_the_reasoner_finds(text: str) -> None:
    game = anygame.loads(text)
    start = game.initial_state()
    graphs = [
        Exploration(each, game.roles, 1 << 30).run()
        for each in (LaneExpansion(game, start), StateExpansion(start))
    ]
    for name in ("layers", "children", "options", "ends", "goals", "offsets"):
        one, *others = (getattr(graph, name) for graph in graphs)
        for other in others:
            assert np.array_equal(one, other, equal_nan=name == "goals"), name
