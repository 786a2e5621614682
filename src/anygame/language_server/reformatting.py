"""Layout as edits: only what differs, so that editors keep their places; of a part of the text, if asked."""

from __future__ import annotations

from difflib import SequenceMatcher
from typing import TYPE_CHECKING, Final

from anygame.language.layout import format_sheet
from anygame.language_server.settings import LIMITS
from anygame.language_server.sheet import Range

if TYPE_CHECKING:
    from collections.abc import Iterator

    from anygame.language_server.sheet import WrittenSheet

#: Lines up to which differences are looked for line by line: difflib takes the square of them at the worst.
_MOST_LINES: Final = 4_000


def layout_edits(sheet: WrittenSheet, part: Range | None = None) -> list[tuple[Range, str]]:
    """Return the edits that lay a sheet out; only those that touch a part of it, where one is given.

    Raises:
        RuleSheetError: the sheet cannot be read.
    """
    text = format_sheet(sheet.source, limits=LIMITS.reading)
    if "\r\n" in sheet.text:
        text = text.replace("\n", "\r\n")
    edits = line_edits(sheet.text, text)
    if part is not None:
        edits = [edit for edit in edits if edit[0].start <= part.end and part.start <= edit[0].end]
    return edits


def line_edits(old: str, new: str) -> list[tuple[Range, str]]:
    r"""Return edits that make one text of another, in whole lines.

    >>> line_edits("a\nb\nc\n", "a\nB\nc\n")
    [(Range(start=2, end=4), 'B\n')]
    """
    before, after = old.splitlines(keepends=True), new.splitlines(keepends=True)
    same = 0
    while same < min(len(before), len(after)) and before[same] == after[same]:
        same += 1
    tail = 0
    while tail < min(len(before), len(after)) - same and before[-1 - tail] == after[-1 - tail]:
        tail += 1
    middle, changed = before[same : len(before) - tail], after[same : len(after) - tail]
    start = sum(map(len, before[:same]))
    if len(middle) + len(changed) > _MOST_LINES:
        return [(Range(start, start + sum(map(len, middle))), "".join(changed))]
    return list(_differences(middle, changed, start))


def _differences(before: list[str], after: list[str], start: int) -> Iterator[tuple[Range, str]]:
    offsets = [start]
    for line in before:
        offsets.append(offsets[-1] + len(line))
    matcher = SequenceMatcher(None, before, after, autojunk=False)
    for tag, i, j, k, m in matcher.get_opcodes():
        if tag != "equal":
            yield Range(offsets[i], offsets[j]), "".join(after[k:m])
