"""Seats: connections of the referee to one player each, in this process or on the network.

A seat sends the messages of the GGP protocol and returns raw replies, which the referee judges
(`anygame.match.judging`). A seat reports errors of its player in the `Reply`, and raises no exception. The
clock starts when a message is sent. The seat waits for the whole reply until the clock and the grace period
end.
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
    from anygame.players.player import Failures

#: Grace period in seconds for replies to PLAY, as in the reference manager. Other messages have none.
PLAY_GRACE: Final = 1.0
#: Time limit in seconds for the reply to ABORT.
ABORT_CLOCK: Final = 1.0
#: Time limit in seconds for connecting to a player, before the clock starts.
REACH_CLOCK: Final = 5.0
#: Maximum number of characters of a reply; further characters are dropped.
LONGEST_REPLY: Final = 65_536

#: Error of a late reply, in `Reply` and in match records.
TIMED_OUT: Final = "TO"
#: Error of a broken connection, in `Reply` and in match records.
CONNECTION_ERROR: Final = "CE"


@dataclass(frozen=True, slots=True)
class MatchInfo:
    """Data of a match that a seat gets with START.

    Attributes:
        match_id: name of the match, one atom of ASCII letters, digits, ``.``, ``_``, ``-``.
        game: rules; the match starts in their initial state.
        role: role of the player.
        start_clock: seconds to get ready.
        play_clock: seconds for each move.
        scramble: seed of the scrambled names that remote players receive, the same for all players of a
            match; None to send the names of the rules. The arguments and results of a seat always have the
            names of ``game``.
        state: returns the current state of the match, for seats in this process; None for remote seats.
        failures: reporter of errors in the code of players in this process.
        course: returns the first state of the match and all later joint moves, without moves that were taken
            back; None if the moves are unknown. In a resumed match with hidden information (GDL-II), the list
            of joint moves is not empty at START.
        seed: seed of the random numbers of the match; None for a new seed.
        step: returns the number of joint moves since the match began, across interruptions; None if unknown.
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
        """The seed of the random numbers of the seat."""
        return f"{self.match_id if self.seed is None else self.seed}/{self.role}"


@dataclass(frozen=True, slots=True)
class Reply:
    """Reply of a player.

    Attributes:
        text: raw reply, at most `LONGEST_REPLY` characters; None without a reply.
        error: None, ``"TO"`` (no complete reply in time) or ``"CE"`` (no connection, or a broken connection).
        detail: explanation for people.
        said: lines of comments of the player.
    """

    text: str | None
    error: str | None = None
    detail: str = ""
    said: tuple[str, ...] = ()


class Seat(Protocol):
    """Interface of the connection to one player.

    The referee calls ``start``, then ``play`` for every turn, then ``stop`` or ``abort``. After ``stop`` or
    ``abort``, another match can start. After a cancelled call, ``abort`` can still be called.

    Attributes:
        name: name of the player, for records and for people.
    """

    name: str

    async def start(self, match: MatchInfo) -> Reply:
        """Send START; wait for the reply until the start clock ends."""

    async def play(self, match_id: str, joint: tuple[Term, ...] | None, clock: float) -> Reply:
        """Send PLAY; wait for the reply until the clock, and then `PLAY_GRACE`, end.

        Args:
            match_id: match id of START.
            joint: last joint move, in the order of the roles; None at the first turn.
            clock: play clock in seconds.
        """

    async def stop(self, match_id: str, joint: tuple[Term, ...] | None) -> None:
        """Send STOP with the last joint move; wait for the reply until the play clock ends."""

    async def abort(self, match_id: str) -> None:
        """Send ABORT; wait for the reply for at most `ABORT_CLOCK` seconds."""

    async def close(self) -> None:
        """Release all resources of the seat."""


def is_person(seat: Seat | None) -> bool:
    """Return whether a seat belongs to a person, who has no time limit."""
    return bool(getattr(seat, "is_person", False))
