"""The sessions of a server: those that wait for a match, and those that still take leave of one."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final
from weakref import WeakSet

if TYPE_CHECKING:
    from collections.abc import Callable

    from anygame.protocol.player.hosts import Host
    from anygame.protocol.player.match import PlayerMatch

#: Sessions that may still be at work on former matches, beside twice as many as there are matches at a time:
#: players who keep what they learned take some seconds, and matches may be shorter.
_MOST_LEAVING: Final = 4
#: Sessions of a player that may die in one match before another player stands in, and of those that do.
_MOST_DEATHS, _MOST_STAND_INS = 3, 3


class SessionPool:
    """Sessions, made when they are needed; one that has done with a match is used again.

    Args:
        make: makes the host of a session.
        make_stand_in: makes one whose player is sure to play, for a match that others could not bear.
        size: matches at a time.
    """

    def __init__(self, make: Callable[[], Host], make_stand_in: Callable[[], Host], size: int) -> None:
        self._make = make
        self._make_stand_in = make_stand_in
        self._stand_ins: WeakSet[Host] = WeakSet()
        self._size = size
        self._idle: list[Host] = []
        self._leaving: dict[asyncio.Task[None], Host] = {}
        self._ended: set[Host] = set()

    def warm_up(self) -> None:
        """Have a session ready before it is needed."""
        if not self._idle and self._size:
            self._idle.append(self._make())

    async def begun(self) -> None:
        """Wait until what was made ready can do something."""
        for host in list(self._idle):
            await host.begun()

    def take(self) -> Host | None:
        """Return a session for a match; None where too many hang on former ones and cannot be ended."""
        while self._idle:
            host = self._idle.pop()
            if not host.is_gone:
                return host
        most = 2 * self._size + _MOST_LEAVING
        for task, host in list(self._leaving.items())[: max(0, len(self._leaving) - most)]:
            if host.can_be_ended:
                task.cancel()
        at_work = (*self._leaving.values(), *self._ended)
        stuck = [host for host in at_work if not (host.can_be_ended or host.is_gone)]
        return self._make() if len(stuck) <= most else None

    def renew(self, deaths: int) -> Host | None:
        """Return a session to go on with a match, given how many have died of it; None if that has to do."""
        if deaths <= _MOST_DEATHS:
            return self.take()
        if deaths > _MOST_DEATHS + _MOST_STAND_INS:
            return None
        host = self._make_stand_in()
        self._stand_ins.add(host)
        return host

    def put_back(self, host: Host) -> None:
        """Keep a session that is free for another match."""
        if len(self._idle) < self._size and not (host.is_gone or host in self._stand_ins):
            host.ignore()
            self._idle.append(host)
        else:
            self.end(host)

    def end(self, host: Host) -> None:
        """End a session, whatever it is doing; have another one ready."""
        host.end()
        self._ended = {each for each in self._ended if not each.is_gone} | {host}
        if host.can_be_ended:
            self.warm_up()

    def part(self, match: PlayerMatch) -> None:
        """Take back the session of a match that has ended, as soon as its player has taken leave."""
        task = asyncio.create_task(self._part(match))
        self._leaving[task] = match.host
        task.add_done_callback(self._leaving.pop)

    async def _part(self, match: PlayerMatch) -> None:
        has_left = False
        try:
            has_left = await match.has_left()
        finally:
            if has_left:
                self.put_back(match.host)
            else:
                self.end(match.host)

    async def wait_for_one(self, seconds: float) -> None:
        """Wait for a player that is about to take leave of its match, if nobody else is free."""
        if self._leaving and not self._idle:
            await asyncio.wait(self._leaving, timeout=seconds)

    async def close(self, seconds: float) -> None:
        """End all sessions; those taking leave have some seconds for it."""
        self._size = 0
        if self._leaving:
            await asyncio.wait(self._leaving, timeout=seconds)
        for task in list(self._leaving):
            task.cancel()
        await asyncio.gather(*self._leaving, return_exceptions=True)
        for host in self._idle:
            host.end()
        ended = [*self._idle, *self._ended]
        self._idle.clear()
        await asyncio.gather(*[host.wait() for host in ended])
