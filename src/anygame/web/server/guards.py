"""Checks of all requests, headers of all responses, and identification of visitors.

- The header ``Host`` must name this server. Otherwise, another site whose name resolves to this machine
  would have the same origin as our pages (DNS rebinding).
- According to ``Sec-Fetch-Site`` and ``Origin``, a request that changes something must come from our pages.
  Browsers that send neither header omit the cookie on requests from other sites (``SameSite=Lax``).
- A request must announce the length of its body, as browsers do. Long and late bodies are refused.
- ``Content-Security-Policy`` allows only our own scripts, so text of strangers cannot run as a script.
- One cookie, a random token, identifies a visitor.
"""

from __future__ import annotations

import asyncio
import re
import secrets
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.responses import PlainTextResponse

from anygame.web.settings import LOCAL

if TYPE_CHECKING:
    from collections.abc import Iterable

    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.types import ASGIApp, Message, Receive, Scope, Send


COOKIE: Final = "anygame"
#: Pattern that finds our cookie in a header. The parser of the standard library takes quadratic time.
_SENT: Final = re.compile(rf"(?<![^; ]){COOKIE}=([A-Za-z0-9_-]{{43}})(?![^; ])")
_TOKEN_BYTES: Final = 32
#: Lifetime of the cookie in seconds, half a year.
_SECONDS: Final = 180 * 24 * 3600
_READING: Final = frozenset({"GET", "HEAD"})
_OUR_SITE: Final = frozenset({"same-origin", "none"})
_EVERYBODY: Final = frozenset({"0.0.0.0", "::", ""})
_HEADERS: Final = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
        "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}


class Guards:
    """Wrapper of an application that checks requests and adds headers to responses.

    ``names`` are host names of the server besides ``host``. A request body may have at most ``body`` bytes,
    which must arrive within ``seconds``.
    """

    def __init__(
        self, application: ASGIApp, *, host: str, names: Iterable[str], body: int, seconds: float
    ) -> None:
        self._application = application
        self._body = body
        self._seconds = seconds
        # Any host name is allowed if the server listens on all addresses and no host names are given.
        self._names = {name.lower() for name in names} | ({host.lower()} - _EVERYBODY)
        self._any_name = host in _EVERYBODY and not self._names
        self._names |= LOCAL

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._application(scope, receive, send)
            return
        if refusal := self._refusal(scope["method"], Headers(scope=scope)):
            status, reason = refusal
            refused = PlainTextResponse(f"{reason}\n", status, headers=_HEADERS | {"Connection": "close"})
            await refused(scope, receive, send)
            return
        sending = _with_headers(send, is_static=scope["path"].startswith("/static/"))
        await self._application(scope, self._in_time(receive), sending)

    def _refusal(self, method: str, headers: Headers) -> tuple[int, str] | None:
        host = headers.get("host", "")
        if not self._any_name and _name(host) not in self._names:
            return 421, "this server does not accept that host name; see --name in `anygame web --help`"
        if method not in _READING and not _is_ours(headers, host):
            return 403, "requests from other sites are refused"
        if "transfer-encoding" in headers:
            return 411, "a request needs a Content-Length header"
        length = headers.get("content-length", "0")
        if not (length.isascii() and length.isdigit()) or int(length[:20]) > self._body:
            return 413, f"the body of the request has more than {self._body:,} bytes"
        return None

    def _in_time(self, receive: Receive) -> Receive:
        deadline = asyncio.get_running_loop().time() + self._seconds
        is_whole = False

        async def in_time() -> Message:
            nonlocal is_whole
            if is_whole:  # after the body, the next message reports the end of the connection
                return await receive()
            try:
                async with asyncio.timeout_at(deadline):
                    message = await receive()
            except TimeoutError:
                reason = f"the request did not arrive within {self._seconds:g} seconds"
                raise HTTPException(408, reason, {"Connection": "close"}) from None
            is_whole = not message.get("more_body", False)
            return message

        return in_time


def _name(host: str) -> str:
    """Return the name of a host without its port.

    >>> _name("localhost:8000"), _name("[::1]:8000"), _name("evil.example")
    ('localhost', '::1', 'evil.example')
    """
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""


def _is_ours(headers: Headers, host: str) -> bool:
    site = headers.get("sec-fetch-site")
    if site is not None and site not in _OUR_SITE:
        return False
    origin = headers.get("origin")
    return origin is None or urlsplit(origin).netloc == host


def _with_headers(send: Send, *, is_static: bool) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in _HEADERS.items():
                headers.setdefault(name, value)
            # Browsers must revalidate scripts and styles, and must not cache pages.
            headers.setdefault("Cache-Control", "no-cache" if is_static else "no-store")
        await send(message)

    return sending


@dataclass(frozen=True, slots=True)
class Visitor:
    """A visitor. If ``is_new``, the browser does not have the cookie with the token yet."""

    token: str
    is_new: bool

    @property
    def name(self) -> str:
        """The name of the visitor in records, a hash that does not reveal the token."""
        return sha256(self.token.encode()).hexdigest()

    def mark(self, response: Response) -> None:
        # With Lax, browsers send the cookie if a link on another site is opened, but not with forms.
        if self.is_new:
            response.set_cookie(COOKIE, self.token, max_age=_SECONDS, path="/", httponly=True, samesite="lax")


def visitor_of(request: Request) -> Visitor:
    """Return the visitor of a request; a new visitor if there is no valid cookie."""
    sent = _SENT.search(request.headers.get("cookie", ""))
    if sent:
        return Visitor(sent[1], is_new=False)
    return Visitor(secrets.token_urlsafe(_TOKEN_BYTES), is_new=True)
