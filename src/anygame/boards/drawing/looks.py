"""Looks: how the contents of a board are shown: symbol, colour, form and figure of each."""

from __future__ import annotations

import re
from itertools import count
from typing import TYPE_CHECKING, Final

from anygame.boards.drawing.pictures import Look
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

#: What an empty cell shows.
_BLANK: Final = "."
_MARK: Final = "x"
#: What stands somewhere: the fluent that says so, and its content.
Kind = tuple[str, "Content"]

_WORD: Final = re.compile(r"(?<=[a-z])[A-Z]|(?<=[^A-Za-z0-9])[A-Za-z]")
_WHOLE: Final = 2
_SHORT: Final = 3
_LONGEST: Final = 5


def kinds_of(layout: Layout) -> list[Kind]:
    """Return all that may stand on the cells of a board, as far as the layout knows it."""
    own = [(layout.functor, content) for content in layout.values if content not in layout.sides]
    return own + [
        (overlay.functor, content)
        for overlay in layout.overlays
        if not overlay.side
        for content in (overlay.values if overlay.contents else [()])
        if content not in overlay.sides
    ]


def looks_of(layout: Layout, kinds: Iterable[Kind], colours: Mapping[str, str]) -> dict[Kind, Look]:
    """Choose how things are shown.

    Args:
        layout: the board.
        kinds: what may stand there.
        colours: of the roles.
    """
    blank = None if layout.blank is None else (layout.functor, layout.blank)
    shown = [kind for kind in dict.fromkeys(kinds) if kind != blank]
    names = [_name(kind, layout) for kind in shown]
    empty = [] if layout.blank is None else [" ".join(map(str, layout.blank))]
    # One name has one symbol, though it be a content of two fluents.
    distinct = list(dict.fromkeys(names))
    symbols = dict(zip(distinct, abbreviate(empty + distinct)[len(empty) :], strict=True))
    codes = read_codes(names, initials(list(colours)))
    found = {}
    for kind, name in zip(shown, names, strict=True):
        figure, side = codes.get(name) or read_figure(name)
        colour = _colour(side, colours) or _colour(name, colours)
        form = _form(kind, name, figure)
        if form == "text" and not colour and kind == (layout.functor, *layout.values):
            # The only thing that may stand there fills its cell: a trail, a wall.
            form = "block"
        found[kind] = Look(symbols[name] if name else _MARK, name, form, figure, colour)
    if blank is not None:
        found[blank] = Look(_BLANK, empty[0], empty=True)
    return found


def role_colours(roles: Sequence[str]) -> dict[str, str]:
    """Return a colour for each role: the one it is called by, else one of a list."""
    named = {role: colour_in(role) for role in roles}
    free = [colour for colour in ROLE_COLOURS if colour not in named.values()] or list(ROLE_COLOURS)
    others = [role for role in roles if not named[role]]
    return named | {role: free[number % len(free)] for number, role in enumerate(others)}


def _name(kind: Kind, layout: Layout) -> str:
    """Return what a thing is called: by its content, or by its fluent where that says it all."""
    functor, content = kind
    if content:
        return " ".join(map(str, content))
    return "" if functor == layout.functor else functor


def _colour(name: str, colours: Mapping[str, str]) -> str:
    """Return the colour that a name says, or that of the one role it belongs to by its name."""
    said = colour_in(name)
    if said or not name:
        return said
    # `x` belongs to `xplayer`, `player1s` to `player1`.
    owners = {role for role in colours if role.startswith(name) or name.startswith(role)}
    return colours[owners.pop()] if len(owners) == 1 else ""


def _form(kind: Kind, name: str, figure: str) -> Form:
    if set(words(name)) & BLOCKS:
        return "block"
    if not kind[1]:
        return "mark"
    if figure:
        return "piece"
    return "stone" if name.lower() in COLOURS else "text"


def abbreviate(names: Sequence[str]) -> list[str]:
    """Return a short text for each name, all different: the letters that distinguish it, and its digits.

    >>> abbreviate(["blackKing", "blackPawn", "whiteKing", "whitePawn", "x"])
    ['bK', 'bP', 'wK', 'wP', 'x']
    """
    taken = {name for name in names if len(name) <= _WHOLE}
    found = []
    for number, name in enumerate(names, start=1):
        short = name if len(name) <= _WHOLE else _abbreviated(name, number, names, taken)
        taken.add(short)
        found.append(short)
    return found


def _abbreviated(name: str, number: int, names: Sequence[str], taken: set[str]) -> str:
    distinguishing = _letters(name, _distinguishing_positions(name, names))
    spelled = _letters(
        name, _distinguishing_positions(name, names) | {match.start() for match in _WORD.finditer(name)}
    )
    if len(distinguishing) > 1 and len(name) <= _SHORT:
        return name
    for short in (spelled, distinguishing):
        if 0 < len(short) <= _SHORT and short not in taken:
            return short
    if len(name) <= _LONGEST:
        return name
    numbered = (f"{_letters(name, {0}) or '#'}{number + skipped}" for skipped in count(step=len(names)))
    return next(short for short in numbered if short not in taken)


def _letters(name: str, positions: Iterable[int]) -> str:
    return "".join(name[position] for position in sorted(positions) if name[position].isalnum())


def _distinguishing_positions(name: str, names: Iterable[str]) -> set[int]:
    """Return the positions of the first letter, of those by which a name parts from others, and of digits."""
    found = {position for position, letter in enumerate(name) if letter.isdigit()}
    found.add(next((position for position, letter in enumerate(name) if letter.isalnum()), 0))
    for other in names:
        pairs = enumerate(zip(name, other, strict=False))
        parting = next((position for position, (one, two) in pairs if one != two), len(other))
        if parting < len(name):
            found.add(parting)
    return found
