"""What runs in the process of a match: commands from its standard input, answers and events to its output.

Rules come from strangers, and neither reading nor reasoning can be interrupted from outside: so each match
has a process, whose memory is bounded, and which is ended where it does not answer in time.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from contextlib import suppress
from threading import Lock
from typing import TYPE_CHECKING, Any, Final

from anygame.errors import AnygameError, RecordError, RuleSheetError
from anygame.language.diagnostics import Diagnostic
from anygame.web.hosting.checking import diagnostic_view
from anygame.web.hosting.session import Session
from anygame.web.settings import LONGEST_ANSWER

if TYPE_CHECKING:
    from collections.abc import Callable

#: Bytes of one command: the longest sheet that is read, with every character escaped, and a line of moves.
_LONGEST_COMMAND: Final = 64 * 2**20
#: Characters of what is shown of a fault.
_LONGEST_FAULT: Final = 4_000
#: Diagnostics of a broken sheet that are shown: nobody reads more.
_MOST_DIAGNOSTICS: Final = 100


def main(memory: int, niceness: int) -> None:
    """Do what commands ask for until there are no more, then end, whatever threads are at work.

    Args:
        memory: bytes of address space that the process may take.
        niceness: how far it stands back for others.
    """
    # Ctrl-C in a terminal reaches every process; this one ends with that which asks it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _bound(memory, niceness)
    # What a player prints must not get among the answers.
    answers = os.dup(1)
    os.dup2(2, 1)
    lock = Lock()

    def write(line: bytes) -> None:
        with lock:
            while line:
                line = line[os.write(answers, line) :]

    def tell(event: dict[str, Any]) -> None:
        with suppress(RecordError):  # who asks is told that it is too long
            write(_line(event))

    with suppress(BrokenPipeError):
        asyncio.run(_serve(Session(tell), write))
    os._exit(0)


def _bound(memory: int, niceness: int) -> None:
    with suppress(ImportError, OSError, ValueError):  # not on every system
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
        os.nice(niceness)


async def _serve(session: Session, write: Callable[[bytes], None]) -> None:
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(limit=_LONGEST_COMMAND)
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    tasks: set[asyncio.Task[None]] = set()
    write(_line({"event": "begun"}))
    while line := await reader.readline():
        task = asyncio.create_task(answer(session, json.loads(line), write))
        tasks.add(task)
        task.add_done_callback(tasks.discard)


async def answer(session: Session, command: dict[str, Any], write: Callable[[bytes], None]) -> None:
    """Carry out a command and write what it comes to: a value, or a fault in words; one of them always.

    Args:
        session: of this process.
        command: the number of the question, ``id``; what to ``do``; and its arguments.
        write: takes the line of the answer.
    """
    number = command.pop("id")
    try:
        line = _line({"id": number, "value": await session.do(command.pop("do"), command)})
    except Exception as error:
        line = _line({"id": number} | _fault(error))
    write(line)


def _line(told: dict[str, Any]) -> bytes:
    """Return what the server is told. Raises RecordError where that is more than it reads."""
    line = json.dumps(told).encode() + b"\n"
    if len(line) > LONGEST_ANSWER:
        raise RecordError(
            f"there is more to be shown than a page holds: {len(line):,} bytes, "
            f"where {LONGEST_ANSWER:,} are allowed"
        )
    return line


def _fault(error: Exception) -> dict[str, Any]:
    """Return what went wrong, for people; of a broken sheet also its diagnostics."""
    if isinstance(error, AnygameError):
        found = error.diagnostics if isinstance(error, RuleSheetError) else ()
        views = [diagnostic_view(one) for one in found[:_MOST_DIAGNOSTICS] if isinstance(one, Diagnostic)]
        return {"fault": str(error)[:_LONGEST_FAULT], "diagnostics": views}
    if isinstance(error, MemoryError):
        return {"fault": "the game takes more memory than one may have here", "diagnostics": []}
    what = f"{type(error).__name__}: {error}"[:_LONGEST_FAULT]
    return {"fault": f"something went wrong in the match ({what}); please report it", "diagnostics": []}
