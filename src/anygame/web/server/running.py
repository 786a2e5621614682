"""Running the server until it is asked to end."""

from __future__ import annotations

import asyncio
import socket
from threading import Event, Thread
from typing import TYPE_CHECKING, Final

import uvicorn

from anygame.errors import AnygameError
from anygame.web.server.application import make_application, make_watching_application
from anygame.web.server.connections import Connection

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.types import ASGIApp

    from anygame.web.broadcast import Broadcast
    from anygame.web.settings import Settings

#: Seconds that answers in progress have when the server ends; streams never end by themselves.
_CLOSING: Final = 1
#: Connections that the system keeps until they are accepted, all at once.
_WAITING: Final = 128


def serve(settings: Settings, listening: Callable[[int], None]) -> None:
    """Answer browsers until Ctrl-C or SIGTERM.

    Args:
        settings: what is served.
        listening: is called with the port as soon as there are answers.

    Raises:
        AnygameError: the port cannot be had.
    """
    bound = _bound(settings)
    server = _server(make_application(settings), settings)
    with bound:
        asyncio.run(_run(server, bound, listening))


class WatchingServer:
    """Lets browsers watch what is played in this process, from a thread of its own.

    Args:
        settings: how pages are served; the folder is a place for what need not be kept.
        broadcast: reports the matches.

    Raises:
        AnygameError: the port cannot be had.
    """

    def __init__(self, settings: Settings, broadcast: Broadcast) -> None:
        self._settings = settings
        self._broadcast = broadcast
        self._bound = _bound(settings)
        self._has_begun = Event()
        self._thread = Thread(target=self._serve, name="pages", daemon=True)

    @property
    def port(self) -> int:
        """Where it listens."""
        found: int = self._bound.getsockname()[1]
        return found

    def start(self) -> None:
        """Answer browsers from now on."""
        self._thread.start()
        self._has_begun.wait()

    def stop(self) -> None:
        """Let the last news reach those who watch, then end."""
        if self._thread.is_alive():
            asyncio.run_coroutine_threadsafe(self._last_news(), self._loop).result()
            self._server.should_exit = True
            self._thread.join()
        self._bound.close()

    def _serve(self) -> None:
        try:
            asyncio.run(self._live())
        finally:
            self._has_begun.set()

    async def _live(self) -> None:
        self._loop = asyncio.get_running_loop()
        application, self._last_news = make_watching_application(self._settings, self._broadcast)
        self._server = _server(application, self._settings)
        await _run(self._server, self._bound, lambda _: self._has_begun.set())


def _server(application: ASGIApp, settings: Settings) -> uvicorn.Server:
    class Bounded(Connection):
        most = settings.connections
        telling = settings.telling

    config = uvicorn.Config(
        application,
        http=Bounded,
        backlog=_WAITING,
        # Answers that are cut off when the server ends are no faults; ours are shown by the application.
        log_level="critical",
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=_CLOSING,
        lifespan="on",
    )
    return uvicorn.Server(config)


async def _run(server: uvicorn.Server, bound: socket.socket, listening: Callable[[int], None]) -> None:
    serving = asyncio.create_task(server.serve(sockets=[bound]))
    while not server.started and not serving.done():
        await asyncio.sleep(0.02)
    if server.started:
        listening(bound.getsockname()[1])
    await serving


def _bound(settings: Settings) -> socket.socket:
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    # Named, the protocol makes the loop send what is small at once.
    made = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        made.bind((settings.host, settings.port))
        made.listen(_WAITING)
    except (OSError, OverflowError, UnicodeError) as error:
        made.close()
        reason = getattr(error, "strerror", None) or error
        raise AnygameError(
            f"cannot listen on {settings.host}, port {settings.port}: {reason}; try another --port or --host"
        ) from error
    return made
