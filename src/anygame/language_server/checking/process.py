"""The process that examines sheets, as the server sees it: begun when needed, ended when late."""

from __future__ import annotations

import asyncio
from typing import Any, Final

from anygame.errors import AnygameError
from anygame.processes.child import ChildEndedError, ChildProcess

#: Bytes of address space: what examining a text of 2 MiB takes, some times over.
_MEMORY: Final = 4 * 2**30
#: Bytes of one answer: 500 diagnostics and the domains of 5,000 places are much shorter.
_LONGEST_ANSWER: Final = 64 * 2**20


class ExaminationError(AnygameError):
    """A sheet could not be examined; the message says why."""


class ExaminingProcess:
    """A process that answers one question at a time.

    Attributes:
        current: the question that it is at; None while it waits for one.
    """

    def __init__(self) -> None:
        self.current: dict[str, Any] | None = None
        self._child: ChildProcess | None = None
        self._turn = asyncio.Lock()

    async def ask(self, question: dict[str, Any], within: float) -> Any:
        """Return the answer to a question; see `anygame.language_server.checking.worker`.

        Raises:
            ExaminationError: there is none, or not in time; then the process is ended.
        """
        async with self._turn:
            self.current = question
            if self._child is None or self._child.is_gone:
                self._child = _start()
            try:
                answer = await self._child.ask(question, within, _check)
                self.current = None
            except TimeoutError:
                raise ExaminationError(f"it takes more than {within:g} seconds") from None
            except ChildEndedError as error:
                raise ExaminationError(str(error)) from error
            finally:
                if self.current is not None:  # it is at work still, or gone
                    self.current = None
                    await self.end()
        if "fault" in answer:
            raise ExaminationError(str(answer["fault"]))
        return answer["value"]

    async def end(self) -> None:
        """Kill the process, whatever it is doing; the next question begins another one."""
        child, self._child = self._child, None
        if child is not None:
            child.kill()
            await child.wait()


def _start() -> ChildProcess:
    return ChildProcess(
        "anygame.language_server.checking.worker",
        _MEMORY,
        name="the process that examines sheets",
        longest=_LONGEST_ANSWER,
        received=_check,
        ended=lambda _: None,
    )


def _check(answer: dict[str, Any]) -> None:
    """Raise ValueError where a message is no answer."""
    if not (isinstance(answer, dict) and "id" in answer and ("fault" in answer or "value" in answer)):
        raise ValueError("neither a value nor a fault")
