"""Processes that answer questions about sheets, a few at a time.

The only state of a process is a cache of games. A process can therefore be killed at any time, if it is late
or if no program waits for its answer.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from anygame.processes.child import ChildProcess
from anygame.processes.pool import Admission, Pool
from anygame.tool_server.bounds import LONGEST_ANSWER, MEMORY, MOST_WAITING, PROCESSES

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    #: Takes the work done, the total work (0 if unknown), and a phrase.
    Report = Callable[[float, float, str], Awaitable[None]]


class _Worker(ChildProcess):
    """A process that answers one question at a time; ``known`` holds the sheets that it has read."""

    def __init__(self) -> None:
        self.known: set[str] = set()
        self._news: asyncio.Queue[tuple[float, float, str]] = asyncio.Queue()
        super().__init__(
            "anygame.tool_server.answering",
            MEMORY,
            name="the process that answers",
            longest=LONGEST_ANSWER,
            advice="ask for less (fewer playouts, fewer seconds, a smaller game)",
            received=self._take_news,
        )

    async def ask_reporting(self, question: dict[str, Any], within: float, report: Report) -> Any:
        """Return the answer to a question, and report progress until then."""
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


class QuestionPool:
    """Answers questions in processes; see `anygame.tool_server.answering`."""

    def __init__(self) -> None:
        busy = f"{MOST_WAITING} questions are waiting already: try again later"
        self._admission = Admission(PROCESSES, MOST_WAITING, busy)
        self.pool = Pool(_Worker)

    async def ask(self, question: dict[str, Any], within: float, report: Report) -> Any:
        """Return the answer to a question. The process is killed if the calling task is cancelled.

        Args:
            question: the arguments of `anygame.tool_server.answering.answer`, without ``report``.
            within: seconds for the answer, without the wait for a process.
            report: function that is called with the progress.

        Raises BusyError, ChildFaultError or ChildEndedError if there is no answer in time.
        """

        def knowing(idle: Sequence[_Worker]) -> _Worker:
            return next((worker for worker in idle if question["text"] in worker.known), idle[-1])

        async with self._admission.place(), self.pool.child(knowing) as worker:
            return await worker.ask_reporting(question, within, report)
