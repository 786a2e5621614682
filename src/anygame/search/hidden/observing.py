"""What roles observe, as numbers: two histories have the same key for a role where it cannot tell them apart.

A key is a hash of all that the role did and saw, so that information sets can be compared, and found in
tables, without holding histories.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from anygame.network.lanes import Lanes

    Keys = NDArray[np.uint64]

#: The constants of SplitMix64 (Steele, Lea and Flood 2014).
_STEP: Final = np.uint64(0x9E3779B97F4A7C15)
_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)


def mixed(values: Keys) -> Keys:
    """Return numbers whose bits all depend on all bits of those given."""
    values = values + _STEP
    values = (values ^ (values >> np.uint64(30))) * _FIRST
    values = (values ^ (values >> np.uint64(27))) * _SECOND
    return values ^ (values >> np.uint64(31))


def row_keys(rows: Keys) -> Keys:
    """Return a key for each row of words."""
    keys = np.zeros(len(rows), np.uint64)
    for column in rows.T:
        keys = mixed(keys ^ column)
    return keys


class ObservationKeys:
    """How the keys of all roles go on with a joint move.

    The role that believes has perfect recall. Of the others the order is left out in which they saw something
    between two choices: hands are the same in whatever order they were dealt, so that there are far fewer of
    them. Roles that draw at random need no key.

    Args:
        actions: how many each role has.
        percepts: how many terms each role can see.
        role: the one that believes, by number.
        deciders: the roles that choose, rather than draw, by number.
        is_hiding: whether roles know their own moves and what they see alone; else they know the state.
    """

    def __init__(
        self,
        actions: Sequence[int],
        percepts: Sequence[int],
        role: int,
        deciders: Sequence[int],
        *,
        is_hiding: bool,
    ) -> None:
        random = np.random.default_rng(len(actions))
        self._is_hiding = is_hiding
        self._role, self._deciders = role, deciders
        self._actions = [random.integers(0, 1 << 64, count, np.uint64) for count in actions]
        self._percepts = [random.integers(0, 1 << 64, count, np.uint64) for count in percepts]

    def at_start(self, states: NDArray[np.uint64]) -> Keys:
        """Return the keys of states in which a match begins: uint64 [states, roles]."""
        shape = len(states), len(self._actions)
        if self._is_hiding:
            return np.zeros(shape, np.uint64)
        return np.ascontiguousarray(np.broadcast_to(row_keys(states)[:, None], shape))

    def after(
        self,
        keys: Keys,
        chosen: Sequence[NDArray[np.int64]],
        choices: Sequence[NDArray[np.int64]],
        lanes: Lanes,
        places: NDArray[np.int64],
    ) -> Keys:
        """Return the keys behind a joint move.

        Args:
            keys: uint64 [places, roles].
            chosen: per role the action that was taken: [places].
            choices: per role how many actions there were: [places].
            lanes: those in which the moves have just been made.
            places: the lanes in question.
        """
        if not self._is_hiding:
            return self.at_start(lanes.packed()[places])
        found, percepts = np.zeros_like(keys), lanes.percepts()
        for role in self._deciders:
            told, terms = self._actions[role][chosen[role]], self._percepts[role]
            if len(terms):
                told = told ^ (percepts[role][places].astype(np.uint64) @ terms)
            told = mixed(told)
            in_order = mixed(keys[:, role] ^ told)
            if role != self._role:
                in_order = np.where(choices[role] > 1, in_order, keys[:, role] + told)
            found[:, role] = in_order
        return found
