"""What a page is told of why something holds."""

from __future__ import annotations

import pytest

import anygame
from anygame import LenientReadingWarning
from anygame.web.hosting.questions import why

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
