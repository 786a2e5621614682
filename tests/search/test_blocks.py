"""Blocks of lanes in native code: they find what batches find, state by state."""

from __future__ import annotations

import numpy as np
import pytest
from tests.search.board_sheets import breakthrough, connect, dots_and_boxes, nim

import anygame
from anygame.search.expansion import LaneExpansion
from anygame.search.graph import explore

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
def test_blocks_find_the_graph_that_batches_find(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    game = anygame.loads(text)
    graphs, states = [], []
    for many in (1 << 40, 0):
        monkeypatch.setattr("anygame.search.expansion.MANY_STATES", many)
        expansion = LaneExpansion(game, game.initial_state())
        graphs.append(explore(expansion, game.roles, 1 << 30))
        states.append(expansion.packed()[1].part(0, len(expansion)))
    for name in ("layers", "children", "options", "ends", "goals", "offsets"):
        one, other = (getattr(graph, name) for graph in graphs)
        assert np.array_equal(one, other, equal_nan=name == "goals"), name
    assert np.array_equal(states[0], states[1])
