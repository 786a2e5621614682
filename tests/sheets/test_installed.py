"""What the head comment of a sheet says of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from anygame.sheets.installed import describe_sheet

if TYPE_CHECKING:
    from collections.abc import Iterator


class _Text(str):
    """A text that counts the lines which are looked at."""

    looked_at = 0

    def splitlines(self, keepends: bool = False) -> Iterator[str]:  # type: ignore[override]
        for line in super().splitlines(keepends):
            self.looked_at += 1
            yield line


def test_only_two_paragraphs_of_a_description_are_read() -> None:
    text = _Text(";\n; A\n; title\n;\n;;\n; and\n; more\n;\n" + "; beyond\n" * 1_000)
    assert describe_sheet(text) == ("A title", "and more")
    assert text.looked_at == 8


def test_a_sheet_of_comments_alone_is_a_title() -> None:
    assert describe_sheet("; a\n" * 3) == ("a a a", "")
    assert describe_sheet("(role x)\n; a") == ("", "")
    assert describe_sheet("") == ("", "")
