"""Processes that answer questions about sheets, a few at a time.

A process keeps games that it has read, and nothing else: so each can be killed at any time, where it is late
or nobody waits for its answer any more.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from anygame.errors import AnygameError
from anygame.processes.child import ChildEndedError, ChildFaultError, ChildProcess
from anygame.tool_server.bounds import LONGEST_ANSWER, MEMORY, MOST_WAITING, PROCESSES

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    #: Takes what is done, of how much (0 where that is not known), and a phrase.
    Report = Callable[[float, float, str], Awaitable[None]]


class ToolFaultError(AnygameError):
    """A question has no answer; the message says why, for whoever asked."""


class _Worker(ChildProcess):
    """A process that answers one question at a time.

    Attributes:
        known: the texts of sheets that it was asked about.
    """

    def __init__(self) -> None:
        self.known: set[str] = set()
        self._news: asyncio.Queue[tuple[float, float, str]] = asyncio.Queue()
        super().__init__(
            "anygame.tool_server.worker",
            MEMORY,
            name="the process that answers",
            longest=LONGEST_ANSWER,
            received=self._take_news,
        )

    async def ask_reporting(self, question: dict[str, Any], within: float, report: Report) -> Any:
        """Return the value that answers a question; what the process says meanwhile is reported."""
        telling = asyncio.create_task(self._tell(report))
        try:
            return await self.ask(question, within)
        finally:
            telling.cancel()
            with suppress(asyncio.CancelledError, Exception):
                await telling
            self.known.add(question["text"])

    async def _tell(self, report: Report) -> None:
        while True:
            await report(*await self._news.get())

    def _take_news(self, message: Any) -> None:
        match message:
            case {"done": int() | float() as done, "total": int() | float() as total, "doing": str(doing)}:
                self._news.put_nowait((done, total, doing))
            case _:
                raise ValueError("no news")


class Pool:
    """Answers questions in processes; see `anygame.tool_server.worker`."""

    def __init__(self) -> None:
        self.idle: list[_Worker] = []
        self._places = asyncio.Semaphore(PROCESSES)
        self._waiting = 0

    async def ask(self, question: dict[str, Any], within: float, report: Report) -> Any:
        """Return the answer to a question. The process is killed where the one who asks is cancelled.

        Args:
            question: what to ``do``, with ``name`` and ``text`` of a sheet, and other arguments.
            within: seconds for the answer, the wait for a process aside.
            report: is told how far it has come.

        Raises:
            ToolFaultError: there is none, or not in time.
        """
        if self._waiting >= MOST_WAITING:
            raise ToolFaultError(f"{MOST_WAITING} questions wait already: ask again when some are answered")
        self._waiting += 1
        try:
            await self._places.acquire()
        finally:
            self._waiting -= 1
        try:
            return await self._asked(question, within, report)
        finally:
            self._places.release()

    async def _asked(self, question: dict[str, Any], within: float, report: Report) -> Any:
        worker = self._chosen(question["text"])
        try:
            answer = await worker.ask_reporting(question, within, report)
        except ChildFaultError as error:
            self.idle.append(worker)
            raise ToolFaultError(str(error)) from None
        except TimeoutError:
            raise ToolFaultError(
                f"there was no answer within {within:g} seconds, and the process was ended: ask for less "
                "(fewer playouts, fewer seconds, a smaller game)"
            ) from None
        except ChildEndedError as error:
            raise ToolFaultError(f"{error}: the game takes more than one may have here") from None
        except BaseException:
            worker.kill()
            raise
        self.idle.append(worker)
        return answer

    def _chosen(self, text: str) -> _Worker:
        """Return an idle process, one that knows the sheet if there is one, or a new one."""
        self.idle = [each for each in self.idle if not each.is_gone]
        found = next((each for each in self.idle if text in each.known), None)
        if found is None:
            found = self.idle[-1] if self.idle else _Worker()
        if found in self.idle:
            self.idle.remove(found)
        return found

    async def close(self) -> None:
        """End the processes that wait."""
        for worker in self.idle:
            worker.kill()
        for worker in self.idle:
            await worker.wait()
        self.idle.clear()
