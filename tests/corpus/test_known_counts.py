"""A public sheet of chess has the counts of moves that are known of chess, by either machine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest

import anygame

if TYPE_CHECKING:
    from pathlib import Path

#: Sequences of so many moves from the initial position, as the literature has them.
_COUNTS: Final = {1: 20, 2: 400, 3: 8902}


def _chess(corpus: Path) -> Path:
    sheet = corpus / "rules" / "chess.kif"
    if not sheet.exists():
        pytest.skip("the corpus has no sheet of chess")
    return sheet


@pytest.mark.slow
def test_chess_has_the_counts_of_chess_by_its_rules(corpus: Path) -> None:
    game = anygame.load(_chess(corpus), machine="reasoner")
    assert {depth: anygame.perft(game, depth) for depth in _COUNTS} == _COUNTS


@pytest.mark.slow
def test_chess_has_the_counts_of_chess_compiled(corpus: Path) -> None:
    game = anygame.load(_chess(corpus))
    # However busy the machine is: no time decides this test.
    assert game.compile()
    found = anygame.perft_divide(game, max(_COUNTS))
    expected = anygame.perft_divide(anygame.load(_chess(corpus), machine="reasoner"), max(_COUNTS))
    assert found == expected
    assert sum(found.values()) == _COUNTS[max(_COUNTS)]
