"""The matches of a server. Each running match has a process; a sleeping match has only its record."""

from __future__ import annotations

import asyncio
import json
import re
import secrets
from collections import OrderedDict
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from time import monotonic
from typing import TYPE_CHECKING, Any, Final

from anygame.processes.child import Admission, BusyError
from anygame.sheets.installed import describe_sheet, sheet_heading
from anygame.web.server.events import Versioned
from anygame.web.server.processes import HostProcess, WorkerPool, try_again
from anygame.web.server.sheets import Sheet, make_room, title_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Collection, Sequence
    from pathlib import Path

    from anygame.web.settings import Settings

#: The seat of a role, with the keys ``kind`` and ``name``. Seats of the kind ``person`` also have the key
#: ``visitor``, and seats of the kind ``player`` have ``player``. Seats of the kind ``open`` have ``secret``,
#: a part of their invitation link. Seats of the kind ``elsewhere`` belong to a match that is only shown here.
Seat = dict[str, str]
View = dict[str, Any]

_ID: Final = re.compile(r"[A-Za-z0-9_-]{22}")
_ID_BYTES: Final = 16
#: Maximum number of states of a match for which the values of moves are cached.
_MOST_VALUES: Final = 400
#: Maximum number of matches in memory. Other matches are read from their records when they are opened.
_MOST_KNOWN: Final = 200
#: Maximum number of processes that start a match at the same time.
_OPENING: Final = 4
#: Maximum number of matches that wait to be started.
_WAITING_TO_OPEN: Final = 16
#: Number of processes for sheets of strangers. While one process reads a hard sheet, the other answers.
_CHECKING: Final = 2
#: Maximum number of sheets that wait for a process.
_WAITING_SHEETS: Final = 8
#: Maximum size in bytes of a record, more than matches of this server need.
_LONGEST_RECORD: Final = 64 * 2**20


@dataclass(eq=False)
class Match(Versioned):
    """A match, running or asleep.

    Attributes:
        match_id: unguessable id. Anybody who knows the id may watch.
        reveals: whether everybody sees hidden information.
        rematch: id of the rematch; empty for none.
        heading: description of the game in its sheet.
        wanted: cached answer of `Session.wanted`, or None.
        view: view of the last state; None if it is unknown.
        used: time of the last request for the match, as a value of `time.monotonic`.
        process: process of the match; None while the match sleeps.
        values: cached values of moves, by the step of the state before these moves.
    """

    match_id: str
    path: Path
    sheet: str
    title: str
    roles: Sequence[str]
    seats: list[Seat]
    reveals: bool = False
    rematch: str = field(init=False, default="")
    heading: str = field(init=False, default="")
    wanted: dict[str, Any] | None = field(init=False, default=None)
    view: View | None = field(init=False, default=None)
    used: float = field(init=False, default_factory=monotonic)
    process: HostProcess | None = field(init=False, default=None)
    waking: asyncio.Lock = field(init=False, default_factory=asyncio.Lock)
    following: asyncio.Lock = field(init=False, default_factory=asyncio.Lock)
    values: dict[int, View] = field(init=False, default_factory=dict)

    @property
    def is_at_work(self) -> bool:
        return self.process is not None and not self.process.is_gone

    def update(self, view: View) -> None:
        """Store a new view of the last state, and notify pages if it has changed."""
        if view == self.view:
            return
        if self.view is not None and view["log"][: len(self.view["log"])] != self.view["log"]:
            self.values.clear()
        self.view = view
        self.touch()

    def remember_values(self, step: int, values: View) -> None:
        self.values[step] = values
        if len(self.values) > _MOST_VALUES:
            del self.values[next(iter(self.values))]

    def roles_of(self, visitor: str) -> list[str]:
        return [
            role
            for role, seat in zip(self.roles, self.seats, strict=True)
            if seat["kind"] == "person" and secrets.compare_digest(seat["visitor"], visitor)
        ]

    def shows_all(self, mine: Collection[str]) -> bool:
        """Return whether the owner of the roles ``mine`` may see everything before the match is over.

        The owner may see everything if the rules hide nothing, the match ``reveals``, or the owner plays all
        roles. If at least two roles are not ``random``, playing these roles suffices.
        """
        hides = self.view is not None and self.view["seen"] is not None
        played = {role for role, seat in zip(self.roles, self.seats, strict=True) if seat["kind"] != "random"}
        plays_all = played <= set(mine) and (len(played) > 1 or len(played) == len(self.roles))
        return not hides or self.reveals or plays_all

    def shows_all_now(self, mine: Collection[str]) -> bool:
        """Return whether the owner of the roles may see everything now. After the match, everybody may."""
        return self.shows_all(mine) or (self.view is not None and bool(self.view["over"]))

    def no_undo(self, mine: Collection[str]) -> str:
        """Return why the owner of the roles ``mine`` cannot take moves back; empty if nothing prevents it."""
        if not mine:
            return "this browser has no role in the match: it may only watch"
        if not self.shows_all(mine):
            return "moves cannot be taken back in games with hidden information"
        if len({seat["visitor"] for seat in self.seats if seat["kind"] == "person"}) > 1:
            return 'other people also play here: "Play on from here" starts a match of your own'
        return ""

    @property
    def exchanged(self) -> list[Seat]:
        """The seats of a rematch. Each seat moves to the next role, and open seats get new links."""
        played = [number for number, seat in enumerate(self.seats) if seat["kind"] != "random"]
        seats = list(self.seats)
        for number, former in zip(played, [*played[-1:], *played[:-1]], strict=True):
            seat = self.seats[former]
            seats[number] = open_seat() if seat["kind"] == "open" else seat
        return seats


def open_seat() -> Seat:
    """Return the seat of a free role, with the secret of its link."""
    return {"kind": "open", "name": "open", "secret": secrets.token_urlsafe(_ID_BYTES)}


class Matches:
    """All matches of a server; ``known`` holds the matches in memory, by id."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.known: OrderedDict[str, Match] = OrderedDict()
        self._folder = settings.folder / "matches"
        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._spare: HostProcess | None = None
        busy = try_again("this server is reading too many sheets")
        # Sheets of strangers have separate workers, because such sheets can be slow.
        self.own_sheets = WorkerPool(Admission(1, _WAITING_SHEETS, busy), settings.memory)
        self.other_sheets = WorkerPool(Admission(_CHECKING, _WAITING_SHEETS, busy), settings.memory)
        busy = try_again("this server is opening too many matches")
        self._opening = Admission(_OPENING, _WAITING_TO_OPEN, busy)

    async def open(
        self,
        sheet: Sheet,
        seated: Callable[[list[str]], list[Seat]],
        clock: float,
        line: Sequence[Sequence[str]] = (),
        *,
        reveals: bool = False,
        time: Sequence[float] | None = None,
    ) -> Match:
        """Begin a match. ``seated`` returns the seats of the roles; for other arguments, see `Session.open`.

        Raises ChildFaultError for bad rules, and BusyError if too many matches are running.
        """
        match_id = secrets.token_urlsafe(_ID_BYTES)
        path = self._folder / f"{match_id}.json"
        at_work = {known for known, match in self.known.items() if match.is_at_work}
        await asyncio.to_thread(
            make_room, self._folder, self.settings.kept, self.settings.kept_bytes, at_work
        )
        async with self._new_process() as (process, seconds_left):
            reading = self.reading(sheet)
            roles = (await process.carry_out("describe", within=seconds_left, sheet=reading))["roles"]
            seats = seated(roles)
            match = Match(match_id, path, sheet.name, sheet.title, roles, seats, reveals=reveals)
            match.heading = sheet_heading(sheet.text)
            beginning = {"seed": secrets.randbits(32), "seats": seats, "line": line, "time": time}
            await self._open(match, process, clock=clock, reveals=reveals, sheet=reading, **beginning)
        self._know(match)
        return match

    def reading(self, sheet: Sheet) -> dict[str, Any]:
        """Return a sheet as an argument for the commands of `Session`."""
        options = {"case_sensitive": sheet.case_sensitive, "lenient": self.settings.lenient}
        return {"name": sheet.name, "text": sheet.text} | options

    async def find(self, match_id: str) -> Match | None:
        """Return the match with an id, from memory or from its record; None if no match has the id."""
        if not _ID.fullmatch(match_id):
            return None
        match = self.known.get(match_id)
        if match is None:
            match = await asyncio.to_thread(self._read, match_id)
            if match is None:
                return None
            match = self.known.setdefault(match_id, match)
        match.used = monotonic()
        self._know(match)
        return match

    def _know(self, match: Match) -> None:
        self.known[match.match_id] = match
        self.known.move_to_end(match.match_id)
        for oldest in list(self.known.values())[: max(0, len(self.known) - _MOST_KNOWN)]:
            if not oldest.is_at_work and not oldest.streams:
                del self.known[oldest.match_id]

    def _read(self, match_id: str) -> Match | None:
        path = self._folder / f"{match_id}.json"
        try:
            if path.stat().st_size > _LONGEST_RECORD:
                return None
            own = json.loads(path.read_bytes())["anygame"]
            title, reveals = title_of(describe_sheet(own["rules"])[0]), own.get("reveals") is True
            title = title or own["game"]
            match = Match(match_id, path, own["game"], title, own["roles"], own["seats"], reveals=reveals)
            match.rematch, match.heading = str(own.get("rematch", "")), sheet_heading(own["rules"])
            return match
        except (OSError, ValueError, KeyError, TypeError):
            return None

    async def view(self, match: Match, step: int | None = None) -> View:
        """Return the view of a state, by default of the last state."""
        # A sleeping match is woken only if its view is missing or a player has to move.
        if match.view is None or (not match.is_at_work and match.view["thinking"]):
            await self.awake(match)
        assert match.view is not None
        if step is None:
            return match.view
        view = match.view if step == match.view["step"] else await self.ask(match, "look", step=step)
        return view | {key: match.view[key] for key in ("log", "told", "last")}

    async def change(self, match: Match, what: str, **arguments: Any) -> None:
        """Send the process of a match a command that changes the match, and store the new view."""
        await self.ask(match, what, is_view=True, **arguments)

    async def ask(self, match: Match, what: str, **arguments: Any) -> Any:
        """Send a command to the process of a match, which is started if necessary; return the answer."""
        await self.awake(match)
        assert match.process is not None
        return await match.process.carry_out(what, within=self.settings.answer, **arguments)

    async def awake(self, match: Match) -> None:
        """Resume a sleeping match from its record, in a new process."""
        async with match.waking:
            if not match.is_at_work:
                async with self._new_process() as (process, _):
                    await self._open(match, process, clock=self.settings.play_clock)

    async def _open(self, match: Match, process: HostProcess, **arguments: Any) -> None:
        process.on_view = match.update
        process.ended = match.touch
        await process.carry_out(
            "open",
            within=self.settings.answer,
            is_view=True,
            match_id=f"web.{match.match_id}",
            path=str(match.path),
            players=dict(self.settings.players),
            **arguments,
        )
        match.process = process

    async def fork(self, match: Match, line: Sequence[Sequence[str]], visitor: str) -> Match:
        """Begin a new match after the joint moves ``line``, with the visitor in all roles of people."""
        seats: list[Seat] = [
            {"kind": "person", "name": "person", "visitor": visitor}
            if seat["kind"] in ("person", "open", "elsewhere")
            else seat
            for seat in match.seats
        ]
        sheet, _ = await asyncio.to_thread(_stored, match)
        return await self.open(sheet, lambda _: seats, self.settings.play_clock, line, reveals=match.reveals)

    async def follow_up(self, match: Match) -> Match:
        """Return the rematch of a finished match, which is opened at the first call."""
        async with match.following:
            rematch = await self.find(match.rematch) if match.rematch else None
            if rematch is not None:
                return rematch
            sheet, record = await asyncio.to_thread(_stored, match)
            seats, time = match.exchanged, record["anygame"].get("clock")
            rematch = await self.open(
                sheet, lambda _: seats, float(record["playClock"]), reveals=match.reveals, time=time
            )
            await self.ask(match, "sit", seats=match.seats, rematch=rematch.match_id)
            match.rematch = rematch.match_id
            match.touch()
            return rematch

    @asynccontextmanager
    async def _new_process(self) -> AsyncIterator[tuple[HostProcess, float]]:
        """Yield a process for a match, and the seconds left for opening it. An error kills the process."""
        async with self._opening.place(self.settings.answer) as seconds_left:
            process = self._process()
            try:
                yield process, seconds_left
            except BaseException:
                process.kill()
                raise

    def _process(self) -> HostProcess:
        earliest = monotonic() - self.settings.idle
        for match in self.known.values():
            if match.is_at_work and not match.streams and match.used < earliest:
                self._put_to_sleep(match)
        at_work = [match for match in self.known.values() if match.is_at_work]
        if len(at_work) >= self.settings.processes:
            idle = [match for match in at_work if not match.streams] or [
                match for match in at_work if match.view is None or not match.view["thinking"]
            ]
            if not idle:
                raise BusyError(try_again("too many matches are running on this server"))
            self._put_to_sleep(min(idle, key=lambda match: match.used))
        spare, self._spare = self._spare, HostProcess(self.settings.memory)
        return spare if spare is not None and not spare.is_gone else HostProcess(self.settings.memory)

    def _put_to_sleep(self, match: Match) -> None:
        if match.process is not None:
            match.process.kill()
            match.process = None
        match.values.clear()

    def warm_up(self) -> None:
        if self._spare is None:
            self._spare = HostProcess(self.settings.memory)

    async def close(self) -> None:
        processes = [*(match.process for match in self.known.values()), self._spare]
        open_processes = [process for process in processes if process is not None]
        for process in open_processes:
            process.kill()
        for process in open_processes:
            await process.wait()
        for pool in (self.own_sheets, self.other_sheets):
            await pool.close()


def _stored(match: Match) -> tuple[Sheet, dict[str, Any]]:
    record = json.loads(match.path.read_bytes())
    own = record["anygame"]
    case_sensitive = own.get("caseSensitive", True) is not False
    return Sheet(match.sheet, match.title, "", own["rules"], case_sensitive=case_sensitive), record
