"""Pools of child processes: each answers one question at a time, and a bounded number of questions waits."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from time import monotonic
from typing import TYPE_CHECKING, Generic, TypeVar

from anygame.processes.child import ChildFaultError, ChildProcess

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Sequence

_Child = TypeVar("_Child", bound=ChildProcess)


class Admission:
    """Admission control: a bounded number of tasks runs at a time, and a bounded number waits.

    Args:
        places: how many tasks run at a time.
        most_waiting: how many may wait.
        busy: makes the error for a task that is not admitted.
    """

    def __init__(self, places: int, most_waiting: int, busy: Callable[[], Exception]) -> None:
        self._places = asyncio.Semaphore(places)
        self._most_waiting = most_waiting
        self._waiting = 0
        self.busy = busy

    @property
    def is_wanted(self) -> bool:
        """Whether a task waits for a place."""
        return self._waiting > 0

    @asynccontextmanager
    async def place(self, longest_wait: float | None = None) -> AsyncIterator[float]:
        """Wait for a place and hold it. Yield the seconds that the wait took.

        Args:
            longest_wait: seconds to wait at most; None for no bound.

        Raises:
            Exception: the error of ``busy``: too many tasks wait already, or no place became free in time.
        """
        start = monotonic()
        if self._places.locked() and self._waiting >= self._most_waiting:
            raise self.busy()
        self._waiting += 1
        try:
            async with asyncio.timeout(longest_wait):
                await self._places.acquire()
        except TimeoutError:
            raise self.busy() from None
        finally:
            self._waiting -= 1
        try:
            yield monotonic() - start
        finally:
            self._places.release()


class Pool(Generic[_Child]):
    """Child processes that are started when they are needed, and kept for the next question.

    Args:
        start: starts a process.

    Attributes:
        idle: the processes that wait for a question, the last used one at the end.
    """

    def __init__(self, start: Callable[[], _Child]) -> None:
        self._start = start
        self.idle: list[_Child] = []

    @asynccontextmanager
    async def child(
        self, choose: Callable[[Sequence[_Child]], _Child] = lambda idle: idle[-1]
    ) -> AsyncIterator[_Child]:
        """Lend a process for one question; start one if none is idle.

        The process is kept afterwards if it has answered, a fault included. It is killed after any other
        error: a timeout, or the cancellation of the task that asked.

        Args:
            choose: picks one of the idle processes.
        """
        self.idle = [child for child in self.idle if not child.is_gone]
        child = choose(self.idle) if self.idle else self._start()
        if child in self.idle:
            self.idle.remove(child)
        try:
            yield child
        except ChildFaultError:
            self.idle.append(child)
            raise
        except BaseException:
            child.kill()
            raise
        self.idle.append(child)

    async def close(self) -> None:
        """Kill the idle processes, and wait until they have ended."""
        idle, self.idle = self.idle, []
        for child in idle:
            child.kill()
        for child in idle:
            await child.wait()
