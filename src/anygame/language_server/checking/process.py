"""The process that examines sheets, as the server sees it: begun when needed, ended when late."""

from __future__ import annotations

import asyncio
import json
import sys
from contextlib import suppress
from typing import Any, Final

from anygame.errors import AnygameError

#: Bytes of address space: what examining a text of 2 MiB takes, some times over.
_MEMORY: Final = 4 * 2**30
#: Bytes of one answer: 500 diagnostics and the domains of 5,000 places are much shorter.
_LONGEST_ANSWER: Final = 64 * 2**20
#: What the process begins with. It looks for modules where this one does.
_BOOTSTRAP: Final = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
    "from anygame.language_server.checking.worker import main; main(int(sys.argv[2]))"
)


class ExaminationError(AnygameError):
    """A sheet could not be examined; the message says why."""


class ExaminingProcess:
    """A process that answers one question at a time.

    Attributes:
        current: the question that it is at; None while it waits for one.
    """

    def __init__(self) -> None:
        self.current: dict[str, Any] | None = None
        self._process: asyncio.subprocess.Process | None = None
        self._turn = asyncio.Lock()

    async def ask(self, question: dict[str, Any], within: float) -> Any:
        """Return the answer to a question; see `anygame.language_server.checking.worker`.

        Raises:
            ExaminationError: there is none, or not in time; then the process is ended.
        """
        async with self._turn:
            self.current = question
            try:
                async with asyncio.timeout(within):
                    answer = await self._answer(question)
                self.current = None
            except TimeoutError:
                raise ExaminationError(f"it takes more than {within:g} seconds") from None
            except (OSError, ValueError, RecursionError) as error:
                raise ExaminationError(str(error)) from error
            finally:
                if self.current is not None:  # it is at work still, or gone
                    self.current = None
                    await self.end()
        if "fault" in answer:
            raise ExaminationError(str(answer["fault"]))
        return answer["value"]

    async def _answer(self, question: dict[str, Any]) -> dict[str, Any]:
        if self._process is None or self._process.returncode is not None:
            # In a session of its own Ctrl-C does not reach it; it follows when its pipe closes.
            self._process = await asyncio.create_subprocess_exec(
                sys.executable, "-c", _BOOTSTRAP, json.dumps(sys.path), str(_MEMORY),
                stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, limit=_LONGEST_ANSWER,
                start_new_session=True,
            )  # fmt: skip
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(question).encode() + b"\n")
        await self._process.stdin.drain()
        line = await self._process.stdout.readline()
        if not line.endswith(b"\n"):
            raise ExaminationError("the process that examines sheets has ended")
        answer: dict[str, Any] = json.loads(line)
        if not (isinstance(answer, dict) and ("fault" in answer or "value" in answer)):
            raise ExaminationError("the process that examines sheets told what is no answer")
        return answer

    async def end(self) -> None:
        """Kill the process, whatever it is doing; the next question begins another one."""
        process, self._process = self._process, None
        if process is None:
            return
        if process.returncode is None:
            with suppress(ProcessLookupError):
                process.kill()
        # What it has told meanwhile nobody wants; its pipes are closed when all is read.
        with suppress(OSError, ValueError):
            await process.communicate()
