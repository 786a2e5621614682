from __future__ import annotations

import threading
from collections import Counter
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from random import Random
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("python_multipart")
pytest.importorskip("resource")
pytest.importorskip("starlette")
pytest.importorskip("uvicorn")

from tools.hostile_requests import attack_table, main, visitor_table
from tools.hostile_targets import PAGE, PLAYER, Visit

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.mark.slow
def test_an_honest_visitor_of_the_page_gets_right_answers(capsys: pytest.CaptureFixture[str]) -> None:
    status = main(["page", "--requests", "60", "--held", "2"])
    told = capsys.readouterr().out
    assert status == 0, told
    assert told.startswith("60 hostile requests, 30 at once besides the held ones, and an honest visitor")
    assert "hostile sheets             3" in told
    assert "median alone" in told


@pytest.mark.slow
def test_an_honest_manager_of_the_player_gets_legal_moves(capsys: pytest.CaptureFixture[str]) -> None:
    status = main(["player", "--requests", "52", "--held", "2"])
    told = capsys.readouterr().out
    assert status == 0, told
    assert "hostile matches " in told
    assert "PLAY" in told


def test_replies_to_a_manager_are_judged() -> None:
    with _answering(200, "( mark 9 9 )") as visit:
        PLAYER.visit(visit)
    assert [wrong.partition(":")[0] for wrong in visit.wrong] == ["INFO", "START"]


@pytest.mark.long
def test_an_honest_manager_of_the_player_gets_legal_moves_among_very_many(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["player", "--requests", "10000"]) == 0, capsys.readouterr().out


@pytest.mark.long
def test_an_honest_visitor_of_the_page_gets_right_answers_among_very_many(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["page", "--requests", "10000"]) == 0, capsys.readouterr().out


@contextmanager
def _answering(status: int, text: str, **headers: str) -> Iterator[Visit]:
    """Have a server that answers everything so; yield a visitor."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name.replace("_", "-"), value)
            self.end_headers()
            self.wfile.write(text.encode())

        def do_POST(self) -> None:
            self.do_GET()

        def log_message(self, *_: object) -> None: ...

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield Visit(("127.0.0.1", server.server_port))
        server.shutdown()
        thread.join()


def test_answers_are_right_or_wrong_or_retried() -> None:
    with _answering(200, "as it should be") as visit:
        visit.ask("the page", "GET", "/", "should")
        assert visit.wrong == []
        visit.ask("the page", "GET", "/", "other")
        assert visit.wrong == ["the page: status 200 without 'other': 'as it should be'"]
    with _answering(503, "busy", Retry_After="30") as visit:
        visit.ask("the page", "GET", "/", "should")
        assert visit.wrong == []
        assert visit.later == {"the page": 1}
    with _answering(503, "busy") as visit:
        visit.ask("the page", "GET", "/", "should")
        assert len(visit.wrong) == 1
    with _answering(303, "", Location="/match/7", Set_Cookie="a=b; HttpOnly") as visit:
        assert visit.ask("a match", "GET", "/", "/match/") == "/match/7"
        assert visit.cookie == "a=b"
        visit.ask("a match", "GET", "/", "/sheet/")
        assert len(visit.wrong) == 1
    visit.ask("the page", "GET", "/", "")
    assert "ConnectionRefusedError" in visit.wrong[-1]


def test_tables_show_waits_and_outcomes_of_requests() -> None:
    quiet, attacked = Visit(("localhost", 1)), Visit(("localhost", 1))
    quiet.seconds["the page"] += [0.001, 0.003, 0.002]
    attacked.seconds["the page"] += [0.002, 0.004, 1.5]
    attacked.later["the page"] = 1
    assert visitor_table(quiet, attacked)[1:] == [
        ["the page", "2 ms", "4 ms", "1,500 ms", "3", "1"],
        ["all", "2 ms", "4 ms", "1,500 ms", "3", "1"],
    ]
    assert attack_table({"odd": Counter({"400": 1_200, "closed": 3})})[1:] == [
        ["odd", "1,203", "400 1,200, closed 3"]
    ]


def test_the_same_seed_makes_the_same_requests() -> None:
    with _answering(303, "", Location="/match/7") as visit:
        for kind, make in {**PAGE.attacks(visit), **PLAYER.attacks(visit)}.items():
            assert make(Random(7)).data == make(Random(7)).data, kind
