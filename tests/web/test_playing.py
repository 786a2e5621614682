"""Games played to their end in a browser, by clicks alone."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from tests.web.conftest import Server
from tests.web.pages import board_click, is_over, play_on, step_of, wait_for_step

import anygame
from anygame.match import run

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from playwright.sync_api import Browser, Page, Route


#: One of each kind: from where to where, cells, columns, moves that lie on no board, at once.
_QUICK = {"capture_chess", "tic_tac_toe", "connect_four", "rock_paper_scissors"}
_OTHERS = sorted(set(anygame.games()) - _QUICK)


@pytest.mark.parametrize(
    "name", [*sorted(_QUICK), *(pytest.param(name, marks=pytest.mark.long) for name in _OTHERS)]
)
def test_a_game_is_played_to_its_end_by_two_clicks_a_move(page: Page, server: Server, name: str) -> None:
    page.goto(f"{server.address}/play/{name}")
    assert play_on(page, 400, seed=1) <= 2
    assert page.locator("#moves").count() == 0
    assert [text for text in page.locator(".players .goal").all_text_contents() if text]


@pytest.mark.long
def test_public_sheets_are_played_by_clicks(page: Page, corpus: Path, tmp_path: Path) -> None:
    own = Server(tmp_path, ["--play-clock", "0.3", str(corpus / "rules")])
    own.start()
    try:
        for path in sorted((corpus / "rules").glob("*.kif"))[::6]:
            page.goto(f"{own.address}/play/{path.stem}")
            for _ in range(20):
                if page.locator("#moves button").count() == 0:
                    break
                version = page.locator(".match").get_attribute("data-version")
                page.locator("#moves button").last.click()
                page.locator(f".match:not([data-version='{version}'])").wait_for()
            assert step_of(page) > 0, path.stem
    finally:
        own.stop()


def test_buttons_have_texts_of_moves_and_details_have_facts(page: Page, server: Server) -> None:
    page.goto(f"{server.address}/play/tic_tac_toe")
    page.get_by_role("button", name="(mark 2 2)", exact=True).click()
    wait_for_step(page, 1)
    assert page.get_by_role("grid").count() == 1
    facts = page.locator("#facts-details").text_content() or ""
    assert "(cell 2 2 x)" in facts
    assert page.locator("#status").text_content() == "o to move."
    assert page.get_by_text("Comments of players").count() == 0


def test_the_other_role_is_played_by_a_player(page: Page, server: Server) -> None:
    page.goto(f"{server.address}/play/tic_tac_toe?as=o&against=legal")
    wait_for_step(page, 1)
    page.get_by_role("button", name="(mark 3 3)", exact=True).click()
    wait_for_step(page, 3)
    assert "(cell 1 2 x)" in (page.locator(".facts").text_content() or "")
    page.get_by_role("button", name="Undo").click()
    page.locator(".match[data-step='1']").wait_for()
    assert page.get_by_role("button", name="(mark 3 3)", exact=True).is_visible()


@pytest.mark.slow
def test_a_page_tells_why_players_are_slow(page: Page, tmp_path: Path) -> None:
    # It counts with a term that grows, of which a network would need one for each number there is.
    (tmp_path / "counting.kif").write_text(
        "(role me) (role you) (init (n z)) (legal me go) (legal you 1) (legal you 2)"
        "(<= (next (n (s ?x))) (true (n ?x)))"
        "(<= terminal (true (n (s (s (s z)))))) (goal me 70) (goal you 30)"
    )
    own = Server(tmp_path / "matches", [str(tmp_path)])
    own.start()
    try:
        page.goto(f"{own.address}/play/counting?as=you&against=mcts")
        page.locator("#moves button").first.click()
        wait_for_step(page, 1)
        told = page.locator("p.note", has_text="Players are slow here: ")
        told.wait_for()
        assert "network" not in (told.text_content() or "")
    finally:
        own.stop()


@pytest.mark.parametrize("name", ["tic_tac_toe", "phantom_tic_tac_toe"])
def test_before_the_first_move_no_table_of_moves_stands_there_empty(
    page: Page, server: Server, name: str
) -> None:
    page.goto(f"{server.address}/play/{name}?as=x&against=legal")
    moves = page.locator("#log-details, .known table")
    assert moves.count() == 0
    page.locator("#moves button").first.click()
    moves.wait_for()


@pytest.mark.slow
def test_two_browsers_meet_by_a_link_and_others_watch(browser: Browser, page: Page, server: Server) -> None:
    page.goto(f"{server.address}/play/tic_tac_toe?as=x")
    link = page.get_by_role("link", name="send this link").get_attribute("href")
    with browser.new_context() as elsewhere, browser.new_context() as stranger:
        other = elsewhere.new_page()
        other.goto(f"{server.address}{link}")
        other.get_by_role("button", name="Play o").click()
        watching = stranger.new_page()
        watching.goto(page.url)
        page.get_by_role("button", name="(mark 1 1)", exact=True).click()
        other.get_by_role("button", name="(mark 2 2)", exact=True).click()
        for each in (page, other, watching):
            wait_for_step(each, 2)
        assert watching.locator("#moves").count() == 0
        assert watching.get_by_role("button", name="Undo").count() == 0
        assert other.locator("#moves").count() == 0
        assert page.locator("#moves button").count() == 7
        watching.goto(f"{server.address}{link}")
        assert "has been used" in (watching.locator("main").text_content() or "")


def test_earlier_states_have_links_and_can_be_played_on_from(page: Page, server: Server) -> None:
    page.goto(f"{server.address}/play/tic_tac_toe")
    for move in ("(mark 1 1)", "(mark 2 2)", "(mark 3 3)"):
        page.get_by_role("button", name=move, exact=True).click()
        page.get_by_role("button", name=move, exact=True).wait_for(state="detached")
    first = page.url
    page.get_by_role("link", name="back").click()
    page.locator(".match[data-step='2']").wait_for()
    assert page.url == f"{first}/2"
    assert "(cell 3 3 b)" in (page.locator(".facts").text_content() or "")
    page.get_by_role("button", name="Play on from here").click()
    page.locator(".match[data-last='2']").wait_for()
    assert page.url != first
    page.get_by_role("button", name="(mark 3 1)", exact=True).click()
    wait_for_step(page, 3)


def test_moves_are_made_without_scripts(browser: Browser, server: Server) -> None:
    with browser.new_context(java_script_enabled=False) as context:
        page = context.new_page()
        page.goto(f"{server.address}/play/tic_tac_toe")
        for move in ("(mark 1 1)", "(mark 2 2)"):
            page.get_by_role("button", name=move, exact=True).click()
        assert step_of(page) == 2
        page.get_by_role("button", name="Undo").click()
        assert step_of(page) == 1


def test_everything_works_by_keys(page: Page, server: Server) -> None:
    page.goto(f"{server.address}/play/tic_tac_toe")
    page.keyboard.press("b")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    wait_for_step(page, 1)
    page.keyboard.press("m")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    wait_for_step(page, 2)
    assert "(cell 2 2 x)" in (page.locator(".facts").text_content() or "")
    page.keyboard.press("u")
    page.locator(".match[data-step='1']").wait_for()


def test_an_illegal_click_is_explained(page: Page, server: Server) -> None:
    page.goto(f"{server.address}/play/tic_tac_toe")
    page.get_by_role("button", name="(mark 2 2)", exact=True).click()
    wait_for_step(page, 1)
    board_click(page, "2 2")
    assert "You have no move at 2 2 now." in (page.locator("#message").text_content() or "")
    assert page.locator("#why-details[open]").count() == 0
    page.locator("#message").get_by_role("button", name="Why?").click()
    page.locator("#answer pre").wait_for()
    assert "fails  (true (cell 2 2 b))" in (page.locator("#answer").text_content() or "")


def test_an_answer_that_a_move_has_overtaken_is_not_shown(page: Page, server: Server) -> None:
    held: list[Callable[[], None]] = []

    def hold(route: Route) -> None:
        if route.request.method == "GET" and not held:
            response = route.fetch()
            held.append(lambda: route.fulfill(response=response))
        else:
            route.continue_()

    page.route("**/match/*/events*", lambda route: route.abort())
    page.goto(f"{server.address}/play/tic_tac_toe")
    page.route("**/match/*?part=1", hold)
    page.evaluate("() => { refresh(); }")
    while not held:
        page.wait_for_timeout(10)
    page.get_by_role("button", name="(mark 2 2)", exact=True).click()
    wait_for_step(page, 1)
    with page.expect_response("**/match/*?part=1") as late:
        held[0]()
    late.value.finished()
    page.wait_for_timeout(100)
    assert step_of(page) == 1


@pytest.mark.slow
def test_values_of_moves_are_heat_on_the_board_and_a_plot(page: Page, server: Server) -> None:
    page.goto(f"{server.address}/play/tic_tac_toe")
    for move in ("(mark 1 1)", "(mark 2 1)", "(mark 1 2)", "(mark 3 3)"):
        page.get_by_role("button", name=move, exact=True).click()
        page.get_by_role("button", name=move, exact=True).wait_for(state="detached")
    page.get_by_role("button", name="Values").click()
    page.locator("#values .badge:has-text('exact: 100')").first.wait_for()
    assert page.locator(".boards .heat").count() >= 1
    winning = page.get_by_role("button", name="(mark 1 3)", exact=True)
    assert winning.get_attribute("data-goal") == "100"
    page.get_by_role("button", name="Plot the match").click()
    page.locator(".plot polyline").nth(1).wait_for()


def test_the_page_shows_the_effects_of_a_move_and_their_rules(page: Page, server: Server) -> None:
    page.goto(f"{server.address}/play/tic_tac_toe")
    page.get_by_role("button", name="(mark 2 2)", exact=True).click()
    wait_for_step(page, 1)
    page.locator("#fired-details summary").click()
    page.locator(".fired").wait_for()
    assert page.locator(".fired del").all_text_contents() == ["(cell 2 2 b)", "(control x)"]
    assert page.locator(".fired ins").all_text_contents() == ["(cell 2 2 x)", "(control o)"]
    assert "(does ?player (mark ?row ?column))" in (page.locator(".fired").text_content() or "")


@pytest.mark.slow
def test_a_match_continues_after_a_reload_and_a_crash_of_the_server(
    page: Page, tmp_path_factory: pytest.TempPathFactory
) -> None:
    own = Server(tmp_path_factory.mktemp("killed"), ["--play-clock", "0.3"])
    own.start()
    try:
        page.goto(f"{own.address}/play/tic_tac_toe?as=x&against=legal")
        page.get_by_role("button", name="(mark 2 2)", exact=True).click()
        wait_for_step(page, 2)
        page.reload()
        assert step_of(page) == 2
        own.kill()
        own.start()
        page.reload()
        assert step_of(page) == 2
        page.get_by_role("button", name="(mark 3 3)", exact=True).click()
        wait_for_step(page, 4)
        assert not is_over(page)
    finally:
        own.stop()


@pytest.mark.slow
def test_a_record_is_stepped_through_and_played_on_from(page: Page, server: Server) -> None:
    game = anygame.load("tic_tac_toe")
    record = run(game, ["legal", "legal"], start_clock=1, play_clock=1)
    page.goto(f"{server.address}/")
    page.locator("#text").fill(json.dumps(record.to_json()))
    page.get_by_role("button", name="Upload").click()
    page.locator(".match[data-step='0']").wait_for()
    page.get_by_role("link", name="on").click()
    page.locator(".match[data-step='1']").wait_for()
    assert "(cell 1 1 x)" in (page.locator(".facts").text_content() or "")
    assert page.locator("#moves").count() == 0
    page.get_by_role("button", name="Play on from here").click()
    page.get_by_role("button", name="(mark 2 2)", exact=True).click()
    wait_for_step(page, 2)
