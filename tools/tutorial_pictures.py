"""Pictures of the tutorial's board, each drawn with the part of the sheet above the picture.

python tools/tutorial_pictures.py docs/start/tutorial.md docs/start/tutorial
"""

from __future__ import annotations

import argparse
import re
from pathlib import Path
from typing import TYPE_CHECKING, Final

import anygame
from anygame.boards import picture, svg

if TYPE_CHECKING:
    from collections.abc import Sequence

    from anygame.language.terms import Term

_PIECE: Final = re.compile(r'^```lisp title="dominoes.kif"\n(.*?)^```$', re.MULTILINE | re.DOTALL)
_OPENING: Final = ("(lay 2 2)", "(lay 1 2)")


def sheet(chapter: str, name: str) -> str:
    """Return the part of the sheet that the tutorial has above the picture with this name."""
    before, shown, _ = chapter.partition(f"](tutorial/{name}.svg)")
    if not shown:
        raise ValueError(f"the tutorial does not show {name}.svg")
    return "\n".join(_PIECE.findall(before))


def drawing(chapter: str, name: str) -> str:
    """Return a picture of the tutorial as the text of an SVG file: ``board``, ``moves`` or ``end``."""
    game = anygame.loads(sheet(chapter, name), machine="reasoner")
    joints: list[Sequence[str | Term]] = []
    if name == "moves":
        for role, move in zip(game.roles, _OPENING, strict=True):
            joints.append([move if other == role else "noop" for other in game.roles])
    elif name == "end":
        joints += game.playout(seed=1).moves
    states = [game.initial_state()]
    for joint in joints:
        states.append(states[-1].next(joint))
    if not joints:
        return svg(picture(states[-1]))
    return svg(picture(states[-1], last=joints[-1], before=states[-2]))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("chapter", type=Path)
    parser.add_argument("folder", type=Path)
    options = parser.parse_args()
    options.folder.mkdir(exist_ok=True)
    for name in ("board", "moves", "end"):
        drawn = drawing(options.chapter.read_text(encoding="utf-8"), name)
        (options.folder / f"{name}.svg").write_text(drawn, encoding="utf-8")
