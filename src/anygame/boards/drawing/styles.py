"""Styles of a terminal, as rich names them, for the colours of things."""

from __future__ import annotations

from typing import Final

_STYLES: Final = {
    "black": "bold",
    "white": "bold",
    "orange": "dark_orange",
    "purple": "medium_purple",
    "teal": "cyan",
    "pink": "hot_pink",
    "brown": "orange4",
    "grey": "bright_black",
    "gray": "bright_black",
    "gold": "gold3",
    "blue": "bright_blue",
    "red": "bright_red",
}
#: The ground of light and dark squares; black and white can be seen on both.
CHEQUERS: Final = ("on #c2a47c", "on #8a6546")
#: The ground of the cells of the last move: where something came to stand, and where it came from.
LIT: Final = {"to": "on #8a7a00", "from": "on #4d4600"}


def style_of(colour: str) -> str:
    """Return the style of a thing of a colour; empty for none."""
    return _STYLES.get(colour, colour)
