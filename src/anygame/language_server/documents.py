"""Open documents of an editor, sheets in the folders of an editor, and positions in texts."""

from __future__ import annotations

import os
from difflib import SequenceMatcher
from functools import cached_property
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, TypeAlias
from urllib.parse import unquote, urlsplit
from urllib.request import url2pathname

from lsprotocol import types as lsp

from anygame.language.source import Source
from anygame.language_server.findings import LIMITS, Findings
from anygame.language_server.navigating import outline
from anygame.language_server.sheet import Range, WrittenSheet
from anygame.sheets.installed import SUFFIXES
from anygame.sheets.layout import format_sheet

if TYPE_CHECKING:
    from collections.abc import Iterator

    from anygame.language_server.findings import DomainTable, Finding, Related
    from anygame.language_server.navigating import Entry
    from anygame.language_server.sheet import Occurrence
    from anygame.sheets.edits import Edit

    Part: TypeAlias = Range | Occurrence | Finding | Related | Edit


#: Maximum number of open documents; further documents are ignored.
_MOST: Final = 1_000
#: Maximum number of files that a search for symbols reads.
_MOST_FILES: Final = 500
#: Maximum number of folder entries that a search for symbols visits.
_MOST_ENTRIES: Final = 20_000
#: Maximum number of symbols in the answer to a search.
_MOST_SYMBOLS: Final = 500


class Document:
    """One version of a document.

    Attributes:
        findings: the findings of this version; None before it has been examined.
        domains: the possible values of each place, perhaps from an earlier version.
    """

    def __init__(self, uri: str, version: int, text: str, encoding: Encoding = "utf-16") -> None:
        self.uri = uri
        self.version = version
        self.text = text
        self.lines = Lines(text, encoding)
        self.findings: Findings | None = None
        self.domains: DomainTable = Findings().domains

    @cached_property
    def sheet(self) -> WrittenSheet:
        """The text as a sheet that is being written."""
        return WrittenSheet(unquote(self.uri.rpartition("/")[2]), self.text)

    def offset(self, position: lsp.Position) -> int:
        """Return the offset of a position."""
        return self.lines.offset((position.line, position.character))

    def range(self, part: Part) -> lsp.Range:
        """Return a part of the text as a range, in the code units of the editor."""
        start, end = (lsp.Position(*self.lines.place(offset)) for offset in (part.start, part.end))
        return lsp.Range(start, end)


class Documents(dict[str, Document]):
    """The latest version of each open document by URI, and the sheets in the folders of the editor.

    A search for symbols reads the files that are new or have changed since the last search.
    """

    def __init__(self) -> None:
        super().__init__()
        self.folders: list[Path] = []
        self.encoding: Encoding = "utf-16"
        self._entries: dict[Path, tuple[int, list[tuple[Document, Entry]]]] = {}

    def written(self, uri: str, version: int, text: str) -> Document | None:
        """Store and return a new version of a document; None if too many documents are open."""
        before = self.get(uri)
        if before is None and len(self) >= _MOST:
            return None
        document = self[uri] = Document(uri, version, text, self.encoding)
        if before is not None:
            document.domains = before.domains
        return document

    def symbols(self, query: str) -> list[tuple[Document, Entry]]:
        """Return the groups of rules whose name contains ``query``; groups of open documents come first."""
        groups: list[tuple[Document, Entry]] = []
        open_paths = set()
        for document in list(self.values()):
            open_paths.add(path_of(document.uri))
            groups += [(document, entry) for entry in outline(document.sheet)]
        for path in self._paths():
            if path not in open_paths:
                groups += self._entries_of(path)
        return [group for group in groups if query.lower() in group[1].name.lower()][:_MOST_SYMBOLS]

    def _paths(self) -> Iterator[Path]:
        files_left, entries_left = _MOST_FILES, _MOST_ENTRIES
        for folder in self.folders:
            for root, folders, files in os.walk(folder):
                folders[:] = sorted(name for name in folders if not name.startswith("."))
                entries_left -= len(folders) + len(files)
                for name in sorted(files):
                    if name.endswith(SUFFIXES) and files_left:
                        files_left -= 1
                        yield Path(root, name)
                if entries_left < 0 or not files_left:
                    return

    def _entries_of(self, path: Path) -> list[tuple[Document, Entry]]:
        try:
            status = path.stat()
            if status.st_size > LIMITS.reading.bytes:
                return []
            cached = self._entries.get(path)
            if cached is None or cached[0] != status.st_mtime_ns:
                document = Document(path.as_uri(), 0, path.read_text(encoding="utf-8-sig"), self.encoding)
                cached = status.st_mtime_ns, [(document, entry) for entry in outline(document.sheet)]
                self._entries[path] = cached
        except (OSError, ValueError):
            return []
        return cached[1]


def path_of(uri: str) -> Path | None:
    """Return the path of a URI; None if the URI does not name a file."""
    try:
        parts = urlsplit(uri)
    except ValueError:
        return None
    return Path(url2pathname(parts.path)) if parts.scheme == "file" else None


#: The encoding whose units an editor counts.
Encoding = Literal["utf-8", "utf-16", "utf-32"]
#: Line number of a position, and number of code units before the position in its line; both from 0.
Place = tuple[int, int]


#: Codec of each encoding, and number of bytes in a code unit.
_UNITS: Final[dict[Encoding, tuple[str, int]]] = {
    "utf-8": ("utf-8", 1),
    "utf-16": ("utf-16-le", 2),
    "utf-32": ("utf-32-le", 4),
}


class Lines:
    r"""The lines of a text; converts offsets to positions and back.

    Editors count lines from 0, and characters in code units of an encoding. In UTF-16, the default, a
    character beyond U+FFFF takes two units. A line ends only with ``\n``, ``\r\n`` or ``\r``. In pygls,
    form feeds also end lines.

    >>> lines = Lines("; \N{GAME DIE}!\n(role x)")
    >>> lines.place(3), lines.place(6), lines.offset((0, 4)), lines.offset((9, 9))
    ((0, 4), (1, 1), 3, 13)
    """

    def __init__(self, text: str, encoding: Encoding = "utf-16") -> None:
        self.text = text
        self._source = Source("", text)
        self._codec, self._bytes = _UNITS[encoding]

    def __len__(self) -> int:
        return self.line_of(len(self.text)) + 1

    def bounds(self, line: int) -> tuple[int, int]:
        """Return the offsets of the start of a line and of its line break."""
        return self._source.line_bounds(line + 1)

    def line_of(self, offset: int) -> int:
        """Return the number of the line that contains an offset."""
        return self._source.position(offset)[0] - 1

    def place(self, offset: int) -> Place:
        """Return the position of an offset."""
        line = self.line_of(offset)
        return line, self.width(self.bounds(line)[0], offset)

    def width(self, start: int, end: int) -> int:
        """Return the number of code units of a part of the text."""
        part = self.text[start:end]
        return len(part) if part.isascii() else len(part.encode(self._codec, "surrogatepass")) // self._bytes

    def offset(self, place: Place) -> int:
        """Return the offset of a position; a position past the end of a line or text counts as the end."""
        line, units = place
        if line < 0:
            return 0
        if line >= len(self):
            return len(self.text)
        start, end = self.bounds(line)
        units = max(units, 0)
        part = self.text[start:end]
        if part.isascii():
            return min(start + units, end)
        for offset in range(start, end):
            units -= self.width(offset, offset + 1)
            if units < 0:
                return offset
        return end


#: Maximum number of lines to compare, because difflib can take quadratic time.
_MOST_LINES: Final = 4_000


def layout_edits(sheet: WrittenSheet, part: Range | None = None) -> list[tuple[Range, str]]:
    """Return the edits that lay out a sheet or a part of it. Raises RuleSheetError for an invalid sheet."""
    text = format_sheet(sheet.source, limits=LIMITS.reading)
    if "\r\n" in sheet.text:
        text = text.replace("\n", "\r\n")
    edits = line_edits(sheet.text, text)
    if part is not None:
        edits = [edit for edit in edits if edit[0].start <= part.end and part.start <= edit[0].end]
    return edits


def line_edits(old: str, new: str) -> list[tuple[Range, str]]:
    r"""Return edits of whole lines that change the old text to the new text.

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
    offsets = list(accumulate(map(len, middle), initial=start))
    if len(middle) + len(changed) > _MOST_LINES:
        return [(Range(start, offsets[-1]), "".join(changed))]
    matcher = SequenceMatcher(None, middle, changed, autojunk=False)
    return [
        (Range(offsets[i], offsets[j]), "".join(changed[k:m]))
        for tag, i, j, k, m in matcher.get_opcodes()
        if tag != "equal"
    ]
