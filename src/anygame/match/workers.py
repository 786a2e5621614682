"""Threads that players think in, asked from a loop that never waits for them."""

from __future__ import annotations

import asyncio
from queue import SimpleQueue
from threading import Thread
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["PlayerFailedError", "Worker"]


class PlayerFailedError(Exception):
    """The code of a player raised something."""


class Worker:
    """A thread that makes calls, one after the other.

    A call cannot be stopped; the thread of one that hangs does not keep the process alive.
    """

    def __init__(self, name: str) -> None:
        self._calls: SimpleQueue[tuple[Callable[[], object], asyncio.Future[Any]] | None] = SimpleQueue()
        Thread(target=self._work, name=f"player {name}", daemon=True).start()

    def submit(self, call: Callable[[], object]) -> asyncio.Future[Any]:
        """Have a call made; nobody may wait for it any more when it ends."""
        future = asyncio.get_running_loop().create_future()
        self._calls.put((call, future))
        return future

    def close(self) -> None:
        """End the thread when it has made the calls that wait."""
        self._calls.put(None)

    def _work(self) -> None:
        while (task := self._calls.get()) is not None:
            call, future = task
            if future.cancelled():
                continue
            try:
                outcome: object = call()
            except BaseException as error:  # whatever a player raises is its own business
                outcome = PlayerFailedError(f"{type(error).__name__}: {error}"[:1000])
            try:
                future.get_loop().call_soon_threadsafe(_deliver, future, outcome)
            except RuntimeError:
                return  # the loop has been closed: nobody waits
            del task, call, future, outcome


def _deliver(future: asyncio.Future[Any], outcome: object) -> None:
    if future.done():
        return
    if isinstance(outcome, PlayerFailedError):
        future.set_exception(outcome)
    else:
        future.set_result(outcome)
