"""What strangers send: nothing of it runs, nothing of it stays in the way."""

from __future__ import annotations

import json
import re
import socket
from typing import TYPE_CHECKING

import httpx
import pytest
from tests.web.conftest import Server
from tests.web.pages import wait_for_step

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import Page

_BAD = '"><img src=x onerror=document.title="owned">'
#: Names that no reader of sheets refuses: no blanks, no parentheses.
_EVIL = "<img/src=x/onerror=document.title='owned'>"
_SHEET = f"""\
;;; {_BAD}
;;;
;;; {_BAD}
(role {_EVIL}) (role o{_EVIL})
(init ({_EVIL} 1 1 {_EVIL})) (init ({_EVIL} 1 2 b)) (init ({_EVIL} 2 1 b)) (init ({_EVIL} 2 2 b))
(<= (legal ?r ({_EVIL} 1 ?y)) (role ?r) (true ({_EVIL} 1 ?y ?z)))
(<= (next ({_EVIL} 1 ?y ?r)) (does ?r ({_EVIL} 1 ?y)))
(<= (next ({_EVIL} ?x ?y ?z)) (true ({_EVIL} ?x ?y ?z)))
(<= (goal ?r 50) (role ?r))
(<= terminal (true ({_EVIL} 2 2 o{_EVIL})))
"""


def _client(server: Server) -> httpx.Client:
    return httpx.Client(base_url=server.address, timeout=60)


@pytest.mark.slow
def test_names_of_a_sheet_are_text(page: Page, server: Server) -> None:
    page.goto(f"{server.address}/")
    page.locator("#text").fill(_SHEET)
    page.get_by_role("button", name="Upload").click()
    assert "<img src=x onerror=document.title=" in (page.locator("h1").text_content() or "")
    page.get_by_role("button", name="Play", exact=True).click()
    page.locator("#moves button").first.click()
    page.locator("#why-details summary").click()
    # An answer goes with its state.
    wait_for_step(page, 1)
    page.get_by_role("button", name="Why?").click()
    page.locator("#answer .why, #answer .message").wait_for()
    assert page.locator("img").count() == 0
    assert page.title() != "owned"


@pytest.mark.slow
def test_a_broken_sheet_is_shown_with_its_errors_and_can_be_mended(page: Page, server: Server) -> None:
    page.goto(f"{server.address}/")
    page.locator("#text").fill("(role me)\n(<= (legal me ?x) (not (bad ?x)))\n(bad 1)\n")
    page.get_by_role("button", name="Upload").click()
    found = page.locator(".found.error[data-line='2']")
    assert "?x" in (found.first.text_content() or "")
    assert page.locator("#marks mark.error").count() >= 1
    page.locator("#text").fill(
        "(role me) (legal me 1) (<= terminal (true over)) (<= (next over) (does me 1)) (goal me 100)"
    )
    page.locator(".check .note:has-text('me; 1 legal move at the start')").wait_for()
    page.get_by_role("button", name="Save and play").click()
    page.get_by_role("button", name="Play", exact=True).click()
    page.locator("#status:has-text('Over')").wait_for()


@pytest.mark.slow
def test_mends_are_made_by_a_click(page: Page, server: Server) -> None:
    page.goto(f"{server.address}/write")
    page.locator(".check .note").first.wait_for()
    page.locator("#text").fill("(role me) (legal me 1) terminal\n(<= (goal ?r 100) (not (true (lost ?r))))")
    page.locator(".found.error .mend").first.click()
    page.locator(".found.error").wait_for(state="detached")
    assert "(role ?r)" in page.locator("#text").input_value()


def test_a_consequence_of_another_finding_is_marked(server: Server) -> None:
    text = (
        "(role x) (role o) (init (contrl x)) (other x o) (other o x) (<= (legal ?p go) (true (control ?p))) "
        "(<= (legal ?p noop) (role ?p) (not (true (control ?p)))) "
        "(<= (next (control ?q)) (true (control ?p)) (other ?p ?q)) (<= (next (gone ?p)) (does ?p go)) "
        "(<= terminal (true (gone o))) (<= (goal ?p 50) (role ?p))"
    )
    with _client(server) as client:
        found = client.post("/check", data={"text": text}).text
    assert found.index("contrl") < found.index("(a consequence of another finding)")


def test_rules_that_never_end_are_given_up(server: Server) -> None:
    with _client(server) as client:
        text = "(role me) (<= (legal me ?x) (n ?x)) (n 0) (<= (n (s ?x)) (n ?x)) (<= terminal (true x))"
        kept = client.post("/sheets", data={"text": text})
        answer = client.get(kept.headers["location"].replace("sheet", "play"))
    assert answer.status_code == 400
    assert "terms" in answer.text
    assert "Traceback" not in answer.text


def test_a_visitor_without_a_role_can_only_watch(server: Server) -> None:
    with _client(server) as owner, _client(server) as stranger:
        address = owner.get("/play/tic_tac_toe").headers["location"]
        move = {"role": "x", "move": "(mark 1 1)", "step": "0"}
        assert stranger.get(address).status_code == 200
        for path, data in ((f"{address}/move", move), (f"{address}/back", {})):
            assert stranger.post(path, data=data).status_code == 403
        stranger.cookies.set("anygame", "A" * 43)
        assert stranger.post(f"{address}/move", data=move).status_code == 403
        assert owner.post(f"{address}/move", data=move).status_code == 303


def test_one_cookie_that_scripts_cannot_read(server: Server) -> None:
    with _client(server) as client:
        answer = client.get("/play/tic_tac_toe")
        (cookie,) = answer.headers.get_list("set-cookie")
        assert re.match(r"anygame=[A-Za-z0-9_-]{43}; HttpOnly; .*SameSite=lax", cookie)
        assert "set-cookie" not in client.get(answer.headers["location"]).headers


def test_other_sites_and_other_names_are_refused(server: Server) -> None:
    with _client(server) as client:
        address = client.get("/play/tic_tac_toe").headers["location"]
        move = {"role": "x", "move": "(mark 1 1)", "step": "0"}
        for headers in (
            {"Sec-Fetch-Site": "cross-site"},
            {"Sec-Fetch-Site": "same-site"},
            {"Origin": "https://evil.example"},
            {"Origin": "null"},
        ):
            assert client.post(f"{address}/move", data=move, headers=headers).status_code == 403
        assert client.get("/", headers={"Host": "evil.example"}).status_code == 421
        led = client.get("/play/tic_tac_toe", headers={"Sec-Fetch-Site": "cross-site"})
        assert led.headers["location"] == "/sheet/tic_tac_toe"
        own = {"Origin": server.address, "Sec-Fetch-Site": "same-origin"}
        assert client.post(f"{address}/move", data=move, headers=own).status_code == 303


def test_ids_that_were_never_given_lead_nowhere(server: Server) -> None:
    with _client(server) as client:
        address = client.get("/play/tic_tac_toe").headers["location"]
        paths = [
            "/match/aaaaaaaaaaaaaaaaaaaaaa",
            "/match/..%2f..%2fetc%2fpasswd",
            "/match/x",
            "/play/nothing",
        ]
        paths += ["/sheet/u-aaaaaaaaaaaaaaaaaaaaaa", "/sheet/..%2f..%2fx", f"{address}/join/x"]
        assert {client.get(path).status_code for path in paths} == {404}
        assert client.get(f"{address}/99").status_code == 400
        assert client.get("/play/tic_tac_toe?against=os:system").status_code == 403
        assert client.get("/play/tic_tac_toe?against=evil.example:80").status_code == 403


def test_pages_run_no_scripts_but_ours(server: Server) -> None:
    with _client(server) as client:
        policy = client.get("/").headers["content-security-policy"]
    assert "default-src 'none'; script-src 'self'; style-src 'self'" in policy
    assert "unsafe" not in policy


def test_a_large_upload_is_refused_before_it_is_read(server: Server) -> None:
    head = (
        f"POST /sheets HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\nContent-Type: text/plain\r\n"
        "Content-Length: 104857600\r\n\r\n"
    )
    with socket.create_connection(("127.0.0.1", server.port), timeout=20) as connection:
        connection.sendall(head.encode())
        assert connection.recv(100).startswith(b"HTTP/1.1 413 ")


def test_an_upload_without_length_is_refused_unread(server: Server) -> None:
    def parts() -> Iterator[bytes]:
        for _ in range(100):
            yield b"text=" + b"x" * 2**20

    with _client(server) as client:
        try:
            status = client.post(
                "/sheets", content=parts(), headers={"Content-Type": "application/x-www-form-urlencoded"}
            ).status_code
        except httpx.TransportError:
            status = 411  # the connection was closed while we were still sending
    assert status == 411


def test_a_record_of_very_many_moves_is_refused(server: Server) -> None:
    moves = 5_001
    record = {"matchId": "m", "startClock": 1, "playClock": 1, "moves": [["a"]] * moves}
    record |= {"states": [""] * (moves + 1), "stateTimes": [0] * (moves + 1)}
    with _client(server) as client:
        answer = client.post("/sheets", data={"text": json.dumps(record)})
    assert answer.status_code == 400
    assert "the record has 5,001 joint moves: pages show records of at most 5,000" in answer.text


def test_a_record_does_not_reveal_invitations(server: Server) -> None:
    with _client(server) as owner, _client(server) as stranger:
        address = owner.get("/play/tic_tac_toe?as=x").headers["location"]
        (link,) = set(re.findall(r"/join/([\w-]+)", owner.get(address).text))
        record = stranger.get(f"{address}/record.json")
        assert record.json()["moves"] == []
        assert link not in record.text
        assert "seats" not in record.json()["anygame"]


@pytest.mark.slow
def test_sheets_are_read_leniently_on_request(server: Server, tmp_path: Path) -> None:
    loose = (
        "(role x) (init (at 1)) (<= (legal ?r go) (true (at 1))) (<= (next (at 2)) (does ?r go))\n"
        "(<= terminal (not (true (at 1)))) (goal ?r 100)"
    )
    sheet = tmp_path / "loose.kif"
    sheet.write_text(loose)
    own = Server(tmp_path / "web", ["--lenient", str(sheet)])
    own.start()
    try:
        with _client(own) as client:
            assert client.get("/sheet/loose").status_code == 200
            shown = client.get("/play/loose", follow_redirects=True)
            assert shown.status_code == 200
            assert "go" in shown.text
            checked = client.post("/check?part", data={"text": loose}, headers={"Origin": own.address})
            assert "warning" in checked.text
            assert "error" not in checked.text
        (record,) = own.folder.rglob("*.json")
        assert "(<= (goal ?r 100) (role ?r))" in json.loads(record.read_text())["anygame"]["rules"]
    finally:
        own.stop()
    with _client(server) as client:
        checked = client.post("/check?part", data={"text": loose}, headers={"Origin": server.address})
        assert "error" in checked.text
