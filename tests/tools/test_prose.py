from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tools.prose import hits

if TYPE_CHECKING:
    from pathlib import Path

_LONG = "A sentence " + "of many words " * 10 + "is hard to read."
_BAD = [
    "What it reads is text.",
    "Return what the player sees.",
    "The table stands in the file.",
    "A player is told the move.",
    "Trainings of before are refused.",
    "It can be gone on with.",
    "The next move is drawn by chance.",
    _LONG,
]
_GOOD = [
    "Return the moves that the player sees.",
    "The message says what is wrong.",
    "The player, who waits, is asked later.",
    "The game is drawn.",
    "`What it reads` is quoted.",
]


@pytest.mark.parametrize("sentence", _BAD)
def test_sentences_that_break_a_rule_are_found_with_their_line(sentence: str, tmp_path: Path) -> None:
    chapter = tmp_path / "chapter.md"
    chapter.write_text(f"# Title\n\nA good sentence.\n{sentence}\n", encoding="utf-8")
    assert [hit.line for hit in hits(chapter)] == [4]


@pytest.mark.parametrize("sentence", _GOOD)
def test_plain_sentences_pass(sentence: str, tmp_path: Path) -> None:
    chapter = tmp_path / "chapter.md"
    chapter.write_text(
        f"{sentence}\n\n```text\n{_LONG}\n```\n\n| what it reads | {_LONG} |\n", encoding="utf-8"
    )
    assert list(hits(chapter)) == []


def test_docstrings_comments_and_messages_of_a_module_are_read(tmp_path: Path) -> None:
    module = tmp_path / "module.py"
    module.write_text(
        '"""What it is for."""\n\n# What follows\n# is slow.\nx = 1\nprint("it stands in the file", x)\n'
        'def f():\n    """Return a number.\n\n    >>> f()  # what it stands for\n    """\n',
        encoding="utf-8",
    )
    assert sorted(hit.line for hit in hits(module)) == [1, 3, 6]
