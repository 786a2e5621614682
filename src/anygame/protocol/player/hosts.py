"""Hosts of sessions: another process, which can be killed at any time, or threads of this process.

Rule sheets are untrusted, and neither reading nor compiling a sheet can be interrupted from outside. With a
process for the session, no sheet can stop the server from answering messages. The process is reused for the
next match, so that its player keeps learned data. Commands and events are messages of `anygame.processes`.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

from anygame.processes.child import ChildProcess
from anygame.protocol.player.session import Session

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import UnionType

    from anygame.players.player import Player
    from anygame.protocol.player.played_game import PlayerSettings

#: Maximum size of an event in bytes. The longest events contain a move, which is shorter than a sheet.
_LONGEST_EVENT: Final = 16 * 2**20

Event = list[Any]

#: Types of the arguments of each event.
_EVENTS: Final[dict[str, tuple[type | UnionType, ...]]] = {
    "loaded": (),
    "ready": (),
    "failed": (str,),
    "legal": (int, str, bool),
    "best": (int, str | None),
    "move": (int, str | None, str),
    "left": (),
    "previewed": (str,),
}


def check_event(message: Any) -> Event:
    """Return a message from another process. Raises ValueError if the message is not a valid event."""
    if not (isinstance(message, list) and message and isinstance(message[0], str) and message[0] in _EVENTS):
        raise ValueError("expected a list that begins with the name of an event")
    kinds = _EVENTS[message[0]]
    if len(message) != 1 + len(kinds) or not all(map(isinstance, message[1:], kinds)):
        raise ValueError(f"invalid arguments of {message[0]}")
    return message


class Host:
    """The process or the threads in which a session runs."""

    #: Whether the session can be ended while it is busy.
    can_be_ended = False

    def __init__(self) -> None:
        #: Called with each event, in the event loop. The last event of a process is ``gone``, with a reason.
        self.on_event: Callable[[Event], None] = lambda _: None

    @property
    def is_gone(self) -> bool:
        """Whether the session has ended."""
        raise NotImplementedError

    def send(self, *command: Any) -> None:
        """Send a command to the session; `anygame.protocol.player.session` lists the commands."""
        raise NotImplementedError

    def end(self) -> None:
        """End the session: at once if ``can_be_ended``, else after its current task. Ignore later events."""
        self.on_event = lambda _: None

    async def wait(self) -> None:
        """Wait until the process of the session has ended; if the session runs in threads, return at once."""


class ThreadHost(Host):
    """A session in threads of this process. A thread that hangs is never ended."""

    def __init__(self, make: Callable[[], Player], settings: PlayerSettings) -> None:
        super().__init__()
        self._loop = asyncio.get_running_loop()
        self._session = Session(make, settings, self._report)

    @property
    def is_gone(self) -> bool:
        return not self._session.is_alive

    def send(self, *command: Any) -> None:
        self._session.handle(command)

    def end(self) -> None:
        super().end()
        self._session.close()

    def _report(self, event: Event) -> None:
        with suppress(RuntimeError):  # the event loop is closed
            self._loop.call_soon_threadsafe(lambda: self.on_event(event))


class ProcessHost(Host):
    """A session in its own process; see `anygame.protocol.player.session.main`."""

    can_be_ended = True

    def __init__(self, strategy: str, seed: int | None, settings: PlayerSettings) -> None:
        super().__init__()
        self._child = ChildProcess(
            "anygame.protocol.player.session",
            strategy,
            seed,
            settings,
            name="the process of the player",
            longest=_LONGEST_EVENT,
            received=lambda message: self.on_event(check_event(message)),
            ended=lambda how: self.on_event(["gone", how]),
        )

    @property
    def is_gone(self) -> bool:
        return self._child.is_gone

    def send(self, *command: Any) -> None:
        self._child.send(command)

    def end(self) -> None:
        super().end()
        self._child.kill()

    async def wait(self) -> None:
        await self._child.wait()
