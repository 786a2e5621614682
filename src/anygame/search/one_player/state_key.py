"""What of a state counts when it is asked whether it was met before: less words, and fewer states."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from anygame.search.one_player.clock import find_clock
from anygame.search.one_player.influence import Influence

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from anygame.network.network import Network


class StateKey:
    """The part of a packed state by which it is compared; the rest depends on the number of moves alone.

    Args:
        mask: uint64 [words]; the bits that count.
        safe_goals: goals to which no line is lost, nor a shorter one, when of states with the same key the
            first one met stands for all; None for all goals.

    Attributes:
        words: of a key.
        safe_goals: as given.
        clock: bool [fluents]; those of a counter of steps that is left out.
    """

    def __init__(
        self,
        mask: NDArray[np.uint64],
        safe_goals: frozenset[int] | None = None,
        clock: NDArray[np.bool_] | None = None,
    ) -> None:
        self.clock = np.zeros(0, np.bool_) if clock is None else clock
        self._mask = mask
        self._places = np.flatnonzero(mask)
        if not len(self._places):
            self._places = np.zeros(1, np.int64)
        self.words = len(self._places)
        self.safe_goals = safe_goals

    @classmethod
    def whole(cls, words: int) -> StateKey:
        """Return the key that is all of a state of so many words."""
        return cls(np.full(words, ~np.uint64(0)))

    @classmethod
    def of_network(cls, network: Network, chooser: int, root: NDArray[np.uint64], *, clock: bool) -> StateKey:
        """Return a key for the states of a network.

        Args:
            network: the game.
            chooser: the index of the role that chooses.
            root: uint64 [1, words]; the first state.
            clock: whether to leave out a counter of steps too.
        """
        influence = Influence.of(network)
        counts = influence.relevant_fluents(chooser)
        safe: frozenset[int] | None = None
        left_out = np.zeros(network.fluents, np.bool_)
        if clock:
            start = np.unpackbits(root.view(np.uint8), bitorder="little")[: network.fluents].astype(np.bool_)
            found = find_clock(influence, chooser, start)
            if found.fluents.any():
                left_out, safe = found.fluents, found.safe_goals
        bits = np.zeros(root.shape[1] * 64, np.bool_)
        bits[: network.fluents] = counts & ~left_out
        return cls(np.packbits(bits, bitorder="little").view(np.uint64), safe, left_out)

    def is_safe(self, goal: float) -> bool:
        """Return whether no line to a goal is lost, nor a shorter one."""
        return self.safe_goals is None or goal in self.safe_goals

    def of(self, states: NDArray[np.uint64]) -> NDArray[np.uint64]:
        """Return the keys of states: uint64 [n, words of a key]."""
        return np.ascontiguousarray(states[:, self._places] & self._mask[self._places])

    def rest(self, state: NDArray[np.uint64]) -> NDArray[np.uint64]:
        """Return what a state has besides its key: uint64 [words]."""
        return state & ~self._mask

    def restored(self, keys: NDArray[np.uint64], rest: NDArray[np.uint64]) -> NDArray[np.uint64]:
        """Return states, uint64 [n, words], of these keys and rests, uint64 [words] or [n, words]."""
        states = np.array(np.broadcast_to(rest, (len(keys), rest.shape[-1])))
        states[:, self._places] |= keys
        return states
