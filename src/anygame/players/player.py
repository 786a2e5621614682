"""The interface of players."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from functools import cached_property
from math import inf
from random import Random
from time import monotonic
from typing import TYPE_CHECKING, Final

from anygame.errors import PlayerError
from anygame.language.diagnostics import shown

if TYPE_CHECKING:
    from collections.abc import Mapping
    from threading import Event

    from anygame.game.game import Game
    from anygame.game.roles import Role
    from anygame.game.state import RoleView, State
    from anygame.language.terms import Term

#: Maximum number of lines of comments on one move, and of characters of a line.
_MOST_SAID, _LONGEST_SAID = 20, 500


class Player(ABC):
    """Plays one role, in one match after another. Only `move` must be defined.

    A player is called in its own thread, one call at a time, and the caller waits no longer than the clock.
    If a player is late, raises an error or returns an illegal move, its `best` is played, or else a random
    move. The match then continues.

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
        random: generator of random numbers, from the seed if there is one.
        best: best move so far while `move` runs. It is played if the clock runs out or `move` fails.
        view: knowledge of the role in games with hidden information, set before `move` is called. The state
            passed to `move` then agrees with the view. None in other games.
        needs_state: whether the player reads this state. If not, the state can be a guess, as hardly any time
            is spent on finding it.
        plays_unprepared: whether a match can begin while `prepare` still runs in another thread. Otherwise,
            random moves are made until `prepare` has ended.
        remembers: whether moves depend on the seed and on earlier thinking in the match, such as a kept tree.
            A tournament restarts an interrupted match of such players, so that its moves are the same. It
            resumes all other matches.
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
        """Random numbers of a subclass whose ``__init__`` does not call ``Player.__init__``."""
        return Random()

    @property
    def name(self) -> str:
        """The name of the player in records."""
        return type(self).__name__

    @classmethod  # noqa: B027 - few players care
    def prepare(cls) -> None:
        """Get ready for any game before the first match, without a clock. This can be slow."""

    def begin(self, game: Game, role: Role, clock: Clock) -> None:
        """Begin a match: set ``self.game`` and ``self.role``, then call `start`."""
        self.game, self.role = game, role
        self.start(clock)

    def start(self, clock: Clock) -> None:  # noqa: B027 - few players care
        """Get ready for a match before the clock is up; ``self.game`` and ``self.role`` are set."""

    @abstractmethod
    def move(self, state: State, clock: Clock) -> Term:
        """Return a legal move of ``self.role`` before the clock is up."""

    def draw_anew(self, moment: str) -> None:
        """Seed ``random`` with the seed of the player and a moment of a match; do nothing without a seed.

        A resumed match then has the same moves as without an interruption.
        """
        seed, random = self.__dict__.get("_drawing", (None, None))
        if seed is not None and random is not None:
            random.seed(f"{seed}/{moment}")

    def say(self, *words: object) -> None:
        """Comment on the match in a line that watchers show and that the record keeps.

        The comments on one move are limited to 20 lines of 500 characters.
        """
        said = self.__dict__.setdefault("_said", [])
        if len(said) < _MOST_SAID:
            said.append(shown(" ".join(map(str, words)), _LONGEST_SAID))

    def take_said(self) -> tuple[str, ...]:
        """Return the comments since the last call."""
        return tuple(self.__dict__.pop("_said", ()))

    def stop(self, goals: Mapping[Role, int | None]) -> None:  # noqa: B027 - few players care
        """Handle the end of a match; a goal is None if the rules do not define it."""

    def abort(self) -> None:  # noqa: B027
        """Handle the end of a match without a result."""

    def preview(self, game: Game, clock: Clock) -> None:  # noqa: B027
        """Study a game that is possibly played later, until the clock is up."""


def check_option(name: str, value: float | None, least: float, most: float = inf) -> None:
    """Raise PlayerError if the number of an option is out of its range; None is always accepted.

    >>> check_option("threads", 0, 1, 4096)
    Traceback (most recent call last):
        ...
    anygame.errors.PlayerError: threads is a number from 1 to 4,096, not 0
    """
    if value is not None and not least <= value <= most:
        to = "" if most == inf else f" to {most:,}"
        raise PlayerError(f"{name} is a number from {least:,}{to}, not {value}")


#: Safety margin for slow networks: share of the clock, and maximum number of seconds.
_MARGIN_SHARE: Final = 0.1
_LONGEST_MARGIN: Final = 0.5


@dataclass(frozen=True, slots=True)
class Clock:
    """Time until an answer is due; the safety margin is already subtracted.

    >>> clock = Clock.of(30)
    >>> clock.seconds, clock.is_up, 29 < clock.remaining() < 30
    (30, False, True)
    >>> Clock.of(0).is_up, Clock.endless().remaining()
    (True, inf)

    Attributes:
        seconds: length of the clock at its start.
        deadline: time at which the clock is up, on the clock of `time.monotonic`.
        cancelled: event that ends the clock early, as the answer is no longer needed; None if there is none.
    """

    seconds: float
    deadline: float
    cancelled: Event | None = field(default=None, repr=False, compare=False)

    @classmethod
    def of(cls, seconds: float, *, margin: float | None = None) -> Clock:
        """Start a clock now.

        Args:
            seconds: time limit of the answer.
            margin: safety margin in seconds; by default a tenth of the clock, at most half a second.
        """
        taken = margin_of(seconds) if margin is None else margin
        return cls(seconds, monotonic() + max(0.0, seconds - taken))

    @classmethod
    def endless(cls) -> Clock:
        """Return a clock that is never up."""
        return cls(inf, inf)

    @property
    def is_up(self) -> bool:
        """Whether the answer is due, or no longer needed."""
        return not self.remaining()

    def remaining(self) -> float:
        """Return the seconds left, at least 0."""
        if self.cancelled is not None and self.cancelled.is_set():
            return 0.0
        return max(0.0, self.deadline - monotonic())


def margin_of(seconds: float) -> float:
    """Return the default safety margin of a clock, in seconds."""
    return min(_LONGEST_MARGIN, seconds * _MARGIN_SHARE)
