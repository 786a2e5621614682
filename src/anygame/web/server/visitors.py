"""Visitors: known by one cookie, a text that nobody can guess and that says nothing of them."""

from __future__ import annotations

import re
import secrets
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

COOKIE: Final = "anygame"
#: Our cookie among those of others, which are not read: that of Python's library takes time that grows with
#: the square of their length.
_SENT: Final = re.compile(rf"(?<![^; ]){COOKIE}=([A-Za-z0-9_-]{{43}})(?![^; ])")
_TOKEN_BYTES: Final = 32
#: Half a year: matches are gone on with after holidays.
_SECONDS: Final = 180 * 24 * 3600


@dataclass(frozen=True, slots=True)
class Visitor:
    """Who asks.

    Attributes:
        token: of the cookie.
        is_new: whether the cookie has still to be set.
    """

    token: str
    is_new: bool

    @property
    def name(self) -> str:
        """What records know the visitor by: who reads them cannot make the cookie of it."""
        return sha256(self.token.encode()).hexdigest()

    def mark(self, response: Response) -> None:
        """Set the cookie, where the visitor has none yet.

        ``Lax``: other sites can make no requests with it, but links from elsewhere lead to one's own matches.
        """
        if self.is_new:
            response.set_cookie(COOKIE, self.token, max_age=_SECONDS, path="/", httponly=True, samesite="lax")


def visitor_of(request: Request) -> Visitor:
    """Return who asks; somebody new where there is no cookie as we make them."""
    sent = _SENT.search(request.headers.get("cookie", ""))
    if sent:
        return Visitor(sent[1], is_new=False)
    return Visitor(secrets.token_urlsafe(_TOKEN_BYTES), is_new=True)
