"""What changes while pages show it."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from time import time_ns


class Versioned:
    """Something that pages are told of whenever it changes.

    Attributes:
        version: grows with every change, also from one run of the server to the next.
        streams: pages that are kept up to date.
    """

    def __init__(self) -> None:
        self.version = time_ns() // 1_000_000
        self.streams = 0
        self._changed = asyncio.Event()

    def touch(self) -> None:
        """Have all pages look again."""
        self.version += 1
        self._changed.set()
        self._changed = asyncio.Event()

    async def changed(self, version: int, seconds: float) -> bool:
        """Wait until there is another version, for some seconds; return whether there is."""
        if self.version == version:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._changed.wait(), seconds)
        return self.version != version
