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
    page.get_by_role("button", name="Read it").click()
    assert page.locator("h1").text_content() == "A gäme of öne's own"
    page.locator("[name=clock]").fill(".5")
    page.get_by_role("button", name="Play", exact=True).click()
    page.get_by_role("button", name="1", exact=True).click()
    wait_for_step(page, 1)
    assert "Over" in (page.locator("#status").text_content() or "")


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
