"""Server-sent events, which notify pages of changes."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import dataclass, field
from time import time_ns
from typing import TYPE_CHECKING, Final

from starlette.responses import StreamingResponse

from anygame.web.server.bodies import read_count

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from starlette.requests import Request


#: Interval in seconds of heartbeats: they detect broken connections, and proxies close idle connections.
_HEARTBEAT: Final = 15.0


@dataclass(eq=False)
class Versioned:
    """Content of pages, with a version that increases with every change and every restart of the server.

    ``streams`` is the number of open pages that receive updates.
    """

    version: int = field(init=False, default_factory=lambda: time_ns() // 1_000_000)
    streams: int = field(init=False, default=0)
    _changed: asyncio.Event = field(init=False, default_factory=asyncio.Event)

    def touch(self) -> None:
        """Increase the version, and notify all pages."""
        self.version += 1
        self._changed.set()
        self._changed = asyncio.Event()

    async def changed(self, version: int, seconds: float) -> bool:
        """Wait until the version differs from ``version``; return False after ``seconds``."""
        if self.version == version:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._changed.wait(), seconds)
        return self.version != version


def changes(shown: Versioned, request: Request) -> StreamingResponse:
    """Return a response that streams all versions later than that of the page. Raises MatchFaultError."""
    known = request.query_params.get("known", "")
    lines = _lines(shown, read_count(known, "the version") if known else -1)
    return StreamingResponse(lines, media_type="text/event-stream", headers={"X-Accel-Buffering": "no"})


async def _lines(shown: Versioned, known: int) -> AsyncIterator[str]:
    shown.streams += 1
    try:
        yield "retry: 1000\n\n"
        while True:
            if await shown.changed(known, _HEARTBEAT):
                known = shown.version
                yield f"event: changed\ndata: {known}\n\n"
            else:
                yield ": still here\n\n"
    finally:
        shown.streams -= 1
