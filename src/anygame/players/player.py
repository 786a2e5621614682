"""What a player is: it gets ready, chooses moves, and hears the end."""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from functools import cached_property, wraps
from math import inf
from random import Random
from typing import TYPE_CHECKING, Any, Final

from anygame.errors import PlayerError
from anygame.language.diagnostics import shown

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from anygame.game.game import Game
    from anygame.game.roles import Role
    from anygame.game.state import RoleView, State
    from anygame.language.terms import Term
    from anygame.players.clock import Clock

#: What a player can say about one move: more would fill records.
_MOST_SAID: Final = 20
_LONGEST_SAID: Final = 500


def in_both_forms(start: Callable[..., None]) -> Callable[..., None]:
    """Return a ``start`` that sets the game and the role before it calls the one given.

    It may be called as ``start(game, role, clock)`` or ``start(clock)``, whichever of them is defined.
    """
    signature = inspect.signature(start)
    takes_match = [*signature.parameters][1:2] != ["clock"]
    try:
        signature.bind("self", "game", "role", "clock")
    except TypeError:
        takes_match = False

    @wraps(start)
    def started(self: Player, *given: Any, **named: Any) -> None:
        missing = [name for name in ("game", "role", "clock") if name not in named]
        named |= dict(zip(missing[-len(given) :], given, strict=False))
        self.game, self.role = named.pop("game", None) or self.game, named.pop("role", None) or self.role
        start(self, *((self.game, self.role) if takes_match else ()), named.pop("clock"), **named)

    started.is_in_both_forms = True  # type: ignore[attr-defined]
    return started


class Player(ABC):
    """Plays one role, one match after another. Only `move` must be written.

    Calls come one at a time, in a thread that the player has to itself. Whoever calls waits no longer than
    the clock: for a player that is late or raises its `best` is played, or a random move where it has none,
    as for one that returns what is not legal; and the match goes on.

    >>> import anygame
    >>> from anygame.players import Clock
    >>> class Last(Player):
    ...     def move(self, state, clock):
    ...         return state.legal_moves(self.role)[-1]
    >>> game = anygame.loads("(role me) (legal me 1) (legal me 2) (<= terminal (true over))")
    >>> player = Last()
    >>> player.start(game, game.roles[0], Clock.of(1))
    >>> str(player.move(game.initial_state(), Clock.of(1)))
    '2'

    Attributes:
        game: the rules of the match, set before `start` is called.
        role: the player's role in it, set likewise.
        random: random numbers, from the seed if one is given.
        best: while `move` thinks, the best move so far; it is played if the clock runs out first,
            or `move` fails.
        view: in games with hidden information, what the role knows of the match, set before `move` is called;
            the state that `move` is given then is only one that agrees with it. None in other games.
        needs_state: whether it reads that state. Where it believes on its own, from its view, hardly any time
            is spent on finding one, which may then be a guess.
        plays_unprepared: whether a match may begin while `prepare` is still at work, in another thread: it
            plays worse then, but well enough. Other players are waited for, and random moves made for them.
        remembers: whether its moves follow from its seed, but also from what it thought at those before, as
            where a tree is kept. A tournament plays a match of such players that was broken off from its
            start, so that the same comes of it; other matches go on.
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

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if not hasattr(cls.start, "is_in_both_forms"):
            cls.start = in_both_forms(cls.start)  # type: ignore[method-assign]

    @cached_property
    def random(self) -> Random:
        """Random numbers of a class whose ``__init__`` does not call this one's."""
        return Random()

    @property
    def name(self) -> str:
        """What the player is called in records."""
        return type(self).__name__

    @classmethod  # noqa: B027 - few players care
    def prepare(cls) -> None:
        """Get ready for any game at all, before there is one; it may take long, and is not on the clock."""

    @in_both_forms  # noqa: B027 - few players care
    def start(self, clock: Clock) -> None:
        """Get ready for a match before the clock is up; ``self.game`` and ``self.role`` are set.

        The older form ``start(self, game, role, clock)`` may be defined instead. Callers may use either form.
        """

    @abstractmethod
    def move(self, state: State, clock: Clock) -> Term:
        """Return a legal move of ``self.role`` before the clock is up."""

    def draw_anew(self, moment: str) -> None:
        """Let ``random`` draw from the seed and a moment of a match, whatever it drew before.

        So a match that goes on has the moves that it would have had. Without a seed nothing changes.
        """
        seed, random = self.__dict__.get("_drawing", (None, None))
        if seed is not None and random is not None:
            random.seed(f"{seed}/{moment}")

    def say(self, *words: object) -> None:
        """Say what one thinks of the match, in a line: watchers show it, and the record keeps it.

        Of what is said about one move, twenty lines of 500 characters count.
        """
        said = self.__dict__.setdefault("_said", [])
        if len(said) < _MOST_SAID:
            said.append(shown(" ".join(map(str, words)), _LONGEST_SAID))

    def take_said(self) -> tuple[str, ...]:
        """Return what was said since this was called last."""
        return tuple(self.__dict__.pop("_said", ()))

    def stop(self, goals: Mapping[Role, int | None]) -> None:  # noqa: B027 - few players care
        """Learn how the match ended; None where the rules give a role no goal."""

    def abort(self) -> None:  # noqa: B027
        """Learn that the match ended without a result."""

    def preview(self, game: Game, clock: Clock) -> None:  # noqa: B027
        """Look at a game that may be played later; there is time until the clock is up."""


def check_option(name: str, value: float | None, least: float, most: float = inf) -> None:
    """Refuse the number given for an option of a player where it is out of range; None is never refused.

    >>> check_option("threads", 0, 1, 4096)
    Traceback (most recent call last):
        ...
    anygame.errors.PlayerError: threads is a number from 1 to 4,096, not 0

    Raises:
        PlayerError: it is out of range.
    """
    if value is not None and not least <= value <= most:
        to = "" if most == inf else f" to {most:,}"
        raise PlayerError(f"{name} is a number from {least:,}{to}, not {value}")
