"""Paints of pictures in SVG: for each part of a picture and each colour of things, light and dark."""

from __future__ import annotations

from typing import Final

#: What each paint is in light and in dark surroundings.
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
    "moved": ("#f5c518", "#d9a900"),
    "legal": ("#2e8b57", "#5fce93"),
    "hot": ("#d6336c", "#f06595"),
    "edge": ("#26262a", "#d7d7d3"),
}
#: Bodies of things by colour; most are the same in light and dark surroundings.
BODIES: Final = {
    "black": ("#222226", "#101012"),
    "white": ("#ffffff", "#f4f4f0"),
    "grey": ("#8f9196", "#8f9196"),
    "gray": ("#8f9196", "#8f9196"),
    "brown": ("#8b5a2b", "#a9713a"),
    "gold": ("#d4a017", "#d9ab2b"),
    "red": ("#d1342f", "#e0524c"),
    "green": ("#2f8f46", "#43ab5c"),
    "blue": ("#2b63c6", "#4f86e6"),
    "yellow": ("#f2c230", "#f2cb4b"),
    "orange": ("#e8791d", "#f08c38"),
    "purple": ("#7d43b5", "#9a66cf"),
    "magenta": ("#c2318f", "#dc55ab"),
    "cyan": ("#27b3c9", "#3ec6db"),
    "teal": ("#16877d", "#2aa398"),
    "pink": ("#ea7aa8", "#f08fb8"),
}
#: Colours that cannot be seen on the paper as letters; they are written in ink.
_PALE: Final = frozenset({"white", "black"})


class Paints:
    """Gives elements their paint, and remembers which paints are used.

    Args:
        dark: whether the surroundings are dark; None for what the viewer prefers.
    """

    def __init__(self, dark: bool | None) -> None:
        self._dark = dark
        self._used: set[str] = set()

    def __call__(self, *, fill: str = "", stroke: str = "") -> str:
        """Return the attributes of an element that is filled with one paint and lined with another."""
        parts = [f' fill="{self._value(fill)}"' if fill else ' fill="none"']
        if stroke:
            parts.append(f' stroke="{self._value(stroke)}"')
        if self._dark is None:
            names = [f"anygame-f-{fill}"] * bool(fill) + [f"anygame-s-{stroke}"] * bool(stroke)
            self._used |= set(names)
            parts.append(f' class="{" ".join(names)}"')
        return "".join(parts)

    def text(self, colour: str) -> str:
        """Return the attributes of text in the colour of a thing, which is ink for white, black and none."""
        return self(fill="ink" if colour in _PALE or not colour else colour)

    @property
    def style(self) -> str:
        """A style element that turns the paints dark where the viewer prefers that, or nothing."""
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
    """Return the rules of a style sheet for pages whose pictures may hold no styles of their own.

    They turn all paints dark where the viewer prefers that, and give the class ``colour-NAME`` the body of
    things of that colour as its background, ``line-colour-NAME`` as its stroke.
    """
    dark = []
    for paint, (light, other) in (_PAINTS | BODIES).items():
        if light != other:
            dark += [f".anygame-f-{paint}{{fill:{other}}}", f".anygame-s-{paint}{{stroke:{other}}}"]
    grounds = [f".colour-{name}{{background:{light}}}" for name, (light, _) in BODIES.items()]
    lines = [f".line-colour-{name}{{stroke:{light}}}" for name, (light, _) in BODIES.items()]
    return "\n".join([*grounds, *lines, "@media (prefers-color-scheme: dark){", *dark, "}", ""])
