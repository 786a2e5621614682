"""What a page is told of why something holds, and of what moves are worth."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.search.models import saved_model

import anygame
from anygame import LenientReadingWarning
from anygame.web.hosting.questions import StateSearch, why

if TYPE_CHECKING:
    from pathlib import Path

LOOSE = """\
(role x) (init (at a))
(<= empty (not (true (at ?any))))
(<= (legal x go) (true (at a)))
(<= (next (at a)) (true (at a)))
(<= terminal empty)
"""


def test_lines_beside_an_answer_are_those_of_the_sheet_as_it_was_written() -> None:
    with pytest.warns(LenientReadingWarning):
        game = anygame.loads(LOOSE, lenient=True)
    found = why(game.initial_state(), "(legal x go)")
    assert (3, "(<= (legal x go) (true (at a)))") in found["lines"]


def test_values_are_searched_with_the_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANYGAME_MODELS", str(tmp_path))
    game = anygame.load("tic_tac_toe")
    path = saved_model(game, trust=1.0)

    def estimates() -> set[bool]:
        values = StateSearch(game)
        assert values.of(game.initial_state(), 0.1)["moves"]["x"]
        found = values._search.run(game.initial_state(), iterations=100)
        return {move.estimate is not None for move in found.moves[game.roles[0]]}

    assert estimates() == {True}
    path.write_bytes(b"")
    assert estimates() == {False}
