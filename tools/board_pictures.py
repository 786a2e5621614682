"""Pictures of boards for the chapter about them: ten of the games that come with the package.

    python tools/board_pictures.py docs/boards

Each is shown after some random moves, which are the same in every run, with marks for the last one.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Final

import anygame
from anygame.boards import picture, svg

#: Which state of each game is shown, by the number of joint moves that led there.
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


def drawing(name: str) -> str:
    """Return the picture of a game as the text of an SVG file."""
    game = anygame.load(name, machine="reasoner")
    states, last = [game.initial_state()], None
    for last in game.playout(seed=1).moves[: STEPS[name]]:
        states.append(states[-1].next(last))
    return svg(picture(states[-1], last=last, before=states[-2]))


def main() -> None:
    """Write the files."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    folder.mkdir(exist_ok=True)
    for name in STEPS:
        (folder / f"{name}.svg").write_text(drawing(name), encoding="utf-8")


if __name__ == "__main__":
    main()
