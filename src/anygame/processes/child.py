"""Child processes, as their parent sees them: messages in both directions, and the end of a child.

Rules come from strangers, and neither reading nor reasoning can be interrupted. Work with a time limit
therefore runs in a child, which limits its own memory (`anygame.processes.inside`) and is killed if it does
not answer.

1. The child starts. Messages sent before its start wait.
2. Each line that the child writes is a message, which is passed to ``received`` in order.
3. The child ends: by itself, because it is killed or has written an invalid message, or because the parent
   has ended and closed the input of the child.
4. ``ended`` is called once, with a sentence about this end.
"""

from __future__ import annotations

import asyncio
import base64
import pickle
import signal
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

from anygame.errors import AnygameError
from anygame.processes.inside import decode_message, encode_message, python_command

if TYPE_CHECKING:
    from collections.abc import Callable

#: Maximum seconds until a child ends after it has closed its output.
_CLOSING: Final = 1.0
#: The program of a child, which has the same module path as this process.
_BOOTSTRAP: Final = """
import base64, json, pickle, sys
sys.path[:] = json.loads(sys.argv[1])
from MODULE import main
main(*pickle.loads(base64.b64decode(sys.argv[2])))
"""


class ChildEndedError(AnygameError):
    """A child has ended, or was killed because it did not answer in time; the message says which."""


class ChildFaultError(AnygameError):
    """A child cannot answer a question; the message says why.

    Attributes:
        diagnostics: diagnostics of the rule sheet as plain data.
    """

    def __init__(self, message: str, diagnostics: list[Any]) -> None:
        super().__init__(message)
        self.diagnostics = diagnostics


def _refuse(_: Any) -> None:
    raise ValueError("expected the answer to a question")


class ChildProcess:
    """A Python process that exchanges messages with this one; needs a running event loop.

    A question to a child is an object with an ``id``. The answer has the same ``id`` and a ``value``, or a
    ``fault`` in words, optionally with ``diagnostics``.

    Args:
        module: module with the function ``main`` that the child calls.
        arguments: picklable arguments of ``main``.
        name: name of the child at the start of sentences.
        longest: maximum size of a message of the child, in bytes.
        advice: advice to the user if the child ends before it has answered.
        received: called with every message that is not an answer. It raises ValueError for an invalid
            message, and the child is then killed. By default, all such messages are invalid.
        ended: called with a sentence when the child has ended, after all open questions have failed.
    """

    def __init__(
        self,
        module: str,
        *arguments: object,
        name: str,
        longest: int,
        advice: str = "",
        received: Callable[[Any], None] = _refuse,
        ended: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._name = name
        self._longest = longest
        self._advice = f": {advice}" if advice else ""
        self._received = received
        self._ended = ended
        self._process: asyncio.subprocess.Process | None = None
        self._waiting: list[bytes] = []
        self._is_killed = False
        self._asked: dict[int, tuple[asyncio.Future[Any], Callable[[Any], object]]] = {}
        self._number = 0
        self._end_text = ""
        given = base64.b64encode(pickle.dumps(arguments)).decode()
        self._life = asyncio.create_task(self._live(_BOOTSTRAP.replace("MODULE", module), given))

    @property
    def is_gone(self) -> bool:
        """Whether the child has ended."""
        return self._life.done()

    def send(self, message: object) -> None:
        """Send a message. Messages to a child that has ended are lost."""
        line = encode_message(message)
        if self._process is None:
            self._waiting.append(line)
        else:
            self._write(line)

    async def ask(
        self, question: dict[str, Any], within: float, on_answer: Callable[[Any], object] = lambda _: None
    ) -> Any:
        """Return the value that answers a question.

        Args:
            question: plain data; an ``id`` is added.
            within: time limit in seconds.
            on_answer: called with the value before later messages are read.

        Raises:
            ChildFaultError: the child answers with a fault.
            ChildEndedError: the child has ended, or was killed because there was no answer in time.
        """
        if self._end_text:
            raise ChildEndedError(self._end_text)
        self._number += 1
        number = self._number
        answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._asked[number] = answer, on_answer
        self.send({"id": number} | question)
        try:
            async with asyncio.timeout(within):
                return await answer
        except TimeoutError:
            self.kill()
            late = f"did not answer within {within:.3g} seconds, and was ended"
            raise ChildEndedError(f"{self._name} {late}{self._advice}") from None
        finally:
            self._asked.pop(number, None)

    def kill(self) -> None:
        """Kill the child."""
        # A second call would collect the exit status of the ended process, which asyncio then misses.
        if not self._is_killed:
            self._is_killed = True
            self._kill()

    async def wait(self) -> None:
        """Wait until the child has ended."""
        await asyncio.wait([self._life])

    async def _live(self, program: str, given: str) -> None:
        try:
            how = await self._run(python_command(program, given))
        except Exception as error:  # reported to all who wait
            how = f"could not be started: {type(error).__name__}: {error}"
            self.kill()
        self._end_text = f"{self._name} {how}{self._advice}"
        for answer, _ in self._asked.values():
            if not answer.done():
                answer.set_exception(ChildEndedError(self._end_text))
        self._ended(self._end_text)

    async def _run(self, command: list[str]) -> str:
        """Run the child to its end; return how it ended."""
        # Ctrl-C does not reach the child in its own session; it ends when its input closes.
        process = self._process = await asyncio.create_subprocess_exec(
            *command,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            limit=self._longest,
            start_new_session=True,
        )
        if self._is_killed:
            self._kill()
        for line in self._waiting:
            self._write(line)
        self._waiting.clear()
        fault = await self._listen(process)
        with suppress(TimeoutError):
            await asyncio.wait_for(process.wait(), _CLOSING)
        if process.returncode is None:
            self.kill()
        status = await process.wait()
        return fault or _ending(status)

    async def _listen(self, process: asyncio.subprocess.Process) -> str:
        """Handle messages until there are no more; return the error of the last one, usually empty."""
        assert process.stdout is not None
        try:
            # A child that dies can leave half a line.
            while (line := await process.stdout.readline()).endswith(b"\n"):
                self._receive(decode_message(line))
        except (ValueError, OSError) as error:
            return f"wrote an invalid message: {error}"
        return ""

    def _receive(self, message: Any) -> None:
        match message:
            case {"id": int(number)}:
                answer, on_answer = self._asked.get(number, (None, None))
                # There is no such question if it has timed out.
                if answer is not None and on_answer is not None and not answer.done():
                    _take(message, answer, on_answer)
            case _:
                self._received(message)

    def _kill(self) -> None:
        if self._process is not None:
            with suppress(ProcessLookupError):
                self._process.kill()

    def _write(self, line: bytes) -> None:
        assert self._process is not None
        assert self._process.stdin is not None
        with suppress(OSError, RuntimeError):
            self._process.stdin.write(line)


def _take(message: dict[str, Any], answer: asyncio.Future[Any], on_answer: Callable[[Any], object]) -> None:
    match message:
        case {"value": value}:
            on_answer(value)
            answer.set_result(value)
        case {"fault": str(fault), **more} if isinstance(more.get("diagnostics", []), list):
            answer.set_exception(ChildFaultError(fault, more.get("diagnostics", [])))
        case _:
            raise ValueError("expected a value or a fault")


def _ending(status: int) -> str:
    """Return the end of a process in words.

    >>> _ending(3), _ending(-9)
    ('has ended (status 3)', 'was ended (SIGKILL)')
    """
    if status >= 0:
        return f"has ended (status {status})"
    try:
        return f"was ended ({signal.Signals(-status).name})"
    except ValueError:
        return f"was ended (signal {-status})"
