"""A player with the thread that it thinks in, and the clock it thinks by."""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING, Any

from anygame.match.workers import Worker
from anygame.players.clock import Clock

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable
    from threading import Event

    from anygame.players.player import Player

__all__ = ["MatchClock", "Thinker"]


class Thinker:
    """A player, made when it is first needed, and the thread that it has to itself."""

    def __init__(self, make: Callable[[], Player]) -> None:
        self._make = make
        self._worker = Worker("thinking")
        self.player: Player | None = None

    def call(self, what: Callable[[Player], object]) -> asyncio.Future[Any]:
        """Have the player do something, after what it is doing now."""

        def do() -> object:
            if self.player is None:
                self.player = self._make()
            return what(self.player)

        return self._worker.submit(do)

    def close(self) -> asyncio.Future[Any]:
        """Let the thread end as soon as the player does; return what is done then."""
        done = self._worker.submit(lambda: None)
        self._worker.close()
        return done


class MatchClock(Clock):
    """A clock that is also up when its match has ended."""

    __slots__ = ("_ended",)
    _ended: Event

    def __init__(self, seconds: float, deadline: float, ended: Event) -> None:
        super().__init__(seconds, deadline)
        object.__setattr__(self, "_ended", ended)

    @property
    def is_up(self) -> bool:
        """Whether the answer is due, or nobody waits for it any more."""
        return self._ended.is_set() or monotonic() >= self.deadline

    def remaining(self) -> float:
        """Return the seconds that are left, at least 0."""
        return 0.0 if self._ended.is_set() else max(0.0, self.deadline - monotonic())
