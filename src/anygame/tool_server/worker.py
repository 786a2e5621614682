"""The process that answers tools: it reads questions from its input, and writes answers and progress."""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING, Any, Final

from anygame.errors import AnygameError
from anygame.processes.inside import encode_message, questions, set_up
from anygame.tool_server import answering
from anygame.tool_server.answering import Sheets
from anygame.tool_server.bounds import LONGEST_ANSWER, LONGEST_TEXT

if TYPE_CHECKING:
    from collections.abc import Callable

#: Minimum seconds between two reports of progress.
_BETWEEN: Final = 0.5
_NICENESS: Final = 5


def main(memory: int) -> None:
    """Answer questions until the input ends, within ``memory`` bytes of address space."""
    write = set_up(memory, _NICENESS)
    sheets = Sheets(_news(write))
    for question in questions():
        number = question.pop("id")
        line = encode_message({"id": number} | answer(sheets, question))
        if len(line) > LONGEST_ANSWER:
            line = encode_message({"id": number, "fault": "the answer is too long: ask for less"})
        write(line)


def answer(sheets: Sheets, question: dict[str, Any]) -> dict[str, Any]:
    """Return the answer to a question as ``value``, or the fault in words."""
    try:
        return {"value": answering.answer(sheets, **question)}
    except AnygameError as error:
        return {"fault": str(error)[:LONGEST_TEXT]}
    except MemoryError:
        return {"fault": "it needs more memory than it may use here"}
    except Exception as error:
        return {
            "fault": f"an internal error of anygame ({type(error).__name__}: {error}); please report it"[
                :1000
            ]
        }


def _news(write: Callable[[bytes], None]) -> Callable[[float, float, str], None]:
    last = 0.0

    def tell(done: float, total: float, doing: str) -> None:
        nonlocal last
        now = monotonic()
        if now - last >= _BETWEEN:
            last = now
            write(encode_message({"done": done, "total": total, "doing": doing}))

    return tell
