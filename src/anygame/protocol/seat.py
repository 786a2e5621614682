"""Remote seats: players that the referee reaches through the GGP protocol.

A clock starts when a message is sent, and stops when the reply is complete. If the names in messages are
scrambled, the names in replies are translated back. A `Transport` separates messages from the network.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from time import monotonic
from typing import TYPE_CHECKING, Final, Protocol

from anygame.errors import AnygameError
from anygame.language.terms import Compound
from anygame.match.seats import (
    ABORT_CLOCK,
    CONNECTION_ERROR,
    LONGEST_REPLY,
    PLAY_GRACE,
    REACH_CLOCK,
    TIMED_OUT,
    Reply,
)
from anygame.protocol.http.framing import CHUNK, HttpError, ResponseFraming, format_request, need_h11
from anygame.protocol.messages import (
    Abort,
    Info,
    Play,
    PlayerInfo,
    PlayII,
    Preview,
    Start,
    Stop,
    StopII,
    format_message,
    parse_info,
)
from anygame.sheets.scrambling import Scrambling

if TYPE_CHECKING:
    from collections.abc import Iterable

    from anygame.game.game import Game
    from anygame.game.state import State
    from anygame.language.terms import Term
    from anygame.match.seats import MatchInfo
    from anygame.protocol.http.framing import Body
    from anygame.protocol.messages import Message

#: Time limit in seconds for the reply to INFO.
_INFO_CLOCK: Final = 1.0
#: Number of seconds in which START is retried if the player, just after a match, refuses the connection.
_RETRY: Final = 1.5
#: Number of seconds between two retries.
_RETRY_PAUSE: Final = 0.2
#: Rule for GDL-II players in games without ``sees``: each role sees the moves of all roles.
_ALL_IS_SEEN: Final = "(<= (sees ?p (did ?p2 ?m)) (role ?p) (does ?p2 ?m))"


class RemoteSeat:
    """A player that is reached over HTTP, or over another transport.

    >>> import asyncio
    >>> from anygame.players import LegalPlayer
    >>> from anygame.protocol import PlayerServer
    >>> async def ask():
    ...     server = PlayerServer(LegalPlayer, name="Alice")
    ...     port = await server.listen("127.0.0.1", 0)
    ...     info = await RemoteSeat("127.0.0.1", port).info()
    ...     await server.close()
    ...     return info
    >>> asyncio.run(ask())
    PlayerInfo(name='Alice', status='available', species=None)

    Args:
        host: host of the player.
        port: port of the player.
        name: name in records and in the header ``Receiver``; by default ``HOST:PORT``.
        gdl2: whether to send GDL-II messages, with the player's move and percepts instead of all moves. By
            default, True if the game has rules for ``sees``.
        transport: connection to the player; by default HTTP.
    """

    def __init__(
        self,
        host: str = "",
        port: int = 0,
        *,
        name: str | None = None,
        gdl2: bool | None = None,
        transport: Transport | None = None,
    ) -> None:
        self.name = name or f"{host}:{port}"
        self._gdl2 = gdl2
        self._transport = transport or HttpTransport(host, port, self.name)
        self._sending: _Sending | None = None

    async def start(self, match: MatchInfo) -> Reply:
        """Send START and, in a resumed match, PLAY for each past turn; each message has its clock."""
        gdl2 = match.game.is_gdl2 if self._gdl2 is None else self._gdl2
        self._sending = _Sending(match, gdl2=gdl2)
        reply = await self._exchange(self._sending.start(), match.start_clock, retry=_RETRY)
        # The replies to these PLAY messages are ignored. The next `play` sends the last joint move.
        joints = match.course()[1] if match.course else ()
        for joint in [None, *joints[:-1]] if joints else []:
            await self.play(match.match_id, joint, match.play_clock)
        return reply

    async def play(self, match_id: str, joint: tuple[Term, ...] | None, clock: float) -> Reply:
        """Send PLAY; wait for at most the clock and the grace period."""
        message = await self._message(match_id, joint, is_over=False)
        if message is None:
            return Reply(None, CONNECTION_ERROR, f"no match {match_id} was started here")
        reply = await self._exchange(message, clock + PLAY_GRACE)
        words = self._sending.words if self._sending else None
        if words is None or reply.text is None:
            return reply
        return Reply(words.restore(reply.text), reply.error, reply.detail)

    async def stop(self, match_id: str, joint: tuple[Term, ...] | None) -> None:
        """Send STOP with the last joint move; wait for at most the play clock."""
        message = await self._message(match_id, joint, is_over=True)
        if message is not None and self._sending is not None:
            clock = self._sending.match.play_clock
            self._sending = None
            await self._exchange(message, clock)

    async def abort(self, match_id: str) -> None:
        """Send ABORT; wait for at most a second."""
        self._sending = None
        await self._exchange(Abort(match_id), ABORT_CLOCK)

    async def close(self) -> None:
        """Do nothing: each message has its own connection."""

    async def preview(self, game: Game, clock: float) -> Reply:
        """Send PREVIEW, which many old players do not answer; wait for at most the clock."""
        return await self._exchange(Preview(_sheet(map(str, game.program.rules)), clock), clock)

    async def info(self, clock: float = _INFO_CLOCK) -> PlayerInfo | None:
        """Return the name and status of the player; None without a reply in time."""
        reply = await self._exchange(Info(), clock)
        return None if reply.text is None else parse_info(reply.text)

    async def _message(
        self, match_id: str, joint: tuple[Term, ...] | None, *, is_over: bool
    ) -> Message | None:
        sending = self._sending
        if sending is None or sending.match.match_id != match_id:
            return None
        if not sending.gdl2:
            return sending.moves(joint, is_over=is_over)
        return await asyncio.to_thread(sending.percepts, joint, is_over=is_over)

    async def _exchange(self, message: Message, clock: float, *, retry: float = 0.0) -> Reply:
        return await self._transport.exchange(format_message(message), clock, retry=retry)


async def ask_info(host: str, port: int, clock: float = _INFO_CLOCK) -> PlayerInfo | None:
    """Return the name and status of the player at an address; None without a reply in time."""
    return await RemoteSeat(host, port).info(clock)


class _Sending:
    """Creates the messages of one match. With ``gdl2``, messages contain percepts instead of moves."""

    def __init__(self, match: MatchInfo, *, gdl2: bool) -> None:
        self.match = match
        self.gdl2 = gdl2
        rules = list(map(str, match.game.program.rules))
        if gdl2 and not match.game.is_gdl2:
            rules.append(_ALL_IS_SEEN)
        self.words = None if match.scramble is None else Scrambling(rules, match.scramble)
        self._rules = rules
        self._turn = 0
        self._state: State | None = None

    def start(self) -> Start:
        sheet = _sheet(self._rules)
        return Start(
            self.match.match_id,
            self._worded(self.match.role.term),
            self.words.scramble(sheet) if self.words else sheet,
            self.match.start_clock,
            self.match.play_clock,
        )

    def moves(self, joint: tuple[Term, ...] | None, *, is_over: bool) -> Play | Stop:
        sent = None if joint is None else tuple(map(self._worded, joint))
        return (Stop if is_over else Play)(self.match.match_id, sent)

    def percepts(self, joint: tuple[Term, ...] | None, *, is_over: bool) -> PlayII | StopII:
        """Return the message with the move and the percepts of the player in the last turn."""
        move = None
        seen: list[Term] = []
        if joint is not None:
            self._turn += 1
            move = self._worded(joint[self.match.game.role_index(self.match.role)])
            seen = [self._worded(percept) for percept in self._seen(joint)]
        return (StopII if is_over else PlayII)(self.match.match_id, self._turn, move, tuple(seen))

    def _seen(self, joint: tuple[Term, ...]) -> Iterable[Term]:
        game = self.match.game
        if not game.is_gdl2:
            return [Compound("did", (role.term, move)) for role, move in zip(game.roles, joint, strict=True)]
        state = self._state or game.initial_state()
        try:
            self._state = state.next(joint)
            return state.percepts(joint)[self.match.role]
        except AnygameError:
            return []  # The referee reports this error.

    def _worded(self, term: Term) -> Term:
        return self.words.scramble_term(term) if self.words else term


def _sheet(rules: Iterable[str]) -> str:
    return f"({' '.join(rules)})"


class Transport(Protocol):
    """Connection to one player. Exchanges are independent of each other and can overlap."""

    async def exchange(self, text: str, clock: float, *, retry: float = 0.0) -> Reply:
        """Send a message; return the complete reply, or the error.

        The reply must be complete ``clock`` seconds after the message was sent. A refused connection is
        retried for ``retry`` seconds.
        """


class HttpTransport:
    """HTTP with a connection for each message. ``receiver`` is the name of the player in the header."""

    def __init__(self, host: str, port: int, receiver: str = "") -> None:
        need_h11()
        self.host = host
        self.port = port
        self.receiver = receiver

    async def exchange(self, text: str, clock: float, *, retry: float = 0.0) -> Reply:
        """See `Transport.exchange`."""
        try:
            async with asyncio.timeout(REACH_CLOCK):
                reader, writer = await self._connect(monotonic() + retry)
        except TimeoutError:
            return self._failed(f"no connection within {REACH_CLOCK:g} seconds")
        except (OSError, ValueError, UnicodeError) as error:
            return self._failed(getattr(error, "strerror", None) or str(error))
        is_over = False
        try:
            async with asyncio.timeout(clock):
                writer.write(format_request(text.encode(), self.host, self.receiver))
                await writer.drain()
                body = await read_response(reader, 4 * LONGEST_REPLY)
            is_over = not body.is_cut
        except TimeoutError:
            return Reply(None, TIMED_OUT, f"no complete reply within {clock:g} seconds")
        except (HttpError, OSError) as error:
            return self._failed(getattr(error, "strerror", None) or str(error))
        finally:
            if not is_over:
                writer.transport.abort()
            writer.close()
            with suppress(OSError):
                await writer.wait_closed()
        reply = body.content.decode(errors="replace")
        is_cut = body.is_cut or len(reply) > LONGEST_REPLY
        detail = f"only the first {LONGEST_REPLY:,} characters of the reply were read" if is_cut else ""
        return Reply(reply[:LONGEST_REPLY], None, detail)

    async def _connect(self, retry_until: float) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        while True:
            try:
                return await asyncio.open_connection(self.host, self.port)
            except ConnectionRefusedError:
                if monotonic() >= retry_until:
                    raise
                await asyncio.sleep(_RETRY_PAUSE)

    def _failed(self, reason: str) -> Reply:
        return Reply(None, CONNECTION_ERROR, f"{self.host}:{self.port}: {reason}")


async def read_response(reader: asyncio.StreamReader, limit: int) -> Body:
    """Read one response, up to ``limit`` bytes of its body. Raises HttpError and OSError."""
    framing = ResponseFraming(limit)
    while (response := framing.poll()) is None:
        framing.receive(await reader.read(CHUNK), monotonic())
    return response
