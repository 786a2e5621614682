"""Every exception that anygame raises on purpose.

::

    AnygameError
    ├── RuleSheetError (ValueError)      a rule sheet is wrong; has all diagnostics
    │   └── SheetSyntaxError             ... because of its parentheses, tokens or size
    ├── TermSyntaxError (ValueError)     a move, fact or pattern that cannot be parsed
    ├── LimitError                       a bound on facts, depth, time or size was reached
    ├── CompilationError                 a game, or the search, could not be compiled
    ├── UnknownRoleError (ValueError)    no such role in this game
    ├── IllegalMoveError (ValueError)    a move that is not legal here, or a joint move of the wrong shape
    ├── SimultaneousMovesError (ValueError)  roles choose at the same time in a game of turns
    ├── GoalError (ValueError)           the rules give a role no usable goal value
    ├── QueryError (ValueError)          a query that the rules cannot answer
    ├── PositionError (ValueError)       a position (facts, saved file) that cannot be used
    ├── PlayerError (ValueError)         a player that cannot be found or made
    ├── RecordError (ValueError)         a match record that cannot be used
    ├── ClusterError (RuntimeError)      work that cannot be distributed to machines
    │   └── WorkerLostError              ... because a process died, so its state is lost
    ├── DeviceError (RuntimeError)       a graphics card that is missing or cannot be used
    ├── EncodingError (ValueError)       names of actions and fluents that are not those of a game
    ├── QuizError (ValueError)           a quiz that cannot be made or read, or replies that cannot be read
    ├── TableError (ValueError)          a table of exact values that cannot be used or written
    ├── ModelError (ValueError)          a model that cannot be used or written
    └── MissingExtraError (ImportError)  an optional dependency is not installed

``str(error)`` is for people; programs find the same facts in attributes.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

__all__ = [
    "AnygameError",
    "ClusterError",
    "CompilationError",
    "DeviceError",
    "EncodingError",
    "GoalError",
    "IllegalMoveError",
    "LimitError",
    "MissingExtraError",
    "ModelError",
    "PlayerError",
    "PositionError",
    "QueryError",
    "QuizError",
    "RecordError",
    "RuleSheetError",
    "SheetSyntaxError",
    "SimultaneousMovesError",
    "TableError",
    "TermSyntaxError",
    "UnknownRoleError",
    "WorkerLostError",
]


class AnygameError(Exception):
    """Base class of all exceptions that anygame raises on purpose."""

    def _render_traceback_(self) -> list[str]:
        """Return the traceback for notebooks, without the frames of this package and of IPython."""
        import traceback
        from pathlib import Path

        own = (str(Path(__file__).parent), "/IPython/", "\\IPython\\")
        frames = [
            frame
            for frame in traceback.extract_tb(self.__traceback__)
            if not any(part in frame.filename for part in own)
        ]
        return [*traceback.format_list(frames), *traceback.format_exception_only(self)]


class RuleSheetError(AnygameError, ValueError):
    """A rule sheet cannot be used.

    Attributes:
        diagnostics: all faults, sorted by place (``anygame.language.Diagnostic``).
    """

    def __init__(self, message: str, diagnostics: Sequence[object] = ()) -> None:
        super().__init__(message)
        self.diagnostics = tuple(diagnostics)


class SheetSyntaxError(RuleSheetError):
    """The text of a rule sheet cannot be parsed, because of its parentheses, tokens or size."""


class TermSyntaxError(AnygameError, ValueError):
    """A string is not a single term (a move, a fact, a pattern).

    Attributes:
        text: the string.
        position: the offset in ``text``, in characters from 0, where parsing failed.
    """

    def __init__(self, message: str, text: str = "", position: int = 0) -> None:
        super().__init__(message)
        self.text = text
        self.position = position


class LimitError(AnygameError):
    """A computation reached a bound before it finished.

    Attributes:
        limit: the name of the bound (``facts``, ``depth``, ``seconds``, ``terms`` ...).
        bound: the value of the bound.
        relation: the relation that became too large, as ``name/arity``, or None.
        details: lines of text with the places of the relation's rules, and with suggestions.
    """

    def __init__(
        self, message: str, limit: str = "", bound: float = 0, relation: str | None = None, details: str = ""
    ) -> None:
        super().__init__(f"{message}\n{details}" if details else message)
        self.message = message
        self.limit = limit
        self.bound = bound
        self.relation = relation
        self.details = details


class CompilationError(AnygameError):
    """An internal error stopped the compilation of a game or of the search; ``__cause__`` is that error.

    The reasoner can still play and search the game, but more slowly.
    """

    @classmethod
    def of(cls, error: Exception) -> CompilationError:
        """Return the error for an unexpected exception."""
        return cls(
            "compiling failed because of a bug in anygame, not because of the sheet: "
            f"{type(error).__name__}: {str(error)[:200]}; please report it, with the sheet"
        )


class UnknownRoleError(AnygameError, ValueError):
    """The game has no such role.

    Attributes:
        role: the name given.
        roles: the roles of the game, in order.
    """

    def __init__(self, message: str, role: str = "", roles: Iterable[str] = ()) -> None:
        super().__init__(message)
        self.role = role
        self.roles = tuple(roles)


class IllegalMoveError(AnygameError, ValueError):
    """A move is not legal for its role in this state, or a joint move has the wrong shape.

    Attributes:
        role: the role, or None if the joint move as a whole is wrong.
        move: the illegal move as KIF text.
        suggestions: the most similar legal moves as KIF text, best first.
    """

    def __init__(
        self, message: str, role: str | None = None, move: str = "", suggestions: Iterable[str] = ()
    ) -> None:
        super().__init__(message)
        self.role = role
        self.move = move
        self.suggestions = tuple(suggestions)


class GoalError(AnygameError, ValueError):
    """The rules give a role several goal values, or a goal value that is not an integer.

    Attributes:
        role: the role.
        values: all values that the rules give, as sorted KIF text.
    """

    def __init__(self, message: str, role: str = "", values: Iterable[str] = ()) -> None:
        super().__init__(message)
        self.role = role
        self.values = tuple(values)


class QueryError(AnygameError, ValueError):
    """A query that the rules cannot answer, such as an unknown relation or a wrong number of arguments."""


class PositionError(AnygameError, ValueError):
    """A position that cannot be used, such as a fact with variables or a saved file of another game."""


class PlayerError(AnygameError, ValueError):
    """A player that cannot be found or created, such as an unknown name or a constructor that fails."""


class RecordError(AnygameError, ValueError):
    """A match record that cannot be used, such as a file that is not JSON or that lacks rules."""


class SimultaneousMovesError(AnygameError, ValueError):
    """Several roles have a choice in the same state, although the caller needs a turn-based game."""


class ClusterError(AnygameError, RuntimeError):
    """Work cannot be distributed to machines: there is no cluster, or no worker is left."""


class WorkerLostError(ClusterError):
    """A worker process has died, and its state is lost."""


class DeviceError(AnygameError, RuntimeError):
    """A graphics card cannot be used: the card or its driver is missing, too old, out of memory or busy."""


class EncodingError(AnygameError, ValueError):
    """Stored names of actions and fluents that cannot be used, such as the names of another game."""


class QuizError(AnygameError, ValueError):
    """A quiz or a reply that cannot be used, such as a quiz with too few questions."""


class TableError(AnygameError, ValueError):
    """A table of exact values that cannot be used or written, such as a table of another game."""


class ModelError(AnygameError, ValueError):
    """A model that cannot be used or written, such as a model of another game or a damaged file."""


class MissingExtraError(AnygameError, ImportError):
    """An optional dependency is not installed.

    Attributes:
        extra: the extra to install, as in ``pip install 'anygame[extra]'``.
    """

    def __init__(self, message: str, extra: str = "") -> None:
        super().__init__(message)
        self.extra = extra


@contextmanager
def needing(extra: str, needed: str) -> Iterator[None]:
    """Convert an ImportError into a MissingExtraError that names the extra to install.

    >>> with needing("plot", "plots need matplotlib"):
    ...     import matplotlib_that_is_not_installed
    Traceback (most recent call last):
        ...
    anygame.errors.MissingExtraError: plots need matplotlib: pip install 'anygame[plot]'
    """
    try:
        yield
    except ImportError as error:
        raise MissingExtraError(f"{needed}: pip install 'anygame[{extra}]'", extra) from error
