"""Pool of lanes for batches of states. Lanes of each size are created once and reused."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from anygame.network.lanes import Lanes

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from anygame.network.kernels.kernel import Kernel

    States = NDArray[np.uint64]
    Ids = NDArray[np.int64]

#: Maximum number of states in lanes at a time. Larger batches are not faster.
MOST_LANES: Final = 8_192
_BLOCK: Final = 512


class LanePool:
    """Reusable lanes of one game, in sizes that are powers of two."""

    def __init__(self, kernel: Kernel, seed: int = 0) -> None:
        self._kernel = kernel
        self._seed = seed
        self._made: dict[int, Lanes] = {}

    def holding(self, states: States) -> Lanes:
        """Return lanes that hold the given states. Surplus lanes have the last state."""
        size = _BLOCK
        while size < len(states):
            size *= 2
        if size not in self._made:
            self._made[size] = Lanes(self._kernel, size, self._seed)
        lanes = self._made[size]
        padding = np.broadcast_to(states[-1:], (size - len(states), states.shape[1]))
        lanes.load_packed(np.concatenate([states, padding]))
        return lanes

    def parts(self, count: int) -> Iterator[slice]:
        """Yield slices of at most MOST_LANES states that together cover ``count`` states."""
        for first in range(0, count, MOST_LANES):
            yield slice(first, min(count, first + MOST_LANES))

    def step(self, lanes: Lanes, chosen: Sequence[Ids]) -> None:
        """Make joint moves, given as actions per role. Surplus lanes copy the last joint move."""
        lanes.step(
            [np.concatenate([moves, np.full(lanes.count - len(moves), moves[-1])]) for moves in chosen]
        )


def legal_choices(legal: NDArray[np.bool_]) -> tuple[Ids, Ids, Ids]:
    """Return the legal actions of all lanes, and for each lane the first index and the number of actions."""
    counts = legal.sum(axis=1).astype(np.int64)
    return np.nonzero(legal)[1].astype(np.int64), np.cumsum(counts) - counts, counts


def joint_choices(options: Sequence[tuple[Ids, Ids, Ids]]) -> tuple[Ids, list[Ids]]:
    """Return, for every joint move of every lane, the lane and the action of each role.

    ``options`` has the result of ``legal_choices`` for each role. From one joint move to the
    next, the action of the first role changes fastest.
    """
    joints = np.prod([counts for _, _, counts in options], axis=0, dtype=np.int64)
    source = np.repeat(np.arange(len(joints)), joints)
    rest = np.arange(len(source)) - (np.cumsum(joints) - joints)[source]
    chosen = []
    for actions, first, counts in options:
        chosen.append(actions[first[source] + rest % counts[source]] if len(source) else source)
        rest = rest // counts[source] if len(source) else rest
    return source, chosen
