"""What a person does with a match beside its moves: begins, ends, and sees whose turn it is."""

from __future__ import annotations

import os
import re
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Final, Literal

import httpx
import pytest
from tests.web.pages import is_over, wait_for_step, wait_until_over

from anygame.players.loading import LEVELS

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator, Page
    from tests.web.conftest import Server

#: Where pictures of the sessions are kept; nowhere unless somebody wants them.
_PICTURES = os.environ.get("ANYGAME_PICTURES")


def _text(page: Page, selector: str) -> str:
    return page.locator(selector).text_content() or ""


def test_the_page_names_the_winner_in_a_game_with_chance(page: Page, server: Server) -> None:
    page.goto(f"{server.address}/play/kuhn_poker?as=player1&against=legal")
    while not is_over(page):
        if page.locator("#moves button").count():
            page.locator("#moves button").first.click()
        page.wait_for_timeout(50)
    goals = page.locator(".players tr", has_text="chance").locator(".goal").text_content()
    assert not (goals or "").strip()
    one, other = (int(text) for text in page.locator(".players .goal").all_text_contents() if text.strip())
    words = {True: "You win", False: "player2 wins, player1 (you) do not"}[one > other]
    assert words in _text(page, "#status")


def test_dots_have_the_colours_that_the_facts_say(page: Page, server: Server) -> None:
    page.goto(f"{server.address}/play/hex_pie")
    dots = page.locator(".players .dot")
    assert [dots.nth(number).get_attribute("class") for number in (0, 1)] == [
        "dot colour-red",
        "dot colour-blue",
    ]


def test_a_chosen_piece_leaves_its_own_moves_lit(page: Page, server: Server) -> None:
    page.goto(f"{server.address}/play/line_chess")
    page.locator("[role=gridcell].carried").first.click()
    assert page.locator("#moves button.meant").count() >= 1
    assert page.locator("#moves button.meant.unmeant").count() == 0
    chosen = page.locator("[role=gridcell].selected")
    assert "chosen" in (chosen.get_attribute("aria-label") or "")


_FORCED = """
(role a) (role b) (init (step 1)) (succ 1 2) (succ 2 3) (succ 3 4) (succ 4 5)
(<= (legal a left) (true (step 1))) (<= (legal a right) (true (step 1)))
(<= (legal a (march ?n)) (true (step ?n)) (distinct ?n 1) (distinct ?n 5)) (legal b noop)
(<= (next (step ?m)) (true (step ?n)) (succ ?n ?m)) (<= terminal (true (step 5)))
(goal a 100) (goal b 0)
"""


def test_forced_moves_are_automatic_and_waits_are_not_listed(page: Page, server: Server) -> None:
    with httpx.Client(base_url=server.address, timeout=60) as client:
        name = client.post("/sheets", data={"text": _FORCED}).headers["location"].removeprefix("/sheet/")
    page.goto(f"{server.address}/play/{name}?as=a&against=legal")
    page.get_by_role("button", name="right", exact=True).click()
    wait_until_over(page)
    assert page.locator(".log li").all_text_contents() == [
        "a: right",
        "a: march 2",
        "a: march 3",
        "a: march 4",
    ]
    page.get_by_role("button", name="Undo").click()
    page.locator(".match[data-step='0']").wait_for()
    assert page.locator("#moves button").all_text_contents() == ["left", "right"]


def test_the_page_says_at_once_if_a_move_cannot_be_taken_back(page: Page, server: Server) -> None:
    with httpx.Client(base_url=server.address, timeout=60) as friend:
        page.goto(f"{server.address}/play/tic_tac_toe?as=x")
        link = page.get_by_role("link", name="send this link").get_attribute("href") or ""
        friend.post(link)
    page.get_by_role("button", name="(mark 2 2)", exact=True).click()
    wait_for_step(page, 1)
    page.keyboard.press("u")
    assert "other people also play here" in _text(page, "#message")
    page.evaluate("refresh()")
    assert "other people also play here" in _text(page, "#message")


def test_a_rematch_exchanges_seats_and_all_who_played_meet_there(server: Server) -> None:
    with (
        httpx.Client(base_url=server.address, timeout=60) as one,
        httpx.Client(base_url=server.address, timeout=60) as other,
        httpx.Client(base_url=server.address, timeout=60) as stranger,
    ):
        match = one.get("/play/tic_tac_toe?as=x").headers["location"]
        (link,) = set(re.findall(r"/match/[\w-]+/join/[\w-]+(?=\")", one.get(match).text))
        other.post(link)
        assert one.post(f"{match}/rematch").status_code == 403
        assert other.post(f"{match}/resign", data={"role": "x"}).status_code == 403
        assert one.post(f"{match}/resign", data={"role": "x"}).status_code == 303
        assert one.post(f"{match}/resign", data={"role": "x"}).status_code == 400
        assert "Over. You resigned: o wins." in one.get(match).text
        assert "Over. x resigned: you win." in other.get(match).text
        assert stranger.post(f"{match}/rematch").status_code == 403
        follow = one.post(f"{match}/rematch").headers["location"]
        assert other.post(f"{match}/rematch").headers["location"] == follow
        assert f'href="{follow}"' in stranger.get(match).text
        assert 'data-asking="x"' in other.get(follow).text
        assert 'data-asking="' not in one.get(follow).text


def test_a_resignation_can_be_taken_back_and_is_stored(page: Page, server: Server) -> None:
    page.goto(f"{server.address}/play/tic_tac_toe?as=x&against=legal")
    page.locator("#resign").click()
    page.locator("#resign-sure").click()
    wait_until_over(page)
    assert _text(page, "#status") == "Over. You resigned: o wins."
    record = page.request.get(f"{page.url}/record.json").json()
    assert record["isAborted"]
    assert record["anygame"]["resigned"] == "x"
    page.keyboard.press("u")
    page.locator("#moves button").first.wait_for()
    assert not is_over(page)


def test_a_clock_binds_people_who_want_one(page: Page, server: Server) -> None:
    page.goto(f"{server.address}/play/tic_tac_toe?as=x&against=legal&minutes=0.02&more=2")
    assert page.locator(".players .limited").count() == 1
    wait_until_over(page)
    assert _text(page, "#status") == "Over. You ran out of time: o wins."


def test_a_clock_waits_until_everybody_is_there(page: Page, server: Server) -> None:
    page.goto(f"{server.address}/play/tic_tac_toe?as=x&minutes=0.01")
    page.wait_for_timeout(1_000)
    assert not is_over(page)
    assert page.locator(".players [data-clock]").count() == 0
    link = page.get_by_role("link", name="send this link").get_attribute("href") or ""
    with httpx.Client(base_url=server.address, timeout=60) as friend:
        friend.post(link)
        wait_until_over(page)


def test_an_invitation_is_copied_and_drawn(browser: Browser, server: Server) -> None:
    with browser.new_context(permissions=["clipboard-read", "clipboard-write"]) as context:
        page = context.new_page()
        page.goto(f"{server.address}/play/tic_tac_toe?as=x")
        page.get_by_role("button", name="Copy").click()
        page.locator("#message:has-text('copied')").wait_for()
        link = page.get_by_role("link", name="send this link").get_attribute("href") or ""
        assert page.evaluate("() => navigator.clipboard.readText()") == server.address + link
        drawn = page.request.get(f"{server.address}{link}/code.svg")
        assert drawn.headers["content-type"].startswith("image/svg+xml")
        assert page.request.get(f"{server.address}{link}x/code.svg").status == 404
        page.get_by_text("QR code", exact=True).click()
        page.wait_for_function("() => document.querySelector('.code img').naturalWidth > 0")


def test_a_flipped_board_stays_flipped(page: Page, server: Server) -> None:
    page.goto(f"{server.address}/play/tic_tac_toe")
    cell = page.locator("[role=gridcell][data-terms='1 1']")
    opposite = page.locator("[role=gridcell][data-terms='3 3']")

    def places() -> tuple[float, float]:
        one, other = cell.bounding_box(), opposite.bounding_box()
        assert one
        assert other
        return one["x"] - other["x"], one["y"] - other["y"]

    before = places()
    page.get_by_role("button", name="Flip").click()
    assert [round(now + then) for now, then in zip(places(), before, strict=True)] == [0, 0]
    cell.click()
    wait_for_step(page, 1)
    assert "(cell 1 1 x)" in _text(page, ".facts")
    assert cell.get_attribute("transform")


def test_things_that_fall_fall_down_on_a_flipped_board_too(page: Page, server: Server) -> None:
    page.goto(f"{server.address}/play/connect_four")
    corner = page.locator("[role=gridcell][data-terms='a 1']")
    below = page.locator("[role=gridcell][data-terms='f 1']")
    before, bottom = corner.bounding_box(), below.bounding_box()
    page.get_by_role("button", name="Flip").click()
    after, fallen = corner.bounding_box(), below.bounding_box()
    assert before
    assert bottom
    assert after
    assert fallen
    assert after["x"] > before["x"] + 100
    assert after["y"] == pytest.approx(before["y"], abs=1)
    assert fallen["y"] == pytest.approx(bottom["y"], abs=1)


def test_a_rematch_with_seats_exchanged_is_not_flipped(page: Page, server: Server) -> None:
    page.goto(f"{server.address}/play/tic_tac_toe?as=x&against=legal")
    page.get_by_role("button", name="Flip").click()
    page.locator("#resign").click()
    page.locator("#resign-sure").click()
    wait_until_over(page)
    page.locator("#rematch").click()
    page.locator(".match[data-mine='o']").wait_for()
    page.locator("#flip[aria-pressed='false']").wait_for()
    page.goto(f"{server.address}/play/tic_tac_toe?as=x&against=legal")
    page.locator("#flip[aria-pressed='true']").wait_for()


def _played(page: Page, address: str, game: str, *moves: str) -> None:
    """Make moves for all roles of a new match."""
    page.goto(f"{address}/play/{game}")
    for step, move in enumerate(moves, 1):
        page.get_by_role("button", name=move, exact=True).click()
        wait_for_step(page, step)


def test_the_page_names_the_winner_and_marks_the_line(page: Page, server: Server) -> None:
    moves = ("(mark 1 1)", "(mark 2 1)", "(mark 2 2)", "(mark 3 1)", "(mark 3 3)")
    _played(page, server.address, "tic_tac_toe", *moves)
    wait_until_over(page)
    assert _text(page, "#status") == "Over. x wins: x 100, o 0."
    assert _text(page, "#status strong") == "x wins"
    assert page.locator("#status .dot.colour-blue").count() == 1
    assert page.locator(".boards .chain circle").count() == 2 * 3
    page.get_by_role("link", name="back").click()
    page.locator(".match[data-step='4']").wait_for()
    assert page.locator(".boards .chain").count() == 0


def test_a_draw_has_no_line(page: Page, server: Server) -> None:
    order = ("1 1", "2 2", "3 3", "1 2", "3 2", "3 1", "1 3", "2 3")
    _played(page, server.address, "tic_tac_toe", *[f"(mark {cell})" for cell in order])
    wait_until_over(page)
    assert _text(page, "#status strong") == "It is a draw"
    assert page.locator(".boards .chain, #status .dot").count() == 0


def test_if_most_cells_are_legal_only_the_cell_at_the_pointer_is_marked(page: Page, server: Server) -> None:
    page.goto(f"{server.address}/play/connect_four")
    assert page.locator("#match.calm").count() == 1
    assert page.locator(".frame.live").first.is_hidden()
    cell = page.locator("[role=gridcell][data-terms='f 4']")
    ground = "each => getComputedStyle(each.querySelector('title + *')).fill"
    calm = cell.evaluate(ground)
    cell.hover()
    assert cell.evaluate(ground) != calm
    page.goto(f"{server.address}/play/line_chess")
    assert page.locator("#match.calm").count() == 0
    assert page.locator(".frame.live").first.is_visible()


def test_facts_beside_a_board_are_folded_unless_they_count(page: Page, server: Server) -> None:
    page.goto(f"{server.address}/play/hex_pie")
    assert page.locator("#folded-details:not([open]) dt").all_text_contents()
    assert "(player1 red)" not in _text(page, ".boards")
    page.goto(f"{server.address}/play/pig")
    page.locator(".boards > .listings").wait_for()
    assert "player1 0" in _text(page, ".boards .listings")
    assert page.locator("#folded-details").count() == 0


def test_dice_show_their_faces(page: Page, server: Server) -> None:
    page.goto(f"{server.address}/play/liars_dice?reveal=yes")
    page.locator("#moves button").first.wait_for()
    dice = page.locator(".boards .card.die")
    assert dice.count() == 2
    for face, pips in zip(dice.all_text_contents(), dice.evaluate_all(_LABELS), strict=True):
        assert ord(face) - 0x267F == int(pips)


#: The names of elements for programs that read pages.
_LABELS: Final = "all => all.map(each => each.ariaLabel)"


@pytest.mark.parametrize("name", ["connect_four", "tic_tac_toe", "hex_pie"])
def test_board_and_buttons_fit_a_small_screen(page: Page, server: Server, name: str) -> None:
    page.set_viewport_size({"width": 1280, "height": 800})
    page.goto(f"{server.address}/play/{name}")
    boxes = [each.bounding_box() for each in page.locator(".left .tools .button, .left .tools button").all()]
    assert len(boxes) > 4
    assert all(box["y"] + box["height"] <= 800 for box in boxes if box)


def test_a_list_shows_that_it_continues_below(page: Page, server: Server) -> None:
    page.goto(f"{server.address}/play/six_in_a_row")
    page.locator(".list.continued").wait_for()
    page.locator(".list").evaluate("each => each.scrollTo(0, each.scrollHeight)")
    page.locator(".list:not(.continued)").wait_for()
    page.goto(f"{server.address}/play/connect_four")
    page.locator(".list:not(.continued)").wait_for()


#: The top and bottom of the legend, and of all rows of the board together.
_HEIGHTS: Final = """() => [".below", "[role=row]"].map((part) => {
    const all = [...document.querySelectorAll(`.boards ${part}`)].map((each) => each.getBoundingClientRect());
    return [Math.min(...all.map((box) => box.top)), Math.max(...all.map((box) => box.bottom))];
})"""


def test_a_flipped_board_and_its_legend_stay_where_they_are(page: Page, server: Server) -> None:
    page.goto(f"{server.address}/play/three_player_chomp")
    legend, (top, bottom) = page.evaluate(_HEIGHTS)
    page.keyboard.press("f")
    flipped_legend, (flipped_top, flipped_bottom) = page.evaluate(_HEIGHTS)
    assert flipped_legend == legend
    assert flipped_bottom <= legend[0]
    assert flipped_bottom - flipped_top == pytest.approx(bottom - top, abs=1)


def test_a_piece_is_dragged_to_where_it_goes(page: Page, server: Server) -> None:
    page.goto(f"{server.address}/play/capture_chess")
    start, end = (page.locator(f"[role=gridcell][data-terms='{cell}']") for cell in ("1 4", "3 5"))
    start.hover()
    page.mouse.down()
    end.hover()
    end.hover()
    assert page.locator(".boards .ghost").count() == 1
    page.mouse.up()
    wait_for_step(page, 1)
    assert "(cell 3 5 red)" in _text(page, ".facts")


#: Whether the frame of a cell lies where its outline does, and nothing that is drawn later covers it.
_FRAMED: Final = """([id, kind]) => {
    const cell = document.querySelector(`[data-id="${id}"]`);
    const frames = [...document.querySelectorAll(`.frame.${kind}`)];
    const shapes = [cell.querySelector("title + *"), frames[0]];
    const [outline, frame] = shapes.map((each) => each.getBoundingClientRect());
    const isOver = ["x", "y", "right", "bottom"].every((side) => Math.abs(outline[side] - frame[side]) < 0.1);
    const cells = [...document.querySelectorAll("[role=gridcell]")];
    const isBefore = (each) => each.compareDocumentPosition(frames[0]) & Node.DOCUMENT_POSITION_FOLLOWING;
    return frames.length === 1 && isOver && cells.every(isBefore);
}"""


@pytest.mark.parametrize("name", ["capture_chess", "hex_pie"])
def test_no_neighbour_covers_the_frame_of_a_cell(page: Page, server: Server, name: str) -> None:
    page.goto(f"{server.address}/play/{name}?against=legal")
    page.keyboard.press("b")
    for key in ("", "f", "ArrowLeft", "f"):
        if key:
            page.keyboard.press(key)
        focused = page.evaluate("() => document.activeElement.dataset.id")
        assert page.evaluate(_FRAMED, [focused, "focus-visible"]), key
    if name == "capture_chess":
        page.keyboard.press("b")
        page.keyboard.press("Enter")
        chosen = page.locator("[role=gridcell].selected").get_attribute("data-id")
        assert page.evaluate(_FRAMED, [chosen, "selected"])
        page.keyboard.press("Escape")
        assert page.locator(".frame.selected").count() == 0
    page.locator("#flip").focus()
    assert page.locator(".frame.focus-visible").count() == 0


def test_long_lists_scroll_in_themselves(page: Page, server: Server) -> None:
    page.goto(f"{server.address}/play/six_in_a_row?as=player1&against=legal")
    page.locator("#analyse").click()
    page.locator("#values tr").nth(60).wait_for(state="attached")
    assert page.evaluate(_FITS)


def test_moves_of_others_are_read_out(page: Page, server: Server) -> None:
    page.goto(f"{server.address}/play/tic_tac_toe?as=x&against=legal")
    page.get_by_role("button", name="(mark 2 2)", exact=True).click()
    wait_for_step(page, 2)
    assert page.locator("#spoken[aria-live]").text_content() == "o: mark 1 1. Your move."
    assert page.locator("[role=gridcell][aria-label$='legal move']").count() == 7


def test_the_rules_stand_beside_the_board(page: Page, server: Server) -> None:
    page.goto(f"{server.address}/play/tic_tac_toe")
    page.locator("#rules-details summary").click()
    page.locator("#rules .heading").wait_for()
    assert "(mark ROW COL" in _text(page, "#rules") or "mark" in _text(page, "#rules .heading")
    assert "(<= (goal" in _text(page, "#rules .source")
    assert "Lines and rings" not in _text(page, "#rules")
    page.goto(f"{server.address}/play/dark_hex")
    page.locator("#rules-details summary").click()
    page.locator("#rules .heading").wait_for()
    assert "black: c ?column; white: ?row 1" in _text(page, "#rules")
    assert page.locator("[role=gridcell][aria-label^='a 1; goal of black, white']").count() == 1
    assert page.locator(".boards .aim").count() == 4


def test_a_bot_is_the_usual_opponent(page: Page, server: Server) -> None:
    page.goto(f"{server.address}/")
    page.get_by_role("link", name="Play Tic-tac-toe").click()
    page.locator("#moves button").first.wait_for()
    assert "medium" in _text(page, ".players")
    page.goto(f"{server.address}/sheet/tic_tac_toe")
    chosen = page.locator("select").evaluate_all("all => all.map(each => each.value)")
    assert chosen == ["you", "medium"]
    names = page.locator("select").first.locator("option").all_text_contents()
    assert [name.split(":")[0] for name in names[2:9]] == [*LEVELS]


# -- whole sessions, by keys alone -------------------------------------------------------------------

#: Cells, from where to where, cards that are hidden, three roles, moves at once, chance without a board.
_SESSIONS: Final = (
    "tic_tac_toe",
    "capture_chess",
    "kuhn_poker",
    "three_player_chomp",
    "rock_paper_scissors",
    "pig",
)
#: How pages are looked at, and whether axe-core looks, too: colours do not depend on the width, nor order and
#: names on colours.
_LOOKS: Final[dict[tuple[int, Literal["light", "dark"]], bool]] = {
    (1280, "light"): True,
    (390, "light"): False,
    (1280, "dark"): False,
    (390, "dark"): True,
}
#: Whether all pictures have come that can be seen.
_DRAWN: Final = """() => [...document.images].every((each) =>
    each.complete || each.getBoundingClientRect().top > innerHeight)"""
#: Whether nothing is wider than the window, or lies below the body.
_FITS: Final = """() => {
    const { scrollWidth, scrollHeight } = document.documentElement;
    const { bottom } = document.body.getBoundingClientRect();
    return scrollWidth <= innerWidth && scrollHeight <= Math.max(innerHeight, scrollY + bottom + 1);
}"""
#: Joint moves of the longest of these games, and more.
_LONGEST: Final = 200


@pytest.mark.slow
@pytest.mark.parametrize("name", _SESSIONS)
def test_a_match_to_its_end_and_its_rematch_by_keys_alone(page: Page, server: Server, name: str) -> None:
    random = Random(1)
    page.goto(f"{server.address}/")
    if name == _SESSIONS[0]:
        _look_around(page, name, "first")
    _tab_to(page, page.locator(f"a.button[href^='/play/{name}?']"))
    page.keyboard.press("Enter")
    page.locator(".match").wait_for()
    _look_around(page, name, "begun")
    for _ in range(_LONGEST):
        if _move_by_keys(page, random):
            break
    wait_until_over(page)
    _look_around(page, name, "over")
    ended = page.url
    page.keyboard.press("r")
    page.locator(".match:not([data-over])").wait_for()
    assert "/match/" in page.url != ended
    _move_by_keys(page, random)
    _look_around(page, name, "rematch")


def _move_by_keys(page: Page, random: Random) -> bool:
    """Make a move by keys, on the board where it goes from cell to cell; return whether the match is over."""
    page.locator("#moves button, .match[data-over]").first.wait_for()
    if is_over(page):
        return True
    version = page.locator(".match").get_attribute("data-version")
    if page.locator("[role=gridcell].carried").count():
        for _ in ("from", "to"):
            page.keyboard.press("b")
            page.keyboard.press("Enter")
    else:
        page.keyboard.press("m")
        for _ in range(random.randrange(min(8, page.locator("#moves button").count()))):
            page.keyboard.press("Tab")
        page.keyboard.press("Enter")
    # The page is paler until the server answers the move, and can show the new state earlier.
    page.locator(f"#match:not(.sent) .match:not([data-version='{version}'])").wait_for()
    return is_over(page)


def _tab_to(page: Page, wanted: Locator) -> None:
    for _ in range(100):
        page.keyboard.press("Tab")
        if wanted.evaluate("element => element === document.activeElement"):
            return
    raise AssertionError("no Tab leads there")


@pytest.mark.slow
def test_nothing_is_wrong_on_other_pages(page: Page, server: Server) -> None:
    for name in ("sheet/hex_pie", "write", "sheet/nothing", "play/no/such"):
        page.goto(f"{server.address}/{name}")
        _look_around(page, name.replace("/", "-"), "open")
    page.goto(f"{server.address}/play/connect_four?as=red&against=legal")
    page.locator("#analyse").focus()
    page.keyboard.press("Space")
    page.locator("#values tr").first.wait_for()
    for details in page.locator(".right > details:not(#values-details) > summary").all():
        details.focus()
        page.keyboard.press("Enter")
    page.locator("#rules .heading").wait_for()
    _look_around(page, "connect_four", "values")


def _look_around(page: Page, name: str, what: str) -> None:
    """See to it that nothing hangs over the page and axe-core finds nothing, and keep pictures."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    for (width, scheme), is_examined in _LOOKS.items():
        page.set_viewport_size({"width": width, "height": 900})
        # A colour that is on its way to another would be examined on its way.
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        if _PICTURES:
            page.wait_for_function(_DRAWN)
            picture = Path(_PICTURES) / f"{name}-{what}-{width}-{scheme}.png"
            page.screenshot(path=picture, full_page=what != "first")
        page.wait_for_function(_FITS)
        found = axe.Axe().run(page).response["violations"] if is_examined else []
        assert [(each["id"], [node["html"][:200] for node in each["nodes"]][:3]) for each in found] == []
