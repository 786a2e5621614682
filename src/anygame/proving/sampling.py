"""States of random play, which refute many properties at little cost."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Final

import numpy as np

from anygame.network.lanes import Lanes

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

    from anygame.network.kernels.kernel import Kernel
    from anygame.proving.model import Match, Model

#: Maximum number of truth values in memory: 64 MB.
_MOST_VALUES: Final = 1 << 26
_LANES: Final = 1024
_MOST_STEPS: Final = 1000
#: States that are evaluated together.
_AT_ONCE: Final = 4096


def random_play(kernel: Kernel, seed: int = 1) -> Iterator[tuple[NDArray[np.bool_], NDArray[np.int32]]]:
    """Yield the states of parallel games, bool [lanes, fluents], and the random joint moves made there.

    Joint moves are int32 [lanes, roles]: the number of the action of each role, -1 at an end.
    """
    lanes = Lanes(kernel, lanes_for(kernel.network.facts), seed)
    while True:
        states = lanes.observation()
        yield states, np.stack(lanes.step_random(), axis=1)


def lanes_for(fluents: int) -> int:
    """Return the number of parallel games."""
    return max(16, min(_LANES, _MOST_VALUES // (max(1, fluents) * 64)))


class Sample:
    """Random matches from the initial state: all states, and the moves that lead to them.

    Attributes:
        states: bool [states, fluents], with the initial state.
    """

    def __init__(self, play: Iterable[tuple[NDArray[np.bool_], NDArray[np.int32]]]) -> None:
        steps: list[NDArray[np.bool_]] = []
        self._choices: list[NDArray[np.int32]] = []
        self._going: list[NDArray[np.bool_]] = []
        size = 0
        for states, chosen in play:
            going: NDArray[np.bool_] = np.ones(len(states), np.bool_)
            if self._choices:
                going = np.asarray((self._choices[-1] >= 0).all(axis=1))
            size += states.size
            if not going.any() or len(steps) >= _MOST_STEPS or size > _MOST_VALUES:
                break
            steps.append(states)
            self._going.append(going)
            self._choices.append(chosen)
        #: Step and lane of each state.
        self._places = np.argwhere(np.stack(self._going))
        self.states = np.concatenate([s[g] for s, g in zip(steps, self._going, strict=True)])

    def parts(self) -> Iterator[slice]:
        """Yield the parts of the states that are evaluated together."""
        for first in range(0, len(self.states), _AT_ONCE):
            yield slice(first, first + _AT_ONCE)

    @property
    def longest(self) -> int:
        """The moves of the longest match."""
        return int(self._places[:, 0].max())

    def match(self, number: int, *, with_last: bool = False) -> Match:
        """Return the joint moves to a state, given by number; with ``with_last``, also the one made there."""
        step, lane = self._places[number].tolist()
        return tuple(tuple(choices[lane].tolist()) for choices in self._choices[: step + with_last])

    def moves(self, part: slice, model: Model) -> NDArray[np.bool_]:
        """Return the joint move made in each state of a part: bool [states, all actions].

        No action is marked in a state where a match ended.
        """
        places = self._places[part]
        made = np.zeros((len(places), len(model.legal)), np.bool_)
        for row, (step, lane) in enumerate(places.tolist()):
            if step < len(self._choices):
                for nodes, action in zip(model.moves_of, self._choices[step][lane].tolist(), strict=True):
                    if action >= 0:
                        made[row, nodes.start - model.first_action + action] = True
        return made

    def changes(self, *, rising: bool) -> NDArray[np.bool_]:
        """Return which fluents at least one step sets (``rising``), or else clears: bool [fluents]."""
        before, after = self.steps()
        return np.asarray((after & ~before if rising else before & ~after).any(axis=0))

    def steps(self) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Return the states before and after each step: bool [steps, fluents] each."""
        before, after = self._numbers
        return self.states[before], self.states[after]

    @cached_property
    def _numbers(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The numbers of the states before and after each step."""
        lanes = len(self._going[0])
        number = np.full((len(self._going), lanes), -1)
        number[self._places[:, 0], self._places[:, 1]] = np.arange(len(self._places))
        after = np.flatnonzero(self._places[:, 0] > 0)
        rows = self._places[after]
        return number[rows[:, 0] - 1, rows[:, 1]], after

    def first_repeat(self) -> tuple[int, int] | None:
        """Return the numbers of two equal states of one match, or None."""
        packed = np.packbits(self.states, axis=1)
        keys = np.concatenate(
            [self._places[:, 1:].astype("<u4").view(np.uint8).reshape(-1, 4), packed], axis=1
        )
        rows = np.ascontiguousarray(keys).view([("", keys.dtype)] * keys.shape[1]).ravel()
        _, first, inverse, counts = np.unique(
            rows, return_index=True, return_inverse=True, return_counts=True
        )
        again = np.flatnonzero((counts > 1)[inverse] & (first[inverse] != np.arange(len(rows))))
        if not len(again):
            return None
        best = again[np.argmin(self._places[again, 0])]
        return int(first[inverse[best]]), int(best)
