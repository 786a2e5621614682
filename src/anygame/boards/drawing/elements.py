"""Elements of SVG: shapes, text, chess pieces and paints. Places and lengths are in cells."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Final

from anygame.boards.names import BODIES

if TYPE_CHECKING:
    from collections.abc import Iterable

#: Width of a cell in pixels.
CELL: Final = 44
#: Characters that XML cannot hold.
_UNPRINTABLE: Final = dict.fromkeys((*range(9), 11, 12, *range(14, 32), 0xFFFE, 0xFFFF), "\ufffd")
#: The colour of each paint in light and in dark surroundings.
_PAINTS: Final = {
    "paper": ("#ffffff", "#1b1c1f"),
    "ink": ("#26262a", "#e6e6e3"),
    "faint": ("#75757c", "#9b9ba1"),
    "cell": ("#f7f3e8", "#2d2f34"),
    "line": ("#c0b596", "#565a63"),
    "light": ("#f0dcb8", "#b9a27c"),
    "dark": ("#b98c62", "#7a5b40"),
    "block": ("#6d6a64", "#8c8a84"),
    "mark": ("#3f6ea5", "#7fb0e6"),
    "won": ("#37c871", "#37c871"),
    "moved": ("#f5c518", "#d9a900"),
    "legal": ("#2e8b57", "#5fce93"),
    "edge": ("#26262a", "#d7d7d3"),
}
#: Colours that are illegible as text on paper; ink replaces them.
_PALE: Final = frozenset({"white", "black"})

#: The SVG path of the foot of all figures except the pawn.
_FOOT: Final = "M-.27 .37H.27V.3C.27 .26 .2 .24 .16 .22H-.16C-.2 .24-.27 .26-.27 .3Z"
#: The SVG path of each figure.
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


def tag(name: str, attributes: str, **lengths: float) -> str:
    """Return an element without content; the keyword arguments are attributes with lengths in cells."""
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
    """Return a text element; ``anchor`` says whether the place is the start, middle or end of the text."""
    weight = ' font-weight="600"' if bold else ""
    return (
        f'<text x="{pixels(x)}" y="{pixels(y)}" dy="0.35em" font-size="{pixels(size)}" '
        f'text-anchor="{anchor}"{weight}{attributes}>{escaped(text)}</text>'
    )


def pixels(cells: float) -> str:
    """Return a length in pixels."""
    return number(cells * CELL)


def number(value: float) -> str:
    """Return a number with up to two decimals."""
    return f"{value:.2f}".rstrip("0").rstrip(".")


def escaped(text: str, limit: int = 300) -> str:
    """Return escaped text for an element or attribute, shortened to ``limit`` characters."""
    return escape(shortened(text, limit).translate(_UNPRINTABLE))


def shortened(text: str, limit: int) -> str:
    """Return a text shortened to a maximum number of characters."""
    return text if len(text) <= limit else f"{text[: limit - 1]}\u2026"


class Paints:
    """Makes paint attributes, and records the used paints for the style element.

    Args:
        dark: whether to use the colours for dark surroundings; None for the viewer's preference.
    """

    def __init__(self, dark: bool | None) -> None:
        self._dark = dark
        self._used: set[str] = set()

    def __call__(self, *, fill: str = "", stroke: str = "") -> str:
        """Return the fill and stroke attributes of an element."""
        parts = [f' fill="{self._value(fill)}"' if fill else ' fill="none"']
        if stroke:
            parts.append(f' stroke="{self._value(stroke)}"')
        if self._dark is None:
            names = [f"anygame-f-{fill}"] * bool(fill) + [f"anygame-s-{stroke}"] * bool(stroke)
            self._used |= set(names)
            parts.append(f' class="{" ".join(names)}"')
        return "".join(parts)

    def text(self, colour: str) -> str:
        """Return the attributes of text in a colour; white, black and no colour become ink."""
        return self(fill="ink" if colour in _PALE or not colour else colour)

    @property
    def style(self) -> str:
        """The style element with dark paints for viewers who prefer dark pages; empty without such paints."""
        if self._dark is not None:
            return ""
        rules = []
        for name in sorted(self._used):
            _, kind, paint = name.split("-")
            light, dark = (_PAINTS | BODIES)[paint]
            if light != dark:
                rules.append(f".{name}{{{'fill' if kind == 'f' else 'stroke'}:{dark}}}")
        return f"<style>@media (prefers-color-scheme: dark){{{''.join(rules)}}}</style>" if rules else ""

    def _value(self, paint: str) -> str:
        return (_PAINTS | BODIES)[paint][bool(self._dark)]


def paint_rules() -> str:
    """Return the CSS rules that a page with clickable pictures must include.

    Viewers who prefer dark pages see dark paints. The rules also define the classes ``colour-NAME``
    (background) and ``line-colour-NAME`` (stroke).
    """
    dark = []
    for paint, (light, other) in (_PAINTS | BODIES).items():
        if light != other:
            dark += [f".anygame-f-{paint}{{fill:{other}}}", f".anygame-s-{paint}{{stroke:{other}}}"]
    grounds = [f".colour-{name}{{background:{light}}}" for name, (light, _) in BODIES.items()]
    lines = [f".line-colour-{name}{{stroke:{light}}}" for name, (light, _) in BODIES.items()]
    return "\n".join([*grounds, *lines, "@media (prefers-color-scheme: dark){", *dark, "}", ""])
