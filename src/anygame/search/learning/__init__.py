"""Learning of a game's value network by self-play, from the rules alone."""

from __future__ import annotations

from typing import Final

#: Name of the file format in the header of a training checkpoint.
FORMAT: Final = "anygame learning 8"
#: Suffix of the file name of a training checkpoint.
SUFFIX: Final = ".learning"
MOST_THREADS: Final = 256
