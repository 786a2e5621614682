"""Lines of pieces, each a text with a style; what is drawn consists of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece of a line: a text and how a terminal shows it (a style of rich, empty for none)."""

    text: str
    style: str = ""


#: The pieces of a line, from left to right.
Line = list[Piece]


def plain_text(lines: Iterable[Line]) -> str:
    """Return lines as plain text."""
    return "\n".join("".join(piece.text for piece in line).rstrip() for line in lines)
