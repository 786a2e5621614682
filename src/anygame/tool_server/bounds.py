"""Bounds for the tools, because strangers can write the programs that use them."""

from __future__ import annotations

from typing import Final

from anygame.language.limits import Limits, ReadingLimits

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
