"""When sheets are examined, and by a process that is ended where it takes too long."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from anygame.errors import AnygameError
from anygame.language_server import checker as checking
from anygame.language_server.checker import Checker, ExaminingProcess
from anygame.language_server.documents import Document, Documents, Lines
from anygame.language_server.findings import DomainTable, Findings, Values
from anygame.processes import child

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

URI = "file:///game.kif"


class _Process:
    """In the place of the process: answers when it is let.

    Attributes:
        asked: the texts that were asked about.
        current: the question that it is at.
    """

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.current: dict[str, Any] | None = None
        self.may_answer = asyncio.Event()
        self.ended = 0
        self._turn = asyncio.Lock()

    async def ask(self, question: dict[str, Any], within: float) -> Any:
        async with self._turn:
            self.current = question
            self.asked.append(question["text"])
            try:
                await self.may_answer.wait()
                return Findings().as_json()
            except asyncio.CancelledError:
                self.ended += 1
                raise
            finally:
                self.current = None

    async def end(self) -> None:
        """End nothing."""


def _run(
    monkeypatch: pytest.MonkeyPatch, act: Callable[[Checker, _Process], Any], patience: float = 0.01
) -> tuple[list[int], _Process]:
    """Return the versions that were told of, and the process."""
    monkeypatch.setattr(checking, "_PATIENCE", patience)
    told: list[int] = []

    async def run() -> _Process:
        process = _Process()
        monkeypatch.setattr(checking, "ExaminingProcess", lambda: process)
        checker = Checker(lambda document, _: told.append(document.version))
        await act(checker, process)
        for _ in range(1_000):
            if not any(task for task in asyncio.all_tasks() if task is not asyncio.current_task()):
                break
            await asyncio.sleep(0.001)
        await checker.close()
        return process

    return told, asyncio.run(run())


def _document(version: int) -> Document:
    return Document(URI, version, f"text {version}")


def test_a_text_is_examined_a_moment_after_the_last_change(monkeypatch: pytest.MonkeyPatch) -> None:
    async def act(checker: Checker, process: _Process) -> None:
        process.may_answer.set()
        for version in range(5):
            checker.changed(_document(version), pause=0.02)
            await asyncio.sleep(0)

    told, process = _run(monkeypatch, act)
    assert (told, process.asked) == ([4], ["text 4"])


def test_outdated_results_are_dropped_and_slow_runs_are_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    async def act(checker: Checker, process: _Process) -> None:
        checker.changed(_document(1), pause=0)
        while not process.asked:
            await asyncio.sleep(0.001)
        for version in (2, 3, 4):  # those in between never get their turn
            checker.changed(_document(version), pause=0)
            await asyncio.sleep(0.001)
        while len(process.asked) < 2:
            await asyncio.sleep(0.001)
        process.may_answer.set()

    told, process = _run(monkeypatch, act)
    assert (told, process.asked, process.ended) == ([4], ["text 1", "text 4"], 1)


def test_an_outdated_examination_that_is_nearly_done_can_finish(monkeypatch: pytest.MonkeyPatch) -> None:
    async def act(checker: Checker, process: _Process) -> None:
        checker.changed(_document(1), pause=0)
        while not process.asked:
            await asyncio.sleep(0.001)
        checker.changed(_document(2), pause=0)
        await asyncio.sleep(0.001)
        process.may_answer.set()

    told, process = _run(monkeypatch, act, patience=60.0)
    assert (told, process.asked, process.ended) == ([2], ["text 1", "text 2"], 0)


def _ask(monkeypatch: pytest.MonkeyPatch, program: str, within: float = 30.0) -> Any:
    """Ask a process that runs another program."""
    monkeypatch.setattr(child, "_BOOTSTRAP", program)

    async def run() -> Any:
        process = ExaminingProcess()
        try:
            return await process.ask({"do": "examine"}, within)
        finally:
            await process.end()

    return asyncio.run(run())


def test_a_process_that_does_not_answer_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(AnygameError, match=r"did not answer within 0\.1 seconds"):
        _ask(monkeypatch, "import time; time.sleep(100)", within=0.1)


@pytest.mark.parametrize(
    ("program", "reason"),
    [
        ("raise SystemExit", "has ended|[Bb]roken|lost"),
        ("print('no answer')", "Expecting value"),
        ("""print('{"id": 1, "fault": "too much memory"}')""", "too much memory"),
    ],
)
def test_failing_processes_raise_errors(monkeypatch: pytest.MonkeyPatch, program: str, reason: str) -> None:
    with pytest.raises(AnygameError, match=reason):
        _ask(monkeypatch, program)


# -- documents ----------------------------------------------------------------------------------------


def test_documents_are_versions_of_texts() -> None:
    documents = Documents()
    first = documents.written(URI, 1, "(role x)")
    assert first
    first.domains = DomainTable({("role", 1, 0): Values({"x"})})
    changed = documents.written(URI, 2, "(role white)")
    assert changed
    assert (changed.version, changed.text, changed.domains) == (2, "(role white)", first.domains)
    assert first.text == "(role x)"
    del documents[URI]
    assert documents.get(URI) is None


def test_documents_that_are_open_are_bounded() -> None:
    documents = Documents()
    opened = [documents.written(f"file:///{number}.kif", 1, "") for number in range(1_001)]
    assert opened[999] is not None
    assert opened[1_000] is None


def test_names_of_documents_are_those_of_their_files() -> None:
    assert Document("file:///a/b%20c.hrf", 1, "").sheet.source.name == "b c.hrf"
    assert Document("untitled:new", 1, "").sheet.form == "kif"
    assert isinstance(Document(URI, 1, "").lines, Lines)


_GARBAGE = {
    "no JSON": b"hello\n",
    "no text": b"\xff\n",
    "half": b'{"value": 1',
    "a number": b"5\n",
    "a list": b'["value"]\n',
    "neither": b"{}\n",
    "nested": b"[" * 100_000 + b"\n",
    "nothing": b"",
}
#: A process that tells what stands in its place first, and answers what it is asked later.
_TELLING = """
import os, pathlib, sys
garbage = pathlib.Path(GARBAGE)
for line in sys.stdin.buffer:
    if garbage.exists():
        data = garbage.read_bytes()
        garbage.unlink()
        os.write(1, data)
        os._exit(0)
    os.write(1, b'{"id": 1, "value": "well"}\\n')
"""


@pytest.mark.parametrize("garbage", _GARBAGE.values(), ids=_GARBAGE)
def test_after_invalid_output_the_next_question_is_answered(
    garbage: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "garbage").write_bytes(garbage)
    monkeypatch.setattr(child, "_BOOTSTRAP", _TELLING.replace("GARBAGE", repr(str(tmp_path / "garbage"))))
    troubles: list[object] = []

    async def ask() -> None:
        asyncio.get_running_loop().set_exception_handler(lambda _, context: troubles.append(context))
        process = ExaminingProcess()
        with pytest.raises(AnygameError):
            await process.ask({"do": "examine"}, 60)
        assert await process.ask({"do": "examine"}, 60) == "well"
        await process.end()

    asyncio.run(ask())
    assert not troubles
