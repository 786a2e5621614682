"""Planes: every fact of an observation is at its square, in a channel that says what it is."""

from __future__ import annotations

import re

import numpy as np
import pytest

import anygame
from anygame.boards.planes import find_planes


def test_pieces_on_the_board_appear_in_planes() -> None:
    game = anygame.load("connect_four")
    batch = game.batch(2)
    state = game.initial_state()
    move = next(move for move in state.legal_moves("red") if "3" in str(move))
    batch.set_state(1, state.next([move, "noop"]))
    planes, layout = batch.planes(), batch.plane_layout
    assert planes.shape == (2, len(layout.channels), layout.rows, layout.columns) == (2, 4, 6, 7)
    assert planes.dtype == np.bool_
    # The first row is at the top: what falls lies in the last one.
    assert np.argwhere(planes[1, layout.channels.index("(cell ? ? red)")]).tolist() == [[5, 2]]
    assert planes[:, layout.channels.index("(control red)")].tolist() == [[[1] * 7] * 6, [[0] * 7] * 6]


@pytest.mark.parametrize("name", anygame.games())
def test_no_two_facts_share_a_place(name: str) -> None:
    game = anygame.load(name)
    planes = find_planes(game, game.fluent_terms)
    one_each = planes.of(np.eye(len(game.fluent_terms), dtype=np.bool_))
    assert one_each.any(axis=(1, 2, 3)).all()
    assert one_each.sum(axis=0).max() == 1
    for fact, plane in zip(map(str, game.fluent_terms), one_each, strict=True):
        (channel,) = np.flatnonzero(plane.any(axis=(1, 2)))
        pattern = re.escape(planes.channels[channel]).replace(r"\?", r"[^ ]+")
        assert re.fullmatch(pattern, fact)


def test_boards_that_stand_apart_have_channels_of_their_own() -> None:
    game = anygame.loads(
        "(role me) (index 1) (index 2) (index 3) (board left) (board right)"
        "(<= (init (cell ?b ?x ?y empty)) (board ?b) (index ?x) (index ?y))"
        "(<= (legal me (mark ?b ?x ?y)) (true (cell ?b ?x ?y empty)))"
        "(<= (next (cell ?b ?x ?y full)) (does me (mark ?b ?x ?y)))"
        "(<= (next (cell ?b ?x ?y ?c)) (true (cell ?b ?x ?y ?c)) (not (does me (mark ?b ?x ?y))))"
        "(<= terminal (true (cell left 1 1 full)))"
    )
    channels = find_planes(game, game.fluent_terms).channels
    assert {"(cell left ? ? full)", "(cell right ? ? full)"} <= set(channels)
