"""Sheets of the folders that are open in an editor, for symbols that are looked for by name."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit
from urllib.request import url2pathname

from anygame.language.installed import SUFFIXES
from anygame.language_server.documents import Document
from anygame.language_server.limits import LIMITS
from anygame.language_server.outline import outline

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from anygame.language_server.lines import Encoding
    from anygame.language_server.outline import Entry

#: Files that are looked into, and entries of folders on the way: a folder of sheets has some hundreds.
_MOST_FILES: Final = 500
_MOST_ENTRIES: Final = 20_000
#: Symbols that are told at a time.
_MOST_SYMBOLS: Final = 500


def path_of(uri: str) -> Path | None:
    """Return the path of an address; None where it is no file's."""
    try:
        parts = urlsplit(uri)
    except ValueError:
        return None
    # What `url2pathname` returns has no escapes any more.
    return Path(url2pathname(parts.path)) if parts.scheme == "file" else None


class Workspace:
    """The sheets in some folders; files are read when symbols are looked for, and again when they change."""

    def __init__(self, folders: Iterable[Path] = ()) -> None:
        self.folders = list(folders)
        self._read: dict[Path, tuple[int, list[tuple[Document, Entry]]]] = {}

    def symbols(
        self, query: str, documents: Iterable[Document], encoding: Encoding
    ) -> list[tuple[Document, Entry]]:
        """Return the groups of rules whose name has the letters of a query, of open documents first."""
        wanted = query.lower()
        found: list[tuple[Document, Entry]] = []
        shown = set()
        for document in documents:
            shown.add(path_of(document.uri))
            found += [(document, entry) for entry in outline(document.sheet)]
        for path in self._paths():
            if path not in shown:
                found += self._entries(path, encoding)
        return [(document, entry) for document, entry in found if wanted in entry.name.lower()][
            :_MOST_SYMBOLS
        ]

    def _paths(self) -> Iterator[Path]:
        left, entries = _MOST_FILES, _MOST_ENTRIES
        for folder in self.folders:
            for root, folders, files in os.walk(folder):
                folders[:] = sorted(name for name in folders if not name.startswith("."))
                entries -= len(folders) + len(files)
                for name in sorted(files):
                    if name.endswith(SUFFIXES) and left:
                        left -= 1
                        yield Path(root, name)
                if entries < 0 or not left:
                    return

    def _entries(self, path: Path, encoding: Encoding) -> list[tuple[Document, Entry]]:
        try:
            status = path.stat()
            if status.st_size > LIMITS.reading.bytes:
                return []
            known = self._read.get(path)
            if known is None or known[0] != status.st_mtime_ns:
                document = Document(path.as_uri(), 0, path.read_text(encoding="utf-8-sig"), encoding)
                known = status.st_mtime_ns, [(document, entry) for entry in outline(document.sheet)]
                self._read[path] = known
        except (OSError, ValueError):
            return []
        return known[1]
