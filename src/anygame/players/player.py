"""The interface of players, clocks that limit their calls, and reports of errors in their code."""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from math import inf
from pathlib import Path
from random import Random
from threading import Lock
from time import monotonic
from traceback import StackSummary, TracebackException
from typing import TYPE_CHECKING, Final

from anygame.errors import PlayerError
from anygame.language.diagnostics import shown

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping
    from threading import Event

    from anygame.game.game import Game
    from anygame.game.roles import Role
    from anygame.game.state import RoleView, State
    from anygame.language.terms import Term

#: Maximum number of comment lines on one move.
_MOST_SAID: Final = 20
#: Maximum number of characters of a comment line.
_LONGEST_SAID: Final = 500


class Player(ABC):
    """Base class of players. A player plays one match after another; subclasses must define `move`.

    A player is called in its own thread, one call at a time, and the caller waits at most until the clock is
    up. If a player is late, raises an error or returns an illegal move, its `best` is played, or else a
    random move. The match then continues.

    >>> import anygame
    >>> from anygame.players import Clock
    >>> class Last(Player):
    ...     def move(self, state, clock):
    ...         return state.legal_moves(self.role)[-1]
    >>> game = anygame.loads("(role me) (legal me 1) (legal me 2) (<= terminal (true over))")
    >>> player = Last()
    >>> player.begin(game, game.roles[0], Clock.of(1))
    >>> str(player.move(game.initial_state(), Clock.of(1)))
    '2'

    Attributes:
        game: rules of the match, set before `start` is called.
        role: role of the player in the match, set before `start` is called.
        random: random number generator, seeded with the seed of the player if given.
        best: best move so far while `move` runs. `best` is played if the clock runs out or `move` fails.
        view: observations of the role in games with hidden information, set before `move` is called. With a
            view, the state passed to `move` agrees with the view. None in other games.
        needs_state: whether the player uses the state passed to `move`. If False, hardly any time is spent on
            finding a state that agrees with the view, and `move` can get a guess.
        plays_unprepared: whether a match can begin while `prepare` still runs in another thread. If False,
            random moves are made until `prepare` has ended.
        remembers: whether moves depend on the seed and on earlier thinking in the match, such as a kept tree.
            If True, a tournament restarts an interrupted match, so that the moves are the same. If False, the
            match is resumed.
    """

    game: Game
    role: Role
    best: Term | None = None
    view: RoleView | None = None
    needs_state: bool = True
    plays_unprepared: bool = False
    remembers: bool = False

    def __init__(self, seed: int | None = None) -> None:
        self.random = Random(seed)
        self._drawing = seed, self.random

    @cached_property
    def random(self) -> Random:
        """The default generator of a subclass whose ``__init__`` does not call ``Player.__init__``."""
        return Random()

    @property
    def name(self) -> str:
        """The name of the player in records."""
        return type(self).__name__

    @classmethod  # noqa: B027 - few players care
    def prepare(cls) -> None:
        """Prepare for any game before the first match. `prepare` has no time limit."""

    def begin(self, game: Game, role: Role, clock: Clock) -> None:
        """Begin a match: set ``self.game`` and ``self.role``, then call `start`."""
        self.game, self.role = game, role
        self.start(clock)

    def start(self, clock: Clock) -> None:  # noqa: B027 - few players care
        """Prepare for a match before the clock is up; ``self.game`` and ``self.role`` are set."""

    @abstractmethod
    def move(self, state: State, clock: Clock) -> Term:
        """Return a legal move of ``self.role`` before the clock is up."""

    def draw_anew(self, moment: str) -> None:
        """Seed ``random`` from the seed of the player and a turn of a match; do nothing without a seed.

        In a resumed match, the player then makes the same moves as without an interruption.
        """
        seed, random = self.__dict__.get("_drawing", (None, None))
        if seed is not None and random is not None:
            random.seed(f"{seed}/{moment}")

    def say(self, *words: object) -> None:
        """Comment on the match in a line for watchers and the record.

        The comments on one move are limited to 20 lines of 500 characters.
        """
        said = self.__dict__.setdefault("_said", [])
        if len(said) < _MOST_SAID:
            said.append(shown(" ".join(map(str, words)), _LONGEST_SAID))

    def take_said(self) -> tuple[str, ...]:
        """Return the comments since the last call."""
        return tuple(self.__dict__.pop("_said", ()))

    def stop(self, goals: Mapping[Role, int | None]) -> None:  # noqa: B027 - few players care
        """Handle the end of a match; a goal that the rules do not define is None."""

    def abort(self) -> None:  # noqa: B027
        """Handle the abort of a match, which has no result."""

    def preview(self, game: Game, clock: Clock) -> None:  # noqa: B027
        """Study a game, which a later match can use, until the clock is up."""


def check_option(name: str, value: float | None, least: float, most: float = inf) -> None:
    """Raise PlayerError if the value of an option is out of range; None is always valid.

    >>> check_option("threads", 0, 1, 4096)
    Traceback (most recent call last):
        ...
    anygame.errors.PlayerError: threads must be from 1 to 4,096, not 0
    """
    if value is not None and not least <= value <= most:
        wanted = f"at least {least:,}" if most == inf else f"from {least:,} to {most:,}"
        raise PlayerError(f"{name} must be {wanted}, not {value}")


#: Default safety margin for slow networks, as a share of the clock.
_MARGIN_SHARE: Final = 0.1
#: Maximum default safety margin in seconds.
_LONGEST_MARGIN: Final = 0.5


@dataclass(frozen=True, slots=True)
class Clock:
    """Time limit of an answer, from which a safety margin is already subtracted.

    >>> clock = Clock.of(30)
    >>> clock.seconds, clock.is_up, 29 < clock.remaining() < 30
    (30, False, True)
    >>> Clock.of(0).is_up, Clock.endless().remaining()
    (True, inf)

    Attributes:
        seconds: time limit in seconds, including the safety margin.
        deadline: time at which the clock is up, as a value of `time.monotonic`.
        cancelled: event that ends the clock early, when the answer is no longer needed; otherwise None.
    """

    seconds: float
    deadline: float
    cancelled: Event | None = field(default=None, repr=False, compare=False)

    @classmethod
    def of(cls, seconds: float, *, margin: float | None = None) -> Clock:
        """Start a clock.

        Args:
            seconds: time limit in seconds.
            margin: safety margin in seconds; by default a tenth of the time limit, at most half a second.
        """
        default = min(_LONGEST_MARGIN, seconds * _MARGIN_SHARE)
        taken = default if margin is None else margin
        return cls(seconds, monotonic() + max(0.0, seconds - taken))

    @classmethod
    def endless(cls) -> Clock:
        """Return a clock that is never up."""
        return cls(inf, inf)

    @property
    def is_up(self) -> bool:
        """Whether the time is up, or the answer is no longer needed."""
        return not self.remaining()

    def remaining(self) -> float:
        """Return the seconds left, at least 0."""
        if self.cancelled is not None and self.cancelled.is_set():
            return 0.0
        return max(0.0, self.deadline - monotonic())


_PACKAGE: Final = str(Path(__file__).parents[1])
#: Maximum number of characters of a traceback, because error messages can have any length.
_LONGEST_TRACEBACK: Final = 20_000
#: Maximum number of different errors that are reported for a player.
_MOST_ERRORS: Final = 10


def own_traceback(error: BaseException) -> str:
    """Return the traceback of a player's exception, without the frames of anygame that called the player.

    >>> def move():
    ...     raise ValueError("no memory")
    >>> try:
    ...     move()
    ... except ValueError as error:
    ...     print(own_traceback(error).splitlines()[-1])
    ValueError: no memory
    """
    traceback = TracebackException.from_exception(error)
    frames = list(traceback.stack)
    while len(frames) > 1 and frames[0].filename.startswith(_PACKAGE):
        del frames[0]
    traceback.stack = StackSummary.from_list(frames)
    return "".join(traceback.format())[-_LONGEST_TRACEBACK:]


class Failures:
    """Reports each error of each player once, on standard error and in a file beside the match record.

    Without ``record``, no file is written. Errors that ``former`` has printed are not printed again.
    """

    def __init__(self, record: str | os.PathLike[str] | None = None, former: Failures | None = None) -> None:
        self.path = None if record is None else Path(record).with_suffix(".failures.txt")
        self._printed: set[tuple[str, str]] = set() if former is None else former._printed
        self._written: set[tuple[str, str]] = set()
        self._lock = Lock()

    def report(self, name: str, traceback: str) -> None:
        """Report a traceback (see `own_traceback`), unless the same error was reported before."""
        # The key has no error message, because the same line can fail with another message in every turn.
        key = (name, "\n".join(line for line in traceback.splitlines() if line.startswith("  ")))
        text = f"the player {name} failed; its traceback:\n{traceback.rstrip()}\n"
        with self._lock, suppress(OSError, ValueError):
            if self._is_new(self._printed, key):
                print(f"anygame: {text}", end="", file=sys.stderr, flush=True)
            if self.path is not None and self._is_new(self._written, key):
                with self.path.open("a", encoding="utf-8", errors="backslashreplace") as file:
                    file.write(f"{text}\n")

    def _is_new(self, reported: set[tuple[str, str]], key: tuple[str, str]) -> bool:
        if key in reported or sum(name == key[0] for name, _ in reported) >= _MOST_ERRORS:
            return False
        reported.add(key)
        return True
