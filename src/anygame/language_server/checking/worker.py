"""What runs in the process that examines sheets: questions from its standard input, answers to its output.

Texts come from strangers, and neither reading nor reasoning can be interrupted from outside: so the process
has bounded memory, and is ended where it does not answer in time.
"""

from __future__ import annotations

from queue import SimpleQueue
from threading import Thread
from typing import Any, Final

from anygame.language_server.checking.examination import examine, mended
from anygame.language_server.settings import Settings
from anygame.processes.inside import encode_message, listen, set_up

#: What is typed and shown comes before what is examined.
_NICENESS: Final = 5


def main(memory: int) -> None:
    """Answer questions until nobody asks any more.

    Args:
        memory: bytes of address space that the process may take.
    """
    write = set_up(memory, _NICENESS)
    questions: SimpleQueue[dict[str, Any]] = SimpleQueue()
    Thread(target=listen, args=(questions.put,), daemon=True).start()
    while True:
        question = questions.get()
        write(encode_message({"id": question["id"]} | _answer(question)))


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
