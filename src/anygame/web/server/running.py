"""Running the server until it is told to end."""

from __future__ import annotations

import asyncio
import socket
from typing import TYPE_CHECKING, Final

import uvicorn

from anygame.errors import AnygameError
from anygame.web.server.application import make_application

if TYPE_CHECKING:
    from collections.abc import Callable

    from anygame.web.settings import Settings

__all__ = ["serve"]

#: Connections beyond pages that are kept up to date: requests in progress.
_MORE_CONNECTIONS: Final = 500
#: Seconds that answers in progress have when the server ends; streams never end by themselves.
_CLOSING: Final = 1
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
    config = uvicorn.Config(
        make_application(settings),
        # Answers that are cut off when the server ends are no faults; ours are told by the application.
        log_level="critical",
        access_log=False,
        server_header=False,
        limit_concurrency=settings.streams + _MORE_CONNECTIONS,
        timeout_graceful_shutdown=_CLOSING,
        lifespan="on",
    )
    with bound:
        asyncio.run(_run(uvicorn.Server(config), bound, listening))


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
