"""Processes of matches, as the server sees them: commands to them, answers and events from them."""

from __future__ import annotations

import asyncio
import json
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

from anygame.errors import AnygameError
from anygame.web.settings import LONGEST_ANSWER

if TYPE_CHECKING:
    from collections.abc import Callable

#: Answers to browsers come before the thinking of players where both want the processor.
_NICENESS: Final = 5
#: Seconds for a process to end when it will tell nothing more.
_CLOSING: Final = 1.0
#: What a process begins with. It looks for modules where this one does, also those of players.
_BOOTSTRAP: Final = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
    "from anygame.web.hosting.process import main; main(*map(int, sys.argv[2:]))"
)


class MatchFaultError(AnygameError):
    """What was asked cannot be done; the message is for the visitor.

    Attributes:
        diagnostics: of a broken sheet, as plain data.
    """

    def __init__(self, message: str, diagnostics: list[dict[str, Any]] | None = None) -> None:
        super().__init__(message)
        self.diagnostics = diagnostics or []


class ProcessGoneError(MatchFaultError):
    """The process has ended, or was ended since it did not answer in time."""


class HostProcess:
    """A process for one match.

    Args:
        memory: bytes of address space that it may take.
        niceness: how far it stands back for others where they want the processor too.

    Attributes:
        hear: is called with every view that it tells of by itself.
        ended: is called when it has ended.
    """

    def __init__(self, memory: int, niceness: int = _NICENESS) -> None:
        self.hear: Callable[[dict[str, Any]], None] = _ignore
        self.ended: Callable[[], None] = _do_nothing
        self._waiting: dict[int, asyncio.Future[Any]] = {}
        #: The questions whose answers are views.
        self._views: set[int] = set()
        self._number = 0
        self._is_ended = False
        self._memory = memory
        self._niceness = niceness
        self._process: asyncio.subprocess.Process | None = None
        self._begun = asyncio.Event()
        self._life = asyncio.create_task(self._live())

    @property
    def is_gone(self) -> bool:
        """Whether it has ended."""
        return self._life.done()

    async def ask(self, what: str, *, within: float, is_view: bool = False, **arguments: Any) -> Any:
        """Have a command carried out; see `anygame.web.hosting.session`.

        Args:
            what: the command.
            within: seconds for it.
            is_view: whether the answer is a view of the match as it stands. It is heard at once: what the
                process tells next is newer, and whoever asked comes to the answer only later.
            arguments: of the command.

        Raises:
            MatchFaultError: it cannot be.
            ProcessGoneError: the process has ended, or is ended now since there was no answer in time.
        """
        try:
            async with asyncio.timeout(within):
                await self._begun.wait()
                if self.is_gone or self._process is None or self._process.stdin is None:
                    raise ProcessGoneError("the process of the match has ended")
                self._number += 1
                number = self._number
                answer = self._waiting[number] = asyncio.get_running_loop().create_future()
                self._views |= {number} if is_view else set()
                command = {"id": number, "do": what} | arguments
                self._process.stdin.write(json.dumps(command).encode() + b"\n")
                try:
                    return await answer
                finally:
                    self._waiting.pop(number, None)
                    self._views.discard(number)
        except TimeoutError:
            self.end()
            raise ProcessGoneError(
                f"the game took more than {within:.2g} seconds for an answer, and was ended"
            ) from None

    def end(self) -> None:
        """Kill it, whatever it is doing."""
        if self._process is None:
            self._life.cancel()
        elif not self._is_ended:
            # A process that has ended must not be killed once more: its status would be collected here.
            self._is_ended = True
            with suppress(ProcessLookupError):
                self._process.kill()

    async def wait(self) -> None:
        """Wait until it has ended."""
        await asyncio.wait([self._life])

    async def _live(self) -> None:
        try:
            await self._run()
        finally:
            self._begun.set()
            for answer in self._waiting.values():
                if not answer.done():
                    answer.set_exception(ProcessGoneError("the process of the match has ended"))
            self.ended()

    async def _run(self) -> None:
        try:
            # In a session of its own Ctrl-C does not reach it; it follows when its pipe closes.
            process = self._process = await asyncio.create_subprocess_exec(
                sys.executable, "-c", _BOOTSTRAP,
                json.dumps(sys.path), str(self._memory), str(self._niceness),
                stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, limit=LONGEST_ANSWER,
                start_new_session=True,
            )  # fmt: skip
        except OSError:
            return
        assert process.stdout is not None
        with suppress(ValueError, RecursionError, OSError):  # an answer beyond all bounds, or none
            while line := await process.stdout.readline():
                self._hear(json.loads(line))
        with suppress(TimeoutError):
            await asyncio.wait_for(process.wait(), _CLOSING)
        if process.returncode is None:
            self.end()
        await process.wait()

    def _hear(self, told: object) -> None:
        """Take what the process tells. Raises ValueError where it is no answer: the process is then ended."""
        match told:
            case {"event": "begun"}:
                self._begun.set()
            case {"event": "changed", "view": dict(view)}:
                self.hear(view)
            case {"id": int(number), "value": value}:
                if number in self._views:
                    self.hear(value)
                self._answer(number, value)
            case {"id": int(number), "fault": str(fault), "diagnostics": list(diagnostics)}:
                self._answer(number, MatchFaultError(fault, diagnostics))
            case _:
                raise ValueError(told)

    def _answer(self, number: int, found: object) -> None:
        answer = self._waiting.get(number)
        if answer is None or answer.done():
            return
        if isinstance(found, MatchFaultError):
            answer.set_exception(found)
        else:
            answer.set_result(found)


def _ignore(_: dict[str, Any]) -> None:
    """Hear a view that nobody waits for."""


def _do_nothing() -> None:
    """Note that a process has ended whose match needs none."""
