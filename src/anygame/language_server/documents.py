"""The documents that an editor has open."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Final
from urllib.parse import unquote

from anygame.language_server.checking.findings import Findings
from anygame.language_server.lines import Lines
from anygame.language_server.sheet import WrittenSheet

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from anygame.language_server.domains import DomainTable
    from anygame.language_server.lines import Encoding, Place

#: A part of the text, or None for the whole of it, and what takes its place.
Change = tuple["tuple[Place, Place] | None", str]
#: Documents at a time: more are left unanswered, as if they were not open.
_MOST: Final = 1_000


class Document:
    """One version of a document; it does not change.

    Attributes:
        uri: its address.
        version: its number, as the editor counts.
        text: its text.
        encoding: whose units the editor counts.
        findings: what was found in this version; None while it is examined.
        domains: what can stand where, as far as it is known: also from a version before.
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
        """Its lines."""
        return Lines(self.text, self.encoding)

    @cached_property
    def sheet(self) -> WrittenSheet:
        """Its text as a sheet that is being written."""
        return WrittenSheet(unquote(self.uri.rpartition("/")[2]), self.text)

    def changed(self, version: int, changes: Iterable[Change]) -> Document:
        """Return the document after changes."""
        text = self.text
        for place, new in changes:
            text = new if place is None else Lines(text, self.encoding).replaced(*place, new)
        after = Document(self.uri, version, text, self.encoding)
        after.domains = self.domains
        return after


class Documents:
    """The latest versions of the open documents, by address."""

    def __init__(self) -> None:
        self._documents: dict[str, Document] = {}
        self.encoding: Encoding = "utf-16"

    def __iter__(self) -> Iterator[Document]:
        return iter(list(self._documents.values()))

    def get(self, uri: str) -> Document | None:
        """Return a document; None where it is not open."""
        return self._documents.get(uri)

    def opened(self, uri: str, version: int, text: str) -> Document | None:
        """Note that a document has been opened; None if there are too many."""
        if len(self._documents) >= _MOST and uri not in self._documents:
            return None
        document = self._documents[uri] = Document(uri, version, text, self.encoding)
        return document

    def changed(self, uri: str, version: int, changes: Iterable[Change]) -> Document | None:
        """Note that a document has changed; None where it is not open."""
        before = self._documents.get(uri)
        if before is None:
            return None
        document = self._documents[uri] = before.changed(version, changes)
        return document

    def closed(self, uri: str) -> None:
        """Note that a document has been closed."""
        self._documents.pop(uri, None)
