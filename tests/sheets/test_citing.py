"""The lines of a sheet that explanations cite."""

from __future__ import annotations

from typing import Final

from anygame.language.parser import parse_program
from anygame.sheets.citing import cited_lines, goal_lines

_SHEET: Final = """\
(role a)
(<= (goal a 100)
    (true won))
(<= terminal (true won))
(goal a 0)
"""


def test_goals_are_cited_with_the_indented_lines_of_their_rules() -> None:
    numbers = [number for number, _ in goal_lines(parse_program(_SHEET))]
    assert numbers == [2, 3, 5]


def test_a_line_is_cited_once_and_a_place_beyond_the_sheet_is_ignored() -> None:
    found = cited_lines(parse_program(_SHEET), "by x.kif:4:1, x.kif:4:9 and x.kif:99:1")
    assert found == [(4, "(<= terminal (true won))")]
