"""Patterns are the conjunctions that the rules say how a game ends by, whatever their fluents are called."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

import anygame
from anygame.search.learning.learner import Learner
from anygame.search.tree.searcher import TreeSearcher

from .race import RACE, amounts

#: Tic-tac-toe whose fluents say by their relation whose mark a cell has, and not where it is blank.
_MARKS = """
(role x) (role o) (index 1) (index 2) (index 3) (init (control x))
(<= (legal ?r (mark ?m ?n)) (true (control ?r)) (index ?m) (index ?n)
    (not (true (cross ?m ?n))) (not (true (nought ?m ?n))))
(<= (legal x noop) (true (control o))) (<= (legal o noop) (true (control x)))
(<= (next (cross ?m ?n)) (does x (mark ?m ?n))) (<= (next (cross ?m ?n)) (true (cross ?m ?n)))
(<= (next (nought ?m ?n)) (does o (mark ?m ?n))) (<= (next (nought ?m ?n)) (true (nought ?m ?n)))
(<= (next (control o)) (true (control x))) (<= (next (control x)) (true (control o)))
(<= (line cross) (true (cross ?m 1)) (true (cross ?m 2)) (true (cross ?m 3)))
(<= (line cross) (true (cross 1 ?n)) (true (cross 2 ?n)) (true (cross 3 ?n)))
(<= (line cross) (true (cross 1 1)) (true (cross 2 2)) (true (cross 3 3)))
(<= (line cross) (true (cross 1 3)) (true (cross 2 2)) (true (cross 3 1)))
(<= (line nought) (true (nought ?m 1)) (true (nought ?m 2)) (true (nought ?m 3)))
(<= (line nought) (true (nought 1 ?n)) (true (nought 2 ?n)) (true (nought 3 ?n)))
(<= (line nought) (true (nought 1 1)) (true (nought 2 2)) (true (nought 3 3)))
(<= (line nought) (true (nought 1 3)) (true (nought 2 2)) (true (nought 3 1)))
(<= open (index ?m) (index ?n) (not (true (cross ?m ?n))) (not (true (nought ?m ?n))))
(<= terminal (line cross)) (<= terminal (line nought)) (<= terminal (not open))
(<= (goal x 100) (line cross)) (<= (goal o 0) (line cross))
(<= (goal x 0) (line nought)) (<= (goal o 100) (line nought))
(<= (goal ?r 50) (role ?r) (not (line cross)) (not (line nought)))
"""

_THREE_SIDES = """
(role x) (role o) (role z) (index 1) (index 2) (index 3) (init (control x))
(after x o) (after o z) (after z x)
(<= (taken ?m ?n) (true (cell ?m ?n ?r)))
(<= (legal ?r (mark ?m ?n)) (true (control ?r)) (index ?m) (index ?n) (not (taken ?m ?n)))
(<= (legal ?r noop) (role ?r) (not (true (control ?r))))
(<= (next (cell ?m ?n ?r)) (does ?r (mark ?m ?n))) (<= (next (cell ?m ?n ?r)) (true (cell ?m ?n ?r)))
(<= (next (control ?s)) (true (control ?r)) (after ?r ?s))
(<= (line ?r) (role ?r) (index ?m) (true (cell ?m 1 ?r)) (true (cell ?m 2 ?r)) (true (cell ?m 3 ?r)))
(<= (line ?r) (role ?r) (index ?n) (true (cell 1 ?n ?r)) (true (cell 2 ?n ?r)) (true (cell 3 ?n ?r)))
(<= open (index ?m) (index ?n) (not (taken ?m ?n)))
(<= terminal (line ?r)) (<= terminal (not open))
(<= (goal ?r 100) (line ?r)) (<= (goal ?r 0) (role ?r) (not (line ?r)))
"""


def _searcher(source: str) -> TreeSearcher:
    game = anygame.loads(source) if "(" in source else anygame.load(source)
    return TreeSearcher(game, seed=1, memory=1 << 22)


def _counted(searcher: TreeSearcher, *moves: str) -> dict[str, float]:
    """Return how many patterns there are of each row after some moves of whoever's turn it is."""
    state = searcher.game.initial_state()
    for move in moves:
        legal = [state.legal_moves(role) for role in searcher.game.roles]
        state = state.next([next((m for m in some if str(m) == move), some[0]) for some in legal])
    packed = searcher.packed(state).reshape(1, -1)
    bits = np.unpackbits(packed.view(np.uint8), axis=1, bitorder="little").astype(float)
    found = amounts(searcher.patterns, bits)[0]
    return {name: count for name, count in zip(searcher.patterns.names, found, strict=True) if count}


@pytest.mark.parametrize(
    ("source", "patterns", "rows"),
    [
        ("tic_tac_toe", 8, ["1 of 3 cell o", "2 of 3 cell o", "3 of 3 cell o", "1 of 3 cell x"]),
        (_MARKS, 8, ["1 of 3 cross", "2 of 3 cross", "3 of 3 cross", "1 of 3 nought"]),
        ("connect_four", 69, ["1 of 4 cell red", "2 of 4 cell red", "3 of 4 cell red", "4 of 4 cell red"]),
        ("six_in_a_row", 204, ["1 of 6 cell black", "2 of 6 cell black"]),
        (RACE, 0, []),
        ("hex_pie", 0, []),
    ],
)
def test_lines_are_patterns_of_two_sides(source: str, patterns: int, rows: list[str]) -> None:
    found = _searcher(source).patterns
    assert len(found.first_tallies) == patterns
    assert list(found.names[: len(rows)]) == rows
    # Each side of a line has as many fluents as rows.
    assert len(found.pattern_numbers) == patterns * found.rows


@pytest.mark.parametrize("source", ["tic_tac_toe", _MARKS])
def test_a_pattern_counts_until_both_sides_occupy_it(source: str) -> None:
    searcher = _searcher(source)
    mine = searcher.patterns.names[3].removeprefix("1 of 3 ")
    own, other = ("cell x", "cell o") if mine == "cell x" else ("cross", "nought")
    assert _counted(searcher) == {}
    assert _counted(searcher, "(mark 2 2)") == {f"1 of 3 {own}": 4}
    assert _counted(searcher, "(mark 2 2)", "(mark 1 1)") == {f"1 of 3 {own}": 3, f"1 of 3 {other}": 2}
    begun = _counted(searcher, "(mark 2 2)", "(mark 1 1)", "(mark 1 2)")
    assert begun == {f"1 of 3 {own}": 2, f"2 of 3 {own}": 1, f"1 of 3 {other}": 1}


def test_of_three_sides_one_alone_has_begun_what_counts() -> None:
    searcher = _searcher(_THREE_SIDES)
    moves = [(1, 1), (2, 2), (2, 3), (1, 2), (3, 1), (3, 3), (1, 3)]
    lines = [[(place, other) for other in (1, 2, 3)] for place in (1, 2, 3)]
    lines += [[(place, other) for place, other in map(reversed, line)] for line in lines]
    for made in range(1, len(moves) + 1):
        marks = {cell: "xoz"[turn % 3] for turn, cell in enumerate(moves[:made])}
        sides = [[marks[cell] for cell in line if cell in marks] for line in lines]
        expected = Counter(f"{len(side)} of 3 cell {side[0]}" for side in sides if len(set(side)) == 1)
        assert _counted(searcher, *(f"(mark {row} {column})" for row, column in moves[:made])) == expected


def test_a_learner_changes_the_weights_of_patterns_that_occur() -> None:
    searcher = _searcher("tic_tac_toe")
    learner = Learner(searcher, 1)
    before = learner.weights.copy()
    assert learner.play(300)
    rows = searcher.patterns.rows
    assert rows == 6
    of_patterns = slice(searcher.shape.inputs + 1, searcher.shape.inputs + 1 + rows)
    assert (learner.weights[of_patterns] != before[of_patterns]).any(axis=1).sum() >= 4


@pytest.mark.parametrize(("limit", "value"), [("MOST_PATTERNS", 7), ("_MOST_TALLIES", 15)])
def test_too_many_patterns_are_dropped(monkeypatch: pytest.MonkeyPatch, limit: str, value: int) -> None:
    monkeypatch.setattr(f"anygame.search.evaluation.patterns.{limit}", value)
    found = _searcher("tic_tac_toe").patterns
    assert found.rows == len(found.first_tallies) == 0


def test_searchers_of_one_game_share_its_patterns() -> None:
    game = anygame.load("tic_tac_toe")
    one, other = (TreeSearcher(game, seed=seed, memory=1 << 22) for seed in (1, 2))
    assert one.patterns is other.patterns
