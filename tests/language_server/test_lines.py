"""Places as editors count them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anygame.language_server.documents import Encoding, Lines

CODECS = {"utf-8": ("utf-8", 1), "utf-16": ("utf-16-le", 2), "utf-32": ("utf-32-le", 4)}
#: Characters of one to four bytes, line ends, and what other programs take for line ends.
TEXTS = st.text(alphabet="a(;é€\N{GAME DIE}\r\n\x0b\x0c\x85\u2028", max_size=30)


def test_characters_beyond_the_first_plane_count_twice() -> None:
    lines = Lines("; \N{GAME DIE} roll\n(role x)\n")
    assert lines.place(lines.text.index("roll")) == (0, 5)
    assert lines.offset((0, 5)) == lines.text.index("roll")
    assert lines.place(lines.text.index("role")) == (1, 1)


def test_a_place_inside_a_character_is_before_it() -> None:
    assert Lines("a\N{GAME DIE}b").offset((0, 2)) == 1


def test_only_three_line_ends_end_lines() -> None:
    assert len(Lines("a\x0cb\u2028c\x85d\x0be")) == 1
    assert len(Lines("a\nb\r\nc\rd")) == 4


@pytest.mark.parametrize("place", [(-1, 0), (0, -5), (0, 10**12), (10**12, 0), (7, 7)])
def test_places_beyond_the_text_are_at_its_nearest_end(place: tuple[int, int]) -> None:
    lines = Lines("ab\ncd")
    assert lines.offset(place) in (0, 2, 5)


@pytest.mark.parametrize("encoding", CODECS)
@given(text=TEXTS, data=st.data())
def test_places_lead_back_to_their_offsets(encoding: Encoding, text: str, data: st.DataObject) -> None:
    lines = Lines(text, encoding)
    offset = data.draw(st.integers(0, len(text)))
    if text[offset - 1 : offset + 1] == "\r\n":
        return  # between the two there is no place
    line, units = lines.place(offset)
    assert lines.offset((line, units)) == offset
    codec, width = CODECS[encoding]
    start, _ = lines.bounds(line)
    assert units == len(text[start:offset].encode(codec)) // width
