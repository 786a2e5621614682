"""Threads that players think in, asked from a loop that never waits for them."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from queue import SimpleQueue
from threading import Thread
from typing import TYPE_CHECKING, Any

from anygame.players.failures import own_traceback

if TYPE_CHECKING:
    from collections.abc import Callable


class PlayerFailedError(Exception):
    """The code of a player raised something.

    Attributes:
        traceback: that of the player's code.
    """

    def __init__(self, message: str, traceback: str = "") -> None:
        super().__init__(message)
        self.traceback = traceback


class CallThread:
    """A thread that makes calls, one after the other; one that hangs does not keep the process alive.

    A call cannot be stopped.
    """

    def __init__(self, name: str) -> None:
        self._calls: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._thread = Thread(target=self._work, name=name, daemon=True)
        self._thread.start()

    @property
    def is_alive(self) -> bool:
        """Whether it has not ended yet."""
        return self._thread.is_alive()

    def put(self, call: Callable[[], None]) -> None:
        """Have a call made, after those before it. It must not raise."""
        self._calls.put(call)

    def submit(self, call: Callable[[], object]) -> asyncio.Future[Any]:
        """Have a call made for the loop that runs; nobody may wait for it any more when it ends."""
        future = asyncio.get_running_loop().create_future()
        self.put(lambda: _make(call, future))
        return future

    def close(self) -> None:
        """End the thread when it has made the calls that wait."""
        self._calls.put(None)

    def _work(self) -> None:
        while (call := self._calls.get()) is not None:
            call()
            del call


def _make(call: Callable[[], object], future: asyncio.Future[Any]) -> None:
    if future.cancelled():
        return
    try:
        outcome: object = call()
    except BaseException as error:  # whatever a player raises is its own business
        outcome = PlayerFailedError(f"{type(error).__name__}: {error}"[:1000], own_traceback(error))
    with suppress(RuntimeError):  # the loop has been closed: nobody waits
        future.get_loop().call_soon_threadsafe(_deliver, future, outcome)


def _deliver(future: asyncio.Future[Any], outcome: object) -> None:
    if future.done():
        return
    if isinstance(outcome, PlayerFailedError):
        future.set_exception(outcome)
    else:
        future.set_result(outcome)
