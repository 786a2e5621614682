"""Running matches until Ctrl-C or SIGTERM, and showing them in a browser."""

from __future__ import annotations

import asyncio
import json
import signal
import sys
from asyncio import Event
from contextlib import contextmanager, suppress
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


_HOST, _PORT = "127.0.0.1", 8000
#: Help of the commands that show matches on pages.
WATCHING: Final = """\
With --web, a browser shows running matches live, and finished matches step by step. Visitors
can watch, but not play. Only browsers on this machine can open the pages, unless --web names
another address: 0.0.0.0:8000 accepts other machines. The pages close when the command ends;
with --stay, the command ends at Ctrl-C.
"""


def _address(text: str) -> tuple[str, int]:
    host, _, port = text.rpartition(":")
    return host.strip("[]") or _HOST, read_port(port)


@command_options
class WebOptions:
    """Options of commands that can show matches in a browser."""

    web: tuple[str, int] | None = option(
        "--web",
        "[HOST:]PORT",
        f"show the matches in a browser at this address (default {_HOST}:{_PORT})",
        _address,
        nargs="?",
        const=(_HOST, _PORT),
    )
    stay: bool = flag("--stay", "with --web, keep the pages open after the last match, until Ctrl-C")


def pages_module() -> Any:
    """Import the module that serves pages. Raises MissingExtraError without the extra ``web``."""
    needed = "pages need starlette, uvicorn, jinja2, python-multipart and segno"
    return import_with_extra("anygame.web.server.running", "web", needed)


@contextmanager
def on_pages(
    address: tuple[str, int] | None, broadcast: Broadcast, *, stay: bool, is_json: bool
) -> Iterator[None]:
    """Serve pages that show matches while the context is open; with ``stay``, serve them until Ctrl-C.

    Without an address, nothing is served.
    """
    if address is None:
        if stay:
            raise AnygameError("--stay keeps the pages open: it needs --web")
        yield
        return
    running = pages_module()
    with TemporaryDirectory(prefix="anygame-web-", ignore_cleanup_errors=True) as folder:
        host, port = address
        settings = Settings(folder=Path(folder), host=host, port=port)
        server = running.WatchingServer(settings, broadcast)
        server.start()
        try:
            say_listening(host, server.port, "shows the matches", is_json=is_json)
            yield
            if stay:
                print("all matches are over; Ctrl-C closes the pages", file=sys.stderr, flush=True)
                with suppress(EndedBySignal):
                    run_until_signal(Event().wait())
        finally:
            server.stop()


def say_listening(host: str, port: int, text: str, *, is_json: bool, **more: str) -> None:
    """Print the address of the pages, followed by ``text``, or as JSON with the fields of ``more``."""
    named = f"[{host}]" if ":" in host else host
    address = f"http://{named}:{port}/"
    event = {"event": "listening", "address": address, "host": host, "port": port} | more
    print(json.dumps(event) if is_json else f"{address} {text}", flush=True)


class EndedBySignal(Exception):  # noqa: N818
    """Ctrl-C or SIGTERM ended the matches; ``status`` is the exit status for the command."""

    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status


def run_until_signal(work: Coroutine[Any, Any, object]) -> None:
    """Run a coroutine. Ctrl-C or SIGTERM cancels the coroutine; EndedBySignal is raised after cleanup.

    SIGTERM is for background processes of scripts, since such processes ignore Ctrl-C.
    """
    terminated = False

    async def watched() -> None:
        task = asyncio.ensure_future(work)

        def terminate() -> None:
            nonlocal terminated
            terminated = True
            task.cancel()

        # Event loops on Windows or outside the main thread cannot handle signals. Only Ctrl-C works there.
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
