"""Layout as edits."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.language_server.places import applied

from anygame.errors import RuleSheetError
from anygame.language_server.documents import layout_edits, line_edits
from anygame.language_server.sheet import Range, WrittenSheet
from anygame.sheets.layout import format_sheet

UGLY = """\
(role x) ; who
(<= (legal x go)   (true a))
;; why

(init a)
(<=    (next b)
  (true a))
"""


def test_layout_keeps_comments_and_changes_only_differing_lines() -> None:
    sheet = WrittenSheet("game.kif", UGLY)
    edits = layout_edits(sheet)
    assert applied(UGLY, edits) == format_sheet(sheet.source)
    assert not any(place.start <= UGLY.index(";; why") < place.end for place, _ in edits)


def test_a_part_of_a_sheet_can_be_laid_out() -> None:
    sheet = WrittenSheet("game.kif", UGLY)
    start = UGLY.index("(next b)")
    changed = applied(UGLY, layout_edits(sheet, Range(start, start + 3)))
    assert changed.startswith(UGLY[: UGLY.index("(<=    (next")])
    assert changed.endswith("(<= (next b)\n    (true a))\n")


def test_line_ends_stay() -> None:
    text = UGLY.replace("\n", "\r\n")
    changed = applied(text, layout_edits(WrittenSheet("game.kif", text)))
    assert changed.count("\n") == changed.count("\r\n")
    assert changed.replace("\r\n", "\n") == format_sheet(WrittenSheet("game.kif", UGLY).source)


def test_a_sheet_that_cannot_be_read_is_not_laid_out() -> None:
    with pytest.raises(RuleSheetError):
        layout_edits(WrittenSheet("game.kif", "(role x"))


@given(st.text("ab\n", max_size=20), st.text("ab\n", max_size=20))
def test_edits_make_one_text_of_the_other(old: str, new: str) -> None:
    assert applied(old, line_edits(old, new)) == new


def test_long_texts_are_replaced_at_once() -> None:
    old = "".join(f"{number}\n" for number in range(5_000))
    assert len(line_edits(f"a\n{old}z\n", f"a\n{old.replace('1', '2')}z\n")) == 1
