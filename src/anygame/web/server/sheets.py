"""Rule sheets of the server, and uploads of visitors."""

from __future__ import annotations

import json
import re
import secrets
from contextlib import suppress
from dataclasses import dataclass, replace
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Final

from anygame.errors import AnygameError
from anygame.files import write_whole
from anygame.language.text import read_source
from anygame.sheets.installed import SUFFIXES, describe_sheet, games, open_sheet
from anygame.web.settings import LIMITS

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from anygame.web.settings import Settings

_RECORD: Final = ".json"
#: Unguessable name of an uploaded sheet.
_UPLOADED: Final = re.compile(r"u-[A-Za-z0-9_-]{22}")
_ID_BYTES: Final = 16
#: Maximum number of characters of a title, which takes one line of a page.
_LONGEST_TITLE: Final = 80
#: Maximum number of listed sheets.
_MOST_LISTED: Final = 2_000


@dataclass(frozen=True, slots=True)
class Sheet:
    """A rule sheet.

    Attributes:
        name: name in the addresses of pages.
        visitor: visitor who uploaded the sheet; empty for sheets of the server.
    """

    name: str
    title: str
    description: str
    text: str
    visitor: str = ""
    case_sensitive: bool = True


class Sheets:
    """All sheets. The file of a sheet is read when a page needs the sheet."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._folder = settings.folder / "sheets"
        own: dict[str, Path | None] = {
            path.stem: path
            for path in settings.paths
            if not path.is_dir() and path.suffix not in (*SUFFIXES, _RECORD)
        }
        own |= dict(_files(settings.paths, SUFFIXES))
        #: Path of each sheet of the server, by name; None for installed games.
        self._paths = own | {name: None for name in games() if name not in own}
        self._listed: list[Sheet] | None = None
        #: Uploads by name, cached for the list of uploads.
        self._uploads: dict[str, Sheet | None] = {}

    def listed(self) -> list[Sheet]:
        """Return the sheets in the paths of the settings, followed by the installed games."""
        if self._listed is None:
            offered = [self._offered(name) for name in list(self._paths)[:_MOST_LISTED]]
            self._listed = [sheet for sheet in offered if sheet is not None]
        return self._listed

    @property
    def records(self) -> dict[str, Path]:
        return dict(_files(self._settings.paths, (_RECORD,)))

    def find(self, name: str) -> Sheet | None:
        if _UPLOADED.fullmatch(name):
            return self._uploaded(name)
        stem = name if name in self._paths else Path(name).stem
        return self._offered(stem) if stem in self._paths else None

    def _offered(self, name: str) -> Sheet | None:
        path = self._paths[name]
        try:
            source = open_sheet(name) if path is None else read_source(path, LIMITS.reading)
        except AnygameError as error:
            return Sheet(name, name, "", f"; {error}")
        return described(name, source.text)

    def keep(self, text: str, visitor: str, file: str = "") -> Sheet:
        """Store an upload of a visitor; ``file`` is its file name. Raises OSError if the disk is full."""
        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        name = f"u-{secrets.token_urlsafe(_ID_BYTES)}"
        # The server keeps a tenth as many uploads as records.
        make_room(self._folder, max(1, self._settings.kept // 10))
        stem = Path(file.replace("\\", "/")).stem
        upload = {"visitor": visitor, "file": stem, "text": text}
        write_whole(self._folder / f"{name}.json", json.dumps(upload))
        return described(name, text, visitor, stem)

    def uploaded_by(self, visitor: str) -> list[Sheet]:
        """Return the uploads of a visitor, with empty ``text``, from the latest to the oldest."""
        names = [path.stem for path, _ in by_age(self._folder)]
        uploads = {name: self._uploads.get(name) or self._uploaded(name) for name in names}
        self._uploads = {name: sheet and replace(sheet, text="") for name, sheet in uploads.items()}
        return [sheet for sheet in self._uploads.values() if sheet and sheet.visitor == visitor]

    def _uploaded(self, name: str) -> Sheet | None:
        try:
            upload = json.loads((self._folder / f"{name}.json").read_bytes())
            return described(name, str(upload["text"]), str(upload["visitor"]), str(upload.get("file", "")))
        except (OSError, ValueError, KeyError, TypeError):
            return None


def by_age(folder: Path) -> list[tuple[Path, int]]:
    """Return the JSON files in a folder with their sizes in bytes, from the latest to the oldest file."""
    files = []
    for path in folder.glob("*.json"):
        with suppress(OSError):
            status = path.stat()
            files.append((status.st_mtime, path, status.st_size))
    return [(path, size) for _, path, size in sorted(files, reverse=True)]


def make_room(folder: Path, most: int, most_bytes: float = inf, spared: Collection[str] = ()) -> None:
    """Remove the oldest JSON files in a folder, to make room for another file.

    Afterwards, the folder has fewer than ``most`` files, and at most ``most_bytes`` bytes. A file also stays
    if ``spared`` contains the stem of its name.
    """
    total = 0
    for number, (path, size) in enumerate(by_age(folder), 1):
        total += size
        if (number >= most or total > most_bytes) and path.stem not in spared:
            with suppress(OSError):
                path.unlink()


def _files(paths: Iterable[Path], suffixes: tuple[str, ...]) -> Iterable[tuple[str, Path]]:
    """Yield stem and path of each file with one of the suffixes; a folder stands for the files in it."""
    for path in paths:
        files = sorted(path.iterdir()) if path.is_dir() else [path]
        yield from ((file.stem, file) for file in files if file.suffix in suffixes and file.is_file())


def described(
    name: str, text: str, visitor: str = "", file: str = "", *, case_sensitive: bool = True
) -> Sheet:
    """Return a sheet with the title and description in its text. The file name replaces a missing title."""
    title, description = describe_sheet(text)
    title = title_of(title) or title_of(file) or ("your sheet" if visitor else name)
    return Sheet(name, title, description[:500], text, visitor, case_sensitive)


def title_of(text: str) -> str:
    """Return a text as one line, shortened to 80 characters."""
    words = " ".join(text.split())
    return words if len(words) <= _LONGEST_TITLE else f"{words[: _LONGEST_TITLE - 3]}..."
