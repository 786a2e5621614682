"""What a child process does: bounds for itself, messages from its input and to its output."""

from __future__ import annotations

import json
import os
import signal
import sys
from contextlib import suppress
from queue import SimpleQueue
from threading import Lock, Thread
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


def set_up(memory: int | None = None, niceness: int = 0) -> Callable[[bytes], None]:
    """Make this process a child; return what writes a line to the parent, from any thread.

    What anybody else prints goes to the standard error output. Ctrl-C in a terminal reaches every process;
    this one ends with its parent.

    Args:
        memory: bytes of address space that the process may take.
        niceness: how far it stands back for others.
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
        with lock, suppress(BrokenPipeError):  # a parent that is gone closes the input, too
            while line:
                line = line[os.write(output, line) :]

    return write


def listen(handle: Callable[[Any], None]) -> None:
    """Pass on the parent's messages until there are no more; then end this process, whatever is at work."""
    for line in sys.stdin.buffer:
        handle(decode_message(line))
    os._exit(0)


def questions() -> Iterator[Any]:
    """Yield the parent's messages; a thread awaits them, so that this process ends with its parent."""
    coming: SimpleQueue[Any] = SimpleQueue()
    Thread(target=listen, args=(coming.put,), daemon=True).start()
    while True:
        yield coming.get()


def encode_message(message: object) -> bytes:
    r"""Return a message as a line.

    >>> encode_message({"id": 1})
    b'{"id": 1}\n'
    """
    return json.dumps(message).encode() + b"\n"


def decode_message(line: bytes) -> Any:
    """Return the message that a line holds.

    Raises:
        ValueError: it holds none.
    """
    try:
        return json.loads(line)
    except RecursionError as error:
        raise ValueError("too many brackets") from error


def python_command(program: str, *arguments: str) -> list[str]:
    """Return the command that runs a program of Python; its first argument is ``sys.path`` as JSON.

    Raises:
        OSError: this is no interpreter that could be started again.
    """
    if not sys.executable or getattr(sys, "frozen", False):
        raise OSError("there is no interpreter to start")
    return [sys.executable, "-c", program, json.dumps(sys.path), *arguments]
