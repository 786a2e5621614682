"""Outlines of the pieces of chess, for SVG: simple shapes in a square of one by one around the origin."""

from __future__ import annotations

from typing import Final

_FOOT: Final = "M-.27 .37H.27V.3C.27 .26 .2 .24 .16 .22H-.16C-.2 .24-.27 .26-.27 .3Z"

#: The path of each figure. The foot is the same for all but the pawn.
OUTLINES: Final = {
    "pawn": (
        "M-.23 .37H.23V.31C.23 .25 .1 .2 .08 .02H.14V-.04H.07A.145 .145 0 1 0-.07-.04H-.14V.02H-.08"
        "C-.1 .2-.23 .25-.23 .31Z"
    ),
    "rook": _FOOT + "M-.16 .22L-.13-.1H-.21V-.34H-.12V-.25H-.05V-.34H.05V-.25H.12V-.34H.21V-.1H.13L.16 .22Z",
    "bishop": (
        _FOOT + "M-.13 .22L-.09 .1H-.16V.05H-.08C-.2-.02-.19-.18-.04-.3A.055 .055 0 1 1 .04-.3"
        "C.19-.18 .2-.02 .08 .05H.16V.1H.09L.13 .22Z"
    ),
    "knight": (
        _FOOT + "M-.15 .22C-.15 .08-.02 .03-.02-.05C-.08-.02-.13 .04-.19 .05C-.25 .06-.29 .01-.27-.04"
        "L-.13-.24L-.13-.37L-.04-.29C.12-.3 .22-.14 .22 .02C.22 .12 .19 .17 .17 .22Z"
    ),
    "queen": (
        _FOOT + "M-.15 .22L-.29-.2L-.15-.04L-.13-.3L-.04-.07L0-.37L.04-.07L.13-.3L.15-.04L.29-.2L.15 .22Z"
    ),
    "king": (
        _FOOT + "M-.14 .22L-.26-.06C-.3-.22-.08-.24-.03-.1V-.24H-.1V-.3H-.03V-.38H.03V-.3H.1V-.24H.03V-.1"
        "C.08-.24 .3-.22 .26-.06L.14 .22Z"
    ),
}
