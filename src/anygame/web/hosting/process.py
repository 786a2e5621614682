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
from typing import Any, Final

from anygame.errors import AnygameError, RuleSheetError
from anygame.language.diagnostics import Diagnostic
from anygame.web.hosting.checking import diagnostic_view
from anygame.web.hosting.session import Session

__all__ = ["LONGEST_LINE", "main"]

#: Bytes of one command or answer: a view of a state with 5,000 facts and moves is much shorter.
LONGEST_LINE: Final = 64 * 2**20
#: Answers to browsers come before the thinking of players where both want the processor.
_NICENESS: Final = 5
#: Diagnostics of a broken sheet that are shown: nobody reads more.
_MOST_DIAGNOSTICS: Final = 100


def main(memory: int) -> None:
    """Do what commands ask for until there are no more, then end, whatever threads are at work.

    Args:
        memory: bytes of address space that the process may take.
    """
    # Ctrl-C in a terminal reaches every process; this one ends with that which asks it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _bound(memory)
    # What a player prints must not get among the answers.
    answers = os.dup(1)
    os.dup2(2, 1)
    lock = Lock()

    def tell(answer: dict[str, Any]) -> None:
        data = json.dumps(answer).encode() + b"\n"
        with lock:
            while data:
                data = data[os.write(answers, data) :]

    with suppress(BrokenPipeError):
        asyncio.run(_serve(Session(tell), tell))
    os._exit(0)


def _bound(memory: int) -> None:
    with suppress(ImportError, OSError, ValueError):  # not on every system
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
        os.nice(_NICENESS)


async def _serve(session: Session, tell: Any) -> None:
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(limit=LONGEST_LINE)
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    tasks: set[asyncio.Task[None]] = set()
    tell({"event": "begun"})
    while line := await reader.readline():
        task = asyncio.create_task(_answer(session, json.loads(line), tell))
        tasks.add(task)
        task.add_done_callback(tasks.discard)


async def _answer(session: Session, command: dict[str, Any], tell: Any) -> None:
    number = command.pop("id")
    try:
        found = await session.do(command.pop("do"), command)
        answer: dict[str, Any] = {"id": number, "value": found}
    except AnygameError as error:
        diagnostics = getattr(error, "diagnostics", ()) if isinstance(error, RuleSheetError) else ()
        views = [
            diagnostic_view(one) for one in diagnostics[:_MOST_DIAGNOSTICS] if isinstance(one, Diagnostic)
        ]
        answer = {
            "id": number,
            "fault": str(error)[:10_000],
            "kind": type(error).__name__,
            "diagnostics": views,
        }
    except MemoryError:
        answer = {
            "id": number,
            "fault": "the game takes more memory than one may have here",
            "kind": "MemoryError",
        }
    except Exception as error:
        answer = {"id": number, "fault": f"{type(error).__name__}: {error}"[:1000], "kind": "Fault"}
    tell(answer)
