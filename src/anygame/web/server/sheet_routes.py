"""Routes of sheets: list, page, editor, upload and new match."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from anygame.errors import ModelError
from anygame.players.loading import LEVELS, USUAL
from anygame.processes.child import BusyError, ChildEndedError, ChildFaultError
from anygame.search.model import model_named
from anygame.sheets.installed import sheet_heading
from anygame.web.server.bodies import read_form, read_seconds
from anygame.web.server.guards import visitor_of
from anygame.web.server.matches import open_seat
from anygame.web.server.pages import board_context
from anygame.web.server.processes import MatchFaultError, NotFoundError, RefusedError, response_to
from anygame.web.server.replays import is_record
from anygame.web.server.sheets import Sheet

if TYPE_CHECKING:
    from collections.abc import Mapping

    from starlette.requests import Request

    from anygame.search.model import ModelFigures
    from anygame.web.server.guards import Visitor
    from anygame.web.server.matches import Matches, Seat
    from anygame.web.server.pages import Pages
    from anygame.web.server.replays import Replays
    from anygame.web.server.sheets import Sheets
    from anygame.web.settings import Settings

#: Minimum time in seconds that players have for a move.
_SHORTEST_CLOCK: Final = 0.1
#: Maximum time in seconds that players have for a move.
_LONGEST_CLOCK: Final = 60.0
#: Maximum time in minutes that a person has for a match.
_MOST_MINUTES: Final = 180.0
#: Maximum increment in seconds per move of a person.
_MOST_SECONDS_A_MOVE: Final = 600.0
#: Time limit in seconds for a check of rules, including the wait for a process.
_CHECKING: Final = 20.0
#: Time limit in seconds for a thumbnail.
_DRAWING: Final = 10.0
#: Drawing for games without a thumbnail.
_NO_DRAWING: Final = '<svg xmlns="http://www.w3.org/2000/svg" width="8" height="8"/>'
#: Title of the editor for new rules.
_WRITE: Final = "Write rules"


def _figures(name: str) -> ModelFigures | None:
    with suppress(ModelError):
        model = model_named(name)
        return None if model is None else model.figures
    return None


class SheetRoutes:
    """Routes of sheets."""

    def __init__(
        self, sheets: Sheets, replays: Replays, matches: Matches, pages: Pages, settings: Settings
    ) -> None:
        self._sheets = sheets
        self._replays = replays
        self._matches = matches
        self._pages = pages
        self._settings = settings
        #: Cached answers about the sheets of the server, by command and text of the sheet.
        self._answers: dict[tuple[str, str], Any] = {}
        self._drawing = asyncio.Lock()

    @property
    def routes(self) -> list[Route]:
        return [
            Route("/", self.listed),
            Route("/sheet/{name}", self.show),
            Route("/sheet/{name}/thumbnail.svg", self.thumbnail),
            Route("/sheets", self.upload, methods=["POST"]),
            Route("/write", self.write),
            Route("/write/{name}", self.write),
            Route("/check", self.check, methods=["POST"]),
            Route("/play/{name}", self.play, methods=["GET", "POST"]),
        ]

    def _sheet(self, name: str) -> Sheet:
        sheet = self._sheets.find(name)
        if sheet is None:
            raise NotFoundError(f"there is no sheet {name[:60]!r}")
        return sheet

    async def listed(self, request: Request) -> Response:
        visitor = visitor_of(request)
        sheets = await asyncio.to_thread(self._sheets.listed)
        own = [] if visitor.is_new else await asyncio.to_thread(self._sheets.uploaded_by, visitor.name)
        records = list(self._sheets.records)
        return self._pages.page("index.html", sheets=sheets, own=own, records=records, usual=self._usual)

    @property
    def _usual(self) -> str:
        offered = [name for name, _ in self._settings.players]
        return USUAL if USUAL in offered else next(iter(offered), "")

    async def show(self, request: Request) -> Response:
        sheet = await asyncio.to_thread(self._sheet, request.path_params["name"])
        try:
            answer = await self._ask("describe", sheet, self._settings.answer)
        except ChildFaultError as error:
            return await self._broken(sheet, error)
        players = [(name, LEVELS[name].about if name in LEVELS else "") for name, _ in self._settings.players]
        return self._pages.page(
            "sheet.html",
            sheet=sheet,
            roles=answer["roles"],
            hides=answer["hides"],
            model=await asyncio.to_thread(_figures, answer["model"]),
            players=players,
            usual=self._usual,
            heading=sheet_heading(sheet.text),
            clock=self._settings.play_clock,
        )

    async def _ask(self, what: str, sheet: Sheet, within: float) -> Any:
        reading = self._matches.reading(sheet)
        if sheet.visitor:
            return await self._matches.other_sheets.ask(what, within=within, sheet=reading)
        key = what, sheet.text
        if key not in self._answers:
            self._answers[key] = await self._matches.own_sheets.ask(what, within=within, sheet=reading)
        return self._answers[key]

    async def thumbnail(self, request: Request) -> Response:
        """Return a small drawing of a sheet's game. The server computes one drawing at a time."""
        sheet = await asyncio.to_thread(self._sheet, request.path_params["name"])
        if sheet.visitor:
            raise NotFoundError("uploaded sheets have no thumbnail")
        async with self._drawing:
            try:
                drawing = await self._ask("thumbnail", sheet, _DRAWING)
            except (ChildFaultError, ChildEndedError):  # the sheet is broken, or drawing takes too long
                drawing = self._answers["thumbnail", sheet.text] = ""
        headers = {"cache-control": "private, max-age=3600"}
        return Response(drawing or _NO_DRAWING, media_type="image/svg+xml", headers=headers)

    async def _broken(self, sheet: Sheet, error: ChildFaultError) -> Response:
        if not error.diagnostics:
            raise error
        message = "These rules cannot be played yet: fix the errors listed here."
        return await self._editor(sheet, message=message, status=422)

    async def write(self, request: Request) -> Response:
        name = request.path_params.get("name")
        if name is None:
            return await self._editor(Sheet("sheet", _WRITE, "", self._pages.text("beginning.kif")))
        return await self._editor(await asyncio.to_thread(self._sheet, name))

    async def check(self, request: Request) -> Response:
        """Show rules with their diagnostics in the editor; with ``part``, return only the diagnostics."""
        form = await read_form(request)
        sheet = Sheet("sheet", _WRITE, "", form.get("text", ""), visitor_of(request).name)
        if "part" in request.query_params:
            return self._pages.page("check_part.html", check=await self._checked(sheet))
        return await self._editor(sheet)

    async def _editor(self, sheet: Sheet, *, message: str = "", status: int = 200) -> Response:
        check, headers = None, dict[str, str]()
        try:
            check = await self._checked(sheet)
        except (BusyError, ChildEndedError) as error:
            message, (status, headers) = str(error), response_to(error)
        page = self._pages.page(
            "write.html", status, title=sheet.title, text=sheet.text, message=message, check=check
        )
        page.headers.update(headers)
        return page

    async def _checked(self, sheet: Sheet) -> dict[str, Any]:
        answer: dict[str, Any] = await self._ask("check", sheet, _CHECKING)
        if answer["start"]:
            answer["board"] = board_context(answer["start"]["picture"], None)
            answer["moves"] = sum(map(len, answer["start"]["legal"].values()))
        return answer

    async def upload(self, request: Request) -> Response:
        visitor = visitor_of(request)
        form = await read_form(request)
        text = form.get("file") or form.get("text", "")
        if not text.strip():
            raise MatchFaultError("expected a rule sheet, found nothing: choose a file, or write rules")
        if is_record(text):
            response = await self._replays.upload(text)
        else:
            name = form.get("file_name", "") if form.get("file") else ""
            sheet = await asyncio.to_thread(self._sheets.keep, text, visitor.name, name)
            response = RedirectResponse(f"/sheet/{sheet.name}", 303)
        visitor.mark(response)
        return response

    async def play(self, request: Request) -> Response:
        """Open a match. The visitor plays all roles for which the request names no other player."""
        if request.method == "GET" and request.headers.get("sec-fetch-site") == "cross-site":
            # A link on another site must not begin a match.
            return RedirectResponse(f"/sheet/{request.path_params['name']}", 303)
        sheet = await asyncio.to_thread(self._sheet, request.path_params["name"])
        visitor = visitor_of(request)
        asked: Mapping[str, str]
        asked = await read_form(request) if request.method == "POST" else request.query_params
        try:
            match = await self._matches.open(
                sheet,
                lambda roles: self._seats(roles, asked, visitor),
                read_seconds(asked["clock"], "the clock", _SHORTEST_CLOCK, _LONGEST_CLOCK)
                if asked.get("clock")
                else self._settings.play_clock,
                reveals="reveal" in asked,
                time=_time_of_people(asked),
            )
        except ChildFaultError as error:
            return await self._broken(sheet, error)
        response = RedirectResponse(f"/match/{match.match_id}", 303)
        visitor.mark(response)
        return response

    def _seats(self, roles: list[str], asked: Mapping[str, str], visitor: Visitor) -> list[Seat]:
        """Return the seats that a request names in fields ``as`` and ``against``, or in a field per role."""
        mine: Seat = {"kind": "person", "name": "person", "visitor": visitor.name}
        own, against = asked.get("as"), asked.get("against")
        if own is not None and own not in roles:
            raise NotFoundError(f"there is no role {own[:60]!r}: the roles are {', '.join(roles)}")
        seats: list[Seat] = []
        for number, role in enumerate(roles):
            if role == "random":
                seats.append({"kind": "random", "name": "chance"})
                continue
            chosen = asked.get(f"seat{number}")
            if chosen is None and own is not None and role != own:
                chosen = against or "open"
            elif chosen is None and own is None and against is not None:
                # If the request names only an opponent, the visitor plays the first role.
                chosen = "you" if all(seat["kind"] == "random" for seat in seats) else against
            if chosen in (None, "you"):
                seats.append(mine)
            elif chosen == "open":
                seats.append(open_seat())
            else:
                seats.append(self._player_seat(str(chosen)))
        return seats

    def _player_seat(self, name: str) -> Seat:
        offered = [player for player, _ in self._settings.players]
        if name not in offered:
            raise RefusedError(f"there is no player {name[:60]!r} here; there are {', '.join(offered)}")
        return {"kind": "player", "name": name, "player": name}


def _time_of_people(asked: Mapping[str, str]) -> tuple[float, float] | None:
    """Return the seconds of each person for the match, and the increment per move; None for no clock."""
    minutes = read_seconds(asked.get("minutes") or "0", "the minutes of each person", 0, _MOST_MINUTES)
    more = read_seconds(asked.get("more") or "0", "the seconds added for each move", 0, _MOST_SECONDS_A_MOVE)
    # If the clock of the match has no minutes, people start with one increment.
    return (60 * minutes or more, more) if minutes or more else None
