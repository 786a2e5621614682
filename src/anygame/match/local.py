"""Local seats: players in threads of this process, with the same clocks as remote players."""

from __future__ import annotations

import asyncio
from concurrent.futures import Future
from dataclasses import replace
from queue import SimpleQueue
from random import Random
from threading import Thread
from time import monotonic
from typing import TYPE_CHECKING

from anygame.errors import PlayerError
from anygame.language.terms import Term
from anygame.match.judging import judge
from anygame.match.seats import ABORT_CLOCK, LONGEST_REPLY, PLAY_GRACE, TIMED_OUT, Reply
from anygame.match.state_tracking import HiddenCourse, share_of_guessing
from anygame.players.player import Clock, Failures, own_traceback

if TYPE_CHECKING:
    from collections.abc import Callable

    from anygame.game.state import State
    from anygame.match.seats import MatchInfo
    from anygame.players.player import Player


class LocalSeat:
    """Seat of a player in this process, which gets the states of the match directly.

    If the rules hide information, the player gets the view of its role, and a state that agrees with this
    view. If a player hangs, its thread cannot be stopped, and all later replies time out.
    """

    def __init__(self, player: Player, *, name: str | None = None) -> None:
        self.player = player
        self.name = player.name if name is None else name
        self._match: MatchInfo | None = None
        self._state: State | None = None
        self._hiding: HiddenCourse | None = None
        self._worker: CallThread | None = None
        self._is_thinking = False
        self._random = Random()
        self._failures = Failures()

    def prepare(self) -> None:
        """Call `Player.prepare`, which can be slow. Raises PlayerError if the call fails."""
        try:
            self.player.prepare()
        except Exception as error:
            raise PlayerError(f"the player {self.name} cannot get ready: {error}") from error

    async def start(self, match: MatchInfo) -> Reply:
        """Let the player prepare for the match; reply ``ready``, or ``busy`` if the player fails."""
        self._match = match
        self._failures = match.failures or self._failures
        self._state = match.game.initial_state()
        self._hiding = HiddenCourse(match) if match.game.is_gdl2 else None
        self._random = Random(match.drawing)
        self.player.view = None
        seconds = match.start_clock
        return await self._ask(
            lambda: self.player.begin(match.game, match.role, Clock.of(seconds)), seconds, "ready", "busy"
        )

    async def play(self, match_id: str, joint: tuple[Term, ...] | None, clock: float) -> Reply:
        """Reply with the move that the player chooses.

        If the player fails, is late or returns no term, the reply is the player's best move so far, or
        ``nil``.
        """
        if self._match is None or self._match.match_id != match_id:
            return Reply("busy", detail=f"{self.name} does not play {match_id}")
        role, state, hiding = self._match.role, self._current_state(joint), self._hiding
        moment = None if self._match.step is None else f"{self._match.drawing}/{self._match.step()}"
        self._is_thinking = False

        def think() -> object:
            self.player.best = None
            if moment is not None:
                self.player.draw_anew(moment)
                self._random.seed(moment)
            limit = Clock.of(clock)
            shown = state
            if hiding is not None:
                guess_by = monotonic() + share_of_guessing(self.player) * clock
                shown, self.player.view = hiding.follow(joint, guess_by)
            self._is_thinking = True
            return self.player.move(shown, limit)

        reply = await self._ask(think, clock + PLAY_GRACE, None, "nil")
        best = self.player.best
        if hiding is not None and hiding.is_lost and reply.text is not None:
            reply = self._with_legal_move(reply, state)
        if not self._is_thinking or not isinstance(best, Term):
            return reply
        if reply.error == TIMED_OUT:
            detail = "the clock ran out, so the best move so far is played"
            return replace(reply, text=str(best), error=None, detail=detail)
        if reply.text == "nil" and reply.detail and best in state.legal_moves(role):
            detail = f"{reply.detail}; the best move so far is played"
            return replace(reply, text=str(best), detail=detail)
        return reply

    def _with_legal_move(self, reply: Reply, state: State) -> Reply:
        """Replace a reply by a random legal move if the reply is illegal in the true state, ``state``."""
        assert self._match is not None
        legal = state.legal_moves(self._match.role)
        if judge(reply, legal, case_sensitive=self._match.game.case_sensitive).move is not None:
            return reply
        detail = "found no state that agrees with the observations, so a random legal move is played"
        return replace(reply, text=str(self._random.choice(legal)), detail=detail)

    def _current_state(self, joint: tuple[Term, ...] | None) -> State:
        assert self._match is not None
        assert self._state is not None
        if self._match.state is not None:
            self._state = self._match.state()
        elif joint is not None:
            self._state = self._state.next(joint)
        return self._state

    async def stop(self, match_id: str, joint: tuple[Term, ...] | None) -> None:
        """Report the end of the match to the player."""
        if self._match is None or self._match.match_id != match_id:
            return
        goals = self._current_state(joint).goals()
        seconds = self._match.play_clock
        self._match = self._state = None
        await self._ask(lambda: self.player.stop(goals), seconds, "done", "done")

    async def abort(self, match_id: str) -> None:
        """Report the abort of the match to the player."""
        if self._match is None or self._match.match_id != match_id:
            return
        self._match = self._state = None
        await self._ask(self.player.abort, ABORT_CLOCK, "aborted", "aborted")

    async def close(self) -> None:
        """End the thread of the player after its current call."""
        if self._worker is not None:
            self._worker.close()
            self._worker = None

    async def _ask(self, call: Callable[[], object], seconds: float, done: str | None, failed: str) -> Reply:
        """Make a call in the thread of the player.

        Reply ``done``, or the result of the call if ``done`` is None. After an exception, reply ``failed``.
        """
        if self._worker is None:
            self._worker = CallThread(f"player {self.name}")
        try:
            returned = await asyncio.wait_for(asyncio.wrap_future(self._worker.submit(call)), seconds)
        except TimeoutError:
            reply = Reply(None, TIMED_OUT, f"{self.name} did not answer within {seconds:g} s")
        except PlayerFailedError as error:
            self._failures.report(self.name, error.traceback)
            reply = Reply(failed, detail=f"{self.name} failed: {error}")
        else:
            if done is not None:
                reply = Reply(done)
            elif isinstance(returned, Term | str):
                reply = Reply(str(returned)[:LONGEST_REPLY])
            else:
                reply = Reply(failed, detail=f"{self.name} returned {type(returned).__name__}, not a move")
        return replace(reply, said=self.player.take_said())


class PlayerFailedError(Exception):
    """The code of a player raised an exception."""

    def __init__(self, message: str, traceback: str = "") -> None:
        super().__init__(message)
        self.traceback = traceback


class CallThread:
    """Daemon thread that makes calls in order. A call that hangs does not keep the process alive."""

    def __init__(self, name: str) -> None:
        self._calls: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._thread = Thread(target=self._work, name=name, daemon=True)
        self._thread.start()

    @property
    def is_alive(self) -> bool:
        """Whether the thread is running."""
        return self._thread.is_alive()

    def put(self, call: Callable[[], None]) -> None:
        """Queue a call, which must not raise an exception."""
        self._calls.put(call)

    def submit(self, call: Callable[[], object]) -> Future[object]:
        """Queue a call to a player; the returned future raises PlayerFailedError if the call fails."""
        future: Future[object] = Future()

        def make_call() -> None:
            if not future.set_running_or_notify_cancel():
                return
            try:
                future.set_result(call())
            except BaseException as error:  # A player can raise any exception.
                message = f"{type(error).__name__}: {error}"[:1000]
                future.set_exception(PlayerFailedError(message, own_traceback(error)))

        self.put(make_call)
        return future

    def close(self) -> None:
        """End the thread after the queued calls."""
        self._calls.put(None)

    def _work(self) -> None:
        while (call := self._calls.get()) is not None:
            call()
            del call
