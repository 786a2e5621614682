"""What takes long is done for few at a time; others wait for a bounded time, or are told to come again."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import httpx
import pytest

pytest.importorskip("starlette")

from anygame.processes.child import Admission, BusyError, ChildEndedError
from anygame.web.server import matches, processes
from anygame.web.server.application import make_application
from anygame.web.server.processes import HostProcess
from anygame.web.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path

#: A sheet with which nothing ever comes to an end, in these tests.
_HOSTILE = "(role hostile)"
_FOUND: dict[str, object] = {"start": None, "fault": "", "diagnostics": []}


def test_as_many_are_let_in_as_there_are_places_and_as_many_wait() -> None:
    async def run() -> None:
        gate = Admission(2, 3, "all are busy")
        inside = 0
        end = asyncio.Event()

        async def pass_through() -> None:
            nonlocal inside
            async with gate.place(600):
                inside += 1
                await end.wait()

        tasks = [asyncio.create_task(pass_through()) for _ in range(9)]
        refused, let_in = await asyncio.wait(tasks, return_when=asyncio.FIRST_EXCEPTION)
        assert inside == 2
        assert len(refused) == 4
        assert len(let_in) == 5
        assert {str(task.exception()) for task in refused} == {"all are busy"}
        end.set()
        await asyncio.gather(*let_in)
        assert inside == 5

    asyncio.run(run())


def test_the_wait_counts_and_is_short() -> None:
    async def run() -> None:
        gate = Admission(1, 9, "busy")
        async with gate.place(600) as left:
            assert 500 < left <= 600
            with pytest.raises(BusyError):
                async with gate.place(0.02):
                    raise AssertionError
            following = asyncio.create_task(_left(gate))
            await asyncio.sleep(0.05)
        assert 595 <= await following < 600 - 0.04

    asyncio.run(run())


async def _left(gate: Admission) -> float:
    async with gate.place(600) as left:
        return left


def test_a_cancelled_task_leaves_its_place_to_others() -> None:
    async def run() -> None:
        gate = Admission(1, 1, "busy")
        async with gate.place(600):
            waiting = asyncio.create_task(_left(gate))
            await asyncio.sleep(0)
            waiting.cancel()
            await asyncio.wait([waiting])
            following = asyncio.create_task(_left(gate))
            await asyncio.sleep(0)
        assert await following

    asyncio.run(run())


class _Stuck(HostProcess):
    """A process that is stuck with every hostile sheet until it is ended, and knows nothing of others."""

    asked: list[str]
    ends: asyncio.Event
    #: For how long commands may take.
    within: list[float]

    def __init__(self, *_: object) -> None:
        """Start no process."""

    is_gone = False

    def kill(self) -> None:
        pass

    async def wait(self) -> None:
        pass

    async def carry_out(self, what: str, *, within: float, **arguments: Any) -> Any:
        self.asked.append(what)
        self.within.append(within)
        if arguments.get("sheet", {}).get("text") == _HOSTILE:
            await self.ends.wait()
            raise ChildEndedError("it took too long")
        return dict(_FOUND) if what == "check" else {"roles": ["x"], "hides": False, "model": ""}


@pytest.fixture
def visit(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Callable[[Callable[[httpx.AsyncClient], Awaitable[None]]], list[str]]:
    """Return what has a visitor look at pages where processes are stuck, and tells what these were asked."""

    def run(visitor: Callable[[httpx.AsyncClient], Awaitable[None]]) -> list[str]:
        async def visiting() -> None:
            monkeypatch.setattr(_Stuck, "ends", asyncio.Event(), raising=False)
            monkeypatch.setattr(_Stuck, "asked", asked, raising=False)
            monkeypatch.setattr(_Stuck, "within", [], raising=False)
            for module in (processes, matches):
                monkeypatch.setattr(module, "HostProcess", _Stuck)
            application = make_application(Settings(folder=tmp_path))
            transport = httpx.ASGITransport(application)
            async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
                await visitor(client)

        asked: list[str] = []
        asyncio.run(visiting())
        return asked

    return run


def test_hostile_sheets_do_not_block_pages(visit: Any) -> None:
    async def visitor(client: httpx.AsyncClient) -> None:
        def check(text: str) -> asyncio.Task[httpx.Response]:
            return asyncio.create_task(client.post("/check", params={"part": "1"}, data={"text": text}))

        hostile = [check(_HOSTILE) for _ in range(13)]
        refused, others = await asyncio.wait(hostile, return_when=asyncio.FIRST_COMPLETED)
        while len(refused) < 3:
            more, others = await asyncio.wait(others, return_when=asyncio.FIRST_COMPLETED)
            refused |= more
        for answer in [task.result() for task in refused]:
            assert answer.status_code == 503
            assert answer.headers["retry-after"] == "30"
            assert "this server is reading too many sheets: try again in 30" in answer.text
        assert len(others) == 10
        # The text of who writes is not lost, and pages of the server's own sheets are there.
        written = await client.post("/check", data={"text": "(role honest)"})
        assert written.status_code == 503
        assert written.headers["retry-after"] == "30"
        assert "(role honest)" in written.text
        assert "try again in 30 seconds" in written.text
        for path in ("/", "/sheet/tic_tac_toe", "/write", "/write/tic_tac_toe"):
            assert (await client.get(path)).status_code == 200
        _Stuck.ends.set()
        for task in others:
            assert (await task).status_code == 503
        assert (await check("(role honest)")).status_code == 200

    asked = visit(visitor)
    assert asked.count("check") == 10 + 2 + 1
    assert asked.count("describe") == 1


def test_a_sheet_has_less_time_where_others_wait_when_it_begins(visit: Any) -> None:
    async def visitor(client: httpx.AsyncClient) -> None:
        checks = [
            asyncio.create_task(client.post("/check?part=1", data={"text": _HOSTILE})) for _ in range(5)
        ]
        while len(_Stuck.asked) < 2:
            await asyncio.sleep(0)
        _Stuck.ends.set()
        answers = [await task for task in checks]
        short = [within < 6 for within in _Stuck.within]
        assert short == [False, False, True, True, False]
        # Whose sheet had all the time takes as long again; who was hurried may come again.
        assert ["retry-after" in answer.headers for answer in answers] == short

    visit(visitor)


def test_sheets_of_the_server_are_read_once(visit: Any) -> None:
    async def visitor(client: httpx.AsyncClient) -> None:
        for _ in range(3):
            for path in ("/sheet/tic_tac_toe", "/write", "/write/tic_tac_toe"):
                assert (await client.get(path)).status_code == 200

    assert sorted(visit(visitor)) == ["check", "check", "describe"]


def test_few_matches_are_opened_at_a_time(visit: Any) -> None:
    async def visitor(client: httpx.AsyncClient) -> None:
        kept = await client.post("/sheets", data={"text": _HOSTILE})
        address = kept.headers["location"].replace("sheet", "play")
        opening = [asyncio.create_task(client.get(address)) for _ in range(30)]
        refused, others = await asyncio.wait(opening, return_when=asyncio.FIRST_COMPLETED)
        while len(refused) < 10:
            more, others = await asyncio.wait(others, return_when=asyncio.FIRST_COMPLETED)
            refused |= more
        for answer in [task.result() for task in refused]:
            assert answer.status_code == 503
            assert "this server is opening too many matches" in answer.text
        assert _Stuck.asked == ["describe"] * 4
        assert (await client.get("/sheet/tic_tac_toe")).status_code == 200
        _Stuck.ends.set()
        assert {(await task).status_code for task in others} == {503}

    assert visit(visitor).count("describe") == 20 + 1
