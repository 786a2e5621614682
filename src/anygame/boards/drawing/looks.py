"""Looks: how the contents of a board are shown: symbol, colour, form and figure of each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from anygame.boards.drawing.pictures import Look, Thing
from anygame.boards.drawing.symbols import abbreviate
from anygame.boards.names import (
    BLOCKS,
    COLOURS,
    ROLE_COLOURS,
    colour_in,
    initials,
    read_codes,
    read_figure,
    words,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from anygame.boards.drawing.pictures import Form
    from anygame.boards.finding.layout import Content, Layout
    from anygame.language.terms import Term

__all__ = ["BLANK", "Looks", "name_of", "role_colours"]

#: What an empty cell shows.
BLANK: Final = "."
_MARK: Final = "x"


@dataclass(frozen=True, slots=True)
class Looks:
    """How the contents of a board are shown.

    Attributes:
        blank: the content that says that nothing stands there.
        shown: what each content looks like; its fact is that of no state.
    """

    blank: Content | None
    shown: Mapping[Content, Look]

    @classmethod
    def of(cls, layout: Layout, seen: Iterable[Content], colours: Mapping[str, str]) -> Looks:
        """Choose how all is shown that may stand on a board.

        Args:
            layout: the board.
            seen: contents beyond those that the layout expects.
            colours: of the roles.
        """
        contents = [content for content in dict.fromkeys((*layout.values, *seen)) if content != layout.blank]
        names = [name_of(content) for content in contents]
        blank = [] if layout.blank is None else [name_of(layout.blank)]
        symbols = abbreviate(blank + names)[len(blank) :]
        codes = read_codes(names, initials(list(colours)))
        found = {}
        for content, name, symbol in zip(contents, names, symbols, strict=True):
            figure, side = codes.get(name) or read_figure(name)
            colour = _colour(side, colours) or _colour(name, colours)
            form = _form(content, figure)
            found[content] = Look(symbol if content else _MARK, name, form, figure, colour)
        if layout.blank is not None:
            found[layout.blank] = Look(BLANK, name_of(layout.blank), "text", "", "", empty=True)
        return cls(layout.blank, found)

    def thing(self, content: Content, fact: Term) -> Thing:
        """Return a content as a thing."""
        return Thing(fact, content, self.shown[content])


def role_colours(roles: Sequence[str]) -> dict[str, str]:
    """Return a colour for each role: the one it is called by, else one of a list."""
    named = {role: colour_in(role) for role in roles}
    free = [colour for colour in ROLE_COLOURS if colour not in named.values()] or list(ROLE_COLOURS)
    others = [role for role in roles if not named[role]]
    return named | {role: free[number % len(free)] for number, role in enumerate(others)}


def _colour(name: str, colours: Mapping[str, str]) -> str:
    """Return the colour that a name says, or that of the one role it belongs to by its name."""
    said = colour_in(name)
    if said or not name:
        return said
    # `x` belongs to `xplayer`, `player1s` to `player1`.
    owners = {role for role in colours if role.startswith(name) or name.startswith(role)}
    return colours[owners.pop()] if len(owners) == 1 else ""


def _form(content: Content, figure: str) -> Form:
    name = name_of(content)
    if not content:
        return "mark"
    if figure:
        return "piece"
    if name.lower() in COLOURS:
        return "stone"
    return "block" if set(words(name)) & BLOCKS else "text"


def name_of(content: Content) -> str:
    """Return a content as text."""
    return " ".join(map(str, content))
