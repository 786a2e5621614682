"""Rendering: the boards of a state as text, on the terminal, or as an array of pixels."""

from __future__ import annotations

from importlib.util import find_spec
from io import BytesIO
from typing import TYPE_CHECKING, Final

import numpy as np

from anygame.envs.sources import missing

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from anygame.game.showing import BoardView

#: What can be rendered here: pixels need what makes them of drawings.
RENDER_MODES: Final = ["ansi", "human", *(["rgb_array"] if find_spec("cairosvg") else [])]


def check_mode(mode: str | None) -> None:
    """Raise unless boards can be rendered so.

    Raises:
        MissingExtraError: pixels need cairosvg, which is not installed.
        ValueError: there is no such mode.
    """
    if mode == "rgb_array" and mode not in RENDER_MODES:
        raise missing("cairosvg", "cairosvg")
    if mode is not None and mode not in RENDER_MODES:
        raise ValueError(f"a render mode is one of {', '.join(RENDER_MODES)}, not {mode!r}")


def render(board: BoardView, mode: str | None) -> str | NDArray[np.uint8] | None:
    """Return a board as text (``ansi``) or pixels (``rgb_array``), or print it (``human``).

    Pixels are uint8 [rows, columns, 3]. A board without a grid has no drawing: its pixels are one white dot.
    """
    if mode == "ansi":
        return board.text()
    if mode == "human":
        print(board.text())
    return _pixels(board.svg(dark=False)) if mode == "rgb_array" else None


def _pixels(drawing: str) -> NDArray[np.uint8]:
    from cairosvg import svg2png
    from PIL import Image

    image = svg2png(bytestring=drawing.encode(), background_color="white")
    return np.asarray(Image.open(BytesIO(image)).convert("RGB"))
