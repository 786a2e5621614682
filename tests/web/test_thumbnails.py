"""Small drawings of games on the first page."""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.etree import ElementTree

import httpx

import anygame
from anygame.boards import Painter
from anygame.web.hosting.views import thumbnail

if TYPE_CHECKING:
    from playwright.sync_api import Page
    from tests.web.conftest import Server


def drawn(game: anygame.Game) -> str:
    return thumbnail(game, Painter.of(game))


def test_every_game_on_the_first_page_has_its_drawing(page: Page, server: Server) -> None:
    page.goto(server.address)
    images = page.locator("#sheets img")
    assert images.count() == page.locator("#sheets > li").count()
    images.last.scroll_into_view_if_needed()
    page.wait_for_function(
        "() => [...document.querySelectorAll('#sheets img')].at(-1).naturalWidth > 8", timeout=60_000
    )


def test_a_drawing_is_small_and_the_same_each_time() -> None:
    game = anygame.load("hex_pie")
    found = drawn(game)
    assert found == drawn(anygame.load("hex_pie"))
    assert len(found) < 25_000
    assert "<title>" not in found.replace("<title>hex_pie</title>", "")
    ElementTree.fromstring(found)


def test_a_game_without_a_board_shows_its_cards() -> None:
    found = drawn(anygame.load("kuhn_poker"))
    assert "card player1" in found
    assert "staked" not in found
    assert "round" in drawn(anygame.load("rock_paper_scissors"))


def test_a_board_that_is_too_large_is_not_drawn() -> None:
    sheet = "(role me) (init (cell 1 1 x)) (legal me wait) (<= (next ?f) (true ?f))"
    sheet += "".join(f"(n {number})" for number in range(1, 41)) + "(<= (base (cell ?x ?y x)) (n ?x) (n ?y))"
    assert drawn(anygame.loads(sheet)) == ""


def test_a_failed_thumbnail_is_empty_and_uploads_have_none(server: Server) -> None:
    with httpx.Client(base_url=server.address, timeout=60) as client:
        answer = client.get("/sheet/tic_tac_toe/thumbnail.svg")
        assert answer.headers["content-type"].startswith("image/svg+xml")
        assert "max-age" in answer.headers["cache-control"]
        assert client.get("/sheet/nothing/thumbnail.svg").status_code == 404
        address = client.post("/sheets", data={"text": "(role me) (legal me 1)"}).headers["location"]
        assert client.get(f"{address}/thumbnail.svg").status_code == 404
