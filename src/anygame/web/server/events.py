"""Server-sent events: a line to a page whenever its match has changed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from starlette.responses import StreamingResponse

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from anygame.web.server.matches import Match

__all__ = ["changes"]

#: Seconds without a change after which something is sent all the same, so that broken connections are noticed
#: and proxies keep whole ones.
_HEARTBEAT: Final = 15.0


def changes(match: Match, known: int) -> StreamingResponse:
    """Return the answer that tells of every new version of a match, from the one that a page knows."""
    return StreamingResponse(
        _lines(match, known), media_type="text/event-stream", headers={"X-Accel-Buffering": "no"}
    )


async def _lines(match: Match, known: int) -> AsyncIterator[str]:
    match.streams += 1
    try:
        yield "retry: 1000\n\n"
        while True:
            if await match.changed(known, _HEARTBEAT):
                known = match.version
                yield f"event: changed\ndata: {known}\n\n"
            else:
                yield ": still here\n\n"
    finally:
        match.streams -= 1
