"""Learning: a network for a game, from the rules alone, by self-play."""

from __future__ import annotations

from typing import Final

#: The format of checkpoints of trainings, and their suffix.
FORMAT: Final = "anygame learning 7"
SUFFIX: Final = ".learning"
#: Upper bound of threads: each has games, weights and random numbers of its own.
MOST_THREADS: Final = 256
