"""Functions that run inside a child process: they set its limits, and exchange messages with the parent."""

from __future__ import annotations

import json
import os
import signal
import sys
from contextlib import suppress
from queue import SimpleQueue
from threading import Lock, Thread
from typing import TYPE_CHECKING, Any, Final

from anygame.errors import AnygameError

if TYPE_CHECKING:
    from collections.abc import Callable


def set_up(memory: int | None = None, niceness: int = 0) -> Callable[[bytes], None]:
    """Set up this process as a child, and return a thread-safe function that writes a line to the parent.

    All other output goes to standard error. The process ignores Ctrl-C, and ends with its parent.

    Args:
        memory: maximum size of the address space in bytes.
        niceness: increment of the niceness.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with suppress(ImportError, OSError, ValueError):  # not on every system
        import resource

        if memory is not None:
            resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
        os.nice(niceness)
    output = os.dup(1)
    os.dup2(2, 1)
    lock = Lock()

    def write(line: bytes) -> None:
        with lock, suppress(BrokenPipeError):  # the parent has ended, so `listen` ends this process
            while line:
                line = line[os.write(output, line) :]

    return write


def listen(handle: Callable[[Any], None]) -> None:
    """Handle the messages of the parent. When the parent ends, end this process and all its threads."""
    for line in sys.stdin.buffer:
        handle(decode_message(line))
    os._exit(0)


def answer_questions(
    write: Callable[[bytes], None], answer: Callable[[dict[str, Any]], object], longest: int
) -> None:
    """Answer the questions of the parent one after the other; an answer has at most ``longest`` bytes.

    ``write`` is the result of `set_up`. ``answer`` returns the value that answers a question, or raises.
    """
    # A thread reads the questions, so that the end of the parent ends this process even during an answer.
    questions: SimpleQueue[Any] = SimpleQueue()
    Thread(target=listen, args=(questions.put,), daemon=True).start()
    while True:
        question = questions.get()
        number = {"id": question.pop("id")}
        line = encode_message(number | answered(answer, question))
        if len(line) > longest:
            line = encode_message(number | {"fault": f"the answer exceeds {longest:,} bytes: ask for less"})
        write(line)


def answered(answer: Callable[[dict[str, Any]], object], question: dict[str, Any]) -> dict[str, Any]:
    """Return the ``value`` that answers a question, or the ``fault`` in words."""
    try:
        return {"value": answer(question)}
    except Exception as error:
        return {"fault": fault_of(error)}


#: Maximum number of characters of a fault.
_LONGEST_FAULT: Final = 20_000
#: Maximum number of characters of the exception's message in an internal error.
_LONGEST_ERROR: Final = 1_000


def fault_of(error: Exception) -> str:
    """Return the reason why a question has no answer, in words."""
    if isinstance(error, AnygameError):
        return str(error)[:_LONGEST_FAULT]
    if isinstance(error, MemoryError):
        return "this needs more memory than the process is allowed to use"
    return f"an internal error ({type(error).__name__}: {str(error)[:_LONGEST_ERROR]}); please report it"


def encode_message(message: object) -> bytes:
    r"""Return a message as a line.

    >>> encode_message({"id": 1})
    b'{"id": 1}\n'
    """
    return json.dumps(message).encode() + b"\n"


def decode_message(line: bytes) -> Any:
    """Return the message of a line. Raises ValueError if the line is not a message."""
    try:
        return json.loads(line)
    except RecursionError as error:
        raise ValueError("too many nested brackets") from error


def python_command(program: str, *arguments: str) -> list[str]:
    """Return the command that runs a Python program; its first argument is ``sys.path`` as JSON.

    Raises OSError if there is no interpreter to start, as in a frozen application.
    """
    if not sys.executable or getattr(sys, "frozen", False):
        raise OSError("there is no Python interpreter to start")
    return [sys.executable, "-c", program, json.dumps(sys.path), *arguments]
