"""What clicks on cells choose, by the script that pages and notebooks share; and a board of a notebook."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

import anygame
from anygame.boards.drawing.clickable import choosing_script

if TYPE_CHECKING:
    from playwright.sync_api import Page

_SCRIPT = choosing_script()
#: From where to where, one of them with an ending to be chosen; for a whole area; for nothing that is drawn.
_MOVES = [
    {"name": "ab", "cells": ["a", "b"], "area": []},
    {"name": "ac", "cells": ["a", "c"], "area": []},
    {"name": "ac2", "cells": ["a", "c"], "area": []},
    {"name": "drop", "cells": [], "area": ["d", "e"]},
    {"name": "pass", "cells": [], "area": []},
]


def _after(page: Page, clicks: str) -> tuple[Any, str, str]:
    """Return what the last click came to, what is selected then, and what is lit."""
    page.goto("about:blank")
    page.add_script_tag(content=_SCRIPT)
    found = page.evaluate(
        """([moves, clicks]) => {
            const choice = new Choice(() => moves);
            const came = [...clicks].map((cell) => choice.click(cell)).at(-1) || {};
            return [came, choice.selected.join(""), [...choice.live()].sort().join("")];
        }""",
        [_MOVES, clicks],
    )
    came, selected, live = found
    for key, value in came.items():
        if value is not True:
            came[key] = [each["name"] for each in value] if isinstance(value, list) else value["name"]
    return came, selected, live


@pytest.mark.parametrize(
    ("clicks", "came", "selected", "live"),
    [
        ("", {}, "", "ade"),
        ("a", {}, "a", "bc"),
        ("ab", {"move": "ab"}, "", "ade"),
        ("ac", {"among": ["ac", "ac2"]}, "ac", ""),
        ("aa", {}, "", "ade"),
        ("d", {"move": "drop"}, "", "ade"),
        ("x", {"refused": True}, "", "ade"),
        ("ax", {"refused": True}, "a", "bc"),
        ("ad", {"move": "drop"}, "", "ade"),
        ("b", {}, "b", "a"),
        ("ba", {"move": "ab"}, "", "ade"),
    ],
)
def test_clicks_choose(page: Page, clicks: str, came: dict[str, Any], selected: str, live: str) -> None:
    assert _after(page, clicks) == (came, selected, live)


_RENDER = """async ([script, view]) => {
    const url = URL.createObjectURL(new Blob([script], { type: "text/javascript" }));
    const { default: widget } = await import(url);
    window.sent = [];
    const model = { get: () => view, send: (content) => sent.push(content), on() {}, off() {} };
    widget.render({ model, el: document.body });
}"""


def test_a_board_in_a_notebook_is_clicked_and_keyed(page: Page) -> None:
    pytest.importorskip("anywidget")
    from anygame import notebook

    board = notebook.play(anygame.load("capture_chess"))
    try:
        page.goto("about:blank")
        page.evaluate(_RENDER, [notebook.PlayableBoard._esm, json.loads(json.dumps(board.view))])
        moves = [each for each in board.view["moves"] if len(each["cells"]) == 2]
        assert page.locator(".list button").first.text_content() == moves[0]["move"].strip("()")
        start, end = moves[0]["cells"]
        page.locator(f"[data-id='{start}']").click()
        assert page.locator(f"[data-id='{end}'].live").count() == 1
        assert page.locator(".list button:visible").count() == page.locator("[data-id].live").count()
        assert page.locator("[data-id].live").count() == len(
            [each for each in moves if each["cells"][0] == start]
        )
        page.locator(f"[data-id='{end}']").focus()
        page.keyboard.press("Enter")
        assert page.evaluate("sent") == [{"move": moves[0]["move"]}]
    finally:
        board.close()
