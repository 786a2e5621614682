"""When sheets are examined: a moment after the last change, one after the other, stale results dropped."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import asdict
from typing import TYPE_CHECKING, Final

from anygame.language_server.checking.findings import Finding, Findings
from anygame.language_server.checking.process import ExaminationError, ExaminingProcess
from anygame.language_server.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Callable

    from anygame.language_server.documents import Document

#: Seconds without a change after which a sheet is examined: longer than between two keys.
_PAUSE: Final = 0.3
#: Seconds after which the examination of a text that has changed meanwhile is ended: of most sheets it takes
#: less, and a new process needs half a second.
_PATIENCE: Final = 2.0
#: Seconds that an examination may take. The largest public sheets take three.
_LONGEST: Final = 30.0


class Checker:
    """Examines sheets.

    Attributes:
        settings: of the editor.

    Args:
        tell: is called with a document and what was found in it, if it has not changed since.
    """

    def __init__(self, tell: Callable[[Document, Findings], None]) -> None:
        self.settings = Settings()
        self._tell = tell
        self._process = ExaminingProcess()
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._given_up: asyncio.Task[None] | None = None

    def changed(self, document: Document, pause: float = _PAUSE) -> None:
        """Examine a document soon; what was under way for an older text of it is given up."""
        self.forget(document.uri)
        task = asyncio.create_task(self._examine(document, pause))
        self._tasks[document.uri] = task

    def forget(self, uri: str) -> None:
        """Give up what is under way for a document."""
        if (task := self._tasks.pop(uri, None)) is not None:
            task.cancel()

    async def mended(self, document: Document, kinds: list[str]) -> str:
        """Return the text of a document after mending.

        Raises:
            ExaminationError: that cannot be done.
        """
        question = {"do": "mend", "name": document.sheet.source.name, "text": document.text, "kinds": kinds}
        found = await self._process.ask(question, _LONGEST)
        return str(found)

    async def close(self) -> None:
        """End everything."""
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
        # An examination that is given up goes on for a moment, lest every key begin a new process.
        asked = asyncio.create_task(self._process.ask(question, _LONGEST))
        try:
            found = Findings.from_json(await asyncio.shield(asked))
        except ExaminationError as error:
            found = Findings((_not_examined(str(error)),))
        except asyncio.CancelledError:
            if self._process.current is question:
                self._given_up = asyncio.create_task(_give_up(asked))
            else:
                asked.cancel()
            raise
        self._tell(document, found)


async def _give_up(asked: asyncio.Task[object]) -> None:
    with suppress(ExaminationError, asyncio.CancelledError, TimeoutError):
        await asyncio.wait_for(asked, _PATIENCE)


def _not_examined(reason: str) -> Finding:
    return Finding("not-examined", 1, f"this sheet could not be examined: {reason}", 0, 0)
