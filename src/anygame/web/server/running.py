"""Running the server.

uvicorn limits the number of connections and the size of a request's header, but not the time that a header
takes to arrive. A public server therefore needs a proxy in front of it.
"""

from __future__ import annotations

import asyncio
import socket
from threading import Event, Thread
from typing import TYPE_CHECKING, Final

import uvicorn

from anygame.errors import AnygameError
from anygame.web.server.application import make_application, make_watching_application

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.types import ASGIApp

    from anygame.match.broadcast import Broadcast
    from anygame.web.settings import Settings


#: Maximum time in seconds for responses in progress when the server stops. Event streams never end.
_CLOSING: Final = 1
#: Seconds until a connection without requests is closed.
_IDLE: Final = 10
#: Maximum size in bytes of a request's header.
_LONGEST_HEAD: Final = 2**14
#: Maximum number of connections in the queue of the operating system.
_WAITING: Final = 128


def serve(settings: Settings, listening: Callable[[int], None]) -> None:
    """Answer browsers until Ctrl-C or SIGTERM; ``listening`` is called with the port.

    Raises AnygameError if the port is in use.
    """
    bound = _bound(settings, "try another --port or --host")
    server = _server(make_application(settings), settings)
    with bound:
        asyncio.run(_run(server, bound, listening))


class WatchingServer:
    """Server in a background thread, which serves pages about the matches of this process.

    Raises AnygameError if the port is in use.
    """

    def __init__(self, settings: Settings, broadcast: Broadcast) -> None:
        self._settings = settings
        self._broadcast = broadcast
        self._bound = _bound(settings, "try another port, such as --web 8001, or --web 0 for any free port")
        self._has_begun = Event()
        self._thread = Thread(target=self._serve, name="pages", daemon=True)

    @property
    def port(self) -> int:
        port: int = self._bound.getsockname()[1]
        return port

    def start(self) -> None:
        self._thread.start()
        self._has_begun.wait()

    def stop(self) -> None:
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
    config = uvicorn.Config(
        application,
        http="h11",
        ws="none",
        backlog=_WAITING,
        limit_concurrency=settings.connections,
        timeout_keep_alive=_IDLE,
        h11_max_incomplete_event_size=_LONGEST_HEAD,
        # uvicorn would log responses that end when the server stops. The application logs real errors.
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


def _bound(settings: Settings, advice: str) -> socket.socket:
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    # The event loop disables Nagle's algorithm only for sockets with an explicit protocol.
    made = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        made.bind((settings.host, settings.port))
        made.listen(_WAITING)
    except (OSError, OverflowError, UnicodeError) as error:
        made.close()
        reason = getattr(error, "strerror", None) or error
        raise AnygameError(
            f"cannot listen on {settings.host}, port {settings.port}: {reason}; {advice}"
        ) from error
    return made
