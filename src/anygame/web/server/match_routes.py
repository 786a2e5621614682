"""Routes of matches: pages, moves, explanations, invitations and rematches."""

from __future__ import annotations

import asyncio
import json
import secrets
from io import BytesIO
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

import segno
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from anygame.processes.child import Admission, BusyError
from anygame.web.server.bodies import read_count, read_form, read_seconds
from anygame.web.server.events import changes
from anygame.web.server.guards import visitor_of
from anygame.web.server.pages import match_context
from anygame.web.server.processes import NotFoundError, RefusedError, try_again

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from starlette.requests import Request

    from anygame.web.server.guards import Visitor
    from anygame.web.server.matches import Match, Matches
    from anygame.web.server.pages import Pages
    from anygame.web.settings import Settings

#: Maximum time in seconds of one search. An open page requests further searches.
_SEARCHING: Final = 1.0
#: Minimum time in seconds of one search.
_SHORTEST_SEARCH: Final = 0.05
#: Maximum number of waiting searches.
_WAITING_SEARCHES: Final = 16


class MatchRoutes:
    """Routes of matches; without ``may_play``, visitors may only watch."""

    def __init__(self, matches: Matches, pages: Pages, settings: Settings, *, may_play: bool = True) -> None:
        self._matches = matches
        self._pages = pages
        self._settings = settings
        self._may_play = may_play
        busy = try_again("too many searches are running on this server")
        self._analysing = Admission(settings.analysing, _WAITING_SEARCHES, busy)

    @property
    def routes(self) -> list[Route]:
        one = "/match/{id}"
        watching = [
            Route(one, self.show),
            Route(f"{one}/events", self.events),
            Route(f"{one}/record.json", self.record),
            Route(f"{one}/{{step:count}}", self.show),
            Route(f"{one}/{{step:count}}/why", self.why),
            Route(f"{one}/{{step:count}}/fired", self.fired),
            Route(f"{one}/{{step:count}}/rules", self.rules),
        ]
        playing = [
            Route(f"{one}/move", self.move, methods=["POST"]),
            Route(f"{one}/back", self.take_back, methods=["POST"]),
            Route(f"{one}/resign", self.resign, methods=["POST"]),
            Route(f"{one}/rematch", self.rematch, methods=["POST"]),
            Route(f"{one}/join/{{secret}}/code.svg", self.code),
            Route(f"{one}/join/{{secret}}", self.join, methods=["GET", "POST"]),
            Route(f"{one}/{{step:count}}/values", self.values),
            Route(f"{one}/{{step:count}}/fork", self.fork, methods=["POST"]),
        ]
        return watching + playing if self._may_play else watching

    async def _match(self, request: Request) -> tuple[Match, Visitor]:
        match = await self._matches.find(request.path_params["id"])
        if match is None:
            raise NotFoundError("there is no such match, or the server has removed it because it is old")
        return match, visitor_of(request)

    async def _open_match(self, request: Request) -> Match:
        """Return the match of a request. Raises RefusedError if the visitor must not see everything."""
        match, visitor = await self._match(request)
        await self._matches.view(match)
        if not match.shows_all_now(match.roles_of(visitor.name)):
            raise RefusedError("the rules hide this information from you until the match is over")
        return match

    async def show(self, request: Request) -> Response:
        """Show a match in its last or another state; with ``part``, return only the part that changes."""
        match, visitor = await self._match(request)
        response = HTMLResponse(await self._shown(request, match, visitor.name))
        visitor.mark(response)
        return response

    async def _shown(self, request: Request, match: Match, visitor: str) -> str:
        step = request.path_params.get("step")
        view = await self._matches.view(match, step)
        is_last = step is None or step == view["last"]
        context = match_context(match, view, match.roles_of(visitor), is_last=is_last)
        context |= {"may_play": self._may_play, "is_local": self._settings.is_local}
        template = "match_part.html" if "part" in request.query_params else "match.html"
        return self._pages.text(template, **context)

    async def events(self, request: Request) -> Response:
        match, _ = await self._match(request)
        if sum(other.streams for other in self._matches.known.values()) >= self._settings.streams:
            raise BusyError("too many pages with live updates are open on this server")
        await self._matches.view(match)
        return changes(match, request)

    async def record(self, request: Request) -> Response:
        match = await self._open_match(request)
        record = await asyncio.to_thread(_public, match.path)
        headers = {"Content-Disposition": f"attachment; filename*=utf-8''{quote(f'{match.sheet}.json')}"}
        return Response(record, media_type="application/json", headers=headers)

    async def why(self, request: Request) -> Response:
        """Explain why a move is legal or illegal in a state, or why an atom holds or does not hold."""
        match = await self._open_match(request)
        asked = {name: request.query_params.get(name, "")[:4000] for name in ("role", "move", "atom")}
        answer = await self._matches.ask(match, "why", step=request.path_params["step"], **asked)
        return self._part(request, match, "why_part.html", "why", why=answer)

    async def fired(self, request: Request) -> Response:
        match = await self._open_match(request)
        answer = await self._matches.ask(match, "fired", step=request.path_params["step"])
        return self._part(request, match, "fired_part.html", "the move", fired=answer)

    async def rules(self, request: Request) -> Response:
        match, _ = await self._match(request)
        if match.wanted is None:
            match.wanted = await self._matches.ask(match, "wanted")
        return self._part(request, match, "rules_part.html", "rules", told=match.heading, **match.wanted)

    async def values(self, request: Request) -> Response:
        match = await self._open_match(request)
        step = request.path_params["step"]
        values = match.values.get(step)
        if values is None or "known" not in request.query_params:
            time = request.query_params.get("seconds") or str(_SEARCHING)
            seconds = read_seconds(time, "the time limit of a search", _SHORTEST_SEARCH, _SEARCHING)
            async with self._analysing.place(self._settings.answer):
                values = await self._matches.ask(match, "analyse", step=step, seconds=seconds)
            match.remember_values(step, values)
        return self._part(request, match, "values_part.html", "expected goals", values=values)

    def _part(self, request: Request, match: Match, part: str, heading: str, **context: Any) -> Response:
        context["step"] = request.path_params["step"]
        if "part" in request.query_params:
            return self._pages.page(part, match=match, **context)
        return self._pages.page("part_page.html", match=match, part=part, heading=heading, **context)

    async def move(self, request: Request) -> Response:
        match, visitor = await self._match(request)
        form = await read_form(request)
        role = _own_role(match, visitor, form)
        step = read_count(form.get("step", ""), "the step")
        await self._matches.change(match, "move", role=role, text=form.get("move", "")[:4000], step=step)
        return await self._changed(request, match, visitor.name)

    async def take_back(self, request: Request) -> Response:
        match, visitor = await self._match(request)
        mine = match.roles_of(visitor.name)
        await self._matches.view(match)
        if why_not := match.no_undo(mine):
            raise RefusedError(why_not)
        await self._matches.change(match, "take_back", roles=mine)
        return await self._changed(request, match, visitor.name)

    async def resign(self, request: Request) -> Response:
        match, visitor = await self._match(request)
        role = _own_role(match, visitor, await read_form(request))
        await self._matches.change(match, "resign", role=role)
        return await self._changed(request, match, visitor.name)

    async def rematch(self, request: Request) -> Response:
        match, visitor = await self._match(request)
        view = await self._matches.view(match)
        if not match.roles_of(visitor.name):
            raise RefusedError("this browser has no role in the match: it may only watch")
        if not view["over"]:
            raise RefusedError("the match is not over: a rematch can start afterwards")
        return self._back_to(await self._matches.follow_up(match))

    async def _changed(self, request: Request, match: Match, visitor: str) -> Response:
        if "part" in request.query_params:
            return HTMLResponse(await self._shown(request, match, visitor))
        return self._back_to(match)

    def _back_to(self, match: Match) -> Response:
        return RedirectResponse(f"/match/{match.match_id}", 303)

    async def join(self, request: Request) -> Response:
        match, visitor = await self._match(request)
        free = self._free_seat(request, match)
        if request.method == "GET":
            response: Response = self._pages.page("join.html", match=match, role=match.roles[free])
        else:
            seat = {"kind": "person", "name": "person", "visitor": visitor.name}
            match.seats = [seat if number == free else old for number, old in enumerate(match.seats)]
            await self._matches.ask(match, "sit", seats=match.seats)
            match.touch()
            response = self._back_to(match)
        visitor.mark(response)
        return response

    def _free_seat(self, request: Request, match: Match) -> int:
        """Return the role index that belongs to an invitation. Raises NotFoundError."""
        secret = request.path_params["secret"].encode()
        for number, seat in enumerate(match.seats):
            if seat["kind"] == "open" and secrets.compare_digest(seat["secret"].encode(), secret):
                return number
        raise NotFoundError("this invitation has been used, or does not exist")

    async def code(self, request: Request) -> Response:
        match, _ = await self._match(request)
        self._free_seat(request, match)
        address = str(request.url).removesuffix("/code.svg")
        drawn = BytesIO()
        segno.make(address, micro=False).save(drawn, kind="svg", scale=4, border=3, light="#fff")
        return Response(drawn.getvalue(), media_type="image/svg+xml")

    async def fork(self, request: Request) -> Response:
        match, visitor = await self._open_match(request), visitor_of(request)
        step = request.path_params["step"]
        view = await self._matches.view(match, step)
        response = self._back_to(await self._matches.fork(match, view["log"][:step], visitor.name))
        visitor.mark(response)
        return response


def _own_role(match: Match, visitor: Visitor, form: Mapping[str, str]) -> str:
    role = form.get("role", "")
    if role not in match.roles_of(visitor.name):
        raise RefusedError("this browser does not have that role: it may only watch")
    return role


def _public(path: Path) -> bytes:
    record = json.loads(path.read_bytes())
    # The seats hold the secrets of invitation links.
    del record["anygame"]["seats"]
    return json.dumps(record, ensure_ascii=False).encode()
