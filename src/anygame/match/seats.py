"""Seats: how the referee reaches one player, wherever it runs.

A seat carries the messages of the GGP protocol and brings back what the player replied, unread: what a
reply means is the referee's business (`anygame.match.judging`). A seat never raises because of its player;
what goes wrong is in the `Reply`. Clocks count from the sending: a seat waits for the whole reply, from the
moment the player can be reached, for at most the clock and its grace.
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

#: Seconds that a reply to PLAY may be late, as in the reference manager; to START and STOP, none.
PLAY_GRACE: Final = 1.0
#: Seconds for a player to answer ABORT.
ABORT_CLOCK: Final = 1.0
#: Seconds to reach a player (to connect, say) before the clock starts.
REACH_CLOCK: Final = 5.0
#: Characters of a reply that are kept; the referee needs no more to judge it.
LONGEST_REPLY: Final = 65_536

#: What `Reply.error` says, as in match records.
TIMED_OUT: Final = "TO"
CONNECTION_ERROR: Final = "CE"


@dataclass(frozen=True, slots=True)
class MatchInfo:
    """What a player is sent at the start of a match.

    Attributes:
        match_id: the name of the match, one atom of ASCII letters, digits, ``.``, ``_``, ``-``.
        game: the rules; the match starts in their initial state.
        role: the role that the player has.
        start_clock: seconds to get ready.
        play_clock: seconds for each move.
        scramble: the seed of the words that stand for those of the rules, the same for all players of a
            match; None to send the rules as they are. Only seats that send text need it; the moves they
            take and the replies they return are always in the words of ``game``.
        state: returns the state that the match is in, for seats that share this process; None elsewhere.
        failures: reports what goes wrong in the code of players that share this process.
        course: returns the state in which the match began and the joint moves made since. There are some
            before START where a match goes on of which players know only their part (GDL-II), and they may
            become fewer where moves can be taken back. None where nobody has the moves together.
        seed: of what is drawn for the match; None for fresh random numbers.
        step: returns how many joint moves have been made since the match began, also where it went on since;
            None where nobody counts them.
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
        """What the random numbers of a seat are drawn from."""
        return f"{self.match_id if self.seed is None else self.seed}/{self.role}"


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back.

    Attributes:
        text: the reply as it came, at most `LONGEST_REPLY` characters; None if none came.
        error: None, ``"TO"`` (nothing whole came within the clock) or ``"CE"`` (the player cannot be reached,
            or broke off).
        detail: what happened, for people.
        said: what the player says it thinks, line by line.
    """

    text: str | None
    error: str | None = None
    detail: str = ""
    said: tuple[str, ...] = ()


class Seat(Protocol):
    """How the referee reaches one player.

    Calls for one match come in order: ``start``, ``play`` any number of times, then ``stop`` or ``abort``;
    then perhaps the next match. A cancelled call leaves the seat usable for ``abort``.

    Attributes:
        name: of the player, for records and for people.
    """

    name: str

    async def start(self, match: MatchInfo) -> Reply:
        """Send START; wait for at most the start clock."""

    async def play(self, match_id: str, joint: tuple[Term, ...] | None, clock: float) -> Reply:
        """Send PLAY; wait for at most the clock and `PLAY_GRACE`.

        Args:
            match_id: as in START.
            joint: the moves made last, in the order of the roles; None at the first turn.
            clock: the play clock, in seconds.
        """

    async def stop(self, match_id: str, joint: tuple[Term, ...] | None) -> None:
        """Send STOP with the last moves; wait for at most the play clock."""

    async def abort(self, match_id: str) -> None:
        """Send ABORT; wait for at most `ABORT_CLOCK`."""

    async def close(self) -> None:
        """Let go of everything the seat holds."""


def is_person(seat: Seat | None) -> bool:
    """Return whether a person sits there, who is waited for without a clock."""
    return bool(getattr(seat, "is_person", False))
