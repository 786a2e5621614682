"""Runs the server until it is asked to end, and limits its connections.

uvicorn waits without limit for the head of a request, and counts connections only after the head. Here, if
there are too many connections, the one that is slowest to send its request is dropped. Connections with a
complete request are kept.
"""

from __future__ import annotations

import asyncio
import socket
from threading import Event, Thread
from typing import TYPE_CHECKING, ClassVar, Final

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from anygame.errors import AnygameError
from anygame.web.server.application import make_application, make_watching_application

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from starlette.types import ASGIApp

    from anygame.match.broadcast import Broadcast
    from anygame.web.settings import Settings


#: Seconds without reading any of an answer after which a browser is dropped.
_TAKING: Final = 60.0
#: Bytes to process before checking whether to continue.
_AT_ONCE: Final = 4_096
_BUSY: Final = (
    b"HTTP/1.1 503 Service Unavailable\r\nContent-Type: text/plain\r\nRetry-After: 30\r\n"
    b"Connection: close\r\n\r\ntoo many browsers are connected to this server: try again in a minute\n"
)


class Connection(H11Protocol):
    """A connection of a browser.

    ``most`` connections may be open; each request head must come within ``telling`` seconds.
    """

    most: ClassVar[int]
    telling: ClassVar[float]
    _is_dropped = False
    _since: float
    _timer: asyncio.TimerHandle | None = None
    _taking: asyncio.TimerHandle | None = None

    @property
    def is_telling(self) -> bool:
        """Whether the browser has not yet sent its next request completely."""
        return self.cycle is None or self.cycle.response_complete or self.cycle.more_body

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Accept the connection, or answer that the server is busy if there is no room."""
        has_room = self._make_room()
        super().connection_made(transport)
        self._wait_for_head()
        if not has_room:
            transport.write(_BUSY)
            transport.close()

    def _make_room(self) -> bool:
        if len(self.connections) < self.most:
            return True
        others: Iterable[Connection] = self.connections  # type: ignore[assignment]
        found = [each for each in others if each._may_be_dropped]
        if found:
            slowest = min(found, key=lambda each: each._since)
            slowest._is_dropped = True
            slowest.transport.abort()
        return bool(found)

    @property
    def _may_be_dropped(self) -> bool:
        # A closed connection may still wait for the browser to read the end of an answer.
        return not self._is_dropped and (self.is_telling or self.transport.is_closing())

    def _wait_for_head(self) -> None:
        _cancel(self._timer)
        self._since = self.loop.time()
        self._timer = self.loop.call_later(self.telling, self._give_up)

    def _give_up(self) -> None:
        # Bodies have a time limit of their own, see `anygame.web.server.guards`.
        if self.cycle is None or self.cycle.response_complete:
            self.transport.close()

    def data_received(self, data: bytes) -> None:
        """Process data, but not of chunked bodies, which the guards refuse: each chunk would take time."""
        for start in range(0, len(data), _AT_ONCE):
            is_chunked = any(name == b"transfer-encoding" for name, _ in self.headers or ())
            if is_chunked or self.transport.is_closing():
                return
            super().data_received(data[start : start + _AT_ONCE])

    def on_response_complete(self) -> None:
        """Wait for the next request."""
        self._wait_for_head()
        super().on_response_complete()

    def pause_writing(self) -> None:
        """Drop the browser if it reads nothing of an answer for a while."""
        super().pause_writing()
        self._taking = self.loop.call_later(_TAKING, self.transport.abort)

    def resume_writing(self) -> None:
        """Resume an answer."""
        super().resume_writing()
        _cancel(self._taking)

    def connection_lost(self, exc: Exception | None) -> None:
        """Cancel the timers."""
        _cancel(self._timer)
        _cancel(self._taking)
        super().connection_lost(exc)


def _cancel(timer: asyncio.TimerHandle | None) -> None:
    if timer is not None:
        timer.cancel()


#: Seconds for answers in progress when the server ends. Streams never end by themselves.
_CLOSING: Final = 1
#: Length of the system's queue of connections.
_WAITING: Final = 128


def serve(settings: Settings, listening: Callable[[int], None]) -> None:
    """Answer browsers until Ctrl-C or SIGTERM; ``listening`` is called with the port.

    Raises AnygameError if the port is taken.
    """
    bound = _bound(settings, "try another --port or --host")
    server = _server(make_application(settings), settings)
    with bound:
        asyncio.run(_run(server, bound, listening))


class WatchingServer:
    """Serves pages about the matches of this process from a background thread.

    Raises AnygameError if the port is taken.
    """

    def __init__(self, settings: Settings, broadcast: Broadcast) -> None:
        self._settings = settings
        self._broadcast = broadcast
        self._bound = _bound(settings, "try another, as in --web 8001, or --web 0 for any that is free")
        self._has_begun = Event()
        self._thread = Thread(target=self._serve, name="pages", daemon=True)

    @property
    def port(self) -> int:
        """The port of the server."""
        found: int = self._bound.getsockname()[1]
        return found

    def start(self) -> None:
        """Start the thread, and return when the server answers."""
        self._thread.start()
        self._has_begun.wait()

    def stop(self) -> None:
        """Send the last news to the pages, then end the server."""
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
        # Answers cut off at the end of the server are not errors; the application reports real ones.
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
    # With an explicit protocol, the loop disables Nagle's algorithm.
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
