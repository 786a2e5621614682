"""Pools of child processes that answer one question at a time, and limits of waiting questions."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from math import inf
from time import monotonic
from typing import TYPE_CHECKING, Final, Generic, TypeVar

from anygame.errors import AnygameError
from anygame.processes.child import ChildFaultError, ChildProcess

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Sequence

_Child = TypeVar("_Child", bound=ChildProcess)
#: Maximum seconds that a task with a time limit waits.
_LONGEST_WAIT: Final = 5.0


class BusyError(AnygameError):
    """Too many tasks are already running or waiting."""


class Admission:
    """Admission control, which limits the numbers of running and waiting tasks.

    Args:
        places: maximum number of running tasks.
        most_waiting: maximum number of waiting tasks.
        message: message of the error for a refused task.
    """

    def __init__(self, places: int, most_waiting: int, message: str) -> None:
        self._places = asyncio.Semaphore(places)
        self._most_waiting = most_waiting
        self._waiting = 0
        self._message = message

    def busy(self) -> BusyError:
        """Return the error for a refused task."""
        return BusyError(self._message)

    @property
    def is_wanted(self) -> bool:
        """Whether a task waits for a place."""
        return self._waiting > 0

    @asynccontextmanager
    async def place(self, within: float = inf) -> AsyncIterator[float]:
        """Wait for a place and hold it. Yield the seconds left for the task.

        Args:
            within: time limit of the task in seconds. The wait takes at most half of it, and at most 5
                seconds.

        Raises:
            BusyError: too many tasks are already waiting, or no place became free in time.
        """
        end = monotonic() + within
        if self._places.locked() and self._waiting >= self._most_waiting:
            raise self.busy()
        self._waiting += 1
        try:
            async with asyncio.timeout(None if within == inf else min(within / 2, _LONGEST_WAIT)):
                await self._places.acquire()
        except TimeoutError:
            raise self.busy() from None
        finally:
            self._waiting -= 1
        try:
            yield end - monotonic()
        finally:
            self._places.release()


class Pool(Generic[_Child]):
    """Child processes that are started on demand, and kept for the next question.

    Args:
        start: starts a process.

    Attributes:
        idle: processes without a question, the most recently used one at the end.
    """

    def __init__(self, start: Callable[[], _Child]) -> None:
        self._start = start
        self.idle: list[_Child] = []

    @asynccontextmanager
    async def child(
        self, choose: Callable[[Sequence[_Child]], _Child] = lambda idle: idle[-1]
    ) -> AsyncIterator[_Child]:
        """Lend a process for one question; start one if none is idle.

        The process is kept if it answers, even with a fault. After any other error, such as a timeout or the
        cancellation of the task, it is killed.

        Args:
            choose: chooses one of the idle processes.
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
            await child.wait()
            raise
        self.idle.append(child)

    async def close(self) -> None:
        """Kill the idle processes, and wait until they have ended."""
        idle, self.idle = self.idle, []
        for child in idle:
            child.kill()
        for child in idle:
            await child.wait()
