"""Edits of a sheet's text.

An edit replaces a part of the text by pieces: new text, and ranges of the old text. Other edits can apply
inside these ranges, so one edit can move a literal while another edit corrects the literal.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from textwrap import wrap
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from anygame.language.source import Span


@dataclass(frozen=True, slots=True)
class Edit:
    """Replacement of the characters ``start`` (inclusive) to ``end`` (exclusive) of a text by pieces."""

    start: int
    end: int
    pieces: tuple[str | tuple[int, int], ...]

    @property
    def text(self) -> str:
        """The new text, without ranges of the old text."""
        return "".join(piece for piece in self.pieces if isinstance(piece, str))

    def written(self, text: str) -> str:
        """Return the new text of the replaced range, without the effects of other edits."""
        return "".join(piece if isinstance(piece, str) else text[slice(*piece)] for piece in self.pieces)


@dataclass(frozen=True, slots=True)
class Mend:
    """Edits that mend a fault."""

    #: The kind, as in ``anygame mend --select``.
    kind: str
    message: str
    #: The place; None for an addition at the end of the sheet.
    span: Span | None
    edits: tuple[Edit, ...] = ()


def apply_edits(text: str, edits: Iterable[Edit]) -> str:
    """Return the edited text. Edits must not overlap, except inside ranges that another edit keeps."""
    ordered = sorted(edits, key=lambda edit: (edit.start, edit.end > edit.start, -edit.end))
    return _rendered(text, 0, len(text), ordered)


def _rendered(text: str, start: int, end: int, edits: Sequence[Edit]) -> str:
    pieces = []
    number = 0
    while number < len(edits):
        edit = edits[number]
        number += 1
        inner = []
        while number < len(edits) and edits[number].start < edit.end:
            inner.append(edits[number])
            number += 1
        pieces.append(text[start : edit.start])
        for piece in edit.pieces:
            if isinstance(piece, str):
                pieces.append(piece)
            else:
                low, high = piece
                inside = [other for other in inner if low <= other.start and other.end <= high]
                pieces.append(_rendered(text, low, high, inside))
        start = edit.end
    pieces.append(text[start:end])
    return "".join(pieces)


def offset_before(edits: Iterable[Edit], offset: int) -> int:
    """Return the original offset of a place in the edited text; the edits must keep no ranges of old text."""
    shift = 0
    for edit in sorted(edits, key=lambda edit: edit.start):
        written = len(edit.written(""))
        if offset < edit.start + shift + written:
            break
        shift += written - (edit.end - edit.start)
    return offset - shift


def end_of_line(text: str, end: int, comments: Sequence[tuple[int, int]]) -> int:
    """Return the end of the comment after an offset on a line, or the offset if no comment follows."""
    number = bisect_left(comments, (end, end))
    if number == len(comments):
        return end
    start, after = comments[number]
    return end if text[end:start].strip(" \t") else after


def wrapped(items: Iterable[object], width: int) -> list[str]:
    """Return lines filled with items; no item continues on a second line."""
    text = " ".join(str(item).replace(" ", "\0") for item in items)
    lines = wrap(text, width, break_long_words=False, break_on_hyphens=False)
    return [line.replace("\0", " ") for line in lines]
