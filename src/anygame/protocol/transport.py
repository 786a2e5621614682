"""The seam between messages and the wire: how a text gets to a player, and its reply back."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from time import monotonic
from typing import TYPE_CHECKING, Final, Protocol

from anygame.match.seats import CONNECTION_ERROR, LONGEST_REPLY, REACH_CLOCK, TIMED_OUT, Reply
from anygame.protocol.http.framing import CHUNK, HttpError, ResponseFraming, need_h11
from anygame.protocol.http.headers import format_request

if TYPE_CHECKING:
    from anygame.protocol.http.framing import Body

_RETRY_PAUSE: Final = 0.2


class Transport(Protocol):
    """How one player is reached. Exchanges do not depend on each other and may overlap."""

    async def exchange(self, text: str, clock: float, *, retry: float = 0.0) -> Reply:
        """Send a message; return the whole reply, or what went wrong.

        Args:
            text: the message.
            clock: seconds from the sending until the reply must be there to its end.
            retry: seconds during which a player that does not listen is tried again.
        """


class HttpTransport:
    """A player over HTTP, one connection for each message, as everybody in the field expects.

    Args:
        host: where the player runs.
        port: where it listens.
        receiver: its name, for the header ``Receiver``.
        reach: seconds to connect; they do not count as the player's.
    """

    def __init__(self, host: str, port: int, receiver: str = "", *, reach: float = REACH_CLOCK) -> None:
        need_h11()
        self.host = host
        self.port = port
        self.receiver = receiver
        self.reach = reach

    async def exchange(self, text: str, clock: float, *, retry: float = 0.0) -> Reply:
        """See `Transport.exchange`."""
        try:
            async with asyncio.timeout(self.reach):
                reader, writer = await self._connect(monotonic() + retry)
        except TimeoutError:
            return self._failed(f"no connection within {self.reach:g} seconds")
        except (OSError, ValueError, UnicodeError) as error:
            return self._failed(getattr(error, "strerror", None) or str(error))
        is_over = False
        try:
            async with asyncio.timeout(clock):
                writer.write(format_request(text.encode(), self.host, self.receiver))
                await writer.drain()
                body = await read_response(reader, 4 * LONGEST_REPLY)
            is_over = not body.is_cut
        except TimeoutError:
            return Reply(None, TIMED_OUT, f"no whole reply within {clock:g} seconds")
        except (HttpError, OSError) as error:
            return self._failed(getattr(error, "strerror", None) or str(error))
        finally:
            await _closed(writer, at_once=not is_over)
        reply = body.content.decode(errors="replace")
        is_cut = body.is_cut or len(reply) > LONGEST_REPLY
        detail = f"only the first {LONGEST_REPLY:,} characters of the reply were read" if is_cut else ""
        return Reply(reply[:LONGEST_REPLY], None, detail)

    async def _connect(self, retry_until: float) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        while True:
            try:
                return await asyncio.open_connection(self.host, self.port)
            except ConnectionRefusedError:
                if monotonic() >= retry_until:
                    raise
                await asyncio.sleep(_RETRY_PAUSE)

    def _failed(self, reason: str) -> Reply:
        return Reply(None, CONNECTION_ERROR, f"{self.host}:{self.port}: {reason}")


async def _closed(writer: asyncio.StreamWriter, *, at_once: bool) -> None:
    """Close a connection, ``at_once`` without sending what is still to be sent."""
    if at_once:
        writer.transport.abort()
    writer.close()
    with suppress(OSError):
        await writer.wait_closed()


async def read_response(reader: asyncio.StreamReader, limit: int) -> Body:
    """Read one response; see `ResponseFraming`.

    Args:
        reader: the stream.
        limit: bytes of the body that are kept; no more is read.

    Raises:
        HttpError: it is none, or its end is missing.
        OSError: the connection broke.
    """
    framing = ResponseFraming(limit)
    while (response := framing.poll()) is None:
        framing.receive(await reader.read(CHUNK), monotonic())
    return response
