"""Limits on untrusted rule sheets, for reading and for reasoning."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf
from time import thread_time
from typing import Final

from anygame.errors import LimitError

#: Maximum nesting of lists. Functions over terms and formulas, including pickling, are recursive and use
#: several calls for each level. CPython allows 1,000 nested calls, and the caller has already used several.
_DEEPEST: Final = 200


@dataclass(frozen=True, slots=True)
class ReadingLimits:
    """Limits on a text.

    Attributes:
        bytes: maximum number of bytes in a file, or of characters in a text. The largest public sheets have
            0.5 MB, and generated sheets can have more. Reading 16 MiB takes several seconds.
        depth: maximum nesting of lists, up to 200. People write fewer than 20 levels.
        tokens: maximum number of names, variables and parentheses. Typical facts have 4 characters for each
            token, so the default suffices for 16 MiB of facts.
        token_length: maximum number of characters of a name or variable.
        arity: maximum number of arguments of a sentence or term. A board written as one term has several
            hundred arguments.
        problems: maximum number of errors before reading stops; also maximum number of reported warnings.
        seconds: maximum processor time of reading in seconds, independent of other load of the machine. The
            largest accepted text takes a tenth of the default limit.
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
            raise ValueError(f"expected a depth of at most {_DEEPEST}, got {self.depth}")


class Deadline:
    """Limit on the processor time of the current thread, in seconds from the creation of the object."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._end = thread_time() + seconds

    def check(self) -> None:
        """Raise LimitError if the time is up."""
        if thread_time() > self._end:
            message = f"reading takes more than {self._seconds:g} seconds of CPU time"
            raise LimitError(message, limit="seconds", bound=self._seconds)


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits on the work of the reasoner for one game.

    Attributes:
        facts: maximum number of facts of a relation; fewer if a fact is stored in more than 20 columns. 5
            million facts take about 1 GB. Public games have at most several hundred thousand facts.
        terms: maximum number of different ground terms, each of which takes as much memory as a fact.
        depth: maximum nesting of terms. The default is lower than for reading, because derived
            terms are copied.
        steps: maximum loop iterations for one question, enough for several minutes. The number of iterations,
            unlike seconds, does not depend on the machine.
        seconds: maximum wall-clock seconds for one question; unlimited by default.
        reading: limits on the text of a sheet.
    """

    facts: int = 5_000_000
    terms: int = 5_000_000
    depth: int = 150
    steps: int = 2_000_000_000
    seconds: float = inf
    reading: ReadingLimits = field(default=ReadingLimits())
