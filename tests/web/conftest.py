"""A server in a process of its own, and one browser for all tests of pages."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import Browser, Page

_BROWSERS = ("chromium", "chromium-browser", "google-chrome")
#: Without these a browser asks its maker's hosts for news at every start.
_QUIET = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@dataclass
class Server:
    """A server of pages.

    Attributes:
        address: of its first page, without the last slash.
        folder: where it keeps matches.
    """

    folder: Path
    arguments: list[str]
    address: str = ""
    port: int = 0
    process: subprocess.Popen[str] | None = None

    def start(self) -> None:
        """Start it, on the port that it had before."""
        command = [sys.executable, "-m", "anygame", "web", "--json", "--folder", str(self.folder)]
        command += ["--port", str(self.port), *self.arguments]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=dict(os.environ))
        assert self.process.stdout is not None
        told = json.loads(self.process.stdout.readline())
        self.port = told["port"]
        self.address = told["address"].rstrip("/")

    def kill(self) -> None:
        """End it without warning."""
        assert self.process is not None
        self.process.kill()
        self.process.communicate()

    def stop(self) -> None:
        """Ask it to end."""
        assert self.process is not None
        self.process.send_signal(signal.SIGINT)
        with suppress(subprocess.TimeoutExpired):
            self.process.communicate(timeout=20)
        self.process.kill()
        self.process.communicate()


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Return a server that all tests may use that leave it as it is."""
    pytest.importorskip("python_multipart")
    pytest.importorskip("starlette")
    pytest.importorskip("uvicorn")
    made = Server(tmp_path_factory.mktemp("web"), ["--play-clock", "0.3"])
    made.start()
    yield made
    made.stop()


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Return the browser of this system, without its window.

    While it is there, a loop of asyncio runs in this thread, so that tests of other modules must not see it.
    """
    sync_api = pytest.importorskip("playwright.sync_api")
    path = next(filter(None, map(shutil.which, _BROWSERS)), None)
    if path is None:
        pytest.skip("there is no Chromium: apt-get install chromium")
    with (
        sync_api.sync_playwright() as playwright,
        playwright.chromium.launch(executable_path=path, args=_QUIET) as launched,
    ):
        yield launched


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """Return a page of somebody new; scripts that fail, fail the test."""
    faults: list[str] = []
    with browser.new_context() as context:
        context.set_default_timeout(20_000)
        made = context.new_page()
        made.on("pageerror", lambda error: faults.append(str(error)))
        yield made
    assert faults == []
