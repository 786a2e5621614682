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
from queue import SimpleQueue
from threading import Thread
from typing import Any, Final

from anygame.language_server.checking.examination import examine, mended
from anygame.language_server.settings import Settings

#: What is typed and shown comes before what is examined.
_NICENESS: Final = 5


def main(memory: int) -> None:
    """Answer questions until nobody asks any more.

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
    questions: SimpleQueue[bytes] = SimpleQueue()
    Thread(target=_listen, args=(questions,), daemon=True).start()
    while True:
        answers.write(json.dumps(_answer(json.loads(questions.get()))).encode() + b"\n")
        answers.flush()


def _listen(questions: SimpleQueue[bytes]) -> None:
    """Take in questions; end the process with the last one, whatever it is at: nobody waits for it."""
    for line in sys.stdin.buffer:
        questions.put(line)
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
