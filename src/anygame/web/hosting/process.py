"""Process of a match: commands on its standard input, answers and events on its standard output.

Rules come from strangers, and nothing can interrupt the parser or the reasoner within a process. Each match
therefore has its own process with bounded memory. The server kills a process that does not answer in time.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from threading import Thread
from typing import TYPE_CHECKING, Any, Final

from anygame.errors import RecordError, RuleSheetError
from anygame.language.diagnostics import Diagnostic
from anygame.processes.inside import encode_message, fault_of, listen, set_up
from anygame.web.hosting.questions import diagnostic_view
from anygame.web.hosting.session import Session
from anygame.web.settings import LONGEST_ANSWER

if TYPE_CHECKING:
    from collections.abc import Callable

#: Maximum number of diagnostics in an answer about a broken sheet.
_MOST_DIAGNOSTICS: Final = 100


def main(memory: int, niceness: int) -> None:
    """Carry out commands until the input ends. The process may use ``memory`` bytes at most."""
    write = set_up(memory, niceness)

    def send(event: dict[str, Any]) -> None:
        with suppress(RecordError):  # the next request for the view fails with the same error
            write(_line(event))

    asyncio.run(_serve(Session(send), write))


async def _serve(session: Session, write: Callable[[bytes], None]) -> None:
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
    """Carry out a command, and write one line with its value or an error message."""
    number = command.pop("id")
    try:
        line = _line({"id": number, "value": await session.do(command.pop("do"), command)})
    except Exception as error:
        found = error.diagnostics[:_MOST_DIAGNOSTICS] if isinstance(error, RuleSheetError) else ()
        diagnostics = [diagnostic_view(one) for one in found if isinstance(one, Diagnostic)]
        line = _line({"id": number, "fault": fault_of(error), "diagnostics": diagnostics})
    write(line)


def _line(message: dict[str, Any]) -> bytes:
    line = encode_message(message)
    if len(line) > LONGEST_ANSWER:
        raise RecordError(
            f"the page would be too large: {len(line):,} bytes, the limit is {LONGEST_ANSWER:,}"
        )
    return line
