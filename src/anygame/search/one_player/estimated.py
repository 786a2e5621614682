"""States with estimates: what the searches that are led by them have in common."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from anygame.search.one_player.relaxation import ENDLESS
from anygame.search.one_player.visited import VisitedStates

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from anygame.search.one_player.incumbent import Incumbent
    from anygame.search.one_player.relaxation import Estimates, Relaxation
    from anygame.search.one_player.state_key import StateKey
    from anygame.search.one_player.successors import Successors

#: What a state takes besides its key, at most: its place in some queues.
_BYTES_OF_A_STATE: Final = 500


class Grown(NamedTuple):
    """New states that may lead to a better goal than the best that is known.

    Attributes:
        parents: int64 [n]; places among the states that were expanded.
        numbers: int64 [n]; their own.
        keys: uint64 [n, words of a key].
        estimates: of each.
        lost: bool [m, parts]; of the new states from which no better goal can be reached, the open parts.
    """

    parents: NDArray[np.int64]
    numbers: NDArray[np.int64]
    keys: NDArray[np.uint64]
    estimates: Estimates
    lost: NDArray[np.bool_]


class EstimatedStates:
    """Visited states, each reached by some line, of which those without hope are not kept.

    Args:
        successors: continues states.
        key: what of a state counts.
        relaxation: estimates states.
        incumbent: takes the lines that are found.
        method: what finds them.

    Attributes:
        root: the estimates of the first state, which has number 0.
    """

    def __init__(
        self,
        successors: Successors,
        key: StateKey,
        relaxation: Relaxation,
        incumbent: Incumbent,
        method: str,
    ) -> None:
        self._successors, self._key, self._relaxation = successors, key, relaxation
        self._incumbent, self._method = incumbent, method
        self._visited = VisitedStates(key.of(successors.root))
        self._depths = [0]
        self._rests = [key.rest(successors.root[0])]
        self.root = relaxation.estimate(successors.root, self._wanted())

    def __len__(self) -> int:
        return len(self._visited)

    @property
    def bytes(self) -> int:
        """Bytes of memory, about, with some more states."""
        visited = self._visited
        return visited.bytes_with(self._successors.width) + len(visited) * _BYTES_OF_A_STATE

    def _wanted(self) -> list[int]:
        """Return the places of the goals that are better than the best one known."""
        known = self._incumbent.goal
        return [place for place, goal in enumerate(self._relaxation.goals) if known is None or goal > known]

    def depths(self, numbers: NDArray[np.int64]) -> list[int]:
        """Return how many moves lead to some states."""
        return [self._depths[number] for number in numbers.tolist()]

    def expand(self, numbers: NDArray[np.int64]) -> Grown:
        """Continue states, at most as many as the successors take at a time, by every move."""
        successors = self._successors
        rests = np.array([self._rests[depth] for depth in self.depths(numbers)])
        states = self._key.restored(self._visited.at(numbers), rests)
        options = successors.options(states)
        made = [
            self._make(
                states,
                numbers,
                options.sources[at : at + successors.width],
                options.moves[at : at + successors.width],
            )
            for at in range(0, len(options.moves), successors.width)
        ]
        parents, found, states = (
            (np.concatenate([part[n] for part in made]) for n in range(3))
            if made
            else (np.zeros(0, np.int64), np.zeros(0, np.int64), states[:0])
        )
        estimates = self._relaxation.estimate(states, self._wanted())
        alive = np.flatnonzero(estimates.costs < ENDLESS)
        return Grown(
            parents[alive],
            found[alive],
            self._key.of(states[alive]),
            estimates.at(alive),
            estimates.open_parts[estimates.costs == ENDLESS],
        )

    def _make(
        self,
        states: NDArray[np.uint64],
        numbers: NDArray[np.int64],
        sources: NDArray[np.int64],
        moves: NDArray[np.int32],
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.uint64]]:
        """Make moves; return, of the new states, from which they came, their numbers, and themselves."""
        children = self._successors.children(states[sources], moves)
        depths = np.array(self.depths(numbers), np.int64)[sources] + 1
        line = partial(self._line, numbers[sources], moves)
        self._incumbent.offer(children, depths, self._method, line)
        on = np.flatnonzero(~children.ended)
        known = len(self._visited)
        first = on[self._visited.add(self._key.of(children.states[on]), numbers[sources[on]], moves[on])]
        self._depths += depths[first].tolist()
        for depth in np.unique(depths[first]).tolist():
            if depth == len(self._rests):
                child = first[int((depths[first] == depth).argmax())]
                self._rests.append(self._key.rest(children.states[child]))
        return sources[first], np.arange(known, len(self._visited)), children.states[first]

    def _line(self, numbers: NDArray[np.int64], moves: NDArray[np.int32], child: int) -> list[int]:
        return [*self._visited.line(int(numbers[child])), int(moves[child])]
