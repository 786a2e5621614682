"""Bounds on strangers' rule sheets: for reading, and for reasoning."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf
from time import thread_time
from typing import Final

from anygame.errors import LimitError

#: Functions over terms and formulas are recursive, including pickling, with a few calls per level. CPython
#: allows 1,000 nested calls, some of which the caller has used.
_DEEPEST: Final = 200


@dataclass(frozen=True, slots=True)
class ReadingLimits:
    """Bounds on text.

    Attributes:
        bytes: size of a file, or characters of a text. The largest public sheets have 0.5 MB, generated
            tables more; 16 MiB are read within seconds.
        depth: nesting of lists, at most 200. People write fewer than 20.
        tokens: names, variables and parentheses together: 16 MiB of typical facts, at 4 characters each.
        token_length: characters of one name or variable.
        arity: arguments of one sentence or term. Boards written as one term have several hundred.
        problems: errors collected before reading stops, and as many warnings.
        seconds: processor time for reading, so that load on the machine does not matter. The largest accepted
            text takes a tenth of it.
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
    """The end of the time for reading one text, counted from creation.

    Args:
        seconds: processor time of the reading thread.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._end = thread_time() + seconds

    def check(self) -> None:
        """Raise LimitError if the time is up."""
        if thread_time() > self._end:
            message = f"reading takes more than {self._seconds:g} seconds of the processor"
            raise LimitError(message, limit="seconds", bound=self._seconds)


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds on what one game may ask of the reasoner.

    Attributes:
        facts: rows of one relation; fewer if it has more than 20 columns. 5 million take about 1 GB; public
            games have at most several hundred thousand.
        terms: different ground terms in all; they take as much memory as facts.
        depth: nesting of terms. It is below the limit of reading, because derived terms are copied, too.
        steps: loop iterations for one question, enough for several minutes. Iterations, unlike seconds, do
            not depend on the machine.
        seconds: wall-clock bound for callers with a deadline; infinite by default.
        reading: bounds on text.
    """

    facts: int = 5_000_000
    terms: int = 5_000_000
    depth: int = 150
    steps: int = 2_000_000_000
    seconds: float = inf
    reading: ReadingLimits = field(default=ReadingLimits())
