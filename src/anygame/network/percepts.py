"""Percepts as fluents: what roles see of a joint move (GDL-II) is remembered until the next one.

GDL-II and its percepts are Thielscher's ("A General Game Description Language for Incomplete Information
Games", AAAI 2010). As fluents, the kernels compute them like all else that follows a move.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence, Sized

    from numpy.typing import NDArray

    from anygame.network.network import Network


def with_percepts(network: Network, percepts: Sequence[Sized]) -> Network:
    """Return a network in which what can be seen are fluents, behind the others.

    Args:
        network: one whose ``next`` has a literal for each percept behind those of the fluents.
        percepts: what each role can see.
    """
    counts = tuple(map(len, percepts))
    added = sum(counts)
    first_moved = 2 * network.first_action

    def moved(literals: NDArray[np.int32]) -> NDArray[np.int32]:
        return np.where(literals < first_moved, literals, literals + 2 * added).astype(np.int32)

    def moved_one(literal: int) -> int:
        return literal if literal < first_moved else literal + 2 * added

    return replace(
        network,
        fluents=network.fluents + added,
        inputs=moved(network.inputs),
        initial=np.concatenate([network.initial, np.zeros(added, np.bool_)]),
        legal=moved(network.legal),
        terminal=moved_one(network.terminal),
        goals=tuple(tuple((value, moved_one(bit)) for value, bit in role) for role in network.goals),
        next=moved(network.next),
        percepts=counts,
    )
