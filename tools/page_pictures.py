"""Screenshots of web pages in Chromium, for the chapters.

    python tools/page_pictures.py docs

The script starts a server and ends it. Some moves of the opponents are random, so pictures differ from run to
run.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final

from playwright.sync_api import sync_playwright

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Page

#: For each picture: its page, the number of moves that a person makes there, the person's moves in order of
#: preference, and whether the page shows values.
PICTURES: Final = {
    "guide/web.png": (
        "copolymer?as=player1&against=easy",
        6,
        [
            f"(move {cell[0]} {cell[1]})"
            for cell in ("c3", "e4", "d5", "b3", "e2", "f3", "c5", "d2", "a2", "g2", "c4", "e3")
        ],
        True,
    ),
    "start/tutorial/page.png": ("dominoes?as=across&against=mcts", 1, ["(lay 2 2)"], False),
}
_WIDTH: Final = 1000
_HEIGHT: Final = 700
#: Timeout of a page in milliseconds, and duration in milliseconds of the search for values.
_PATIENCE: Final = 60_000
_SEARCHED: Final = 4_000
_PIECE: Final = re.compile(r'^```lisp title="(dominoes.kif)"\n(.*?)^```$', re.MULTILINE | re.DOTALL)


@contextmanager
def server(docs: Path) -> Iterator[str]:
    """Serve the installed sheets and the sheet of the tutorial; yield the address."""
    with TemporaryDirectory() as folder:
        pieces = _PIECE.findall((docs / "start" / "tutorial.md").read_text(encoding="utf-8"))
        sheet = Path(folder, pieces[0][0])
        sheet.write_text("\n".join(text for _, text in pieces), encoding="utf-8")
        command = [
            sys.executable,
            "-m",
            "anygame",
            "web",
            str(sheet),
            "--json",
            "--port",
            "0",
            "--folder",
            folder,
        ]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            yield json.loads(process.stdout.readline())["address"]
            process.terminate()


def take(page: Page, turns: int, moves: list[str], path: Path, *, values: bool) -> None:
    """Make the preferred moves on a page, wait for values if ``values`` is set, and take the picture."""
    mine = page.locator(".match[data-asking]:not([data-over])")
    for _ in range(turns):
        mine.wait_for()
        step = page.locator(".match").get_attribute("data-step")
        buttons = (page.get_by_role("button", name=move, exact=True) for move in moves)
        next(button for button in buttons if button.count()).click()
        page.locator(f".match:not([data-step='{step}'])").wait_for()
    mine.wait_for()
    if values:
        page.locator("#analyse").click()
        page.wait_for_timeout(_SEARCHED)
    page.mouse.move(0, 0)
    page.evaluate("scrollTo(0, 0)")
    page.screenshot(path=path)


def main() -> None:
    """Write the files."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("docs", type=Path, help="the folder of the chapters")
    parser.add_argument("--into", type=Path, help="folder of the pictures (the folder of the chapters)")
    options = parser.parse_args()
    folder = options.into or options.docs
    browser = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))))
    with server(options.docs) as address, sync_playwright() as playwright:
        page = playwright.chromium.launch(executable_path=browser, args=["--no-sandbox"]).new_page()
        page.set_default_timeout(_PATIENCE)
        page.set_viewport_size({"width": _WIDTH, "height": _HEIGHT})
        for name, (match, turns, moves, values) in PICTURES.items():
            page.goto(f"{address}play/{match}")
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            take(page, turns, moves, folder / name, values=values)


if __name__ == "__main__":
    main()
