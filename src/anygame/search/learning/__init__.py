"""Learning of a value network for a game, by self-play from the rules alone."""

from __future__ import annotations

from typing import Final

#: Format name in the header of training checkpoints, and the suffix of their file names.
FORMAT: Final = "anygame learning 7"
SUFFIX: Final = ".learning"
#: Maximum number of threads of a training. Each has its own games, weights and random generator.
MOST_THREADS: Final = 256
