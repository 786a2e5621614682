"""Common English names of colours and pieces, and the letters of chess notation."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, Literal

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import TypeAlias

#: The sides of a cell.
Side: TypeAlias = Literal["north", "east", "south", "west"]
#: The fill of each colour, in light and in dark surroundings.
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
#: Colours of things on boards; a content with such a name never means an empty square.
COLOURS: Final = frozenset(BODIES)
#: Colours for roles without a colour in their name, in the order of the roles.
ROLE_COLOURS: Final = ("blue", "red", "green", "orange", "purple", "teal", "brown", "pink")

#: Words for pieces, with the names of their figures.
FIGURES: Final = {
    "king": "king",
    "queen": "queen",
    "rook": "rook",
    "castle": "rook",
    "tower": "rook",
    "bishop": "bishop",
    "knight": "knight",
    "horse": "knight",
    "pawn": "pawn",
}
#: Figures of draughts: a man and a crowned man.
DRAUGHTS: Final = ("man", "crowned")
#: Letters for pieces as in chess notation; `kn` and `ki` distinguish knights and kings.
_LETTERS: Final = {
    "k": "king", "q": "queen", "r": "rook", "b": "bishop", "n": "knight", "p": "pawn",
    "kn": "knight", "ki": "king",
}  # fmt: skip
#: Words for things that fill their cell, or that lie between two cells.
BLOCKS: Final = frozenset(
    {
        *("wall", "walls", "block", "blocks", "blocked", "brick", "bricks", "rock", "dirt", "obstacle"),
        *("arrow", "burned", "burnt", "barrier", "blockade", "fence", "limits", "forbidden", "hole", "holes"),
    }
)
#: Words for things that belong to a player rather than to a cell.
CARDS: Final = frozenset({"card", "cards", "hand", "hands", "deck", "dealt", "die", "dice", "tile", "tiles"})
#: The faces of dice by number.
_DIE_FACES: Final = dict(zip("123456", "⚀⚁⚂⚃⚄⚅", strict=True))
#: Words for the sides of a cell.
SIDES: Final[Mapping[str, Side]] = {
    **dict.fromkeys(("north", "up", "above", "top"), "north"),
    **dict.fromkeys(("south", "down", "below", "bottom"), "south"),
    **dict.fromkeys(("east", "right"), "east"),
    **dict.fromkeys(("west", "left"), "west"),
}
#: Words for signs between cells.
SIGNS: Final = {"gt": ">", "greater": ">", "more": ">", "lt": "<", "less": "<", "smaller": "<"}
#: Figures as characters.
GLYPHS: Final = {"king": "♚", "queen": "♛", "rook": "♜", "bishop": "♝", "knight": "♞", "pawn": "♟"} | {
    "man": "⛂", "crowned": "⛃",
}  # fmt: skip
#: Words for states of lamps and switches, with their colours.
LAMPS: Final = {"on": "yellow", "off": "grey"}

_WORD: Final = re.compile(r"[A-Z]?[a-z]+|[A-Z]+|[0-9]+")
_CODE: Final = re.compile(r"([a-z])(kn|ki|[kqrbnp])([a-h]?[1-9]?)")


def words(name: str) -> list[str]:
    """Split a name into lower-case words.

    >>> words("whitePawn"), words("black_king 2")
    (['white', 'pawn'], ['black', 'king', '2'])
    """
    return [word.lower() for word in _WORD.findall(name)]


def die_face(text: str, name: str) -> str:
    """Return the face of a die for a number in a fact with this name; empty if the fact is not about dice.

    >>> die_face("3", "dieOf"), die_face("7", "dice"), die_face("3", "card")
    ('⚂', '', '')
    """
    return _DIE_FACES.get(text, "") if {"die", "dice"} & {*words(name)} else ""


def colour_in(name: str) -> str:
    """Return the colour that equals or begins a word in a name; empty for none."""
    parts = words(name)
    whole = next((word for word in parts if word in COLOURS), "")
    return whole or next((c for c in sorted(COLOURS) for word in parts if word.startswith(c)), "")


def initials(roles: Sequence[str]) -> dict[str, str]:
    """Map unique first letters to roles. By default, ``w`` means white and ``b`` means black."""
    letters = [role[:1].lower() for role in roles]
    unique = {letter: role for letter, role in zip(letters, roles, strict=True) if letters.count(letter) == 1}
    return {"w": "white", "b": "black"} | unique


def read_figure(name: str) -> tuple[str, str]:
    """Return the figure and the side in a name such as ``white pawn``; empty for none."""
    parts = words(name)
    for word in parts:
        for piece, figure in FIGURES.items():
            if word == piece:
                return figure, next((w for w in parts if w != word and not w.isdigit()), "")
            if word.endswith(piece) and word != piece:
                return figure, word.removesuffix(piece)
    return "", ""


def read_codes(names: Iterable[str], sides: Mapping[str, str]) -> dict[str, tuple[str, str]]:
    """Return figure and side for codes such as ``wp`` and ``bkn``: a letter for the side, then the piece.

    The result is empty unless at least half of the names are such codes, with at least two sides and two
    pieces.
    """
    names = list(names)
    codes = {}
    for name in names:
        match = _CODE.fullmatch(name.lower().replace(" ", ""))
        if match and match[1] in sides:
            codes[name] = _LETTERS[match[2]], sides[match[1]]
    figures, owners = ({code[part] for code in codes.values()} for part in (0, 1))
    return codes if len(figures) > 1 and len(owners) > 1 and 2 * len(codes) >= len(names) else {}
