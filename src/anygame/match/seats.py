"""Seats: how the referee reaches one player, wherever it runs.

A seat sends the messages of the GGP protocol and returns the replies unread; the referee judges them
(`anygame.match.judging`). A seat never raises because of its player: errors are in the `Reply`. A clock
starts when a message is sent. The seat then waits for the whole reply, for at most the clock and its grace.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from anygame.game.game import Game
    from anygame.game.roles import Role
    from anygame.game.state import State
    from anygame.language.terms import Term
    from anygame.players.failures import Failures

#: Seconds that a reply to PLAY may be late, as in the reference manager. START and STOP have no grace.
PLAY_GRACE: Final = 1.0
#: Seconds for a player to answer ABORT.
ABORT_CLOCK: Final = 1.0
#: Seconds to connect to a player before the clock starts.
REACH_CLOCK: Final = 5.0
#: The most characters of a reply; the rest is dropped.
LONGEST_REPLY: Final = 65_536

#: Values of `Reply.error`, as in match records.
TIMED_OUT: Final = "TO"
CONNECTION_ERROR: Final = "CE"


@dataclass(frozen=True, slots=True)
class MatchInfo:
    """Data of a match that a player gets at its start.

    Attributes:
        match_id: the name of the match, one atom of ASCII letters, digits, ``.``, ``_``, ``-``.
        game: the rules; the match starts in their initial state.
        role: the role of the player.
        start_clock: seconds to get ready.
        play_clock: seconds for each move.
        scramble: the seed of the scrambled words that replace those of the rules, the same for all players of
            a match; None to send the rules as they are. Only remote seats use it; the moves they take and the
            replies they return are always in the words of ``game``.
        state: returns the present state of the match, for seats in this process; None for remote seats.
        failures: reports errors in the code of players in this process.
        course: returns the first state of the match and the joint moves since; None if they are unknown. A
            resumed match with hidden information (GDL-II) has moves before START. Moves that are taken back
            are removed.
        seed: the seed of the random numbers of the match; None for fresh ones.
        step: returns the number of joint moves since the match began, including those before interruptions;
            None if unknown.
    """

    match_id: str
    game: Game
    role: Role
    start_clock: float
    play_clock: float
    scramble: int | None = None
    state: Callable[[], State] | None = None
    failures: Failures | None = None
    course: Callable[[], tuple[State, Sequence[tuple[Term, ...]]]] | None = None
    seed: int | None = None
    step: Callable[[], int] | None = None

    @property
    def drawing(self) -> str:
        """The seed of the random numbers of a seat."""
        return f"{self.match_id if self.seed is None else self.seed}/{self.role}"


@dataclass(frozen=True, slots=True)
class Reply:
    """Reply of a player.

    Attributes:
        text: the raw reply, at most `LONGEST_REPLY` characters; None without a reply.
        error: None, ``"TO"`` (no complete reply within the clock) or ``"CE"`` (the player cannot be reached,
            or the connection broke).
        detail: an explanation for people.
        said: comments of the player, line by line.
    """

    text: str | None
    error: str | None = None
    detail: str = ""
    said: tuple[str, ...] = ()


class Seat(Protocol):
    """How the referee reaches one player.

    The calls for a match are ``start``, any number of ``play``, then ``stop`` or ``abort``. After them, the
    next match may start. After a cancelled call, ``abort`` can still be called.

    Attributes:
        name: the name of the player, for records and for people.
    """

    name: str

    async def start(self, match: MatchInfo) -> Reply:
        """Send START; wait for at most the start clock."""

    async def play(self, match_id: str, joint: tuple[Term, ...] | None, clock: float) -> Reply:
        """Send PLAY; wait for at most the clock and `PLAY_GRACE`.

        Args:
            match_id: the id of START.
            joint: the moves made last, in the order of the roles; None at the first turn.
            clock: the play clock, in seconds.
        """

    async def stop(self, match_id: str, joint: tuple[Term, ...] | None) -> None:
        """Send STOP with the last moves; wait for at most the play clock."""

    async def abort(self, match_id: str) -> None:
        """Send ABORT; wait for at most `ABORT_CLOCK`."""

    async def close(self) -> None:
        """Release all resources of the seat."""


def is_person(seat: Seat | None) -> bool:
    """Return whether a seat belongs to a person, for whom there is no time limit."""
    return bool(getattr(seat, "is_person", False))
