"""The sheets that tools can use, and the bounds on sheets of strangers."""

from __future__ import annotations

import re
from collections import OrderedDict
from difflib import get_close_matches
from hashlib import sha256
from typing import TYPE_CHECKING, Final

from anygame.errors import QueryError
from anygame.language.diagnostics import did_you_mean, shown
from anygame.language.limits import Limits, ReadingLimits
from anygame.language.text import read_source
from anygame.sheets.installed import SUFFIXES, describe_sheet, games, installed_path

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


#: Maximum characters of a sheet, twice as many as in the longest of 371 public sheets.
LONGEST_SHEET: Final = 2**20
#: Bounds for rules of strangers. A program waits for every answer.
LIMITS: Final = Limits(
    facts=1_000_000,
    terms=1_000_000,
    seconds=20.0,
    reading=ReadingLimits(bytes=LONGEST_SHEET, tokens=500_000, problems=200, seconds=20.0),
)
#: Maximum numbers of loaded sheets, and of their characters. The least recently used sheets are removed.
MOST_SHEETS: Final = 64
MOST_CHARACTERS: Final = 16 * 2**20
#: Maximum numbers of joint moves, and of facts, that determine a state.
MOST_MOVES: Final = 2_000
MOST_FACTS: Final = 20_000
#: Maximum length of lists in an answer: the default, and the highest value that a request can set.
USUAL: Final = 50
MOST: Final = 1_000
#: Maximum characters of an explanation, a drawing or a message.
LONGEST_TEXT: Final = 20_000
#: Maximum number of playouts, and maximum seconds of a search or proof.
MOST_PLAYOUTS: Final = 1_000_000
MOST_SECONDS: Final = 120.0
#: Seconds for reading and compiling, in addition to the time in the request.
PATIENCE: Final = 60.0
#: Maximum numbers of processes, and of waiting questions.
PROCESSES: Final = 3
MOST_WAITING: Final = 16
#: Maximum bytes of address space of each process, and of the memory of a search or solution.
MEMORY: Final = 4 * 2**30
SEARCH_MEMORY: Final = 2**29
#: Maximum bytes of an answer.
LONGEST_ANSWER: Final = 8 * 2**20
