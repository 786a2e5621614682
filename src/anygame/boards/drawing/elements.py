"""Elements of SVG: shapes and words at places that are measured in cells."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

#: Pixels of a cell.
CELL: Final = 44
#: Characters that XML cannot hold.
_UNPRINTABLE: Final = dict.fromkeys((*range(9), 11, 12, *range(14, 32), 0xFFFE, 0xFFFF), "\ufffd")


def tag(name: str, attributes: str, **lengths: float) -> str:
    """Return an empty element with attributes that are lengths, in cells."""
    sizes = "".join(f' {key.replace("_", "-")}="{pixels(length)}"' for key, length in lengths.items())
    return f"<{name}{sizes}{attributes}/>"


def circle(x: float, y: float, radius: float, attributes: str) -> str:
    """Return a circle."""
    return tag("circle", attributes, cx=x, cy=y, r=radius)


def polygon(points: Iterable[tuple[float, float]], attributes: str) -> str:
    """Return a polygon."""
    return f'<polygon points="{" ".join(f"{pixels(x)},{pixels(y)}" for x, y in points)}"{attributes}/>'


def words(
    text: str, x: float, y: float, attributes: str, *, size: float, anchor: str = "middle", bold: bool = False
) -> str:
    """Return a text that begins, ends or has its middle at a place."""
    weight = ' font-weight="600"' if bold else ""
    return (
        f'<text x="{pixels(x)}" y="{pixels(y)}" dy="0.35em" font-size="{pixels(size)}" '
        f'text-anchor="{anchor}"{weight}{attributes}>{escaped(text)}</text>'
    )


def pixels(cells: float) -> str:
    """Return a length in pixels."""
    return number(cells * CELL)


def number(value: float) -> str:
    """Return a number with as many digits as can be seen."""
    return f"{value:.2f}".rstrip("0").rstrip(".")


def escaped(text: str, limit: int = 300) -> str:
    """Return text for an element or an attribute, cut where it is too long."""
    return escape(shortened(text, limit).translate(_UNPRINTABLE))


def shortened(text: str, limit: int) -> str:
    """Return a text of no more characters than asked for."""
    return text if len(text) <= limit else f"{text[: limit - 1]}\u2026"
