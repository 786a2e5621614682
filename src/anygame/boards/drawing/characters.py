"""Characters: what stands for each kind of things on a board of text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from anygame.boards.drawing.lines import Piece
from anygame.boards.drawing.styles import style_of
from anygame.boards.names import GLYPHS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from anygame.boards.drawing.pictures import Look

_STONES: Final = "●○▲△■□◆◇"
#: What fills its cell.
_BLOCKS: Final = "▒░▓"
#: Things in black and white stand on light and dark squares.
_BODIES: Final = {"black": "bold #000000", "white": "bold #ffffff"}


def characters_of(looks: Iterable[Look], *, colours: bool) -> dict[Look, Piece]:
    """Return what stands for each look: its symbol; with colours also stones, and the pieces of chess."""
    looks = list(looks)
    if not colours:
        return {look: Piece(look.symbol) for look in looks}
    found = {look: Piece(look.symbol, style_of(look.colour)) for look in looks}
    for look in looks:
        if look.figure and look.colour:
            style = _BODIES.get(look.colour, f"bold {style_of(look.colour)}")
            found[look] = Piece(GLYPHS[look.figure][0], style)
    # Stones differ in form too; white ones, which come last of two, are open.
    stones = [look for look in looks if look.form in ("stone", "mark")]
    stones.sort(key=lambda look: look.colour == "white")
    blocks = [look for look in looks if look.form == "block"]
    found |= {look: Piece(fill, style_of(look.colour)) for look, fill in zip(blocks, _BLOCKS, strict=False)}
    forms = zip(stones, _STONES, strict=False)
    return found | {look: Piece(form, style_of(look.colour)) for look, form in forms}
