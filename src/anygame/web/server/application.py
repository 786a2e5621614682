"""The web application, with its routes, guards and error pages."""

from __future__ import annotations

import sys
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, Final

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.responses import Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from anygame.boards import paint_rules
from anygame.errors import AnygameError
from anygame.web.server.guards import Guards
from anygame.web.server.match_routes import MatchRoutes
from anygame.web.server.matches import Matches
from anygame.web.server.pages import Pages
from anygame.web.server.processes import response_to
from anygame.web.server.replays import Replays
from anygame.web.server.sheet_routes import SheetRoutes
from anygame.web.server.sheets import Sheets
from anygame.web.server.watching import WatchRoutes

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Coroutine, Sequence

    from starlette.requests import Request
    from starlette.types import ASGIApp

    from anygame.match.broadcast import Broadcast
    from anygame.web.settings import Settings

#: Messages for HTTP errors, by status. Other errors have a message of their own.
_MESSAGES: Final = {404: "there is no such page", 405: "this page does not support this kind of request"}


def make_application(settings: Settings) -> ASGIApp:
    """Return the application that answers browsers."""
    matches = Matches(settings)
    pages = Pages([("Games", "/"), ("Write rules", "/write")])
    sheets = Sheets(settings)
    replays = Replays(sheets, matches)
    sheet_routes = SheetRoutes(sheets, replays, matches, pages, settings).routes
    routes = [*sheet_routes, *MatchRoutes(matches, pages, settings).routes, *replays.routes]
    return _guarded(routes, pages, settings, matches, matches.warm_up)


def make_watching_application(
    settings: Settings, broadcast: Broadcast
) -> tuple[ASGIApp, Callable[[], Coroutine[Any, Any, None]]]:
    """Return an application that shows the matches of this process, and a function that ends its updates."""
    matches = Matches(settings)
    pages = Pages([("All matches", "/")] if broadcast.planned > 1 else [])
    replays = Replays(Sheets(settings), matches)
    watch_routes = WatchRoutes(broadcast, replays, matches, pages, settings)
    routes = [*watch_routes.routes, *MatchRoutes(matches, pages, settings, may_play=False).routes]
    return _guarded(routes, pages, settings, matches, watch_routes.listen), watch_routes.close


def _guarded(
    routes: Sequence[Route], pages: Pages, settings: Settings, matches: Matches, begin: Callable[[], None]
) -> ASGIApp:
    """Return an application with guards and error pages; the application calls ``begin`` when it starts."""

    @asynccontextmanager
    async def living(_: Starlette) -> AsyncIterator[None]:
        begin()
        try:
            yield
        finally:
            await matches.close()

    async def fault(request: Request, error: Exception) -> Response:
        template = "fault_part.html" if "part" in request.query_params else "fault.html"
        status, headers = response_to(error)
        response = pages.page(template, status, message=str(error))
        response.headers.update(headers)
        return response

    async def gone(_: Request, error: Exception) -> Response:
        return Response(status_code=400)  # the browser has disconnected

    async def refused(_: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        message = _MESSAGES.get(error.status_code, error.detail)
        response = pages.page("fault.html", error.status_code, message=message)
        response.headers.update(error.headers or {})
        return response

    async def broken(request: Request, error: Exception) -> Response:
        print(f"{request.url.path[:200]}: {type(error).__name__}: {str(error)[:500]}", file=sys.stderr)
        return pages.page("fault.html", 500, message="an internal error; please report it")

    static = StaticFiles(packages=[("anygame.web", "static"), ("anygame.boards", "static")])
    application = Starlette(
        routes=[*routes, Route("/paints.css", _paints), Mount("/static", static)],
        exception_handlers={
            AnygameError: fault, ClientDisconnect: gone, HTTPException: refused, Exception: broken,
        },
        lifespan=living,
    )  # fmt: skip
    return Guards(
        application, host=settings.host, names=settings.names, body=settings.body, seconds=settings.sending
    )


async def _paints(_: Request) -> Response:
    return Response(paint_rules(), media_type="text/css", headers={"Cache-Control": "max-age=3600"})
