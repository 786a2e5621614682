"""What runs in the process that examines sheets: questions from its standard input, answers to its output.

Texts come from strangers, and neither reading nor reasoning can be interrupted from outside: so the process
has bounded memory, and is ended where it does not answer in time.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from contextlib import suppress
from typing import Any, Final

from anygame.language_server.checking.examination import examine, mended
from anygame.language_server.settings import Settings

__all__ = ["main"]

#: What is typed and shown comes before what is examined.
_NICENESS: Final = 5


def main(memory: int) -> None:
    """Answer questions until there are no more.

    Args:
        memory: bytes of address space that the process may take.
    """
    # Ctrl-C in a terminal reaches every process; this one ends with that which asks it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with suppress(ImportError, OSError, ValueError):  # not on every system
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
        os.nice(_NICENESS)
    # What is printed by accident must not get among the answers.
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    for line in sys.stdin.buffer:
        answer = json.dumps(_answer(json.loads(line))).encode()
        try:
            answers.write(answer + b"\n")
            answers.flush()
        except BrokenPipeError:
            os._exit(0)


def _answer(question: dict[str, Any]) -> dict[str, Any]:
    try:
        if question["do"] == "mend":
            return {"value": mended(question["name"], question["text"], question["kinds"])}
        settings = Settings().changed(question["settings"])
        return {"value": examine(question["name"], question["text"], settings).as_json()}
    except MemoryError:
        return {"fault": "it takes more memory than one may have here"}
    except Exception as error:
        return {"fault": f"{type(error).__name__}: {error}"[:1000]}
