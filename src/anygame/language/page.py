"""Lines of a sheet as they are laid out: code, comments at their ends, tables of facts."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import groupby
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

#: Columns that lines keep to where they can be broken.
WIDTH: Final = 100

#: Indentation stops growing here, so that no text can make lines of blanks.
_DEEPEST: Final = 60
_BEFORE_COMMENT: Final = "  "


@dataclass(slots=True)
class _Line:
    code: str = ""
    comment: str = ""
    cells: Sequence[str] = field(default=())  # several facts
    relation: str = ""  # theirs


class Page:
    """A text that grows line by line."""

    def __init__(self) -> None:
        self._lines = [_Line()]

    @property
    def column(self) -> int:
        """Characters on the current line, comments aside."""
        return len(self._now.code)

    @property
    def is_ended(self) -> bool:
        """Whether a comment ends the current line."""
        return bool(self._now.comment)

    @property
    def is_comment(self) -> bool:
        """Whether the current line is a comment and nothing else."""
        return self.is_ended and not self._now.code.strip()

    def newline(self, indent: int = 0, *, blanks: int = 0) -> None:
        """Start a line, after blank ones if asked for; at the start of the text there is nothing to do."""
        if self._now.code or self._now.comment:
            self._lines += [_Line() for _ in range(blanks + 1)]
        self._now.code = " " * min(indent, _DEEPEST)

    def put(self, text: str) -> None:
        """Add code to the current line: before its comment, if it has one."""
        self._now.code += text

    def row(self, relation: str, cells: Sequence[str]) -> None:
        """Fill the current line with facts of one relation."""
        self._now.code = " ".join(cells)
        if len(cells) > 1:
            self._now.cells, self._now.relation = cells, relation

    def comment(self, text: str) -> None:
        """Add a comment to the current line."""
        self._now.comment = text

    def text(self) -> str:
        """Return the lines, with facts in columns and comments at the ends of neighbouring lines aligned."""
        for relation, group in groupby(self._lines, lambda line: line.relation):
            if relation:
                _align_cells(list(group))
        return "".join(f"{line}\n" for line in _written(self._lines)).lstrip("\n")

    @property
    def _now(self) -> _Line:
        return self._lines[-1]


def _align_cells(lines: Sequence[_Line]) -> None:
    widths: list[int] = []
    for line in lines:
        for number, cell in enumerate(line.cells):
            if number == len(widths):
                widths.append(0)
            widths[number] = max(widths[number], len(cell))
    rows = [
        " ".join(cell.ljust(width) for cell, width in zip(line.cells, widths, strict=False)).rstrip()
        for line in lines
    ]
    if max(map(len, rows)) <= WIDTH:
        for line, row in zip(lines, rows, strict=True):
            line.code = row


def _written(lines: Iterable[_Line]) -> list[str]:
    written = []
    for aligned, group in groupby(lines, lambda line: bool(line.comment and line.code.strip())):
        found = list(group)
        width = max(len(line.code) for line in found) if aligned else 0
        for line in found:
            code = line.code.ljust(width) + _BEFORE_COMMENT if aligned else line.code
            written.append((code + line.comment).rstrip())
    return written
