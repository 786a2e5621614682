"""The sheets that tools can use: installed games, sheets in folders, and loaded texts."""

from __future__ import annotations

import re
from collections import OrderedDict
from difflib import get_close_matches
from hashlib import sha256
from typing import TYPE_CHECKING, Final

from anygame.errors import QueryError
from anygame.language.diagnostics import did_you_mean, shown
from anygame.language.text import read_source
from anygame.sheets.installed import SUFFIXES, describe_sheet, games, installed_path
from anygame.tool_server.bounds import LIMITS, LONGEST_SHEET, MOST_CHARACTERS, MOST_SHEETS

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

_WORDS: Final = re.compile(r"[a-z0-9]+")
#: Pattern that occurs in the text of a sheet, but not in a name.
_TEXT: Final = re.compile(r"[(\s]|:-")


class KnownSheets:
    """The sheets by name: installed games, sheets in folders, and loaded texts."""

    def __init__(self, folders: Iterable[Path] = ()) -> None:
        self._paths = {name: installed_path(name) for name in games()}
        for folder in folders:
            for path in sorted(folder.iterdir()):
                if path.suffix in SUFFIXES and path.is_file():
                    self._paths.setdefault(path.stem, path)
        self._loaded: OrderedDict[str, str] = OrderedDict()

    @property
    def files(self) -> list[str]:
        """The names of the sheets that are files."""
        return sorted(self._paths)

    @property
    def loaded(self) -> list[str]:
        """The names of the loaded texts, in the order of their last use."""
        return list(self._loaded)

    def keep(self, text: str) -> str:
        """Keep a text, and return its name; equal texts have the same name."""
        title, _ = describe_sheet(text)
        stem = "-".join(_WORDS.findall(title.lower())[:4])[:30] or "game"
        name = f"{stem}-{sha256(text.encode()).hexdigest()[:8]}"
        self._loaded[name] = text
        self._loaded.move_to_end(name)
        while len(self._loaded) > MOST_SHEETS or sum(map(len, self._loaded.values())) > MOST_CHARACTERS:
            self._loaded.popitem(last=False)
        return name

    def find(self, asked: str) -> tuple[str, str]:
        """Return the name and the text of a sheet, for its name or its text.

        Raises QueryError for an unknown name or a long text, and RuleSheetError for an unreadable file.
        """
        if asked in self._loaded:
            self._loaded.move_to_end(asked)
            return asked, self._loaded[asked]
        if asked in self._paths:
            return asked, read_source(self._paths[asked], LIMITS.reading).text
        if len(asked) > LONGEST_SHEET:
            raise QueryError(f"the sheet has {len(asked):,} characters; the limit is {LONGEST_SHEET:,}")
        if _TEXT.search(asked):
            return "sheet", asked
        near = get_close_matches(asked, [*self._paths, *self._loaded], 3)
        raise QueryError(
            f"there is no game {shown(asked)!r}{did_you_mean(near) or '.'} `games` lists the names, "
            "and `load` gives the text of a sheet a name"
        )

    def text(self, name: str) -> str:
        """Return the text of a sheet."""
        return self.find(name)[1]
