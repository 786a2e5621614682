"""Connections: how long one may take to say what it asks for, and how many there may be.

uvicorn waits as long as somebody likes for the head of a request, and counts connections only when a head
has come. Here, whoever is slowest to say what it wants makes room when there are too many, and nobody who
has said it is turned away.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Final

from uvicorn.protocols.http.h11_impl import H11Protocol

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Iterable

#: Seconds in which somebody takes nothing of an answer, and is dropped.
_TAKING: Final = 60.0
#: Bytes that are taken before it is seen whether to go on.
_AT_ONCE: Final = 4_096
_BUSY: Final = (
    b"HTTP/1.1 503 Service Unavailable\r\nContent-Type: text/plain\r\nRetry-After: 30\r\n"
    b"Connection: close\r\n\r\nas many browsers are connected as this server allows: try again in a minute\n"
)


class Connection(H11Protocol):
    """A connection of a browser.

    Attributes:
        most: connections that may be open at a time.
        telling: seconds for the head of a request, from the start and after each answer.
    """

    most: ClassVar[int]
    telling: ClassVar[float]
    _is_dropped = False
    _since: float
    _timer: asyncio.TimerHandle | None = None
    _taking: asyncio.TimerHandle | None = None

    @property
    def is_telling(self) -> bool:
        """Whether it has not said yet what it asks for, or not all of it."""
        return self.cycle is None or self.cycle.response_complete or self.cycle.more_body

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin, where there is room or can be made."""
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
        # One that is closed may still wait for somebody to take the end of an answer.
        return not self._is_dropped and (self.is_telling or self.transport.is_closing())

    def _wait_for_head(self) -> None:
        _cancel(self._timer)
        self._since = self.loop.time()
        self._timer = self.loop.call_later(self.telling, self._give_up)

    def _give_up(self) -> None:
        # A form has its own time, see `anygame.web.server.guards`.
        if self.cycle is None or self.cycle.response_complete:
            self.transport.close()

    def data_received(self, data: bytes) -> None:
        """Take what comes; but no body in chunks, each of which takes its time: the guards refuse that."""
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
        """Wait until somebody takes more of an answer, but not forever."""
        super().pause_writing()
        self._taking = self.loop.call_later(_TAKING, self.transport.abort)

    def resume_writing(self) -> None:
        """Go on with an answer."""
        super().resume_writing()
        _cancel(self._taking)

    def connection_lost(self, exc: Exception | None) -> None:
        """End."""
        _cancel(self._timer)
        _cancel(self._taking)
        super().connection_lost(exc)


def _cancel(timer: asyncio.TimerHandle | None) -> None:
    if timer is not None:
        timer.cancel()
