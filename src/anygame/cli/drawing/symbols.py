"""Symbols: short texts for what stands on a board, unique on it, and the legend that explains them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING, Final

from anygame.boards import COLOURS
from anygame.cli.drawing.lines import Piece

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from anygame.boards import Content, Layout

__all__ = ["BLANK", "Symbols", "abbreviate"]

BLANK: Final = "."

_MARK: Final = "x"
_WORD: Final = re.compile(r"(?<=[a-z])[A-Z]|(?<=[^A-Za-z0-9])[A-Za-z]")
_WHOLE: Final = 2
_SHORT: Final = 3
_LONGEST: Final = 5
_STONES: Final = "●○▲△■□◆◇"
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


@dataclass(frozen=True, slots=True)
class Symbols:
    """The symbols of one board.

    Attributes:
        pieces: the symbol of each content.
        blank: the content that is drawn as an empty square, if any.
        width: of the widest symbol.
    """

    pieces: Mapping[Content, Piece]
    blank: Content | None
    width: int

    @classmethod
    def of(cls, layout: Layout, seen: Iterable[Content] = (), *, stones: bool = False) -> Symbols:
        """Choose the symbols for all that may stand on a board.

        Args:
            layout: the board.
            seen: contents beyond those that the layout expects.
            stones: draw coloured things as coloured stones; else as letters.
        """
        contents = [content for content in dict.fromkeys((*layout.values, *seen)) if content != layout.blank]
        blank = [] if layout.blank is None else [_name(layout.blank)]
        texts = abbreviate(blank + [_name(content) for content in contents])[len(blank) :]
        pieces = {
            c: Piece(text, _style(c) if stones else "") for c, text in zip(contents, texts, strict=True)
        }
        if stones:
            pieces.update(_stones(contents))
        elif () in pieces:
            pieces[()] = Piece(_MARK)
        if layout.blank is not None:
            pieces[layout.blank] = Piece(BLANK)
        return cls(pieces, layout.blank, max((len(piece.text) for piece in pieces.values()), default=1))

    def on(self, contents: Sequence[Content]) -> Piece:
        """Return what is drawn on a square; several things are joined by ``+``."""
        if not contents:
            return Piece(BLANK if self.blank is None else " ")
        if len(contents) == 1:
            return self.pieces[contents[0]]
        return Piece("+".join(self.pieces[content].text for content in contents if content != self.blank))

    def legend(self, present: Iterable[Content], *, limit: int = 12) -> list[tuple[Piece, str]]:
        """Return symbol and meaning of all contents that are not drawn by their name.

        With more contents than ``limit``, only of those that are present.
        """
        shown = set(present)
        entries = [
            (piece, _name(content), content)
            for content, piece in self.pieces.items()
            if piece.text != _name(content) and content
        ]
        if len(entries) > limit:
            entries = [entry for entry in entries if entry[2] in shown]
        return [(piece, name) for piece, name, _ in entries]


def abbreviate(names: Sequence[str]) -> list[str]:
    """Return a short text for each name, all different: the letters that tell it apart, and its digits.

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
    telling = _letters(name, _telling_positions(name, names))
    spelled = _letters(
        name, _telling_positions(name, names) | {match.start() for match in _WORD.finditer(name)}
    )
    if len(telling) > 1 and len(name) <= _SHORT:
        return name
    for short in (spelled, telling):
        if 0 < len(short) <= _SHORT and short not in taken:
            return short
    if len(name) <= _LONGEST:
        return name
    numbered = (f"{_letters(name, {0}) or '#'}{number + skipped}" for skipped in count(step=len(names)))
    return next(short for short in numbered if short not in taken)


def _letters(name: str, positions: Iterable[int]) -> str:
    return "".join(name[position] for position in sorted(positions) if name[position].isalnum())


def _telling_positions(name: str, names: Iterable[str]) -> set[int]:
    """Return the positions of the first letter, of those by which a name parts from others, and of digits."""
    found = {position for position, letter in enumerate(name) if letter.isdigit()}
    found.add(next((position for position, letter in enumerate(name) if letter.isalnum()), 0))
    for other in names:
        pairs = enumerate(zip(name, other, strict=False))
        parting = next((position for position, (one, two) in pairs if one != two), len(other))
        if parting < len(name):
            found.add(parting)
    return found


def _name(content: Content) -> str:
    return " ".join(map(str, content))


def _colour(content: Content) -> str:
    """Return the colour of a content, or that with which its name starts; empty for none."""
    words = [str(term).lower() for term in content]
    whole = [word for word in words if word in COLOURS]
    return next(iter(whole), "") or next((c for c in sorted(COLOURS) for w in words if w.startswith(c)), "")


def _style(content: Content) -> str:
    colour = _colour(content)
    return _STYLES.get(colour, colour)


def _stones(contents: Iterable[Content]) -> dict[Content, Piece]:
    """Return stones for contents that are just a colour, and for marks; they differ in form too."""
    coloured = [content for content in contents if not content or _name(content).lower() in COLOURS]
    coloured.sort(key=lambda content: _name(content).lower() == "white")
    forms = dict(zip(coloured, _STONES, strict=False))
    return {content: Piece(form, _style(content)) for content, form in forms.items()}
