"""The player server, which answers messages and plays matches.

>>> import asyncio
>>> from anygame.players import LegalPlayer
>>> from anygame.protocol import PlayerServer
>>> async def talk():
...     server = PlayerServer(LegalPlayer, name="Alice")
...     rules = "((role me) (legal me go) (<= (next done) (does me go)) (<= terminal (true done)))"
...     for message in ["", f"(START m.1 me {rules} 5 5)", "(PLAY m.1 NIL)", "(info)", "(STOP m.1 (go))"]:
...         print(await server.respond(message))
...     await server.close()
>>> asyncio.run(talk())
( ( name Alice ) ( status available ) )
ready
go
( ( name Alice ) ( status busy ) )
done
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from itertools import count
from time import monotonic
from typing import TYPE_CHECKING, Any, Final
from weakref import WeakSet

from anygame.language.diagnostics import shown
from anygame.protocol.http.listener import Listener
from anygame.protocol.messages import (
    ABORTED,
    AVAILABLE,
    BUSY,
    DONE,
    LONGEST_USUAL,
    NIL,
    READY,
    WITH_RULES,
    Abort,
    Info,
    Ping,
    Play,
    PlayerInfo,
    PlayII,
    Preview,
    Start,
    Stop,
    StopII,
    Unreadable,
    format_info,
    keyword_of,
    parse_message,
    peek_message,
    player_name,
)
from anygame.protocol.player.hosts import ProcessHost, ThreadHost
from anygame.protocol.player.match import PlayerMatch, wall_time
from anygame.protocol.player.played_game import PlayerSettings

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from anygame.players.player import Player
    from anygame.protocol.http.listener import Bounds
    from anygame.protocol.messages import Message
    from anygame.protocol.player.hosts import Host

#: Maximum number of characters of a message that is parsed in the event loop. Parsing takes at most 15 ms.
_LONG: Final = 2000
#: Maximum number of characters of a message in a log entry.
_SHOWN: Final = 200
#: Maximum number of seconds that START waits for the player to finish the last match.
_HANDOVER: Final = 0.5
#: Maximum number of messages that wait for an answer of one match. A manager sends one message, and repeats
#: it at most a few times. More messages would use up the connections of other managers.
_MOST_WAITING: Final = 8
_TOO_MANY: Final = f"{_MOST_WAITING} messages are already waiting for this match"
_NO_SESSION: Final = "threads are still busy with the rules of earlier matches"
#: Replacement for a player whose processes keep dying. The replacement needs little memory and time.
_STAND_IN: Final = "random"
#: Maximum number of sessions that finish former matches, in addition to twice the number of parallel matches.
#: A player takes several seconds to save learned data, and a match can be shorter.
_MOST_LEAVING: Final = 4
#: If at most this many sessions have died in a match, another session of the player continues.
_MOST_DEATHS: Final = 3
#: If at most this many more sessions have died, a session of the replacement continues.
_MOST_STAND_INS: Final = 3


@dataclass(frozen=True, slots=True)
class Said:
    """Log entry of a message. All strings are short and printable.

    Attributes:
        peer: address of the sender.
        message: keyword in upper case, or ``?`` for an invalid message.
        match_id: name of the match; empty for messages without a match.
        text: beginning of the message.
        reply: beginning of the answer.
        seconds: time from the arrival of the message to the answer.
        note: errors; usually empty.
    """

    peer: str
    message: str
    match_id: str
    text: str
    reply: str
    seconds: float
    note: str = ""


class PlayerServer:
    """Answers messages, in one process or over HTTP.

    Args:
        player: specification of a player (see `anygame.players.make_player`), or a function that creates a
            player. A specified player runs in processes that can always be killed. The player of a function
            runs in this process, where rules and players that hang leave threads behind. A player is reused
            after its match.
        seed: random seed of the first player; each further player gets the next seed.
        name: name in the reply to INFO: one word.
        parallel: maximum number of matches at a time.
        settings: settings of the players; see `PlayerSettings`.
        log: called with the log entry of each message.
        bounds: limits of connections over HTTP; see `Bounds`.
    """

    def __init__(
        self,
        player: Callable[[], Player] | str,
        *,
        seed: int | None = None,
        name: str = "anygame",
        parallel: int = 1,
        settings: PlayerSettings | None = None,
        log: Callable[[Said], None] = lambda _: None,
        bounds: Bounds | None = None,
    ) -> None:
        self.name = player_name(name)
        self.parallel = parallel
        self._player = player
        self._seeds = None if seed is None else count(seed)
        self._settings = settings or PlayerSettings()
        self._log = log
        self._listener = Listener(self.respond, self._log_fault, bounds, self._refusal)
        self._matches: dict[str, PlayerMatch] = {}
        self._alarms: dict[PlayerMatch, asyncio.TimerHandle] = {}
        self._sessions = SessionPool(
            self._new_session, lambda: ProcessHost(_STAND_IN, None, self._settings), parallel
        )
        self._is_previewing = False
        self._long_message, self._long_message_known = asyncio.Lock(), asyncio.Lock()

    async def listen(self, host: str, port: int) -> int:
        """Start answering over HTTP; return the port, which the system chooses for port 0.

        Raises:
            OSError: the address cannot be used.
        """
        bound_port = await self._listener.open(host, port)
        self._sessions.warm_up()
        return bound_port

    async def close(self) -> None:
        """Abort all matches, stop listening, and end all sessions. Threads that hang stay behind."""
        for match in list(self._matches.values()):
            self._end(match, None)
        await self._listener.close()
        await self._sessions.close(_HANDOVER)

    def _new_session(self) -> Host:
        if isinstance(self._player, str):
            seed = None if self._seeds is None else next(self._seeds)
            return ProcessHost(self._player, seed, self._settings)
        return ThreadHost(self._player, self._settings)

    async def respond(self, text: str, arrived: float | None = None, peer: str = "") -> str:
        """Return the answer to a message. Never raises.

        Args:
            text: the message.
            arrived: time of arrival, a value of `time.monotonic`; now by default.
            peer: address of the sender, for the log.
        """
        arrived = monotonic() if arrived is None else arrived
        message = await self._read(text)
        match_id = getattr(message, "match_id", "")
        try:
            reply, note = await self._answer(message, self._match_called(match_id), arrived)
        except Exception as error:
            reply, note = NIL, f"{type(error).__name__}: {error}"
        seconds = monotonic() - arrived
        said = (shown(match_id), shown(text, _SHOWN), shown(reply, _SHOWN), seconds, shown(note, 500))
        self._log(Said(peer, keyword_of(message), *said))
        return reply

    async def _read(self, text: str) -> Message:
        """Parse a message. Long messages are parsed in a thread, one at a time.

        Messages of a match that is in progress do not wait for other messages.
        """
        if len(text) <= _LONG:
            return parse_message(text)
        if len(text) > LONGEST_USUAL and self._refusal(text) is not None:
            keyword, match_id = peek_message(text)
            if keyword in WITH_RULES:
                return Unreadable(keyword, f"another match is in progress, not {shown(match_id)}")
            reason = f"a message without rules has at most {LONGEST_USUAL:,} characters, found {len(text):,}"
            return Unreadable(keyword, reason)
        is_known = self._match_called(peek_message(text)[1]) is not None
        async with self._long_message_known if is_known else self._long_message:
            return await asyncio.to_thread(parse_message, text)

    def _refusal(self, begin: str) -> str | None:
        """Return the answer to a long message that is refused unread; None if the message must be read."""
        keyword, match_id = peek_message(begin)
        if keyword not in WITH_RULES:
            return NIL
        is_known = keyword == "START" and self._match_called(match_id) is not None
        return BUSY if self._is_full and not is_known else None

    def _log_fault(self, peer: str, reason: str) -> None:
        self._log(Said(peer, "?", "", "", "", 0.0, shown(reason, 500)))

    def _match_called(self, match_id: str) -> PlayerMatch | None:
        """Return the match with an id, or else the only match whose id differs just by case."""
        if match_id in self._matches:
            return self._matches[match_id]
        near = [match for name, match in self._matches.items() if name.lower() == match_id.lower()]
        return near[0] if len(near) == 1 else None

    async def _answer(self, message: Message, match: PlayerMatch | None, arrived: float) -> tuple[str, str]:
        """Return the reply, and a note for the log."""
        match message:
            case Info():
                return format_info(PlayerInfo(self.name, BUSY if self._is_full else AVAILABLE)), ""
            case Ping():
                return READY, ""
            case Unreadable(keyword, reason):
                return BUSY if keyword in WITH_RULES else NIL, reason
            case Preview():
                return await self._preview(message, arrived)
            case Start():
                return await self._start(message, match, arrived)
            case _ if match is None:
                return BUSY, "this player has no match with this name"
            case Play() | PlayII():
                if match.waiting >= _MOST_WAITING:
                    return BUSY, _TOO_MANY
                self._set_alarm(match)
                reply = await self._waited(match, match.play(message, arrived))
                return reply, match.take_fault()
            case Stop() | StopII():
                self._end(match, message)
                return DONE, ""
            case Abort():
                self._end(match, None)
                return ABORTED, ""

    async def _waited(self, match: PlayerMatch, answer: Awaitable[str]) -> str:
        """Wait for an answer of a match. In the meantime, the message counts as waiting."""
        match.waiting += 1
        try:
            return await answer
        finally:
            match.waiting -= 1

    @property
    def _is_full(self) -> bool:
        return len(self._matches) >= self.parallel

    async def _start(self, message: Start, match: PlayerMatch | None, arrived: float) -> tuple[str, str]:
        if match is None and not self._is_full:
            await self._sessions.wait_for_one(min(_HANDOVER, message.start_clock / 4))
            match = self._match_called(message.match_id)
        if match is None and not self._is_full:
            session = self._sessions.take()
            if session is None:
                return BUSY, _NO_SESSION
            match = PlayerMatch(message, session, self._settings, self._sessions.renew)
            self._matches[message.match_id] = match
        if match is None or match.start != message:
            return BUSY, "another match is in progress"
        if match.waiting >= _MOST_WAITING:
            return BUSY, _TOO_MANY
        self._set_alarm(match)
        reply = await self._waited(match, match.prepare(arrived))
        if reply == BUSY and self._matches.get(message.match_id) is match:
            self._end(match, None)
        return reply, match.take_fault()

    def _end(self, match: PlayerMatch, message: Stop | StopII | None) -> None:
        """End a match. Another match can start while the player finishes."""
        del self._matches[match.start.match_id]
        self._alarms.pop(match).cancel()
        match.end(message)
        self._sessions.release(match)

    def _set_alarm(self, match: PlayerMatch) -> None:
        """Restart the timer that aborts a match if the manager sends no message for a long time."""
        if match in self._alarms:
            self._alarms[match].cancel()
        loop = asyncio.get_running_loop()
        patience = self._settings.patience_with(match.start)
        self._alarms[match] = loop.call_later(patience, self._give_up, match, patience)

    def _give_up(self, match: PlayerMatch, patience: float) -> None:
        if match.is_asked:
            self._set_alarm(match)
            return
        reason = f"match abandoned after {patience:g} s without a message"
        self._log(Said("", "?", shown(match.start.match_id), "", "", patience, reason))
        self._end(match, None)

    async def _preview(self, message: Preview, arrived: float) -> tuple[str, str]:
        """Let an idle player study rules, and answer before the clock ends."""
        if self._is_full or self._is_previewing:
            return BUSY, "another match is in progress"
        session = self._sessions.take()
        if session is None:
            return BUSY, _NO_SESSION
        self._is_previewing = True
        fault: asyncio.Future[str] = asyncio.get_running_loop().create_future()

        def receive(event: list[Any]) -> None:
            if event[0] in ("previewed", "gone") and not fault.done():
                fault.set_result(event[1])

        session.on_event = receive
        think_by = wall_time(self._settings.think_by(arrived, message.clock))
        session.send("preview", message.rules, message.clock, think_by)
        due = self._settings.answer_by(arrived, message.clock)
        try:
            await asyncio.wait([fault], timeout=max(0.0, due - monotonic()))
        finally:
            self._is_previewing = False
            if fault.done() and not fault.result():
                self._sessions.put_back(session)
            else:
                self._sessions.end(session)
        if not fault.done():
            return READY, "the player is still studying the rules"
        return (BUSY if fault.result() else READY), fault.result()


class SessionPool:
    """Sessions, which are started when they are needed and reused after a match.

    ``make`` starts a session. ``make_stand_in`` starts a session of the replacement player, after too many
    sessions died in a match. ``size`` is the maximum number of matches at a time.
    """

    def __init__(self, make: Callable[[], Host], make_stand_in: Callable[[], Host], size: int) -> None:
        self._make = make
        self._make_stand_in = make_stand_in
        self._stand_ins: WeakSet[Host] = WeakSet()
        self._size = size
        self._idle: list[Host] = []
        self._leaving: dict[asyncio.Task[None], Host] = {}
        self._ended: set[Host] = set()

    def warm_up(self) -> None:
        """Start a session before it is needed."""
        if not self._idle and self._size:
            self._idle.append(self._make())

    def take(self) -> Host | None:
        """Return a session for a match; None if too many sessions hang and cannot be killed."""
        while self._idle:
            host = self._idle.pop()
            if not host.is_gone:
                return host
        most = 2 * self._size + _MOST_LEAVING
        for task, host in list(self._leaving.items())[: max(0, len(self._leaving) - most)]:
            if host.can_be_ended:
                task.cancel()
        busy = (*self._leaving.values(), *self._ended)
        stuck = [host for host in busy if not (host.can_be_ended or host.is_gone)]
        return self._make() if len(stuck) <= most else None

    def renew(self, deaths: int) -> Host | None:
        """Return a session to continue a match in which ``deaths`` sessions died; None if too many died."""
        if deaths <= _MOST_DEATHS:
            return self.take()
        if deaths > _MOST_DEATHS + _MOST_STAND_INS:
            return None
        host = self._make_stand_in()
        self._stand_ins.add(host)
        return host

    def put_back(self, host: Host) -> None:
        """Keep an idle session for another match, or end the session if enough sessions are idle."""
        if len(self._idle) < self._size and not (host.is_gone or host in self._stand_ins):
            host.on_event = lambda _: None
            self._idle.append(host)
        else:
            self.end(host)

    def end(self, host: Host) -> None:
        """End a session, even if it is busy, and start another session."""
        host.end()
        self._ended = {ended for ended in self._ended if not ended.is_gone} | {host}
        if host.can_be_ended:
            self.warm_up()

    def release(self, match: PlayerMatch) -> None:
        """Put back the session of a match when its player has finished; end the session of a late player."""

        async def take_back() -> None:
            has_left = False
            try:
                has_left = await match.has_left()
            finally:
                if has_left:
                    self.put_back(match.host)
                else:
                    self.end(match.host)

        task = asyncio.create_task(take_back())
        self._leaving[task] = match.host
        task.add_done_callback(self._leaving.pop)

    async def wait_for_one(self, seconds: float) -> None:
        """Wait until a player has finished its match, unless another player is idle."""
        if self._leaving and not self._idle:
            await asyncio.wait(self._leaving, timeout=seconds)

    async def close(self, seconds: float) -> None:
        """Wait up to ``seconds`` for players that are finishing a match, then end all sessions."""
        self._size = 0
        if self._leaving:
            await asyncio.wait(self._leaving, timeout=seconds)
        for task in list(self._leaving):
            task.cancel()
        await asyncio.gather(*self._leaving, return_exceptions=True)
        for host in self._idle:
            host.end()
        ended = [*self._idle, *self._ended]
        self._idle.clear()
        await asyncio.gather(*[host.wait() for host in ended])
