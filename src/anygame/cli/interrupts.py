"""Ending what takes long: by Ctrl-C, or by SIGTERM, as `kill` and service managers send it."""

from __future__ import annotations

import asyncio
import signal
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from anygame.cli.options import Status

if TYPE_CHECKING:
    from collections.abc import Coroutine


class EndedBySignal(Exception):  # noqa: N818
    """Somebody wants the command to end.

    Attributes:
        status: the exit status that says so.
    """

    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status


def run_until_signal(work: Coroutine[Any, Any, object]) -> None:
    """Run a coroutine; Ctrl-C and SIGTERM cancel it, so that it can close what it has opened.

    Where Ctrl-C is ignored, as in the background of a script, SIGTERM still counts.

    Raises:
        EndedBySignal: it was cancelled.
    """
    terminated = False

    async def watched() -> None:
        task = asyncio.ensure_future(work)

        def terminate() -> None:
            nonlocal terminated
            terminated = True
            task.cancel()

        # Elsewhere than in the main thread of a POSIX system, there is Ctrl-C alone.
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
