"""Random playouts: what is asked for, and what is counted, whichever machine plays them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final, Generic, TypeVar

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


StuckT = TypeVar("StuckT")
OtherT = TypeVar("OtherT")


@dataclass(slots=True)
class Tally(Generic[StuckT]):
    """What happened in random playouts. All counts are exact; lists are in the order of the roles.

    Attributes:
        goals: how many playouts ended with which value as the only one.
        missing: how many ended without a usable goal value: none, or none that is an integer.
        double: how many ended with several values.
        options: numbers of legal moves, added up over the joint moves made.
        lengths: how many playouts ended after so many joint moves.
        playouts: how many ended by the rules; goals and lengths are about these alone.
        states: joint moves made, in all playouts that were started.
        cut: how many reached the limit of moves and were given up.
        stuck: how many were given up since a role had no legal move in a state that is not terminal.
        abandoned: how many were under way when an interrupt stopped them.
        first_stuck: the first playout that got stuck; None where there is none, or after an interrupt where
            finding it would take long.
        interrupted: whether fewer playouts were ended than asked for.
        seconds: how long it took, compilation excluded.
        threads: how many cores were used.
    """

    goals: list[dict[int, int]]
    missing: list[int]
    double: list[int]
    options: list[int]
    lengths: dict[int, int] = field(default_factory=dict)
    playouts: int = 0
    states: int = 0
    cut: int = 0
    stuck: int = 0
    abandoned: int = 0
    first_stuck: StuckT | None = None
    interrupted: bool = False
    seconds: float = 0.0
    threads: int = 1

    @classmethod
    def empty(cls, roles: int) -> Tally[StuckT]:
        """Return the tally of no playouts of a game with so many roles."""
        return cls([{} for _ in range(roles)], [0] * roles, [0] * roles, [0] * roles)

    def add(self, later: Tally[StuckT]) -> None:
        """Add the counts of playouts that come after these."""
        for known, new in ((self.lengths, later.lengths), *zip(self.goals, later.goals, strict=True)):
            for value, count in new.items():
                known[value] = known.get(value, 0) + count
        for name in ("missing", "double", "options"):
            setattr(
                self, name, [a + b for a, b in zip(getattr(self, name), getattr(later, name), strict=True)]
            )
        for name in ("playouts", "states", "cut", "stuck", "abandoned"):
            setattr(self, name, getattr(self, name) + getattr(later, name))
        self.first_stuck = self.first_stuck or later.first_stuck

    def with_first_stuck(self, stuck: OtherT | None) -> Tally[OtherT]:
        """Return the same counts with another account of the first playout that got stuck."""
        return replace(self, first_stuck=stuck)  # type: ignore[return-value, arg-type]
