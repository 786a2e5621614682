"""Lanes that hold states, by the number that is needed: made once, and used again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from anygame.errors import PositionError
from anygame.network.lanes import Lanes

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from anygame.game.game import Game
    from anygame.game.state import State
    from anygame.network.kernels.kernel import Kernel

    States = NDArray[np.uint64]
    Ids = NDArray[np.int64]

#: Lanes that step at once: more are no faster, and take memory.
MOST_LANES: Final = 8_192
_BLOCK: Final = 512


class LanePool:
    """Lanes of one game."""

    def __init__(self, kernel: Kernel, seed: int = 0) -> None:
        self._kernel = kernel
        self._seed = seed
        self._made: dict[int, Lanes] = {}

    def holding(self, states: States) -> Lanes:
        """Return lanes whose first ones are in these states; the others are in the last of them."""
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
        """Yield slices of so many states, each with as many as fit into lanes at once."""
        for first in range(0, count, MOST_LANES):
            yield slice(first, min(count, first + MOST_LANES))

    def step(self, lanes: Lanes, chosen: Sequence[Ids], going: NDArray[np.bool_] | None = None) -> None:
        """Make joint moves in the first lanes; the others do what the last of those does.

        Args:
            lanes: the lanes.
            chosen: per role the action in each of the first lanes.
            going: in which of the first lanes moves are made at all, and then in no others; None for all.
        """
        mask = None
        if going is not None:
            mask = np.concatenate([going, np.zeros(lanes.count - len(going), np.bool_)])
        lanes.step(
            [np.concatenate([moves, np.full(lanes.count - len(moves), moves[-1])]) for moves in chosen], mask
        )


def packed_state(game: Game, state: State) -> States:
    """Return a state with a bit for each fluent: uint64 [1, words].

    Raises:
        LimitError: the game has no network.
        PositionError: play does not lead to the state, and the network cannot hold it.
    """
    position = state.position_in(game.backends.needed_network())
    if position is None:
        raise PositionError("the network of the game cannot hold this state, since no play leads there")
    bits = np.zeros(64 * max(1, -(-len(position) // 64)), np.bool_)
    bits[: len(position)] = np.frombuffer(position, np.bool_)
    return np.packbits(bits, bitorder="little").view(np.uint64)[None]


def legal_choices(legal: NDArray[np.bool_]) -> tuple[Ids, Ids, Ids]:
    """Return the legal actions of all lanes, lane after lane; where those of each begin; and how many."""
    counts = legal.sum(axis=1).astype(np.int64)
    return np.nonzero(legal)[1].astype(np.int64), np.cumsum(counts) - counts, counts


def joint_choices(options: Sequence[tuple[Ids, Ids, Ids]]) -> tuple[Ids, list[Ids]]:
    """Return, for every joint move of every lane, the lane and the action of each role.

    Args:
        options: per role what ``legal_choices`` returns; the action of the first one changes fastest.
    """
    joints = np.prod([counts for _, _, counts in options], axis=0, dtype=np.int64)
    source = np.repeat(np.arange(len(joints)), joints)
    rest = np.arange(len(source)) - (np.cumsum(joints) - joints)[source]
    chosen = []
    for actions, first, counts in options:
        chosen.append(actions[first[source] + rest % counts[source]] if len(source) else source)
        rest = rest // counts[source] if len(source) else rest
    return source, chosen
