"""Random playouts that are asked for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable

#: The same bounds for all that play, so that what one refuses the other does too: counters of 64 bits; more
#: threads than any computer has cores; an array of lengths of 80 MB for each thread.
_BOUNDS: Final = {"playouts": (0, 1 << 60), "threads": (1, 4096), "limit": (0, 10_000_000)}


@dataclass(frozen=True, slots=True)
class PlayoutRequest:
    """Random playouts that are asked for. What they come to depends on all but threads and progress.

    Attributes:
        seed: of the random numbers; any integer.
        limit: joint moves after which a playout is given up.
        strict: whether a playout in which a role has no legal move ends all.
        progress: called about ten times a second with the number of playouts so far.
        card: the number of the graphics card that plays; None for a processor. What comes of it depends on
            whether it is a card, but not on which.
        blocks: which of the blocks to play that playouts are divided into, each with random numbers of its
            own; None for all. Tallies of different blocks add up.

    Raises:
        ValueError: a number is out of range.
    """

    playouts: int
    seed: int = 0
    threads: int = 1
    limit: int = 10_000
    strict: bool = False
    progress: Callable[[int], None] | None = None
    card: int | None = None
    blocks: range | None = None

    def __post_init__(self) -> None:
        for name, (least, most) in _BOUNDS.items():
            value = getattr(self, name)
            if not least <= value <= most:
                raise ValueError(f"{name} should be a number from {least} to {most}, not {value}")
