"""Board hints: comments by which the author of a sheet says how a board lies.

A hint is a comment line of its own, anywhere in the sheet; rule evaluation never sees it::

    ;; board: none                                       draw no board at all
    ;; board: hex                                        the one board is hexagonal
    ;; board: down                                       rows go downwards: the first row is at the top
    ;; board: rows=1 columns=2                           argument 1 names the row, argument 2 the column
    ;; board: fluent=cell rows=1 columns=2 hex           ... of the fluent `cell`
    ;; board: (cell ?column ?row ?content)               the same said by a pattern
    ;; board: (mark ?board ?board ?row ?column ?content) several boards, side by side
    ;; board: (point ?place ?content) map                places that have a name each, as the lines below lie
    ;;   a----b----c
    ;;   |         |
    ;;   d----e----f
    ;; board: goal red (a ?column) (i ?column)        what a side wants: the cells of rows a and i

A map ends with the comment. Text between names, and lines without a name, are ignored.

Words may be combined: ``hex`` or ``square`` is the shape, ``up`` or ``down`` the direction of rows. Arguments
count from 1. Arguments other than row, column and board are the content of a square; without any, a fact
marks its square. If rows and columns are given, the first row is at the top unless the hint has ``up``. A
side is a role or a colour; its goals are patterns of cells, given by their coordinates.

A sheet may have a hint for each fluent that it wants drawn. With hints that name fluents, only these fluents
are drawn.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_LINE: Final = re.compile(r"^[ \t]*[;%]+[ \t]*board:(.*)$", re.MULTILINE | re.IGNORECASE)
_PIECE: Final = re.compile(r"\([^()]*\)|[^\s()]+|[()]")
_FLUENT: Final = re.compile(r"\(\s*([^\s()?]+)((?:\s+\?[^\s()?]+)+)\s*\)")
_WORDS: Final[Mapping[str, dict[str, object]]] = {
    "hex": {"shape": "hex"}, "square": {"shape": "square"},
    "map": {"mapped": True}, "up": {"upwards": True}, "down": {"upwards": False}, "none": {"none": True},
}  # fmt: skip
_GOAL: Final = re.compile(r"goal\s+([^\s()]+)((?:\s*\([^()]+\))+)", re.IGNORECASE)
_COMMENT: Final = re.compile(r"[ \t]*[;%]+(.*)")
_PLACE: Final = re.compile(r"[^\s|/\\+-]+")
#: Maximum number of lines of a map, and characters of each.
_MAP_LINES: Final = 64
_MAP_WIDTH: Final = 256
#: Maximum number of hints: a sheet comes from a stranger.
_HINTS_LIMIT: Final = 16


class HintError(ValueError):
    """A hint that cannot be read; its text says why."""


@dataclass(frozen=True, slots=True)
class Hint:
    """The content of one hint; missing parts are None or empty. Arguments count from 0.

    Attributes:
        none: no board is wanted.
        shape: ``hex`` or ``square``.
        upwards: whether the first row is at the bottom.
        functor: the name of the fluent.
        row: the argument that names the row.
        column: the argument that names the column.
        boards: the arguments that distinguish several boards.
        place: the argument that names a place of the map.
        mapped: whether a map follows.
        places: the map: each name with its column, in characters, and its line.
        side: the side whose goal the hint gives; empty for a hint about boards.
        goals: patterns of goal cells of the side: their coordinates, with variables for any value.
    """

    text: str
    none: bool = False
    shape: str | None = None
    upwards: bool | None = None
    functor: str | None = None
    arity: int | None = None
    row: int | None = None
    column: int | None = None
    boards: tuple[int, ...] = ()
    place: int | None = None
    mapped: bool = False
    places: tuple[tuple[str, int, int], ...] = ()
    side: str = ""
    goals: tuple[tuple[str, ...], ...] = ()


def read_hints(text: str) -> Iterator[Hint | HintError]:
    """Yield the hints of a sheet in their order, and a HintError for each that cannot be read."""
    for count, match in enumerate(_LINE.finditer(text)):
        if count == _HINTS_LIMIT:
            yield HintError(f"more than {_HINTS_LIMIT} board hints: the rest is not read")
            return
        try:
            hint = _read(match[1].strip())
            yield replace(hint, places=_read_map(hint, text[match.end() + 1 :])) if hint.mapped else hint
        except HintError as fault:
            yield fault


def _read_map(hint: Hint, below: str) -> tuple[tuple[str, int, int], ...]:
    found: list[tuple[str, int, int]] = []
    line = 0
    for row in below.split("\n", _MAP_LINES)[:_MAP_LINES]:
        match = _COMMENT.fullmatch(row.rstrip("\r"))
        if match is None or not match[1].strip() or "board:" in match[1]:
            break
        names = [(name[0], name.start(), line) for name in _PLACE.finditer(match[1][:_MAP_WIDTH])]
        found += names
        line += bool(names)
    if len({name for name, _, _ in found}) != len(found):
        raise HintError(f"board hint `{hint.text}`: a place stands on the map twice")
    if not found:
        raise HintError(f"board hint `{hint.text}`: expected a map, comments with the names of places, below")
    return tuple(found)


def _read(text: str) -> Hint:
    if text.lower().partition(" ")[0] == "goal":
        match = _GOAL.fullmatch(text)
        if not match:
            raise HintError(f"board hint `{text}`: expected a side and cells, as in goal red (a ?column)")
        patterns = [tuple(pattern.strip("( ").split()) for pattern in match[2].split(")")[:-1]]
        return Hint(text, side=match[1], goals=tuple(patterns))
    found: dict[str, object] = {}
    for piece in _PIECE.findall(text):
        for name, value in _meaning(text, piece).items():
            if found.setdefault(name, value) != value:
                raise HintError(f"board hint `{text}`: two different values for {name}")
    if not found:
        raise HintError("board hint without a word: expected hex, none, rows=1 columns=2 or a pattern")
    if ("row" in found) != ("column" in found):
        raise HintError(f"board hint `{text}`: rows and columns need each other, as in rows=1 columns=2")
    if "row" in found and found["row"] == found["column"]:
        raise HintError(f"board hint `{text}`: one argument cannot be both row and column")
    if ("place" in found) != ("mapped" in found):
        raise HintError(
            f"board hint `{text}`: a map needs a pattern with ?place, as in (point ?place ?content) map"
        )
    return Hint(text, **found)  # type: ignore[arg-type]


def _meaning(text: str, piece: str) -> dict[str, object]:
    word, _, value = piece.lower().partition("=")
    if piece.startswith("("):
        return _pattern(text, piece)
    if word in ("row", "rows", "column", "columns") and re.fullmatch("[1-9][0-9]?", value):
        return {word.removesuffix("s"): int(value) - 1}
    if word == "fluent" and value:
        return {"functor": piece.partition("=")[2]}
    if piece.lower() in _WORDS:
        return _WORDS[piece.lower()]
    raise HintError(
        f"board hint `{text}`: `{piece}` is not understood; expected none, hex, square, up, down, map, goal, "
        "fluent=NAME, rows=N columns=N or a pattern such as (cell ?row ?column ?content)"
    )


def _pattern(text: str, piece: str) -> dict[str, object]:
    match = _FLUENT.fullmatch(piece)
    if not match:
        raise HintError(f"board hint `{text}`: expected a pattern such as (cell ?row ?column ?content)")
    names = [name.lower().removeprefix("?") for name in match[2].split()]
    found: dict[str, object] = {"functor": match[1], "arity": len(names)}
    for word in ("row", "column", "place"):
        if names.count(word) > 1:
            raise HintError(
                f"board hint `{text}`: ?{word} stands there {names.count(word)} times, once is right"
            )
        if word in names:
            found[word] = names.index(word)
    boards = tuple(index for index, name in enumerate(names) if name == "board")
    return {**found, "boards": boards} if boards else found
