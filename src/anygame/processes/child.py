"""Child processes, as the process that starts them sees them: messages to them and from them, and their end.

Rules come from strangers, and neither reading nor reasoning can be interrupted from outside. So what has to
end in time runs in a child, which bounds its own memory (`anygame.processes.inside`) and is killed when it
does not answer. The life of a child:

1. It starts. Messages that are sent before it runs wait.
2. Each line that it writes is a message, and is passed to ``received`` in its order.
3. It ends: by itself, because it is killed, because it wrote what is no message, or because this process has
   ended and closed its input.
4. ``ended`` is called once, with a sentence that says how it ended.
"""

from __future__ import annotations

import asyncio
import base64
import pickle
import signal
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

from anygame.processes.inside import decode_message, encode_message, python_command

if TYPE_CHECKING:
    from collections.abc import Callable

#: Seconds for a child to end after it has closed its output.
_CLOSING: Final = 1.0
#: What a child begins with. It looks for modules where this process does, also those of players.
_BOOTSTRAP: Final = """
import base64, json, pickle, sys
sys.path[:] = json.loads(sys.argv[1])
from MODULE import main
main(*pickle.loads(base64.b64decode(sys.argv[2])))
"""


class ChildEndedError(Exception):
    """A child has ended and answers no more; the message says how it ended."""


class ChildFaultError(Exception):
    """A child cannot do what it is asked; the message says why.

    Attributes:
        diagnostics: of the sheet that is to blame, as plain data.
    """

    def __init__(self, message: str, diagnostics: list[Any]) -> None:
        super().__init__(message)
        self.diagnostics = diagnostics


def _refuse(_: Any) -> None:
    raise ValueError("no answer")


class ChildProcess:
    """A process of Python that exchanges messages with this one; needs a running loop.

    A child may be asked questions: tables with an ``id``. An answer has the same ``id`` and a ``value``, or a
    ``fault`` in words, perhaps with ``diagnostics``.

    Args:
        module: whose ``main`` the child calls.
        arguments: of ``main``; anything that can be pickled.
        name: of the child, at the start of sentences.
        longest: bytes of its longest message.
        received: is called with every message that answers no question; raises ValueError where it is none
            that the child may write, as all are by default: then it is killed.
        ended: is called with a sentence when the child has ended, after those who wait for answers.
    """

    def __init__(
        self,
        module: str,
        *arguments: object,
        name: str,
        longest: int,
        received: Callable[[Any], None] = _refuse,
        ended: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._name = name
        self._longest = longest
        self._received = received
        self._ended = ended
        self._process: asyncio.subprocess.Process | None = None
        self._waiting: list[bytes] = []
        self._is_killed = False
        self._asked: dict[int, tuple[asyncio.Future[Any], Callable[[Any], object]]] = {}
        self._number = 0
        self._how = ""
        given = base64.b64encode(pickle.dumps(arguments)).decode()
        self._life = asyncio.create_task(self._live(_BOOTSTRAP.replace("MODULE", module), given))

    @property
    def is_gone(self) -> bool:
        """Whether it has ended."""
        return self._life.done()

    def send(self, message: object) -> None:
        """Send a message; one to a child that has ended is lost."""
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
            question: plain data; it is sent with an ``id``.
            within: seconds for it.
            on_answer: is called with the value at once, before later messages are read.

        Raises:
            ChildFaultError: the child answers that it cannot.
            ChildEndedError: the child has ended.
            TimeoutError: there was no answer in time. The child is killed.
        """
        if self._how:
            raise ChildEndedError(self._how)
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
            raise
        finally:
            self._asked.pop(number, None)

    def kill(self) -> None:
        """Kill it, whatever it is doing."""
        # Once at most: the status of a process that has ended would be collected here, and missed elsewhere.
        if not self._is_killed:
            self._is_killed = True
            self._kill()

    async def wait(self) -> None:
        """Wait until it has ended."""
        await asyncio.wait([self._life])

    async def _live(self, program: str, given: str) -> None:
        try:
            how = await self._run(python_command(program, given))
        except Exception as error:  # whoever waits has to know
            how = f"could not be started: {type(error).__name__}: {error}"
            self.kill()
        self._how = f"{self._name} {how}"
        for answer, _ in self._asked.values():
            if not answer.done():
                answer.set_exception(ChildEndedError(self._how))
        self._ended(self._how)

    async def _run(self, command: list[str]) -> str:
        """Lead the child to its end; return how it ended."""
        # In a session of its own Ctrl-C does not reach it; it follows when its pipe closes.
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
        """Pass messages on until there are no more; return what was wrong with the last, empty as a rule."""
        assert process.stdout is not None
        try:
            # One that dies leaves half a line.
            while (line := await process.stdout.readline()).endswith(b"\n"):
                self._receive(decode_message(line))
        except (ValueError, OSError) as error:
            return f"wrote what is no message: {error}"
        return ""

    def _receive(self, message: Any) -> None:
        match message:
            case {"id": int(number)}:
                answer, on_answer = self._asked.get(number, (None, None))
                # Nobody may wait for it any more.
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
            raise ValueError("neither a value nor a fault")


def _ending(status: int) -> str:
    """Return how a process has ended, in words.

    >>> _ending(3), _ending(-9)
    ('has ended (status 3)', 'was ended (SIGKILL)')
    """
    if status >= 0:
        return f"has ended (status {status})"
    try:
        return f"was ended ({signal.Signals(-status).name})"
    except ValueError:
        return f"was ended (signal {-status})"
