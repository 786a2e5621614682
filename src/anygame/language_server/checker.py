"""Schedules the examination of sheets: shortly after the last change, one at a time, in a separate process.

The checker drops outdated results. The checker starts the process for the first examination, and kills the
process after a timeout.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Final

from anygame.errors import AnygameError
from anygame.language_server.findings import Finding, Findings, Settings
from anygame.processes.child import ChildProcess, Pool

if TYPE_CHECKING:
    from collections.abc import Callable

    from anygame.language_server.documents import Document


#: Maximum address space of the process in bytes, several times as much as a text of 2 MiB needs.
_MEMORY: Final = 4 * 2**30
#: Maximum size of an answer in bytes; 500 diagnostics and the values of 5,000 places take much less.
_LONGEST_ANSWER: Final = 64 * 2**20


class ExaminingProcess:
    """A process that answers one question at a time; ``current`` is the unanswered question."""

    def __init__(self) -> None:
        self.current: dict[str, Any] | None = None
        self._turn = asyncio.Lock()
        self._pool = Pool(
            lambda: ChildProcess(
                "anygame.language_server.worker",
                _MEMORY,
                _LONGEST_ANSWER,
                name="the process that examines sheets",
                longest=_LONGEST_ANSWER,
            )
        )

    async def ask(self, question: dict[str, Any], within: float) -> Any:
        """Return the answer to a question; see `anygame.language_server.worker`.

        Raises ChildEndedError if no answer comes in ``within`` seconds, and ChildFaultError if the
        process cannot answer.
        """
        async with self._turn, self._pool.child() as child:
            self.current = question
            try:
                return await child.ask(question, within)
            finally:
                self.current = None

    async def end(self) -> None:
        """Kill the process; the next question starts another process."""
        await self._pool.close()


#: Seconds between the last change and the examination; more than the usual time between two keystrokes.
_PAUSE: Final = 0.3
#: Seconds after which an outdated examination is aborted. Most examinations take less time. Starting a new
#: process takes 0.5 s.
_PATIENCE: Final = 2.0
#: Maximum seconds of an examination; the largest public sheets take three seconds.
_LONGEST: Final = 30.0


class Checker:
    """Examines sheets, and calls ``report`` with the findings unless the document has changed meanwhile."""

    def __init__(self, report: Callable[[Document, Findings], None]) -> None:
        self.settings = Settings()
        self._report = report
        self._process = ExaminingProcess()
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._given_up: asyncio.Task[None] | None = None

    def changed(self, document: Document, pause: float = _PAUSE) -> None:
        """Examine a document after ``pause`` seconds, and cancel the examination of the older text."""
        self.forget(document.uri)
        self._tasks[document.uri] = asyncio.create_task(self._examine(document, pause))

    def forget(self, uri: str) -> None:
        """Cancel the examination of a document."""
        if (task := self._tasks.pop(uri, None)) is not None:
            task.cancel()

    async def mended(self, document: Document, kinds: list[str]) -> str:
        """Return the text of a document after mending. Raises AnygameError if mending fails."""
        question = {"do": "mend", "name": document.sheet.source.name, "text": document.text, "kinds": kinds}
        return str(await self._process.ask(question, _LONGEST))

    async def close(self) -> None:
        """Cancel all examinations and kill the process."""
        for uri in list(self._tasks):
            self.forget(uri)
        await self._process.end()

    async def _examine(self, document: Document, pause: float) -> None:
        await asyncio.sleep(pause)
        question = {
            "do": "examine",
            "name": document.sheet.source.name,
            "text": document.text,
            "settings": asdict(self.settings),
        }
        # An outdated examination may finish soon; killing its process at each keystroke would cost more time.
        answer = asyncio.create_task(self._process.ask(question, _LONGEST))
        try:
            findings = Findings.from_json(await asyncio.shield(answer))
        except AnygameError as error:
            reason = f"this sheet could not be examined: {error}"
            findings = Findings((Finding("not-examined", 1, reason, 0, 0),))
        except asyncio.CancelledError:
            if self._process.current is question:
                self._given_up = asyncio.create_task(_give_up(answer))
            else:
                answer.cancel()
            raise
        self._report(document, findings)


async def _give_up(answer: asyncio.Task[object]) -> None:
    with suppress(AnygameError, asyncio.CancelledError, TimeoutError):
        await asyncio.wait_for(answer, _PATIENCE)
