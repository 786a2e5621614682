"""Routes of pages about the matches of this process: a list, and each match live."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Final

from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from anygame.errors import AnygameError
from anygame.processes.child import BusyError
from anygame.web.server.bodies import read_count
from anygame.web.server.events import Versioned, changes
from anygame.web.server.processes import NotFoundError
from anygame.web.server.replays import ending_of, opening_of, turns_of

if TYPE_CHECKING:
    from starlette.requests import Request

    from anygame.match.broadcast import Broadcast, BroadcastMatch, Cell, Table
    from anygame.match.record import Record
    from anygame.web.server.matches import Match, Matches
    from anygame.web.server.pages import Pages
    from anygame.web.server.replays import Replays
    from anygame.web.settings import Settings

#: Maximum number of joint moves in one update. Pages show a long match in several updates.
_AT_ONCE: Final = 500
#: Minimum time in seconds between two updates of a match.
_PACE: Final = 0.2
#: Number of matches on one page of the list.
_LISTED: Final = 100
#: Maximum time in seconds for the last updates of matches when the command ends.
_LAST_NEWS: Final = 5.0
#: Time in seconds for pages to load the last updates.
_LAST_LOOK: Final = 1.0


class WatchRoutes(Versioned):
    """Routes of the matches of this process."""

    def __init__(
        self, broadcast: Broadcast, replays: Replays, matches: Matches, pages: Pages, settings: Settings
    ) -> None:
        super().__init__()
        self._broadcast = broadcast
        self._replays = replays
        self._matches = matches
        self._pages = pages
        self._settings = settings
        #: Followers of the matches that visitors have opened, by the number of the match.
        self._followed: dict[int, _Follower] = {}
        self._opening = asyncio.Lock()
        self._table: tuple[int, Table | None] = (-1, None)

    @property
    def routes(self) -> list[Route]:
        return [
            Route("/", self.show),
            Route("/events", self.events),
            Route("/watch/{number:count}", self.watch),
        ]

    def listen(self) -> None:
        loop = asyncio.get_running_loop()

        def report(match: BroadcastMatch | None) -> None:
            if not loop.is_closed():
                loop.call_soon_threadsafe(self._note, match)

        self._broadcast.on_change = report

    def _note(self, match: BroadcastMatch | None) -> None:
        if match is None:
            self.touch()
        elif match.number in self._followed:
            self._followed[match.number].news.set()

    async def show(self, request: Request) -> Response:
        matches = list(self._broadcast.matches)
        if self._broadcast.planned == 1 and matches:
            return RedirectResponse("/watch/1", 303)
        last = max(0, len(matches) - 1) // _LISTED
        page = request.query_params.get("page") or str(last)
        number = min(read_count(page, "the page"), last)
        template = "broadcast_part.html" if "part" in request.query_params else "broadcast.html"
        version = self.version
        return self._pages.page(
            template,
            title=self._broadcast.title,
            planned=self._broadcast.planned,
            over=sum(bool(match.result) for match in matches),
            running=[match for match in matches if not match.result],
            table=await self._table_of(version),
            matches=matches[number * _LISTED : (number + 1) * _LISTED][::-1],
            page=number,
            last=last,
            version=version,
        )

    async def _table_of(self, version: int) -> dict[str, Any] | None:
        if self._broadcast.table is None:
            return None
        table_version, table = self._table
        if table_version != version or table is None:
            table = await asyncio.to_thread(self._broadcast.table)
            self._table = version, table
        return _scaled(table)

    async def events(self, request: Request) -> Response:
        if self.streams >= self._settings.streams:
            raise BusyError("too many pages with live updates are open on this server")
        return changes(self, request)

    async def watch(self, request: Request) -> Response:
        number = request.path_params["number"]
        if not 0 < number <= len(self._broadcast.matches):
            raise NotFoundError(f"there is no match {number} yet")
        shown = self._broadcast.matches[number - 1]
        async with self._opening:
            match = await self._open(shown)
        step = "/0" if shown.result else ""
        return RedirectResponse(f"/match/{match.match_id}{step}", 303)

    async def _open(self, shown: BroadcastMatch) -> Match:
        follower = self._followed.get(shown.number)
        match = None if follower is None else await self._matches.find(follower.match.match_id)
        if match is not None:
            return match
        record = await asyncio.to_thread(shown.read)
        if record is None:
            raise NotFoundError("the record of this match was not kept")
        is_live = shown.record is record and not shown.result
        # People who play must not see hidden information on a page.
        reveals = not any(record.humans or ())
        match = await (
            self._replays.begin(record, reveals=reveals) if is_live else self._replays.open(record)
        )
        self._followed[shown.number] = _Follower(self._matches, match, shown, record, is_live=is_live)
        return match

    async def close(self) -> None:
        """Give pages a few seconds to load the last changes, then stop following matches."""
        tasks = [follower.task for follower in self._followed.values() if follower.task is not None]
        if any(not task.done() for task in tasks):
            await asyncio.wait(tasks, timeout=_LAST_NEWS)
        if self.streams or any(match.streams for match in self._matches.known.values()):
            await asyncio.sleep(_LAST_LOOK)
        for task in tasks:
            task.cancel()


class _Follower:
    """Copies a running match to its page. The event ``news`` reports changes of the match."""

    def __init__(
        self, matches: Matches, match: Match, shown: BroadcastMatch, record: Record, *, is_live: bool
    ) -> None:
        self.match = match
        self.news = asyncio.Event()
        self._matches = matches
        self._shown = shown
        self._record = record
        self.task = asyncio.create_task(self._follow()) if is_live else None

    async def _follow(self) -> None:
        self.news.set()
        while True:
            await self.news.wait()
            self.news.clear()
            is_over = bool(self._shown.result)
            try:
                is_complete = await self._tell()
            except AnygameError:
                # The process of the match has ended and will be restarted, or the rules are too large.
                is_complete = False
            if is_over and is_complete:
                return
            if not is_complete:
                self.news.set()
            await asyncio.sleep(_PACE)

    async def _tell(self) -> bool:
        """Copy new moves to the page, and return whether the page now has all moves."""
        view = await self._matches.view(self.match)
        shown, record, start = self._shown, self._record, view["last"]
        last = shown.last
        end = min(last, start + _AT_ONCE)
        turns = turns_of(record, start, end)
        for step, turn in enumerate(turns, start + 1):
            turn["seconds"] = shown.seconds.get(step, ())
        now = {"live": shown.live, "fault": ""} | (opening_of(record) if not end else {})
        if shown.result and end == last:
            now |= ending_of(record)
        await self._matches.change(self.match, "follow", start=start, turns=turns, now=now)
        is_all: bool = end == last
        return is_all


def _scaled(table: Table) -> dict[str, Any]:
    """Return a table with the intervals of each column scaled to the range from 0 to 100."""
    ends = []
    for column in zip(*table.rows, strict=True):
        intervals = [cell.interval for cell in column if cell.interval] or [(0.0, 0.0, 0.0)]
        ends.append((min(least for least, _, _ in intervals), max(most for _, _, most in intervals)))

    def placed(cell: Cell, least: float, most: float) -> list[float]:
        return [round(100 * (value - least) / (most - least or 1.0), 1) for value in cell.interval or ()]

    rows = [
        [{"text": cell.text, "interval": placed(cell, *at)} for cell, at in zip(row, ends, strict=True)]
        for row in table.rows
    ]
    return {"columns": table.columns, "rows": rows, "note": table.note}
