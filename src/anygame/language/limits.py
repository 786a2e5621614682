"""Bounds on what strangers' rule sheets may take: to read them, and to reason with them."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf
from time import thread_time
from typing import Final

from anygame.errors import LimitError

#: Everything that looks into terms and formulas recurs, down to pickling, a few calls of CPython a level;
#: it allows a thousand calls, and the caller has some of them.
_DEEPEST: Final = 200


@dataclass(frozen=True, slots=True)
class ReadingLimits:
    """How much text is accepted.

    Attributes:
        bytes: size of a file (of a text: its characters). The largest public sheets have half a megabyte,
            generated tables some; 16 MiB are read within seconds.
        depth: lists inside lists, at most 200. People write fewer than twenty.
        tokens: names, variables and parentheses together: what 16 MiB hold of usual facts, four characters
            each.
        token_length: characters of one name or variable: a line of prose is far shorter.
        arity: arguments of one sentence or term. Boards written as one term have some hundreds.
        problems: errors collected before reading stops, and as many warnings; nobody reads more.
        seconds: of the processor, for reading; a busy machine refuses nothing that a quiet one accepts. The
            largest text that is accepted takes a tenth of it; machines differ.
    """

    bytes: int = 16 * 2**20
    depth: int = _DEEPEST
    tokens: int = 4_000_000
    token_length: int = 4096
    arity: int = 1000
    problems: int = 1000
    seconds: float = 120.0

    def __post_init__(self) -> None:
        if self.depth > _DEEPEST:
            raise ValueError(f"lists can be at most {_DEEPEST} deep, asked for {self.depth}")


class Deadline:
    """The end of the time for reading one text; it starts to run when this is made.

    Args:
        seconds: of the processor that reading may take, in the thread that reads.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._end = thread_time() + seconds

    def check(self) -> None:
        """Raise LimitError when the time is up."""
        if thread_time() > self._end:
            message = f"reading takes more than {self._seconds:g} seconds of the processor"
            raise LimitError(message, limit="seconds", bound=self._seconds)


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds on what one game may ask of the reasoner, and of reading.

    Attributes:
        facts: rows of one relation; fewer of one with more than 20 columns. Five million take about a
            gigabyte; relations of public games have at most some hundred thousand.
        terms: different ground terms in all; they take as much as facts.
        depth: nesting of terms. Below what reading accepts, so that derived terms can be copied too.
        steps: turns of the loops in which one question is answered: some minutes, longer than people wait.
            They are counted, so that no question has an answer on one machine and none on another.
        seconds: the same on the clock, for those who owe an answer to one; it decides nothing otherwise.
        reading: bounds on the text.
    """

    facts: int = 5_000_000
    terms: int = 5_000_000
    depth: int = 150
    steps: int = 2_000_000_000
    seconds: float = inf
    reading: ReadingLimits = field(default=ReadingLimits())
