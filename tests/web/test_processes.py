"""Every answer that the process of a match can give, and its death at every moment, as the server sees it."""

from __future__ import annotations

import asyncio
import gc
import json
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("starlette")

from anygame.errors import AnygameError, RecordError, SheetSyntaxError
from anygame.processes import child
from anygame.processes.child import ChildEndedError, ChildFaultError
from anygame.web.hosting import process
from anygame.web.server import processes
from anygame.web.server.processes import HostProcess

if TYPE_CHECKING:
    from collections.abc import Mapping

#: What the process of these tests begins with: how it is asked, and how it tells.
_PRELUDE = """\
import json, os, sys, time
def tell(what):
    os.write(1, what if isinstance(what, bytes) else json.dumps(what).encode() + b"\\n")
def asked():
    return json.loads(sys.stdin.readline())
"""
_BEGUN = 'number = asked()["id"]\n'


class _Server:
    """A server with one process that runs a script of Python."""

    def __init__(self, script: str, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(child, "_BOOTSTRAP", _PRELUDE + script)
        self.heard: list[Mapping[str, Any]] = []
        self.ended = 0
        #: What the loop was told of that nobody has caught.
        self.uncaught: list[dict[str, Any]] = []

    async def _ask(self, within: float) -> list[object]:
        asyncio.get_running_loop().set_exception_handler(lambda _, told: self.uncaught.append(told))
        host = HostProcess(memory=2**32)
        host.on_view = self.heard.append
        host.ended = self._note_end
        found: list[object] = []
        for _ in range(2):
            try:
                found.append(await host.carry_out("look", within=within))
            except AnygameError as error:
                found.append(error)
        host.kill()
        await host.wait()
        del host
        gc.collect()
        await asyncio.sleep(0)
        return found

    def _note_end(self) -> None:
        self.ended += 1

    def ask(self, within: float = 60.0) -> list[object]:
        """Return what two questions, one after the other, come to."""
        found = asyncio.run(self._ask(within))
        assert self.uncaught == []
        assert self.ended == 1
        return found


@pytest.mark.slow
@pytest.mark.parametrize(
    "script",
    [
        "",
        "sys.exit(3)",
        'os.write(1, b"{\\"event\\": ")',
        "os.abort()",
        'tell({"event": "begun"})',
        _BEGUN,
        f"{_BEGUN}os.abort()",
        f'{_BEGUN}tell(b"{{\\"id\\": 1, \\"val")',
        f'{_BEGUN}tell(b"{{\\"id\\": 1, \\"val"); os.abort()',
        f'{_BEGUN}tell({{"event": "changed", "view": {{}}}}); sys.exit()',
    ],
    ids=[
        "at once", "with a status", "in the middle of its greeting", "before its greeting",
        "after its greeting", "asked", "killed when asked", "in the middle of an answer",
        "killed in the middle of an answer",        "after an event",
    ],
)  # fmt: skip
def test_questions_to_ended_processes_fail(script: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for found in _Server(script, monkeypatch).ask():
        assert isinstance(found, ChildEndedError)
        assert str(found).startswith("the process of the match ")


def test_a_process_that_ends_after_its_answer_has_answered(monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = _Server(_BEGUN + 'tell({"id": number, "value": [1]})', monkeypatch).ask()
    assert first == [1]
    assert isinstance(second, ChildEndedError)


@pytest.mark.slow
@pytest.mark.parametrize(
    "answer",
    [
        "b'\\n'",
        "b'no answer\\n'",
        "b'\\xff\\n'",
        "b'NaN\\n'",
        "b'[' * 100_000 + b'\\n'",
        "[]",
        "None",
        "{}",
        '{"id": number}',
        '{"id": "1", "value": 2}',
        '{"id": number, "fault": 3}',
        '{"id": number, "fault": "x", "diagnostics": 3}',
        '{"event": "changed"}',
        '{"event": "changed", "view": 3}',
        '{"event": "unknown"}',
        "b'x' * 2**21 + b'\\n'",
    ],
)
def test_a_process_with_an_invalid_answer_is_killed(answer: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "LONGEST_ANSWER", 2**20)
    server = _Server(f"{_BEGUN}tell({answer})\ntime.sleep(600)", monkeypatch)
    assert [type(found) for found in server.ask()] == [ChildEndedError] * 2
    assert server.heard == []


def test_a_late_answer_is_ignored(monkeypatch: pytest.MonkeyPatch) -> None:
    script = _BEGUN + 'tell({"id": 99, "value": 1})\n'
    script += 'tell({"event": "changed", "view": {"step": 3}})\ntell({"id": number, "value": 2})\n'
    script += 'tell({"id": number, "value": 3})\ntell({"id": asked()["id"], "value": 4}); asked()'
    server = _Server(script, monkeypatch)
    assert server.ask() == [2, 4]
    assert server.heard == [{"step": 3}]


def test_a_view_that_follows_an_answer_at_once_is_heard_after_it(monkeypatch: pytest.MonkeyPatch) -> None:
    script = _BEGUN + 'line = lambda told: json.dumps(told).encode() + b"\\n"\n'
    script += 'tell(line({"id": number, "value": {"step": 3}})'
    script += ' + line({"event": "changed", "view": {"step": 4}})); asked()'
    server = _Server(script, monkeypatch)

    async def move() -> object:
        host = HostProcess(memory=2**32)
        host.on_view = server.heard.append
        try:
            return await host.carry_out("move", within=60, is_view=True)
        finally:
            host.kill()
            await host.wait()

    assert asyncio.run(move()) == {"step": 3}
    assert server.heard == [{"step": 3}, {"step": 4}]


def test_a_process_that_does_not_answer_in_time_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = _Server(_BEGUN + "time.sleep(600)", monkeypatch).ask(within=0.5)
    assert "did not answer within 0.5 seconds, and was ended" in str(first)
    assert isinstance(second, ChildEndedError)


# -- what the process itself makes of what goes wrong in it ------------------------------------------


class _Session:
    """A session in which every command comes to something else."""

    def __init__(self, found: object) -> None:
        self._found = found

    async def do(self, name: str, arguments: Mapping[str, Any]) -> object:
        if isinstance(self._found, BaseException):
            raise self._found
        return self._found


def _answer(found: object) -> dict[str, Any]:
    told: list[bytes] = []
    session: Any = _Session(found)
    asyncio.run(process.answer(session, {"id": 7, "do": "look"}, told.append))
    (line,) = told
    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1
    answer: dict[str, Any] = json.loads(line)
    assert answer["id"] == 7
    return answer


@pytest.mark.slow
@pytest.mark.parametrize(
    ("error", "fault"),
    [
        (MemoryError(), "this needs more memory than the process is allowed to use"),
        (RecordError("there is no state 7"), "there is no state 7"),
        (SheetSyntaxError("no sheet"), "no sheet"),
        (KeyError("x"), "an internal error (KeyError: 'x'); please report it"),
        (
            RecursionError("deep"),
            "an internal error (RecursionError: deep); please report it",
        ),
        (ValueError("x" * 10**6), "an internal error (ValueError: xxx"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_every_error_of_a_process_is_an_answer(
    error: Exception, fault: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer = _answer(error)
    assert answer["fault"].startswith(fault)
    assert len(answer["fault"]) <= 10_000
    # The server hears of it, and the process answers on.
    script = f'{_BEGUN}told = json.loads({json.dumps(answer)!r})\ntell(told | {{"id": number}})\n'
    first, second = _Server(script + 'tell({"id": asked()["id"], "value": 4}); asked()', monkeypatch).ask()
    assert isinstance(first, ChildFaultError)
    assert str(first) == answer["fault"]
    assert first.diagnostics == []
    assert second == 4


def test_an_answer_that_is_too_large_becomes_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "LONGEST_ANSWER", 1_000)
    assert _answer(["x" * 900])["value"]
    assert _answer(["x" * 1_000])["fault"] == ("the page would be too large: 1,025 bytes, the limit is 1,000")


def test_an_answer_that_is_not_plain_data_becomes_a_fault() -> None:
    assert "TypeError" in _answer({1, 2})["fault"]


def test_a_real_process_answers_on_after_a_fault() -> None:
    async def run() -> tuple[str, object]:
        host = HostProcess(memory=2**32)
        with pytest.raises(ChildFaultError) as caught:
            await host.carry_out("nothing", within=60)
        sheet = {"name": "x", "text": "(role x) terminal (goal x 1)"}
        described = await host.carry_out("describe", within=60, sheet=sheet)
        host.kill()
        await host.wait()
        return str(caught.value), described["roles"]

    fault, roles = asyncio.run(run())
    assert fault == "an internal error (KeyError: 'nothing'); please report it"
    assert roles == ["x"]
