"""One match of the player server, which answers each message before the clock ends.

A session in other threads or in another process does all computation. The event loop waits for the session no
longer than the clock allows. If the process of the session dies, another session gets all messages and
continues the match.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from time import monotonic, time
from typing import TYPE_CHECKING, Any, Final

from anygame.match.judging import spaced
from anygame.protocol.messages import BUSY, NIL, READY, Play, PlayII, Stop, StopII, format_message

if TYPE_CHECKING:
    from anygame.protocol.messages import Start
    from anygame.protocol.player.hosts import Host
    from anygame.protocol.player.played_game import PlayerSettings

#: Returns another session after the given number of sessions died in a match; None to give up.
Renew = Callable[[int], "Host | None"]

#: Maximum number of seconds for a player to finish after STOP, for example to save learned data.
_FAREWELL: Final = 10.0
#: Maximum number of seconds for a player to finish after ABORT. A player that checks clocks needs few ms.
_SHORT_FAREWELL: Final = 1.0
#: Number of crashes after which a match is abandoned if its rules have not been loaded.
_MOST_DEATHS_READING: Final = 2
#: Maximum total number of characters of the messages that are kept for another session.
_MOST_KEPT: Final = 2**24
#: Number of seconds by which the timeout of the rules exceeds the clocks, because machines can be busy.
_SLACK: Final = 5.0
#: Maximum number of different faults that are reported at a time.
_MOST_FAULTS: Final = 3


def _future() -> asyncio.Future[str | None]:
    return asyncio.get_running_loop().create_future()


@dataclass(slots=True, eq=False)
class _Turn:
    """A request for a move, and the answer so far."""

    #: Number of the turn, from 1.
    number: int
    message: Play | PlayII
    #: The message as a string, and the answer in the turn before.
    sent: tuple[str, str | None]
    arrived: float
    #: Any legal move; None until the rules have computed a legal move.
    fallback: str | None = None
    #: Whether the last joint move is still legal; if so, an equal message can belong to the next turn.
    is_repeatable: bool = False
    move: asyncio.Future[str | None] = field(default_factory=_future)
    #: Best move of the player so far, if the session was asked for this move.
    best: asyncio.Future[str | None] = field(default_factory=_future)
    answer: asyncio.Task[str] | None = None

    @property
    def given(self) -> str | None:
        task = self.answer
        if task is None or not task.done():
            return None
        return NIL if task.cancelled() else task.result()


class PlayerMatch:
    """A match, from START to STOP or ABORT. ``waiting`` is the number of unanswered messages."""

    def __init__(
        self, start: Start, host: Host, settings: PlayerSettings, renew: Renew = lambda _: None
    ) -> None:
        self.start = start
        self.host = host
        self.waiting = 0
        self._faults: list[str] = []
        self._settings = settings
        self._renew = renew
        self._deaths = 0
        self._is_loaded = False
        #: Message of each turn, and the answer in the turn before.
        self._sent: list[tuple[str, str | None]] = []
        self._kept = 0
        self._think_by = 0.0
        self._lost = ""
        self._ready: asyncio.Future[str | None] | None = None
        self._left = _future()
        self._turn: _Turn | None = None
        self._answered: str | None = None
        self._asked: set[int] = set()
        self._rules_due: asyncio.TimerHandle | None = None
        self._farewell = _FAREWELL
        self._is_over = False
        host.on_event = self._receive

    async def prepare(self, arrived: float) -> str:
        """Return ``ready`` when the player is ready or an answer is due; ``busy`` after a failure."""
        start = self.start
        if self._ready is None:
            self._ready = _future()
            self._think_by = self._settings.think_by(arrived, start.start_clock)
            self._send_start()
        due = self._settings.answer_by(arrived, start.start_clock)
        await asyncio.wait([self._ready], timeout=max(0.0, due - monotonic()))
        if self._ready.done():
            return (not self._ready.cancelled() and self._ready.result()) or BUSY
        return READY

    def _send_start(self) -> None:
        start = self.start
        self._wait_for_rules(0)
        clocks = (start.start_clock, start.play_clock, wall_time(self._think_by))
        self.host.send("start", spaced(start.role), start.rules, *clocks)

    async def play(self, message: Play | PlayII, arrived: float) -> str:
        """Return a move before the clock ends; the same move for a repeated message."""
        turn = self._turn
        # An equal message is a repetition unless the joint move can be made twice in a row.
        is_new = turn is None or message != turn.message or (turn.is_repeatable and turn.given is not None)
        if turn is None or is_new:
            if turn is not None and turn.answer is not None:
                turn.answer.cancel()
                self._answered = turn.given if turn.given != NIL else None
            sent = (format_message(message), self._answered)
            turn = self._turn = _Turn(turn.number + 1 if turn else 1, message, sent, arrived)
            self._kept += len(sent[0])
            self._sent.append(sent)
            if self._kept > _MOST_KEPT:
                self._sent.clear()
            if not self._lost:
                self._send_play(turn)
            turn.answer = asyncio.create_task(self._answer(turn))
        assert turn.answer is not None
        await asyncio.wait([turn.answer])
        return turn.given or NIL

    async def _answer(self, turn: _Turn) -> str:
        """Return a move when the answer is due, or earlier; ``NIL`` without a legal move."""
        if self._lost:
            self._note(self._lost)
            return NIL
        clock = self.start.play_clock
        due = self._settings.answer_by(turn.arrived, clock)
        await asyncio.wait([turn.move], timeout=max(0.0, due - monotonic()))
        if not turn.move.done():
            late = "the rules" if turn.fallback is None else "the player"
            self._note(f"{late} used up the clock")
            if turn.fallback is not None:
                self.host.send("best", turn.number)
                grace = self._settings.grace_of(clock)
                await asyncio.wait([turn.move, turn.best], timeout=grace, return_when=asyncio.FIRST_COMPLETED)
        moves = [future.result() for future in (turn.move, turn.best) if future.done()]
        return next((move for move in moves if move is not None), turn.fallback) or NIL

    def _send_play(self, turn: _Turn) -> None:
        clock = self.start.play_clock
        think_by = wall_time(self._settings.think_by(turn.arrived, clock))
        self._wait_for_rules(turn.number)
        self.host.send("play", turn.number, *turn.sent, think_by, clock)

    def _receive(self, event: list[Any]) -> None:
        match event:
            case ["loaded"]:
                self._is_loaded = True
                self._rules_answered(0)
            case ["ready"]:
                _settle(self._ready, READY)
            case ["failed", reason]:
                self._rules_answered(0)
                self._note(reason)
                _settle(self._ready, BUSY)
            case ["left"]:
                _settle(self._left, "left")
            case ["gone", reason]:
                self._continue_elsewhere(reason)
            case [kind, number, move, *more]:
                self._rules_answered(number)
                if self._turn is not None and self._turn.number == number:
                    self._receive_of_turn(self._turn, kind, move, more)

    def _receive_of_turn(self, turn: _Turn, kind: str, move: str | None, more: list[Any]) -> None:
        match kind:
            case "legal":
                turn.fallback, turn.is_repeatable = move, more[0]
            case "best":
                _settle(turn.best, move)
            case "move" if not turn.move.done():
                self._note(more[0])
                turn.move.set_result(move)

    def _wait_for_rules(self, question: int) -> None:
        """Start the timeout for the rules to answer a question: 0 for START, or the number of a turn."""
        self._asked.add(question)
        if self._rules_due is None:
            seconds = self.start.start_clock + 2 * self.start.play_clock + _SLACK
            reason = f"processing the rules timed out after {seconds:g} s"
            self._rules_due = asyncio.get_running_loop().call_later(seconds, self._lose, reason)

    def _rules_answered(self, *questions: int) -> None:
        self._asked.difference_update(questions)
        self._stop_waiting()
        if self._asked:
            self._wait_for_rules(min(self._asked))

    def _stop_waiting(self) -> None:
        if self._rules_due is not None:
            self._rules_due.cancel()
            self._rules_due = None

    def _continue_elsewhere(self, reason: str) -> None:
        """Continue in another session after a crash; give up after too many crashes."""
        self._deaths += 1
        is_hopeless = not self._is_loaded and self._deaths >= _MOST_DEATHS_READING
        host = None if self._is_over or is_hopeless or self._kept > _MOST_KEPT else self._renew(self._deaths)
        if host is None:
            self._lose(reason)
            return
        self._note(f"{reason}; another process continues")
        self.host, host.on_event = host, self._receive
        turn = self._turn
        is_asked = turn is not None and turn.given is None
        if self._ready is not None and self._ready.done():
            # START was already answered, so the player has no time to get ready.
            self._think_by = min(self._think_by, monotonic())
        self._send_start()
        if past_turns := self._sent[:-1] if is_asked else self._sent:
            host.send("replay", past_turns)
        if turn is not None and is_asked:
            self._send_play(turn)

    def _lose(self, reason: str) -> None:
        """Stop playing because of a fault. Later PLAY messages are answered without a move."""
        self._stop_waiting()
        self._asked.clear()
        self._lost = reason
        self._note(reason)
        self.host.end()
        _settle(self._ready, BUSY)
        if self._turn is not None:
            _settle(self._turn.move, None)
        if not self._left.done():
            self._left.cancel()

    def end(self, message: Stop | StopII | None) -> None:
        """Answer waiting messages, and end the match. Without a STOP message, the match has no result."""
        self._stop_waiting()
        self._is_over = True
        self._farewell = _FAREWELL if message is not None else _SHORT_FAREWELL
        answered = self._answered
        if self._turn is not None and self._turn.answer is not None:
            self._turn.answer.cancel()
            answered = self._turn.given
        if self._ready is not None:
            self._ready.cancel()
        if message is not None:
            self.host.send("stop", format_message(message), answered)
        elif self._asked:
            # The rules have not answered, and might never answer.
            self._lose("the match was aborted")
        else:
            self.host.send("abort")

    async def has_left(self) -> bool:
        """Wait a limited time until the player has finished; return whether the player has finished."""
        await asyncio.wait([self._left], timeout=self._farewell)
        return self._left.done() and not self._left.cancelled()

    @property
    def is_asked(self) -> bool:
        """Whether the manager waits for an answer."""
        is_preparing = self._ready is not None and not self._ready.done()
        return is_preparing or (self._turn is not None and self._turn.given is None)

    def take_fault(self) -> str:
        """Return the faults of the rules and the player since the last call, in words."""
        fault = "; ".join(self._faults)
        self._faults.clear()
        return fault

    def _note(self, fault: str) -> None:
        if fault and fault not in self._faults and len(self._faults) < _MOST_FAULTS:
            self._faults.append(fault)


def _settle(future: asyncio.Future[str | None] | None, value: str | None) -> None:
    if future is not None and not future.done():
        future.set_result(value)


def wall_time(moment: float) -> float:
    """Convert a time of `time.monotonic` to `time.time`, which all processes share."""
    return time() + moment - monotonic()
