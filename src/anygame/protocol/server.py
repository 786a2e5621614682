"""The player server: what it answers to each message, and the matches it is engaged in.

>>> import asyncio
>>> from anygame.players import LegalPlayer
>>> from anygame.protocol.server import PlayerServer
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
from time import monotonic
from typing import TYPE_CHECKING, Any, Final

from anygame.language.diagnostics import shown
from anygame.match.workers import PlayerFailedError
from anygame.players.clock import Clock
from anygame.protocol.engagement import Engagement
from anygame.protocol.habits import Habits, load_game
from anygame.protocol.listener import Listener
from anygame.protocol.messages import (
    Abort,
    Info,
    Ping,
    Play,
    PlayII,
    Preview,
    Start,
    Stop,
    StopII,
    Unreadable,
    parse_message,
)
from anygame.protocol.replies import (
    ABORTED,
    AVAILABLE,
    BUSY,
    DONE,
    NIL,
    READY,
    PlayerInfo,
    format_info,
    player_name,
)
from anygame.protocol.thinking import Thinker

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from anygame.players.player import Player
    from anygame.protocol.listener import Bounds
    from anygame.protocol.messages import Message

__all__ = ["PlayerServer", "Said"]

_LONG: Final = 50_000
_SHOWN: Final = 200
_HANDOVER: Final = 0.5
_MOST_LEFT: Final = 4


@dataclass(frozen=True, slots=True)
class Said:
    """One message and what became of it, for logs. Texts of strangers are short and printable in here.

    Attributes:
        peer: who sent it.
        message: its kind in upper case, ``?`` for what is no message.
        match_id: of its match; empty if it belongs to none.
        text: how it begins.
        reply: what was answered.
        seconds: from its arrival to the answer.
        note: what went wrong; empty as a rule.
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
        make: makes a player; one that has done with a match is used again.
        name: what it says of itself: one word.
        parallel: matches at a time; to more it is busy.
        habits: see `Habits`.
        log: is told of every message.
        bounds: of what strangers may ask of the listener.
    """

    def __init__(
        self,
        make: Callable[[], Player],
        *,
        name: str = "anygame",
        parallel: int = 1,
        habits: Habits | None = None,
        log: Callable[[Said], None] = lambda _: None,
        bounds: Bounds | None = None,
    ) -> None:
        self.name = player_name(name)
        self.parallel = parallel
        self._make = make
        self._habits = habits or Habits()
        self._log = log
        self._listener = Listener(self.respond, self._complain, bounds)
        self._engagements: dict[str, Engagement] = {}
        self._alarms: dict[Engagement, asyncio.TimerHandle] = {}
        self._thinkers: dict[Engagement, Thinker] = {}
        self._idle: list[Thinker] = []
        self._tasks: set[asyncio.Task[None]] = set()
        self._is_previewing = False
        self._left: set[asyncio.Future[Any]] = set()

    # -- life ----------------------------------------------------------------------------------------

    async def listen(self, host: str, port: int) -> int:
        """Answer over HTTP from now on; return the port, which the system chooses for port 0.

        Raises:
            OSError: the address cannot be had.
        """
        return await self._listener.open(host, port)

    async def close(self) -> None:
        """Give up all matches, stop listening, let go of everything; players that hang are left behind."""
        for engagement in list(self._engagements.values()):
            self._end(engagement, None)
        await self._listener.close()
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=_HANDOVER)
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        while self._idle:
            self._idle.pop().close()

    # -- messages ------------------------------------------------------------------------------------

    async def respond(self, text: str, arrived: float | None = None, peer: str = "") -> str:
        """Answer a message; never raises because of it.

        Args:
            text: the message.
            arrived: when it began to come, as `time.monotonic` counts.
            peer: who sent it, for the log.
        """
        arrived = monotonic() if arrived is None else arrived
        # Large sheets would keep all others waiting.
        message = parse_message(text) if len(text) < _LONG else await asyncio.to_thread(parse_message, text)
        try:
            reply, note = await self._answer(message, self._engagement_of(message), arrived)
        except Exception as error:
            reply, note = NIL, f"{type(error).__name__}: {error}"
        seconds = monotonic() - arrived
        kind, match_id = _kind(message), getattr(message, "match_id", "")
        self._log(
            Said(
                peer,
                kind,
                shown(match_id),
                shown(text, _SHOWN),
                shown(reply, _SHOWN),
                seconds,
                shown(note, 500),
            )
        )
        return reply

    def _complain(self, peer: str, reason: str) -> None:
        self._log(Said(peer, "?", "", "", "", 0.0, shown(reason, 500)))

    def _engagement_of(self, message: Message) -> Engagement | None:
        """Return the match a message belongs to; case may have got lost."""
        match_id = getattr(message, "match_id", "")
        if match_id in self._engagements:
            return self._engagements[match_id]
        near = [found for name, found in self._engagements.items() if name.lower() == match_id.lower()]
        return near[0] if len(near) == 1 else None

    async def _answer(
        self, message: Message, engagement: Engagement | None, arrived: float
    ) -> tuple[str, str]:
        """Return the reply, and a note for the log."""
        match message:
            case Info():
                return format_info(PlayerInfo(self.name, BUSY if self._is_full else AVAILABLE)), ""
            case Ping():
                return READY, ""
            case Unreadable(keyword, reason):
                return BUSY if keyword in ("START", "PREVIEW") else NIL, reason
            case Preview():
                return await self._preview(message, arrived)
            case Start():
                return await self._start(message, engagement, arrived)
            case _ if engagement is None:
                return BUSY, "this match is not played here"
            case Play() | PlayII():
                self._set_alarm(engagement)
                reply = await engagement.play(message, arrived)
                return reply, engagement.take_fault()
            case Stop() | StopII():
                self._end(engagement, message)
                return DONE, ""
            case Abort():
                self._end(engagement, None)
                return ABORTED, ""

    @property
    def _is_full(self) -> bool:
        return len(self._engagements) >= self.parallel

    # -- matches -------------------------------------------------------------------------------------

    async def _start(self, message: Start, engagement: Engagement | None, arrived: float) -> tuple[str, str]:
        if engagement is None and self._tasks and not self._idle:
            # A player that is about to take leave of a match may be the one for this.
            await asyncio.wait(self._tasks, timeout=min(_HANDOVER, message.start_clock / 4))
            engagement = self._engagement_of(message)
        if engagement is None and len(self._left) + len(self._tasks) > 2 * self.parallel + _MOST_LEFT:
            return BUSY, "threads are still at work on the rules of former matches"
        if engagement is None and not self._is_full:
            thinker = self._idle.pop() if self._idle else Thinker(self._make)
            engagement = Engagement(message, thinker, self._habits)
            self._engagements[message.match_id] = engagement
            self._thinkers[engagement] = thinker
        if engagement is None or engagement.start != message:
            return BUSY, "another match is being played"
        self._set_alarm(engagement)
        reply = await engagement.prepare(arrived)
        if reply == BUSY and self._engagements.get(message.match_id) is engagement:
            self._end(engagement, None)
        return reply, engagement.take_fault()

    def _end(self, engagement: Engagement, message: Stop | StopII | None) -> None:
        """Be free for the next match at once; the player is told the end in its own time."""
        del self._engagements[engagement.start.match_id]
        self._alarms.pop(engagement).cancel()
        engagement.end()
        self._spawn(self._part(engagement, message))

    async def _part(self, engagement: Engagement, message: Stop | StopII | None) -> None:
        thinker = self._thinkers.pop(engagement)
        has_understood = await engagement.say_goodbye(message)
        self._leave(engagement.close())
        if has_understood and len(self._idle) < self.parallel:
            self._idle.append(thinker)
        else:
            self._leave(thinker.close())

    def _leave(self, done: asyncio.Future[Any]) -> None:
        """Remember a thread that may still be at work, so that they do not become too many."""
        self._left.add(done)
        done.add_done_callback(self._left.discard)

    def _set_alarm(self, engagement: Engagement) -> None:
        """Give a match up after long silence: its manager has gone, and others should find us free."""
        if engagement in self._alarms:
            self._alarms[engagement].cancel()
        loop = asyncio.get_running_loop()
        patience = self._habits.patience_with(engagement.start)
        self._alarms[engagement] = loop.call_later(patience, self._give_up, engagement, patience)

    def _give_up(self, engagement: Engagement, patience: float) -> None:
        if engagement.is_asked:
            self._set_alarm(engagement)
            return
        match_id = shown(engagement.start.match_id)
        self._log(
            Said("", "?", match_id, "", "", patience, f"given up after {patience:g} s without a message")
        )
        self._end(engagement, None)

    async def _preview(self, message: Preview, arrived: float) -> tuple[str, str]:
        """Let a player that is free look at rules; nobody waits longer than the clock."""
        if self._is_full or self._is_previewing:
            return BUSY, "another match is being played"
        self._is_previewing = True
        thinker = self._idle.pop() if self._idle else Thinker(self._make)
        clock = Clock(message.clock, self._habits.think_by(arrived, message.clock))

        def look(player: Player) -> None:
            player.preview(load_game(message.rules, self._habits, message.clock), clock)

        try:
            async with asyncio.timeout_at(self._habits.answer_by(arrived, message.clock)):
                await thinker.call(look)
        except TimeoutError:
            self._leave(thinker.close())
            return READY, "the player is still looking at the rules"
        except PlayerFailedError as error:
            self._leave(thinker.close())
            return BUSY, str(error)
        finally:
            self._is_previewing = False
        self._idle.append(thinker)
        return READY, ""

    def _spawn(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


def _kind(message: Message) -> str:
    if isinstance(message, Unreadable):
        return message.keyword or "?"
    return type(message).__name__.removesuffix("II").upper()
