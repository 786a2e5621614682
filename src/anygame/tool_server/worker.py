"""Process that answers the tools: it reads questions from its input, and writes answers and progress."""

from __future__ import annotations

from time import monotonic
from typing import Final

from anygame.processes.inside import answer_questions, encode_message, set_up
from anygame.tool_server.answering import answer
from anygame.tool_server.bounds import LONGEST_ANSWER

#: Minimum seconds between two reports of progress.
_BETWEEN: Final = 0.5
_NICENESS: Final = 5


def main(memory: int) -> None:
    """Answer questions until the input ends, within ``memory`` bytes of address space."""
    write = set_up(memory, _NICENESS)
    last = 0.0

    def report(done: float, total: float, doing: str) -> None:
        nonlocal last
        now = monotonic()
        if now - last >= _BETWEEN:
            last = now
            write(encode_message({"done": done, "total": total, "doing": doing}))

    answer_questions(write, lambda question: answer(report, **question), LONGEST_ANSWER)
