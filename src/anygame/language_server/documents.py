"""The documents that an editor has open, and the sheets in its folders."""

from __future__ import annotations

import os
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol
from urllib.parse import unquote, urlsplit
from urllib.request import url2pathname

from lsprotocol import types as lsp

from anygame.language_server.checking.findings import Findings
from anygame.language_server.lines import Lines
from anygame.language_server.outline import outline
from anygame.language_server.settings import LIMITS
from anygame.language_server.sheet import WrittenSheet
from anygame.sheets.installed import SUFFIXES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from anygame.language_server.domains import DomainTable
    from anygame.language_server.lines import Encoding
    from anygame.language_server.outline import Entry


#: Maximum number of open documents; further documents are ignored.
_MOST: Final = 1_000


class Part(Protocol):
    """A part of a text, by its offsets."""

    @property
    def start(self) -> int:
        """The offset of the first character."""

    @property
    def end(self) -> int:
        """The offset after the last character."""


class Document:
    """One version of a document.

    Attributes:
        encoding: the encoding of the code units that the editor counts.
        findings: the findings of this version; None before it has been examined.
        domains: the possible values of each place, perhaps in an earlier version.
    """

    def __init__(self, uri: str, version: int, text: str, encoding: Encoding = "utf-16") -> None:
        self.uri = uri
        self.version = version
        self.text = text
        self.encoding: Encoding = encoding
        self.findings: Findings | None = None
        self.domains: DomainTable = Findings().domains

    @cached_property
    def lines(self) -> Lines:
        """The lines of the text."""
        return Lines(self.text, self.encoding)

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


class Documents:
    """The latest version of each open document, by URI."""

    def __init__(self) -> None:
        self._documents: dict[str, Document] = {}
        self.encoding: Encoding = "utf-16"

    def __iter__(self) -> Iterator[Document]:
        return iter(list(self._documents.values()))

    def get(self, uri: str) -> Document | None:
        """Return a document; None if it is not open."""
        return self._documents.get(uri)

    def written(self, uri: str, version: int, text: str) -> Document | None:
        """Store and return a new version of a document; None if too many are open."""
        before = self._documents.get(uri)
        if before is None and len(self._documents) >= _MOST:
            return None
        document = self._documents[uri] = Document(uri, version, text, self.encoding)
        if before is not None:
            document.domains = before.domains
        return document

    def closed(self, uri: str) -> None:
        """Remove a document that was closed."""
        self._documents.pop(uri, None)


#: Maximum number of files to read, and of folder entries to visit.
_MOST_FILES: Final = 500
_MOST_ENTRIES: Final = 20_000
#: Maximum number of symbols in an answer.
_MOST_SYMBOLS: Final = 500


def path_of(uri: str) -> Path | None:
    """Return the path of a URI; None if it is not the URI of a file."""
    try:
        parts = urlsplit(uri)
    except ValueError:
        return None
    return Path(url2pathname(parts.path)) if parts.scheme == "file" else None


class Workspace:
    """The sheets in the folders of an editor; a search for symbols reads each new or changed file."""

    def __init__(self, folders: Iterable[Path] = ()) -> None:
        self.folders = list(folders)
        self._read: dict[Path, tuple[int, list[tuple[Document, Entry]]]] = {}

    def symbols(
        self, query: str, documents: Iterable[Document], encoding: Encoding
    ) -> list[tuple[Document, Entry]]:
        """Return the groups of rules with names that contain a query, those of open documents first."""
        groups: list[tuple[Document, Entry]] = []
        open_paths = set()
        for document in documents:
            open_paths.add(path_of(document.uri))
            groups += [(document, entry) for entry in outline(document.sheet)]
        for path in self._paths():
            if path not in open_paths:
                groups += self._entries(path, encoding)
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

    def _entries(self, path: Path, encoding: Encoding) -> list[tuple[Document, Entry]]:
        try:
            status = path.stat()
            if status.st_size > LIMITS.reading.bytes:
                return []
            cached = self._read.get(path)
            if cached is None or cached[0] != status.st_mtime_ns:
                document = Document(path.as_uri(), 0, path.read_text(encoding="utf-8-sig"), encoding)
                cached = status.st_mtime_ns, [(document, entry) for entry in outline(document.sheet)]
                self._read[path] = cached
        except (OSError, ValueError):
            return []
        return cached[1]
