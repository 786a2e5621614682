"""What a role is told of a turn, as numbers that lanes can be compared with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from anygame.game.state import Observation
    from anygame.language.terms import Term
    from anygame.network.lanes import Lanes
    from anygame.search.lane_pool import LanePool


@dataclass(frozen=True, eq=False)
class Turn:
    """A joint move, as one role knows it.

    Attributes:
        own: the number of its action; None where that was not told.
        seen: bool [percepts].
        legal: bool [actions]; which are legal next; None where that is not known.
    """

    own: int | None
    seen: NDArray[np.bool_]
    legal: NDArray[np.bool_] | None

    def missed(self, pool: LanePool, lanes: Lanes, role: int) -> NDArray[np.int64]:
        """Return how much of what a role knows of the moves made last is otherwise: int64 [lanes]."""
        found = np.zeros(lanes.count, np.int64)
        if len(self.seen):
            found += (lanes.percepts()[role] != self.seen).sum(axis=1)
        if self.legal is not None:
            found += (pool.legal(lanes)[role] != self.legal).sum(axis=1)
        return found


class TurnReader:
    """Reads what a role is told.

    Args:
        actions: those of the role.
        percepts: what it may see.
    """

    def __init__(self, actions: Sequence[Term], percepts: Sequence[Term]) -> None:
        self._actions, self._percepts = _Numbers(actions), _Numbers(percepts)

    def read(self, observation: Observation) -> Turn | None:
        """Return what was told in numbers; None if some of it has no number, so that no state agrees."""
        own = None if observation.move is None else self._actions.get(observation.move)
        seen = self._percepts.mask(observation.percepts)
        legal = None if observation.legal is None else self._actions.mask(observation.legal)
        if seen is None or (own is None and observation.move is not None):
            return None
        if legal is None and observation.legal is not None:
            return None
        return Turn(own, seen, legal)


class _Numbers:
    """The numbers of terms, which managers may write in other letters."""

    def __init__(self, terms: Sequence[Term]) -> None:
        self._exact = {term: number for number, term in enumerate(terms)}
        self._folded = {str(term).lower(): number for number, term in enumerate(terms)}

    def get(self, term: Term) -> int | None:
        """Return the number of a term; None if it has none."""
        found = self._exact.get(term)
        return self._folded.get(str(term).lower()) if found is None else found

    def mask(self, terms: Sequence[Term]) -> NDArray[np.bool_] | None:
        """Return which terms are among those given; None if one of these has no number."""
        found = np.zeros(len(self._exact), np.bool_)
        for term in terms:
            number = self.get(term)
            if number is None:
                return None
            found[number] = True
        return found
