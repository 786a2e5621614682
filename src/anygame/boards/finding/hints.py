"""Board hints: comments in which the author of a sheet describes its boards.

A hint fills a comment line, anywhere in the sheet::

    ;; board: none                                       draw no board at all
    ;; board: hex                                        the one board is hexagonal
    ;; board: down                                       the first row is at the top
    ;; board: rows=1 columns=2                           argument 1 names the row, argument 2 the column
    ;; board: fluent=cell rows=1 columns=2 hex           ... of the fluent `cell`
    ;; board: (cell ?column ?row ?content)               a pattern of the arguments of `cell`
    ;; board: (mark ?board ?board ?row ?column ?content) several boards, side by side
    ;; board: goal red (a ?column) (i ?column)           the goal cells of a side: rows a and i

A hint can combine words. The shape is ``hex`` or ``square``. With ``up``, the first row is at the bottom;
with ``down``, it is at the top. If a hint has rows and columns, the first row is at the top unless the hint
has ``up``. Arguments are counted from 1. The arguments that name no row, column or board are the content of a
square. A fact without content marks its square. A side is a role or a colour. The patterns after a side match
the coordinates of goal cells.

A sheet can have a hint for each fluent. If hints name fluents, only these fluents are drawn.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_LINE: Final = re.compile(r"^[ \t]*[;%]+[ \t]*board:(.*)$", re.MULTILINE | re.IGNORECASE)
_PIECE: Final = re.compile(r"\([^()]*\)|[^\s()]+|[()]")
_FLUENT: Final = re.compile(r"\(\s*([^\s()?]+)((?:\s+\?[^\s()?]+)+)\s*\)")
_WORDS: Final[Mapping[str, dict[str, object]]] = {
    "hex": {"shape": "hex"}, "square": {"shape": "square"},
    "up": {"upwards": True}, "down": {"upwards": False}, "none": {"none": True},
}  # fmt: skip
_GOAL: Final = re.compile(r"goal\s+([^\s()]+)((?:\s*\([^()]+\))+)", re.IGNORECASE)
#: Maximum number of hints that are read.
_HINTS_LIMIT: Final = 16


class HintError(ValueError):
    """An error that says why a hint cannot be read."""


@dataclass(frozen=True, slots=True)
class Hint:
    """The parts of a hint; missing parts are None or empty. Arguments are counted from 0."""

    text: str
    #: Whether to draw no board.
    none: bool = False
    shape: str | None = None
    upwards: bool | None = None
    functor: str | None = None
    arity: int | None = None
    row: int | None = None
    column: int | None = None
    boards: tuple[int, ...] = ()
    #: The side whose goal cells the hint names; empty for a hint about boards.
    side: str = ""
    #: Patterns of goal cells; a variable matches any coordinate.
    goals: tuple[tuple[str, ...], ...] = ()


def read_hints(text: str) -> Iterator[Hint | HintError]:
    """Yield the hints of a sheet in order, and a HintError for each hint that cannot be read."""
    for count, match in enumerate(_LINE.finditer(text)):
        if count == _HINTS_LIMIT:
            yield HintError(f"more than {_HINTS_LIMIT} board hints: only the first {_HINTS_LIMIT} are used")
            return
        try:
            yield _read(match[1].strip())
        except HintError as fault:
            yield fault


def _read(text: str) -> Hint:
    if text.lower().partition(" ")[0] == "goal":
        match = _GOAL.fullmatch(text)
        if not match:
            raise HintError(f"board hint `{text}`: expected a side and cells, as in goal red (a ?column)")
        patterns = [tuple(pattern.strip("( ").split()) for pattern in match[2].split(")")[:-1]]
        return Hint(text, side=match[1], goals=tuple(patterns))
    parts: dict[str, object] = {}
    for piece in _PIECE.findall(text):
        for name, value in _meaning(text, piece).items():
            if parts.setdefault(name, value) != value:
                raise HintError(f"board hint `{text}`: two different values for {name}")
    if not parts:
        raise HintError("empty board hint: expected hex, none, rows=1 columns=2 or a pattern")
    if ("row" in parts) != ("column" in parts):
        raise HintError(f"board hint `{text}`: expected both rows and columns, as in rows=1 columns=2")
    if "row" in parts and parts["row"] == parts["column"]:
        raise HintError(f"board hint `{text}`: one argument cannot be both row and column")
    return Hint(text, **parts)  # type: ignore[arg-type]


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
        f"board hint `{text}`: `{piece}` is not understood; expected none, hex, square, up, down, goal, "
        "fluent=NAME, rows=N columns=N or a pattern such as (cell ?row ?column ?content)"
    )


def _pattern(text: str, piece: str) -> dict[str, object]:
    match = _FLUENT.fullmatch(piece)
    if not match:
        raise HintError(f"board hint `{text}`: expected a pattern such as (cell ?row ?column ?content)")
    names = [name.lower().removeprefix("?") for name in match[2].split()]
    parts: dict[str, object] = {"functor": match[1], "arity": len(names)}
    for word in ("row", "column"):
        if names.count(word) > 1:
            raise HintError(f"board hint `{text}`: ?{word} occurs {names.count(word)} times, expected once")
        if word in names:
            parts[word] = names.index(word)
    boards = tuple(index for index, name in enumerate(names) if name == "board")
    return {**parts, "boards": boards} if boards else parts
