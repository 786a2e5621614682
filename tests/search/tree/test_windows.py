"""Windows are patterns of neighboring cells, found from the board of any game."""

from __future__ import annotations

import numpy as np
import pytest

import anygame
from anygame.search.evaluation.windows import windows_of
from anygame.search.learning.learner import Learner
from anygame.search.tree.searcher import TreeSearcher

from .race import RACE, amounts, estimates


def _searcher(source: str) -> TreeSearcher:
    searcher = TreeSearcher(_game(source), seed=1, memory=1 << 22)
    searcher.windows = True
    return searcher


def _game(source: str) -> anygame.Game:
    game = anygame.loads(source) if "(" in source else anygame.load(source)
    assert game.compile()
    return game


@pytest.mark.parametrize(
    ("source", "count", "cells", "contents"),
    [
        # Two colors or none: all 3x3 windows but those around corners.
        ("hex_pie", 77, 9, 3**9 + 4 * 3**6),
        (RACE, 26, 9, 3**9 + 4 * 3**6),
        # More kinds of pieces: crosses.
        ("copolymer", 36, 5, None),
        # A board of three by three is too small, and some games have none.
        ("tic_tac_toe", 0, 0, 0),
        ("kuhn_poker", 0, 0, 0),
    ],
)
def test_windows_are_the_largest_that_have_few_enough_contents(
    source: str, count: int, cells: int, contents: int | None
) -> None:
    game = _game(source)
    windows = windows_of(game, game.fluent_terms)
    assert len(windows) == count
    assert max((len(window.offsets) for window in windows), default=0) == cells
    found = {window.offsets: window.contents for window in windows}
    assert contents is None or sum(found.values()) == contents


def test_a_window_has_the_number_of_its_content_as_tally() -> None:
    searcher = _searcher(RACE)
    game = searcher.game
    windows = windows_of(game, game.fluent_terms)
    state = game.initial_state()
    held = {number for number, fluent in enumerate(game.fluent_terms) if fluent in state.facts}
    tallies = [sum(step for fluent, step in window.steps.items() if fluent in held) for window in windows]
    assert all(0 <= tally < window.contents for tally, window in zip(tallies, windows, strict=True))
    bits = np.array([[number in held for number in range(searcher.shape.inputs)]], float)
    # The middle of the board is empty at first, and an empty window has no row.
    assert amounts(searcher.patterns, bits).sum() == sum(tally > 0 for tally in tallies) < len(windows)


def test_only_searchers_that_ask_for_windows_have_them() -> None:
    searcher = TreeSearcher(_game(RACE), seed=1, memory=1 << 22)
    assert searcher.shape.patterns == 0
    searcher.windows = True
    assert searcher.shape.patterns > 20_000


def test_learning_changes_the_rows_that_occur_and_no_others() -> None:
    searcher = _searcher(RACE)
    learner = Learner(searcher, 1)
    before = learner.weights.copy()
    assert learner.play(200)
    first = searcher.shape.inputs + 1
    of_windows = slice(first, first + searcher.shape.patterns)
    changed = (learner.weights[of_windows] != before[of_windows]).any(axis=1)
    assert 100 < changed.sum() < len(changed) / 2


def test_estimates_with_windows_are_those_of_matrices() -> None:
    searcher = _searcher(RACE)
    learner = Learner(searcher, 1)
    assert learner.play(100)
    searcher.use_estimates(learner.weights, 1)
    state = searcher.game.initial_state()
    searcher.begin(state)
    searcher.advance(60, 2000)
    store = searcher._trees[0].store
    states = store.states[:500]
    values = estimates(searcher, learner.weights, states)
    leaves = [node for node in range(500) if store.expansion[node] < 0 and store.visits[node] == 1]
    assert leaves
    for node in leaves:
        assert store.sums[node, 0] == pytest.approx(values[node], abs=1e-4)
