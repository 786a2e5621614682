"""Child processes that exchange messages with their parent, and pools of children that answer questions.

Rules come from strangers, and neither reading nor reasoning can be interrupted. Work with a time limit
therefore runs in a child process, which limits its own memory (`anygame.processes.inside`). The parent kills
a child that does not answer in time. A child ends itself when its parent ends.
"""

from __future__ import annotations

import asyncio
import base64
import pickle
import signal
from contextlib import asynccontextmanager, suppress
from math import inf
from time import monotonic
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar

from anygame.errors import AnygameError
from anygame.processes.inside import decode_message, encode_message, python_command

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Sequence

#: Maximum number of seconds until a child ends after closing its output.
_CLOSING: Final = 1.0
#: Program of a child, which sets ``sys.path`` to that of its parent.
_BOOTSTRAP: Final = """
import base64, json, pickle, sys
sys.path[:] = json.loads(sys.argv[1])
from MODULE import main
main(*pickle.loads(base64.b64decode(sys.argv[2])))
"""


class ChildEndedError(AnygameError):
    """A child has ended, or was killed because it did not answer in time, as the message says."""


class ChildFaultError(AnygameError):
    """A child cannot answer a question; ``diagnostics`` are those of the rule sheet, as plain data."""

    def __init__(self, message: str, diagnostics: list[Any]) -> None:
        super().__init__(message)
        self.diagnostics = diagnostics


def _refuse(_: Any) -> None:
    raise ValueError("expected the answer to a question")


class ChildProcess:
    """A Python process that exchanges messages with this one. The event loop must be running.

    Messages are lines of JSON, and wait until the child has started. A question to a child has an ``id``. The
    answer has the same ``id`` and a ``value``, or a ``fault`` in words and optionally ``diagnostics``.

    Args:
        module: module with the function ``main`` that the child calls.
        arguments: picklable arguments of ``main``.
        name: name of the child in error messages.
        longest: maximum size of a message of the child, in bytes.
        advice: advice to the user if the child ends before it has answered.
        received: called with every message that is not an answer. If ``received`` raises ValueError, the
            message is invalid, and the child is killed. By default, only answers are valid.
        ended: called once, with an error message, after the child has ended and all open questions failed.
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
        """Send a message, which is lost if the child has ended."""
        line = encode_message(message)
        if self._process is None:
            self._waiting.append(line)
        else:
            self._write(line)

    async def ask(
        self, question: dict[str, Any], within: float, on_answer: Callable[[Any], object] = lambda _: None
    ) -> Any:
        """Ask a question, and return the value of the answer. The time limit ``within`` is in seconds.

        ``on_answer`` is called with the value before later messages are read.

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
        # A second `kill` would collect the exit status of the ended process before asyncio does.
        if not self._is_killed:
            self._is_killed = True
            self._kill()

    async def wait(self) -> None:
        """Wait until the child has ended."""
        await asyncio.wait([self._life])

    async def _live(self, program: str, given: str) -> None:
        try:
            how = await self._run(python_command(program, given))
        except Exception as error:  # all callers that wait for an answer get it
            how = f"could not be started: {type(error).__name__}: {error}"
            self.kill()
        self._end_text = f"{self._name} {how}{self._advice}"
        for answer, _ in self._asked.values():
            if not answer.done():
                answer.set_exception(ChildEndedError(self._end_text))
        self._ended(self._end_text)

    async def _run(self, command: list[str]) -> str:
        """Run the child to its end; return in words how the child ended."""
        # In a session of its own, the child does not get Ctrl-C; the child ends when its input closes.
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
        """Handle messages until the output ends; return the error of an invalid message, or ``""``."""
        assert process.stdout is not None
        try:
            # The last line can be incomplete if the child was killed.
            while (line := await process.stdout.readline()).endswith(b"\n"):
                self._receive(decode_message(line))
        except (ValueError, OSError) as error:
            return f"wrote an invalid message: {error}"
        return ""

    def _receive(self, message: Any) -> None:
        match message:
            case {"id": int(number)}:
                answer, on_answer = self._asked.get(number, (None, None))
                # A question that has timed out is no longer in `_asked`.
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
    """Return how a process with an exit status ended, in words.

    >>> _ending(3), _ending(-9)
    ('has ended (status 3)', 'was ended (SIGKILL)')
    """
    if status >= 0:
        return f"has ended (status {status})"
    try:
        return f"was ended ({signal.Signals(-status).name})"
    except ValueError:
        return f"was ended (signal {-status})"


_Child = TypeVar("_Child", bound=ChildProcess)
#: Maximum number of seconds that a task with a time limit waits for a place.
_LONGEST_WAIT: Final = 5.0


class BusyError(AnygameError):
    """Too many tasks are already running or waiting."""


class Admission:
    """Admission control: at most ``places`` tasks run, and at most ``most_waiting`` wait.

    All other tasks are refused with a `BusyError`, which has the given message.
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
        """Whether a task is waiting for a place."""
        return self._waiting > 0

    @asynccontextmanager
    async def place(self, within: float = inf) -> AsyncIterator[float]:
        """Wait for a place and hold the place. Yield the number of seconds left for the task.

        ``within`` is the time limit of the task in seconds. The wait takes at most half of the time limit,
        and at most 5 seconds. Raises BusyError if too many tasks are waiting, or if no place becomes free.
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
    """Child processes that ``start`` creates on demand. A child answers one question at a time."""

    def __init__(self, start: Callable[[], _Child]) -> None:
        self._start = start
        #: Processes without a question; the most recently used process is the last.
        self.idle: list[_Child] = []

    @asynccontextmanager
    async def child(
        self, choose: Callable[[Sequence[_Child]], _Child] = lambda idle: idle[-1]
    ) -> AsyncIterator[_Child]:
        """Lend an idle process for one question, or a new process if all are busy.

        A process that answers, even with a fault, is kept. A process is killed after any other error, such as
        a timeout or the cancellation of the task. ``choose`` chooses one of the idle processes.
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
