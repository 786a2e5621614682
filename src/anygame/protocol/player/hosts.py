"""Hosts of sessions: a process of its own, which can be ended at any time, or this one.

Sheets come from strangers, and neither reading nor compiling them can be interrupted from outside. So the
player of the command line has each game in another process: whatever a sheet does there, messages are
answered here, and when the match ends so does its work. A process also plays the next match if it has done
with the last; the player in it goes on learning.

Commands and events are lines of JSON over pipes.
"""

from __future__ import annotations

import asyncio
import base64
import json
import pickle
import signal
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final, Protocol

from anygame.protocol.player.session import BEGUN, Session

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import UnionType

    from anygame.players.player import Player
    from anygame.protocol.player.settings import PlayerSettings

#: Bytes of one event. The longest hold a move, and moves are shorter than sheets.
_LONGEST_EVENT: Final = 16 * 2**20
#: Seconds for a process to end when it will tell nothing more.
_CLOSING: Final = 1.0
#: What a process begins with. It looks for modules where this one does, also those of players.
_BOOTSTRAP: Final = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
    "from anygame.protocol.player.process import main; main(sys.argv[2])"
)

Event = list[Any]

#: What follows the kind of each event.
_EVENTS: Final[dict[str, tuple[type | UnionType, ...]]] = {
    "begun": (),
    "loaded": (),
    "ready": (),
    "failed": (str,),
    "legal": (int, str, bool),
    "best": (int, str | None),
    "move": (int, str | None, str),
    "left": (),
    "previewed": (str,),
}


def read_event(line: bytes) -> Event:
    """Read an event that another process told.

    Raises:
        ValueError: it is none.
    """
    try:
        event = json.loads(line)
    except RecursionError as error:
        raise ValueError("too many brackets") from error
    if not (isinstance(event, list) and event and isinstance(event[0], str) and event[0] in _EVENTS):
        raise ValueError("no list that begins with the kind of an event")
    kinds = _EVENTS[event[0]]
    if len(event) != 1 + len(kinds) or not all(map(isinstance, event[1:], kinds)):
        raise ValueError(f"not what {event[0]} takes")
    return event


class Host(Protocol):
    """Where a session runs.

    Attributes:
        hear: is called with every event, in the loop; ``gone`` with a reason when there will be no more.
        can_be_ended: whether it ends even while it is at work.
    """

    hear: Callable[[Event], None]
    can_be_ended: bool

    @property
    def is_gone(self) -> bool:
        """Whether nothing of it is left."""

    def send(self, *command: Any) -> None:
        """Have the session do something; see `anygame.protocol.player.session`."""

    async def begun(self) -> None:
        """Wait until the session can do something, or never will."""

    def end(self) -> None:
        """End the session, whatever it is doing, as far as that can be done."""

    def ignore(self) -> None:
        """Let nobody hear of what is still told."""

    async def wait(self) -> None:
        """Wait until nothing of it is left; for threads that hang, not at all."""


def _ignore(_: Event) -> None:
    """Hear an event that nobody waits for."""


class ThreadHost:
    """A session in threads of this process: for players that are objects of this process, as in tests.

    What hangs is left behind.
    """

    can_be_ended = False

    def __init__(self, make: Callable[[], Player], settings: PlayerSettings) -> None:
        self.hear: Callable[[Event], None] = _ignore
        self._loop = asyncio.get_running_loop()
        self._session = Session(make, settings, self._tell)

    @property
    def is_gone(self) -> bool:
        """Whether its threads have ended."""
        return not self._session.is_alive

    def send(self, *command: Any) -> None:
        """See `Host.send`."""
        self._session.handle(command)

    async def begun(self) -> None:
        """Return at once."""

    def end(self) -> None:
        """Let the threads end when they have done what they are doing."""
        self.ignore()
        self._session.close()

    def ignore(self) -> None:
        """See `Host.ignore`."""
        self.hear = _ignore

    async def wait(self) -> None:
        """Return at once."""

    def _tell(self, event: Event) -> None:
        with suppress(RuntimeError):  # the loop has been closed: nobody waits
            self._loop.call_soon_threadsafe(self._deliver, event)

    def _deliver(self, event: Event) -> None:
        self.hear(event)


class ProcessHost:
    """A session in a process of its own.

    Args:
        strategy: of the player; see `anygame.players.make_player`.
        seed: of its random numbers.
        settings: see `PlayerSettings`.
    """

    can_be_ended = True

    def __init__(self, strategy: str, seed: int | None, settings: PlayerSettings) -> None:
        self.hear: Callable[[Event], None] = _ignore
        self._process: asyncio.subprocess.Process | None = None
        self._waiting: list[bytes] = []
        self._is_ended = self._is_killed = False
        self._begun = asyncio.Event()
        given = base64.b64encode(pickle.dumps((strategy, seed, settings))).decode()
        self._life = asyncio.create_task(self._live(given))

    @property
    def is_gone(self) -> bool:
        """Whether the process has ended."""
        return self._life.done()

    def send(self, *command: Any) -> None:
        """See `Host.send`; what is sent before the process has begun waits for it."""
        line = json.dumps(command).encode() + b"\n"
        if self._process is None:
            self._waiting.append(line)
        else:
            self._write(line)

    async def begun(self) -> None:
        """Wait until the process has begun, or has ended."""
        await self._begun.wait()

    def end(self) -> None:
        """Kill the process."""
        self.ignore()
        self._is_ended = True
        self._kill()

    def ignore(self) -> None:
        """See `Host.ignore`."""
        self.hear = _ignore

    async def wait(self) -> None:
        """Wait until the process has ended."""
        await asyncio.wait([self._life])

    async def _live(self, given: str) -> None:
        try:
            reason = await self._run(given)
        except Exception as error:  # whoever waits has to know
            reason = f"no process for the player: {type(error).__name__}: {error}"
            self._kill()
        finally:
            self._begun.set()
        self.hear(["gone", reason])

    async def _run(self, given: str) -> str:
        """Lead the process to its end; return how it ended."""
        # In a session of its own Ctrl-C does not reach it; it follows when its pipe closes.
        process = self._process = await asyncio.create_subprocess_exec(
            sys.executable, "-c", _BOOTSTRAP, json.dumps(sys.path), given,
            stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, limit=_LONGEST_EVENT,
            start_new_session=True,
        )  # fmt: skip
        if self._is_ended:
            self.end()
        for line in self._waiting:
            self._write(line)
        self._waiting.clear()
        garbage = await self._listen(process)
        with suppress(TimeoutError):
            await asyncio.wait_for(process.wait(), _CLOSING)
        if process.returncode is None:
            self._kill()
        status = await process.wait()
        return f"the process of the player {garbage or _ending(status)}"

    async def _listen(self, process: asyncio.subprocess.Process) -> str:
        """Pass events on until there are no more; return what else it told, empty as a rule."""
        assert process.stdout is not None
        line = b""
        try:
            while line := await process.stdout.readline():
                event = read_event(line)
                if event == BEGUN:
                    self._begun.set()
                else:
                    self.hear(event)
        except (ValueError, OSError) as error:
            # One that dies leaves half a line.
            if line.endswith(b"\n") or not line:
                return f"told what is no event: {error}"
        return ""

    def _kill(self) -> None:
        # A process that has ended must not be killed once more: whoever collects its status would miss it.
        if self._process is not None and not self._is_killed:
            self._is_killed = True
            with suppress(ProcessLookupError):
                self._process.kill()

    def _write(self, line: bytes) -> None:
        assert self._process is not None
        assert self._process.stdin is not None
        with suppress(OSError, RuntimeError):
            self._process.stdin.write(line)


def _ending(status: int) -> str:
    """Return how a process has ended, in words.

    >>> _ending(3), _ending(-9)
    ('has ended (status 3)', 'was ended (SIGKILL)')
    """
    if status >= 0:
        return f"has ended (status {status})"
    try:
        return f"was ended ({signal.Signals(-status).name})"
    except ValueError:
        return f"was ended (signal {-status})"
