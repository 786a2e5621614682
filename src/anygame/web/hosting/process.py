"""Process of a match: reads commands from standard input, writes answers and events to standard output.

Rules come from strangers, and neither reading nor reasoning can be interrupted from outside. So each match
has its own process. Its memory is bounded, and it is killed if it does not answer in time.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from threading import Thread
from typing import TYPE_CHECKING, Any, Final

from anygame.errors import AnygameError, RecordError, RuleSheetError
from anygame.language.diagnostics import Diagnostic
from anygame.processes.inside import encode_message, listen, set_up
from anygame.web.hosting.questions import diagnostic_view
from anygame.web.hosting.session import Session
from anygame.web.settings import LONGEST_ANSWER

if TYPE_CHECKING:
    from collections.abc import Callable

#: Maximum characters of a fault.
_LONGEST_FAULT: Final = 4_000
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
        line = _line({"id": number} | _fault(error))
    write(line)


def _line(message: dict[str, Any]) -> bytes:
    """Return a message to the server. Raises RecordError if it is longer than the server reads."""
    line = encode_message(message)
    if len(line) > LONGEST_ANSWER:
        raise RecordError(
            f"the page would be too large: {len(line):,} bytes, where {LONGEST_ANSWER:,} are allowed"
        )
    return line


def _fault(error: Exception) -> dict[str, Any]:
    """Return a fault in words, with the diagnostics of a broken sheet."""
    if isinstance(error, AnygameError):
        found = error.diagnostics if isinstance(error, RuleSheetError) else ()
        views = [diagnostic_view(one) for one in found[:_MOST_DIAGNOSTICS] if isinstance(one, Diagnostic)]
        return {"fault": str(error)[:_LONGEST_FAULT], "diagnostics": views}
    if isinstance(error, MemoryError):
        return {"fault": "the game needs more memory than it may use here", "diagnostics": []}
    what = f"{type(error).__name__}: {error}"[:_LONGEST_FAULT]
    return {"fault": f"an internal error in the match ({what}); please report it", "diagnostics": []}
