"""Matches of commands, watched in a browser while they are played and after."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

import httpx
import pytest
from tests.web.pages import is_over, step_of, wait_for_step, wait_until_over

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import Page

#: A player that moves when a file with the number of its move is there.
_PLAYER = """
from pathlib import Path
from time import sleep
from anygame.players import Player

class Waiting(Player):
    moves = 0
    def move(self, state, clock):
        self.moves += 1
        while not (Path(__file__).parent / f"go-{self.moves}").exists():
            sleep(0.02)
        self.say("I think <b>so</b>")
        return state.legal_moves(self.role)[0]

class Late(Waiting):
    def start(self, clock):
        super().start(clock)
        while not (Path(__file__).parent / "go").exists():
            sleep(0.02)
"""


class Command:
    """A command that serves pages.

    Attributes:
        address: of its first page, without the last slash.
        folder: where the player `Waiting` lies, and waits for files.
    """

    def __init__(self, arguments: list[str], folder: Path) -> None:
        self.folder = folder
        command = [sys.executable, "-m", "anygame", *arguments, "--web", "0", "--json"]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=dict(os.environ))
        assert self.process.stdout is not None
        self.address = json.loads(self.process.stdout.readline())["address"].rstrip("/")

    def let_move(self, *moves: int) -> None:
        """Let the player make its moves with these numbers."""
        for move in moves:
            (self.folder / f"go-{move}").touch()


@contextmanager
def command_with_pages(folder: Path, *arguments: str) -> Iterator[Command]:
    pytest.importorskip("python_multipart")
    pytest.importorskip("starlette")
    pytest.importorskip("uvicorn")
    (folder / "waiting.py").write_text(_PLAYER)
    made = Command(list(arguments), folder)
    try:
        yield made
    finally:
        made.process.send_signal(signal.SIGINT)
        made.process.communicate(timeout=30)


@pytest.mark.slow
def test_a_running_match_can_be_watched(page: Page, tmp_path: Path) -> None:
    players = ["--players", f"{tmp_path}/waiting.py:Waiting", "legal", "--play-clock", "60"]
    with command_with_pages(tmp_path, "match", "tic_tac_toe", *players) as command:
        page.goto(command.address)
        page.locator("#status:has-text('x thinking')").wait_for()
        command.let_move(1, 2, 3)
        wait_for_step(page, 3)
        assert "(cell 1 3 x)" in (page.locator(".facts").text_content() or "")
        assert page.locator(".said").text_content() == "x I think <b>so</b>"
        assert page.get_by_text("Comments of players").is_visible()
        assert page.locator(".note:has-text('Each move may take 60 s')").count() == 1
        page.goto(f"{page.url}/1")
        assert step_of(page) == 1
        page.get_by_role("link", name="last").click()
        wait_for_step(page, 3)
        command.let_move(*range(4, 10))
        wait_until_over(page)
        assert page.locator(".players .goal").all_text_contents() == ["100", "0"]
        assert command.process.wait(timeout=30) == 0


@pytest.mark.slow
def test_watching_does_not_change_the_match(tmp_path: Path) -> None:
    players = ["--players", f"{tmp_path}/waiting.py:Waiting", "legal", "--play-clock", "60"]
    with (
        command_with_pages(tmp_path, "match", "tic_tac_toe", *players) as command,
        httpx.Client(base_url=command.address, timeout=60, follow_redirects=True) as client,
    ):
        while "/match/" not in (address := str(client.get("/").url)):
            pass
        move = {"role": "x", "move": "(mark 1 1)", "step": "0"}
        for path in ("move", "back", "0/fork"):
            assert client.post(f"{address}/{path}", data=move).status_code in (404, 405)
        assert client.get(f"{address}/0/values").status_code == 404
        assert client.get("/play/tic_tac_toe").status_code == 404
        assert client.get("/", headers={"Host": "evil.example"}).status_code == 421
        assert client.get(f"{address}/0/why?role=x&move=(mark 1 1)").status_code == 200
        assert client.get(f"{address}/record.json").json()["moves"] == []


@pytest.mark.slow
def test_a_tournament_is_watched_and_its_matches_stepped_through(page: Page, tmp_path: Path) -> None:
    players = ["--players", "first=legal", "second=legal", "slow=" + f"{tmp_path}/waiting.py:Waiting"]
    store = ["--store", str(tmp_path / "all.db"), "--play-clock", "60"]
    with command_with_pages(tmp_path, "tournament", "tic_tac_toe", *players, *store, "--stay") as command:
        page.goto(command.address)
        page.locator("[role=status]:has-text('2 of 6 matches are over.')").wait_for()
        assert page.locator(".standings tbody th").all_text_contents()[:3] != []
        page.get_by_role("link", name="1", exact=True).click()
        assert step_of(page) == 0
        page.get_by_role("link", name="on").click()
        page.locator(".match[data-step='1']").wait_for()
        assert "(cell 1 1 x)" in (page.locator(".facts").text_content() or "")
        assert "Over" not in (page.locator("#status").text_content() or "")
        page.get_by_role("link", name="last").click()
        wait_until_over(page)
        page.get_by_role("link", name="All matches").click()
        command.let_move(*range(1, 10))
        page.locator("[role=status]:has-text('All 6 matches are over.')").wait_for()
        assert page.locator(".interval").count() >= 3
        page.reload()
        page.get_by_role("link", name="6", exact=True).click()
        page.get_by_role("link", name="last").click()
        wait_until_over(page)


@pytest.mark.slow
def test_a_tournament_that_was_played_is_shown_again(page: Page, tmp_path: Path) -> None:
    store = ["--store", str(tmp_path / "all.db")]
    command = [sys.executable, "-m", "anygame", "tournament", "tic_tac_toe", "--players", "legal", "random"]
    subprocess.run([*command, *store], check=True, capture_output=True)
    with command_with_pages(tmp_path, *command[3:], *store, "--stay") as shown:
        page.goto(shown.address)
        page.locator("[role=status]:has-text('All 2 matches are over.')").wait_for()
        page.get_by_role("link", name="2", exact=True).click()
        page.get_by_role("link", name="last").click()
        wait_until_over(page)
        assert is_over(page)


@pytest.mark.slow
def test_names_and_words_of_players_are_text(page: Page, tmp_path: Path) -> None:
    players = ["--players", f"{tmp_path}/waiting.py:Waiting", "legal", "--games", "2", "--swap-roles"]
    sheet = tmp_path / "<img src=x onerror=document.title='owned'>.kif"
    sheet.write_text("(role <b>a</b>) (role b) (legal ?r go) (init (at 1)) (<= (next (at 2)) (true (at 1)))"
                     "(<= terminal (true (at 2))) (<= (goal ?r 50) (role ?r))".replace("(legal ?r go)",
                     "(<= (legal ?r go) (role ?r))"))  # fmt: skip
    with command_with_pages(tmp_path, "match", str(sheet), *players, "--stay") as command:
        page.goto(command.address)
        command.let_move(1, 2)
        page.locator("[role=status]:has-text('All 2 matches are over.')").wait_for()
        page.get_by_role("link", name="1", exact=True).click()
        page.get_by_role("link", name="last").click()
        page.locator(".said").wait_for()
        assert page.locator("img, .said b b").count() == 0
        assert page.title() != "owned"


@pytest.mark.slow
def test_the_time_to_get_ready_is_not_that_of_moves(page: Page, tmp_path: Path) -> None:
    players = [
        "--players",
        f"{tmp_path}/waiting.py:Late",
        "legal",
        "--start-clock",
        "30",
        "--play-clock",
        "9",
    ]
    with command_with_pages(tmp_path, "match", "tic_tac_toe", *players) as command:
        page.goto(command.address)
        page.locator(".note:has-text('To get ready, players have 30 s.')").wait_for()
        (tmp_path / "go").touch()
        page.locator(".note:has-text('Each move may take 9 s.')").wait_for()


def test_a_busy_port_is_reported_with_its_option(tmp_path: Path) -> None:
    pytest.importorskip("uvicorn")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        command = [sys.executable, "-m", "anygame", "match", "tic_tac_toe", "--players", "legal", "legal"]
        found = subprocess.run([*command, "--web", port], check=False, capture_output=True, text=True)
    assert found.returncode == 2
    assert "try another port, such as --web 8001" in found.stderr
    assert "--port" not in found.stderr
