"""Process of a match: reads commands from standard input, writes answers and events to standard output.

Rules come from strangers, and neither reading nor reasoning can be interrupted from outside. So each match
has its own process. Its memory is bounded, and it is killed if it does not answer in time.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from threading import Thread
from typing import TYPE_CHECKING, Any, Final

from anygame.errors import RecordError, RuleSheetError
from anygame.language.diagnostics import Diagnostic
from anygame.processes.inside import encode_message, fault_of, listen, set_up
from anygame.web.hosting.questions import View, diagnostic_view
from anygame.web.hosting.session import Session
from anygame.web.settings import LONGEST_ANSWER

if TYPE_CHECKING:
    from collections.abc import Callable

#: Maximum number of diagnostics of a broken sheet.
_MOST_DIAGNOSTICS: Final = 100


def main(memory: int, niceness: int) -> None:
    """Carry out commands until the input ends, with bounded memory (bytes) and a niceness."""
    write = set_up(memory, niceness)

    def send(event: dict[str, Any]) -> None:
        with suppress(RecordError):  # a request for the view gets this fault as its answer
            write(_line(event))

    session = Session(send)
    asyncio.run(_serve(session, write))


async def _serve(session: Session, write: Callable[[bytes], None]) -> None:
    """Answer commands concurrently; the process ends with its input."""
    loop = asyncio.get_running_loop()
    tasks: set[asyncio.Task[None]] = set()

    def begin(command: dict[str, Any]) -> None:
        task = loop.create_task(answer(session, command, write))
        tasks.add(task)
        task.add_done_callback(tasks.discard)

    listening = (lambda command: loop.call_soon_threadsafe(begin, command),)
    Thread(target=listen, args=listening, daemon=True).start()
    await loop.create_future()


async def answer(session: Session, command: dict[str, Any], write: Callable[[bytes], None]) -> None:
    """Carry out a command, and always write one line: its value, or a fault in words."""
    number = command.pop("id")
    try:
        line = _line({"id": number, "value": await session.do(command.pop("do"), command)})
    except Exception as error:
        line = _line({"id": number, "fault": fault_of(error), "diagnostics": _diagnostics(error)})
    write(line)


def _line(message: dict[str, Any]) -> bytes:
    """Return a message to the server. Raises RecordError if it is longer than the server reads."""
    line = encode_message(message)
    if len(line) > LONGEST_ANSWER:
        raise RecordError(
            f"the page would be too large: {len(line):,} bytes, the limit is {LONGEST_ANSWER:,}"
        )
    return line


def _diagnostics(error: Exception) -> list[View]:
    diagnostics = error.diagnostics if isinstance(error, RuleSheetError) else ()
    return [diagnostic_view(one) for one in diagnostics[:_MOST_DIAGNOSTICS] if isinstance(one, Diagnostic)]
