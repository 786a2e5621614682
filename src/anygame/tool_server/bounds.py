"""The bounds within which programs of strangers may use tools."""

from __future__ import annotations

from typing import Final

from anygame.language.limits import Limits, ReadingLimits

#: Characters of one sheet: twice the longest of 371 public sheets.
LONGEST_SHEET: Final = 2**20
#: Rules come from strangers, and a program waits for every answer.
LIMITS: Final = Limits(
    facts=1_000_000,
    terms=1_000_000,
    seconds=20.0,
    reading=ReadingLimits(bytes=LONGEST_SHEET, tokens=500_000, problems=200, seconds=20.0),
)
#: Loaded sheets that are kept, and their characters; beyond, those that were not asked about longest go.
MOST_SHEETS: Final = 64
MOST_CHARACTERS: Final = 16 * 2**20
#: Joint moves that name a state, and facts that do.
MOST_MOVES: Final = 2_000
MOST_FACTS: Final = 20_000
#: Entries of a list that are sent unless fewer or more are asked for, and those that may be asked for.
USUAL: Final = 50
MOST: Final = 1_000
#: Characters of an explanation, a drawing or a message.
LONGEST_TEXT: Final = 20_000
#: Playouts, seconds of a search and of a proof, that may be asked for.
MOST_PLAYOUTS: Final = 1_000_000
MOST_SECONDS: Final = 120.0
#: Seconds for an answer, beside those that were asked for: reading, and compiling where it needs that.
PATIENCE: Final = 60.0
#: Processes that answer at a time, and questions that wait for one.
PROCESSES: Final = 3
MOST_WAITING: Final = 16
#: Bytes of address space of each, and of what a search or a solution may take of it.
MEMORY: Final = 4 * 2**30
SEARCH_MEMORY: Final = 2**29
#: Bytes of its longest answer.
LONGEST_ANSWER: Final = 8 * 2**20
