"""The process that answers tools: it reads questions from its input, and writes answers and progress."""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING, Final

from anygame.processes.inside import answer_questions, encode_message, set_up
from anygame.tool_server.answering import Sheets, answer
from anygame.tool_server.bounds import LONGEST_ANSWER

if TYPE_CHECKING:
    from collections.abc import Callable

#: Minimum seconds between two reports of progress.
_BETWEEN: Final = 0.5
_NICENESS: Final = 5


def main(memory: int) -> None:
    """Answer questions until the input ends, within ``memory`` bytes of address space."""
    write = set_up(memory, _NICENESS)
    sheets = Sheets(_news(write))
    answer_questions(write, lambda question: answer(sheets, **question), LONGEST_ANSWER)


def _news(write: Callable[[bytes], None]) -> Callable[[float, float, str], None]:
    last = 0.0

    def tell(done: float, total: float, doing: str) -> None:
        nonlocal last
        now = monotonic()
        if now - last >= _BETWEEN:
            last = now
            write(encode_message({"done": done, "total": total, "doing": doing}))

    return tell
