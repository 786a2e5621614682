"""Random playouts: requests and results, in the same form for all machines."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

#: Minimum and maximum of each number in a request. Counters have 64 bits. Each thread has an array with an
#: entry for each possible length of a playout: up to 80 MB.
_BOUNDS: Final = {"playouts": (0, 1 << 60), "threads": (1, 4096), "limit": (0, 10_000_000)}


@dataclass(frozen=True, slots=True)
class PlayoutRequest:
    """A request for random playouts; see ``Game.simulate``. Raises ValueError for a number out of range.

    Attributes:
        card: the number of the graphics card; None for a processor.
        blocks: the range of blocks to play, each with its own random numbers; None for all blocks. The sum
            of the tallies of different blocks is the tally of all these blocks.
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
                raise ValueError(f"{name} must be from {least} to {most}, not {value}")


StuckT = TypeVar("StuckT")


@dataclass(slots=True)
class Tally(Generic[StuckT]):
    """Counts of random playouts. Lists are in the order of the roles.

    Attributes:
        goals: per role, the number of playouts for each goal, among playouts with exactly one integer goal.
        missing, double: per role, ``missing_goals`` and ``double_goals`` of ``SimulationResult``, which also
            explains the other counts.
        options: per role, the number of its legal moves, summed over all joint moves.
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
        """Return a tally with zero playouts, for a game with a number of ``roles``."""
        return cls([{} for _ in range(roles)], [0] * roles, [0] * roles, [0] * roles)

    def add(self, later: Tally[StuckT]) -> None:
        """Add the counts of later playouts."""
        for own, new in ((self.lengths, later.lengths), *zip(self.goals, later.goals, strict=True)):
            for value, count in new.items():
                own[value] = own.get(value, 0) + count
        for name in ("missing", "double", "options"):
            pairs = zip(getattr(self, name), getattr(later, name), strict=True)
            setattr(self, name, [a + b for a, b in pairs])
        for name in ("playouts", "states", "cut", "stuck", "abandoned"):
            setattr(self, name, getattr(self, name) + getattr(later, name))
        self.first_stuck = self.first_stuck or later.first_stuck
