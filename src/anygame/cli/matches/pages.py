"""Runs the matches of a command: shows them in a browser, and ends them at Ctrl-C or SIGTERM."""

from __future__ import annotations

import asyncio
import json
import signal
import sys
from asyncio import Event
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final

from anygame.cli.options import Status, command_options, flag, option, read_port
from anygame.cli.shared_options import import_with_extra
from anygame.errors import AnygameError
from anygame.web.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Coroutine, Iterator

    from anygame.match.broadcast import Broadcast


_PORT: Final = 8000
#: Help of the commands that show matches on pages.
WATCHING: Final = """\
With --web, a browser shows running matches live, and finished matches step by step. The
pages are read-only. Only this machine can open them, unless --web names another address:
0.0.0.0:8000 accepts other machines. The pages end with the command, or at Ctrl-C with
--stay.
"""


@dataclass(frozen=True, slots=True)
class Address:
    """The address on which pages are served."""

    host: str = "127.0.0.1"
    port: int = _PORT


def _address(text: str) -> Address:
    host, _, port = text.rpartition(":")
    return Address(host.strip("[]") or Address().host, read_port(port))


@command_options
class WebOptions:
    """Options that show matches on pages."""

    web: Address | None = option(
        "--web",
        "[HOST:]PORT",
        f"show the matches in a browser at this address (default 127.0.0.1:{_PORT})",
        _address,
        nargs="?",
        const=Address(),
    )
    stay: bool = flag("--stay", "with --web, serve the pages after the last match, too, until Ctrl-C")


def pages_module() -> Any:
    """Return the module that serves pages. Raises MissingExtraError without the extra ``web``."""
    needed = "pages need starlette, uvicorn, jinja2, python-multipart and segno"
    return import_with_extra("anygame.web.server.running", "web", needed)


@contextmanager
def on_pages(address: Address | None, broadcast: Broadcast, *, stay: bool, is_json: bool) -> Iterator[None]:
    """Let browsers watch matches at an address, if given; with ``stay``, keep the pages until Ctrl-C."""
    if address is None:
        if stay:
            raise AnygameError("--stay needs --web")
        yield
        return
    running = pages_module()
    with TemporaryDirectory(prefix="anygame-web-", ignore_cleanup_errors=True) as folder:
        settings = Settings(folder=Path(folder), host=address.host, port=address.port)
        server = running.WatchingServer(settings, broadcast)
        server.start()
        try:
            say_listening(address.host, server.port, "shows what is played", is_json=is_json)
            yield
            if stay:
                print("all matches are over; Ctrl-C ends the pages", file=sys.stderr, flush=True)
                with suppress(EndedBySignal):
                    run_until_signal(Event().wait())
        finally:
            server.stop()


def say_listening(host: str, port: int, text: str, *, is_json: bool, **more: str) -> None:
    """Print the address of pages: as JSON, or for people, followed by ``text``."""
    named = f"[{host}]" if ":" in host else host
    address = f"http://{named}:{port}/"
    event = {"event": "listening", "address": address, "host": host, "port": port} | more
    print(json.dumps(event) if is_json else f"{address} {text}", flush=True)


class EndedBySignal(Exception):  # noqa: N818
    """Ctrl-C or SIGTERM ended the command; ``status`` is its exit status."""

    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status


def run_until_signal(work: Coroutine[Any, Any, object]) -> None:
    """Run a coroutine; Ctrl-C or SIGTERM cancels it, and EndedBySignal is raised once it has cleaned up.

    SIGTERM also works where Ctrl-C is ignored, as in the background of a script.
    """
    terminated = False

    async def watched() -> None:
        task = asyncio.ensure_future(work)

        def terminate() -> None:
            nonlocal terminated
            terminated = True
            task.cancel()

        # Outside the main thread of a POSIX system, only Ctrl-C works.
        with suppress(NotImplementedError, RuntimeError, ValueError):
            asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, terminate)
        await task

    try:
        asyncio.run(watched())
    except KeyboardInterrupt:
        raise EndedBySignal(Status.INTERRUPTED) from None
    except asyncio.CancelledError:
        if not terminated:
            raise
        raise EndedBySignal(Status.TERMINATED) from None
