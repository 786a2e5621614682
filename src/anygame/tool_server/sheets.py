"""The sheets that tools can use, and bounds for sheets and questions of strangers."""

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
#: A pattern that occurs in the text of every sheet, but in no name.
_TEXT: Final = re.compile(r"[(\s]|:-")


class KnownSheets:
    """The sheets by name: installed games, sheets in folders, and loaded sheets."""

    def __init__(self, folders: Iterable[Path] = ()) -> None:
        self._paths = {name: installed_path(name) for name in games()}
        for folder in folders:
            for path in sorted(folder.iterdir()):
                if path.suffix in SUFFIXES and path.is_file():
                    self._paths.setdefault(path.stem, path)
        self._loaded: OrderedDict[str, str] = OrderedDict()

    @property
    def files(self) -> list[str]:
        """The names of the installed games and of the sheets in folders."""
        return sorted(self._paths)

    @property
    def loaded(self) -> list[str]:
        """The names of the loaded sheets, in the order of their last use."""
        return list(self._loaded)

    def keep(self, text: str) -> str:
        """Store a loaded sheet, and return its name. Equal texts have the same name."""
        title, _ = describe_sheet(text)
        stem = "-".join(_WORDS.findall(title.lower())[:4])[:30] or "game"
        name = f"{stem}-{sha256(text.encode()).hexdigest()[:8]}"
        self._loaded[name] = text
        self._loaded.move_to_end(name)
        while len(self._loaded) > MOST_SHEETS or sum(map(len, self._loaded.values())) > MOST_CHARACTERS:
            self._loaded.popitem(last=False)
        return name

    def find(self, asked: str) -> tuple[str, str]:
        """Return the name and the text of a sheet, given its name or its text.

        Raises QueryError for an unknown name or a too long text, and RuleSheetError for an unreadable file.
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
            "and `load` gives a name to the text of a sheet"
        )

    def text(self, name: str) -> str:
        """Return the text of a sheet."""
        return self.find(name)[1]


#: Maximum number of characters in a sheet, twice as many as in the longest of 371 public sheets.
LONGEST_SHEET: Final = 2**20
#: Limits on work with rules from untrusted clients.
LIMITS: Final = Limits(
    facts=1_000_000,
    terms=1_000_000,
    seconds=20.0,
    reading=ReadingLimits(bytes=LONGEST_SHEET, tokens=500_000, problems=200, seconds=20.0),
)
#: Maximum number of loaded sheets. The least recently used sheets are removed.
MOST_SHEETS: Final = 64
#: Maximum total number of characters in loaded sheets.
MOST_CHARACTERS: Final = 16 * 2**20
#: Maximum number of joint moves that a question can give to determine a state.
MOST_MOVES: Final = 2_000
#: Maximum number of facts that a question can give to determine a state.
MOST_FACTS: Final = 20_000
#: Default maximum length of lists in an answer.
USUAL: Final = 50
#: Highest maximum length of lists that a request can set.
MOST: Final = 1_000
#: Maximum number of characters in an explanation, a drawing or a message.
LONGEST_TEXT: Final = 20_000
#: Maximum number of playouts of a question.
MOST_PLAYOUTS: Final = 1_000_000
#: Maximum time limit of a search or proof in seconds.
MOST_SECONDS: Final = 120.0
#: Seconds for reading and compiling, in addition to the time limit of the question.
PATIENCE: Final = 60.0
#: Maximum number of processes.
PROCESSES: Final = 3
#: Maximum number of waiting questions.
MOST_WAITING: Final = 16
#: Maximum address space of a process in bytes.
MEMORY: Final = 4 * 2**30
#: Maximum memory of a search in bytes.
SEARCH_MEMORY: Final = 2**29
#: Maximum size of an answer in bytes.
LONGEST_ANSWER: Final = 8 * 2**20
