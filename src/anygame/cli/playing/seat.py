"""Seat in a match for a person at this terminal, who moves without a time limit."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from contextlib import suppress
from threading import Thread
from typing import TYPE_CHECKING, Final
from weakref import WeakKeyDictionary

from anygame.cli.output import Screen
from anygame.cli.playing.person_shell import PersonShell, chosen_commands
from anygame.cli.repl.session import Session
from anygame.errors import AnygameError, PlayerError
from anygame.game.typed_moves import typed_move
from anygame.match.seats import Reply

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from anygame.language.terms import Term
    from anygame.match.seats import MatchInfo

_LONGEST_LINE: Final = 4096
#: Lock of the terminal in each event loop. The lock lets the prompt ask only one person at a time.
_TURNS: Final[WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Lock]] = WeakKeyDictionary()


class SeatShell(PersonShell):
    """Prompt of one person in a match."""

    commands = chosen_commands(
        *("board", "state", "roles", "legal", "goals", "query", "why", "why not"),
        *("analyse", "history", "rules", "warnings", "help", "quit"),
    )
    chosen: Term | None = None

    def status(self) -> str:
        return f"move {self.session.step + 1}: {self.people[0]}, your turn"

    def _play(self, rest: str) -> None:
        role = self.people[0]
        self.chosen = typed_move(rest, self.session.state.legal_moves(role), role)


class PersonSeat:
    """A person at this terminal, who is asked for a move if the role has several legal moves."""

    is_person = True

    def __init__(self, name: str) -> None:
        self.name = name
        self._screen = Screen()
        if not (sys.stdin.isatty() and self._screen.is_terminal):
            raise PlayerError(
                "`human` needs a terminal for standard input and output; "
                "only `anygame play` reads moves from a script"
            )
        self._match_id = ""
        self._shell: SeatShell | None = None

    async def start(self, match: MatchInfo) -> Reply:
        self._match_id = match.match_id
        session = Session(match.game)
        # The last joint move is omitted, because the next PLAY message contains it.
        for joint in match.course()[1][:-1] if match.course else ():
            session.play_joint(joint)
        self._shell = SeatShell(session, self._screen, [match.role])
        return Reply("ready")

    async def play(self, match_id: str, joint: tuple[Term, ...] | None, clock: float) -> Reply:
        shell = self._shell
        if shell is None or match_id != self._match_id:
            return Reply("busy", detail=f"{self.name} does not play {match_id}")
        self._follow(shell, joint)
        legal = shell.session.state.legal_moves(shell.people[0])
        if len(legal) == 1:
            return Reply(str(legal[0]))
        async with _TURNS.setdefault(asyncio.get_running_loop(), asyncio.Lock()):
            return Reply(str(await _asked(shell)))

    def _follow(self, shell: SeatShell, joint: tuple[Term, ...] | None) -> None:
        if joint is None:
            return
        shell.session.play_joint(joint)
        if shell.session.game.is_gdl2:
            shell.show_percepts()

    async def stop(self, match_id: str, joint: tuple[Term, ...] | None) -> None:
        if self._shell is not None and match_id == self._match_id:
            self._follow(self._shell, joint)
            self._shell.show_state()
            self._shell = None

    async def abort(self, match_id: str) -> None:
        self._shell = None

    async def close(self) -> None:
        self._shell = None


async def _asked(shell: SeatShell) -> Term:
    """Return the move that a person types. Commands typed before the move are executed."""
    ask = _asker(shell)
    shell.show_state()
    shell.show_turn()
    shell.chosen = None
    while shell.chosen is None:
        try:
            stays = shell.execute(await ask())
        except AnygameError as error:
            shell.screen.say(error, "red")
            continue
        except (EOFError, KeyboardInterrupt):
            stays = False
        if not stays:
            # Like Ctrl-C, this signal interrupts the match, which can then be resumed.
            signal.raise_signal(signal.SIGINT)
            await asyncio.Event().wait()
    return shell.chosen


def _asker(shell: SeatShell) -> Callable[[], Awaitable[str]]:
    try:
        from anygame.cli.repl.prompt import Prompt
    except ImportError:
        return lambda: _plain_line(shell)
    return Prompt(shell).ask_beside


async def _plain_line(shell: SeatShell) -> str:
    """Return the next line, read in a thread, since event loops on Windows cannot watch standard input."""
    shell.screen.stream.write(shell.prompt)
    shell.screen.stream.flush()
    loop = asyncio.get_running_loop()
    line: asyncio.Future[bytes] = loop.create_future()

    def answer(text: bytes) -> None:
        if not line.done():
            line.set_result(text)

    def read() -> None:
        # Terminals return whole lines. A thread that waits in sys.stdin would keep the program from exiting.
        text = os.read(sys.stdin.fileno(), _LONGEST_LINE)
        with suppress(RuntimeError):  # the loop was closed while this thread waited
            loop.call_soon_threadsafe(answer, text)

    Thread(target=read, name="anygame-line", daemon=True).start()
    text = await line
    if not text:
        raise EOFError
    return text.decode(errors="replace")
