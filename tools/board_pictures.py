"""Pictures of boards for the chapter about boards: ten games that are part of the package.

    python tools/board_pictures.py docs/guide/boards

Each picture shows a game after some random moves, and marks the last move. Every run makes the same moves.
The pictures are SVG files. The folder ``terminal`` has pictures of the boards as a terminal shows them.
"""

from __future__ import annotations

import argparse
from html import escape
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Final

from rich.style import Style
from rich.terminal_theme import SVG_EXPORT_THEME

import anygame
from anygame.boards import draw, picture, svg

if TYPE_CHECKING:
    from collections.abc import Sequence

    from anygame.boards import Picture

#: For each game, the number of joint moves before the state that is shown.
STEPS: Final = {
    "capture_chess": 9,
    "connect_four": 16,
    "copolymer": 14,
    "hex_pie": 24,
    "knights_tour": 9,
    "lights_out": 3,
    "line_chess": 7,
    "six_in_a_row": 20,
    "three_player_chomp": 2,
    "tic_tac_toe": 6,
}


#: Width and height in pixels of a character of a terminal.
_WIDTH: Final = 8.4
_HEIGHT: Final = 17
_MARGIN: Final = 8


def drawing(name: str) -> str:
    """Return the picture of a game as the text of an SVG file."""
    return svg(_shown(name))


def terminal(name: str) -> str:
    """Return the coloured board that a terminal shows, as the text of an SVG file."""
    lines = draw(_shown(name), colours=True)
    return screen([[(piece.text, piece.style) for piece in line] for line in lines])


def _shown(name: str) -> Picture:
    game = anygame.load(name, machine="reasoner", lenient=True)
    states, last = [game.initial_state()], None
    for last in game.playout(seed=1).moves[: STEPS[name]]:
        states.append(states[-1].next(last))
    return picture(states[-1], last=last, before=states[-2])


def screen(lines: Sequence[Sequence[tuple[str, str]]]) -> str:
    """Return lines of a terminal as SVG; each line has texts, each with a style of rich."""
    width = max((sum(len(text) for text, _ in line) for line in lines), default=0) * _WIDTH + 2 * _MARGIN
    height = len(lines) * _HEIGHT + 2 * _MARGIN
    drawn = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height}" '
        f'viewBox="0 0 {width:.0f} {height}" font-family="Menlo, Consolas, DejaVu Sans Mono, monospace" '
        f'font-size="14" fill="#c5c8c6">',
        '<rect width="100%" height="100%" rx="6" fill="#1c1e21"/>',
    ]
    for number, line in enumerate(lines):
        column = 0
        for style, pieces in groupby(line, key=lambda piece: piece[1]):
            text = "".join(text for text, _ in pieces)
            drawn += _written(text, Style.parse(style), _MARGIN + column * _WIDTH, number)
            column += len(text)
    return "\n".join([*drawn, "</svg>"]) + "\n"


def _written(text: str, style: Style, x: float, line: int) -> list[str]:
    """Return the SVG elements of a text at a place, with its background colour."""
    top, found = _MARGIN + line * _HEIGHT, []
    if style.bgcolor is not None:
        ground = style.bgcolor.get_truecolor(SVG_EXPORT_THEME).hex
        width = len(text) * _WIDTH
        found.append(f'<rect x="{x:.1f}" y="{top}" width="{width:.1f}" height="{_HEIGHT}" fill="{ground}"/>')
    if text.strip():
        paint = (
            f' fill="{style.color.get_truecolor(SVG_EXPORT_THEME).hex}"' if style.color is not None else ""
        )
        paint += ' font-weight="bold"' if style.bold else ""
        paint += ' opacity="0.6"' if style.dim else ""
        start = x + (len(text) - len(text.lstrip())) * _WIDTH
        words = text.strip()
        length = f' textLength="{len(words) * _WIDTH:.1f}"' if len(words) > 1 else ""
        found.append(
            f'<text x="{start:.1f}" y="{top + 13}" xml:space="preserve"{length}{paint}>{escape(words)}</text>'
        )
    return found


def main() -> None:
    """Write the files."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    (folder / "terminal").mkdir(parents=True, exist_ok=True)
    for name in STEPS:
        (folder / f"{name}.svg").write_text(drawing(name), encoding="utf-8")
        (folder / "terminal" / f"{name}.svg").write_text(terminal(name), encoding="utf-8")


if __name__ == "__main__":
    main()
