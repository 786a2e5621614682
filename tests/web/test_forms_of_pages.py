"""Forms of pages, filled in and sent by a browser."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.web.pages import wait_for_step

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Browser, Page, Route
    from tests.web.conftest import Server

_SHEET = (
    ";;; A gäme of öne's own\n"
    "(role me) (legal me 1) (<= terminal (true over)) (<= (next over) (does me 1)) (goal me 100)\n"
)


@pytest.mark.slow
def test_a_file_is_uploaded_and_played(page: Page, server: Server, tmp_path: Path) -> None:
    file = tmp_path / "my gäme.kif"
    # Longer than what is read at once, and as editors of some systems write it.
    file.write_text(_SHEET + "(legal me 2)\n" + "; more\n" * 10_000, encoding="utf-8-sig")
    page.goto(f"{server.address}/")
    page.locator("#file").set_input_files(file)
    page.get_by_role("button", name="Upload").click()
    assert page.locator("h1").text_content() == "A gäme of öne's own"
    page.locator("[name=clock]").fill(".5")
    page.get_by_role("button", name="Play", exact=True).click()
    page.get_by_role("button", name="1", exact=True).click()
    wait_for_step(page, 1)
    assert "Over" in (page.locator("#status").text_content() or "")


@pytest.mark.parametrize(
    ("text", "title"),
    [("", "my_game"), (";;; -*-Lisp-*-\n;****\n;* Nim *\n;****\n", "Nim")],
)
def test_an_upload_is_called_by_title_or_file(page: Page, server: Server, text: str, title: str) -> None:
    page.goto(f"{server.address}/")
    content = (text + _SHEET.partition("\n")[2]).encode()
    file = {"name": "my_game.kif", "mimeType": "text/plain", "buffer": content}
    page.locator("#file").set_input_files(file)  # type: ignore[arg-type]
    page.get_by_role("button", name="Upload").click()
    assert page.locator("h1").text_content() == title
    assert "Lisp" not in "".join(page.locator("h1, .lead, .heading").all_text_contents())
    page.goto(f"{server.address}/")
    assert page.locator("#upload .own").get_by_text(title, exact=True).count() == 1


def test_a_search_without_hits_shows_a_message(page: Page, server: Server) -> None:
    page.goto(f"{server.address}/")
    shown = page.locator("#sheets > li:not([hidden])")
    games = shown.count()
    page.locator("#filter").fill("tic-tac-toe")
    assert 0 < shown.count() < games
    assert page.locator("#no-game").is_hidden()
    page.locator("#filter").fill("no such game")
    assert shown.count() == 0
    page.locator("#no-game").get_by_role("button").click()
    assert shown.count() == games


def test_cards_have_titles_above_names(page: Page, server: Server) -> None:
    page.goto(f"{server.address}/")
    card = page.locator("#sheets > li", has=page.locator("a[href='/sheet/tic_tac_toe']"))
    assert card.locator("h2").text_content() == "Tic-tac-toe"
    assert card.locator(".name").text_content() == "tic_tac_toe"


def test_errors_stand_above_folded_remarks(page: Page, server: Server) -> None:
    page.goto(f"{server.address}/write")
    remarks = "".join(f"(<= (odd{n} ?x) (role ?x) (role ?y))\n" for n in range(20))
    page.locator("#text").fill(f"{remarks}{_SHEET}(<= (goal ?r ?v) (role ?r))")
    page.locator("#checked .found.error").wait_for()
    assert "error" in (page.locator("#checked .found").first.get_attribute("class") or "")
    assert page.locator("#checked .found.info").count() > 0
    assert page.locator("#checked .found.info:visible").count() == 0
    page.locator("#remarks summary").click()
    assert page.locator("#checked .found.info:visible").count() > 0


@pytest.mark.slow
def test_the_editor_tells_that_all_are_busy_and_asks_again(page: Page, server: Server) -> None:
    answered: list[str] = []

    def answer(route: Route) -> None:
        answered.append(route.request.url)
        if len(answered) == 1:
            route.fulfill(
                status=503, headers={"Retry-After": "1"}, body='<p class="message">all are busy</p>'
            )
        else:
            route.continue_()

    page.goto(f"{server.address}/write")
    page.route("**/check?part=1", answer)
    page.locator("#text").fill(_SHEET)
    page.locator("#checked .message:has-text('all are busy')").wait_for()
    page.locator("#checked .note:has-text('1 legal move at the start')").wait_for()
    assert len(answered) == 2


def test_a_sheet_is_checked_without_scripts(server: Server, browser: Browser) -> None:
    with browser.new_context(java_script_enabled=False) as context:
        page = context.new_page()
        page.goto(f"{server.address}/write")
        page.locator("#text").fill(_SHEET)
        page.get_by_role("button", name="Check").click()
        assert page.locator("#checked .note:has-text('1 legal move at the start')").count() == 1
        assert page.locator("#text").input_value() == _SHEET
