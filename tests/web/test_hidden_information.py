"""What people see of games whose rules hide something."""

from __future__ import annotations

from time import monotonic, sleep
from typing import TYPE_CHECKING

import httpx
import pytest
from tests.web.pages import is_over, step_of, wait_for_step, wait_until_over
from tests.web.test_watching import command_with_pages

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Browser, Page
    from tests.web.conftest import Server

#: Each of two puts a coin in one of two hands and then guesses; only whether the other guessed right is seen.
_COINS = """
(role left) (role right) (init (step 1)) (hand near) (hand far)
(<= (legal ?r (put ?h)) (role ?r) (hand ?h) (true (step 1)))
(<= (legal ?r (guess ?h)) (role ?r) (hand ?h) (true (step 2)))
(<= (legal ?r (wave ?h)) (role ?r) (hand ?h) (true (step 3)))
(<= (next (coin ?r ?h)) (does ?r (put ?h)))
(<= (next (coin ?r ?h)) (true (coin ?r ?h)))
(<= (next (step 2)) (true (step 1))) (<= (next (step 3)) (true (step 2))) (<= (next (step 4)) (true (step 3)))
(<= (next (right ?r)) (does ?r (guess ?h)) (true (coin ?o ?h)) (distinct ?r ?o))
(<= (next (right ?r)) (true (right ?r)))
(<= (sees ?r (guessed ?o)) (does ?o (guess ?h)) (true (coin ?r ?h)) (role ?r) (distinct ?r ?o))
(<= terminal (true (step 4)))
(<= (goal ?r 100) (role ?r) (true (right ?r))) (<= (goal ?r 0) (role ?r) (not (true (right ?r))))
"""


def _upload(client: httpx.Client, rules: str) -> str:
    """Keep a sheet, and return its name."""
    name: str = client.post("/sheets", data={"text": rules}).headers["location"]
    return name.removeprefix("/sheet/")


@pytest.mark.slow
def test_a_role_sees_its_own_moves_and_percepts_until_the_end(page: Page, server: Server) -> None:
    page.goto(f"{server.address}/play/monty_hall")
    wait_for_step(page, 1)
    assert page.locator("#facts-details, #why-details, #log-details, #fork, #analyse, #undo").count() == 0
    assert "(car " not in page.content()
    page.get_by_role("button", name="(choose 2)", exact=True).click()
    wait_for_step(page, 3)
    known = page.locator(".known").text_content() or ""
    assert "(choose 2)" in known
    assert "(opened " in known
    assert "(car " not in page.content()
    assert "(hide " not in page.content()
    page.get_by_role("link", name="first").click()
    page.locator(".match[data-step='0']").wait_for()
    assert "(choose 2)" not in (page.locator(".known").text_content() or "")
    page.get_by_role("link", name="last").click()
    page.get_by_role("button", name="switch", exact=True).click()
    wait_until_over(page)
    assert "(car " in (page.locator(".facts").text_content() or "")
    assert "hide " in (page.locator(".log").text_content() or "")
    assert page.get_by_role("button", name="Undo").count() == 0


def test_no_request_reveals_hidden_facts(server: Server) -> None:
    with (
        httpx.Client(base_url=server.address, timeout=60) as player,
        httpx.Client(base_url=server.address, timeout=60) as stranger,
    ):
        address = player.get("/play/monty_hall").headers["location"]
        for client in (player, stranger):
            for path in (
                "record.json",
                "1/why?atom=(true (car 1))",
                "1/fired",
                "1/values",
                "0/values?known=1",
            ):
                assert client.get(f"{address}/{path}").status_code == 403, path
            assert client.post(f"{address}/1/fork").status_code == 403
            assert client.post(f"{address}/back").status_code == 403
            for path in ("", "/0", "/1", "?part=1", "/1?part=1"):
                assert "(car " not in client.get(f"{address}{path}").text
                assert "(hide " not in client.get(f"{address}{path}").text


@pytest.mark.slow
def test_two_browsers_do_not_see_each_others_moves(browser: Browser, page: Page, server: Server) -> None:
    with httpx.Client(base_url=server.address, timeout=60) as client:
        sheet = _upload(client, _COINS)
    page.goto(f"{server.address}/play/{sheet}?as=left")
    link = page.get_by_role("link", name="send this link").get_attribute("href")
    with browser.new_context() as elsewhere, browser.new_context() as stranger:
        other = elsewhere.new_page()
        other.goto(f"{server.address}{link}")
        other.get_by_role("button", name="Play right").click()
        watching = stranger.new_page()
        watching.goto(page.url)
        page.get_by_role("button", name="(put near)", exact=True).click()
        other.get_by_role("button", name="(put far)", exact=True).click()
        for each in (page, other, watching):
            wait_for_step(each, 1)
        page.get_by_role("button", name="(guess far)", exact=True).wait_for()
        assert "(put far)" not in page.content()
        assert "(put near)" not in other.content()
        assert "(put " not in watching.content()
        page.get_by_role("button", name="(guess far)", exact=True).click()
        other.get_by_role("button", name="(guess far)", exact=True).click()
        wait_for_step(other, 2)
        assert "(guessed left)" in (other.locator(".known").text_content() or "")
        assert "(guessed " not in (page.locator(".known").text_content() or "")
        for each in (page, other):
            each.get_by_role("button", name="(wave far)", exact=True).click()
        for each in (page, other, watching):
            wait_until_over(each)
            assert "(coin left near)" in (each.locator(".facts").text_content() or "")


def test_a_visitor_who_plays_all_roles_or_asks_sees_everything(page: Page, server: Server) -> None:
    with httpx.Client(base_url=server.address, timeout=60) as client:
        sheet = _upload(client, _COINS)
    for address in (f"/play/{sheet}", "/play/monty_hall?reveal=yes"):
        page.goto(server.address + address)
        assert "The rules hide some facts" in (page.locator("main").text_content() or "")
        page.locator("#facts-details").wait_for()
        assert not is_over(page)


def test_a_player_follows_where_a_match_branches_off(server: Server) -> None:
    with httpx.Client(base_url=server.address, timeout=60) as client:
        sheet = _upload(client, _COINS)
        address = client.get(f"/play/{sheet}?reveal=yes&as=left&against=legal").headers["location"]
        _move(client, address, 0, "(put near)")
        branched = client.post(f"{address}/1/fork").headers["location"]
        _move(client, branched, 1, "(guess near)")
        _move(client, branched, 2, "(wave near)")
        record = client.get(f"{branched}/record.json").json()
    assert [moves[1] for moves in record["moves"]] == ["( put far )", "( guess far )", "( wave far )"]
    assert "reasons" not in record["anygame"]


def _move(client: httpx.Client, address: str, step: int, move: str) -> None:
    """Make a move of the role left, and wait until the other has moved."""
    client.post(f"{address}/move", data={"role": "left", "move": move, "step": str(step)})
    end = monotonic() + 30
    while f'data-step="{step + 1}"' not in client.get(f"{address}?part=1").text and monotonic() < end:
        sleep(0.05)


def test_a_sheet_that_hides_something_asks_whether_to_reveal_it(page: Page, server: Server) -> None:
    page.goto(f"{server.address}/sheet/monty_hall")
    page.get_by_label("Show hidden information to everybody").check()
    page.get_by_role("button", name="Play", exact=True).click()
    wait_for_step(page, 1)
    assert "(car " in (page.locator(".facts").text_content() or "")
    page.goto(f"{server.address}/sheet/tic_tac_toe")
    assert page.get_by_label("Reveal").count() == 0


@pytest.mark.slow
def test_programs_that_play_hidden_information_are_watched(page: Page, tmp_path: Path) -> None:
    players = ["--players", f"{tmp_path}/waiting.py:Waiting", "--play-clock", "60"]
    with command_with_pages(tmp_path, "match", "monty_hall", *players) as command:
        command.let_move(1, 2, 3)
        page.goto(command.address)
        page.locator("#status:has-text('candidate thinking')").wait_for()
        assert "(car " in (page.locator(".facts").text_content() or "")
        assert step_of(page) >= 1
        command.let_move(*range(4, 9))
        wait_until_over(page)


def test_a_board_of_known_facts_accepts_clicks(page: Page, server: Server) -> None:
    page.goto(f"{server.address}/play/phantom_tic_tac_toe?as=x&against=legal")
    page.locator("[role=gridcell][data-terms='2 2']").click()
    page.locator("[role=gridcell][aria-label='2 2: x']").wait_for()
    # The other marks the first cell: it may be any that is free, for all that x knows.
    page.locator("#status:has-text('Your move.')").wait_for()
    assert page.locator("[role=gridcell][aria-label*='not known']").count() == 8
    assert "o</text>" not in page.content()
    page.locator("[role=gridcell][data-terms='1 1']").click()
    page.locator("[role=gridcell][aria-label='1 1: o']").wait_for()


def test_hands_are_shown_to_who_holds_them(server: Server) -> None:
    with (
        httpx.Client(base_url=server.address, timeout=60) as player,
        httpx.Client(base_url=server.address, timeout=60) as stranger,
    ):
        address = player.get("/play/kuhn_poker?as=player1&against=legal").headers["location"]
        _wait_until_asked(player, address)
        own, other = (client.get(f"{address}?part=1").text for client in (player, stranger))
    cards = ("jack", "queen", "king")
    assert [sum(f'class="card">{card}<' in text for card in cards) for text in (own, other)] == [1, 0]
    assert 'class="card">?<' in own
    assert not any(card in other for card in cards)


def _wait_until_asked(client: httpx.Client, address: str) -> None:
    end = monotonic() + 30
    while "Your moves" not in client.get(f"{address}?part=1").text and monotonic() < end:
        sleep(0.05)
