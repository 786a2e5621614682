"""Observations of roles as arrays, keys of information sets, and particles: weighted states.

A key is a hash of all moves and percepts of a role. Two histories have the same key if the role cannot
distinguish them. So a search can look up information sets without storing histories.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from anygame.game.state import Observation
    from anygame.language.terms import Term
    from anygame.network.lanes import Lanes

    Keys = NDArray[np.uint64]

# The constants of SplitMix64 (Steele, Lea and Flood 2014).
_STEP: Final = np.uint64(0x9E3779B97F4A7C15)
_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)


def _mixed(values: Keys) -> Keys:
    """Return the hash of each number, by SplitMix64."""
    values = values + _STEP
    values = (values ^ (values >> np.uint64(30))) * _FIRST
    values = (values ^ (values >> np.uint64(27))) * _SECOND
    return values ^ (values >> np.uint64(31))


def row_keys(rows: Keys) -> Keys:
    """Return a hash of each row of words."""
    keys = np.zeros(len(rows), np.uint64)
    for column in rows.T:
        keys = _mixed(keys ^ column)
    return keys


class ObservationKeys:
    """Updates the keys of all roles after a joint move.

    The role of the belief has perfect recall. For any other role, the key ignores the order of percepts
    between two choices. A hand of cards then has the same key in every order of dealing, so there are far
    fewer keys. Random roles need no keys.

    Args:
        actions: number of actions of each role.
        percepts: number of percepts of each role.
        role: index of the role of the belief.
        deciders: indices of the roles that are not random.
        is_hiding: whether roles know only their own moves and percepts. Otherwise roles know the state.
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
        """Return the keys of initial states: uint64 [states, roles]."""
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
        """Return the keys after a joint move.

        Args:
            keys: uint64 [n, roles]; the keys before the move.
            chosen: for each role: the action taken in each of the n lanes.
            choices: for each role: the number of legal actions in each of the n lanes.
            lanes: the lanes, after the moves.
            places: int64 [n]; the numbers of the n lanes.
        """
        if not self._is_hiding:
            return self.at_start(lanes.packed()[places])
        new_keys, percepts = np.zeros_like(keys), lanes.percepts()
        for role in self._deciders:
            observed, terms = self._actions[role][chosen[role]], self._percepts[role]
            if len(terms):
                observed = observed ^ (percepts[role][places].astype(np.uint64) @ terms)
            observed = _mixed(observed)
            in_order = _mixed(keys[:, role] ^ observed)
            if role != self._role:
                in_order = np.where(choices[role] > 1, in_order, keys[:, role] + observed)
            new_keys[:, role] = in_order
        return new_keys


@dataclass(frozen=True, eq=False)
class Turn:
    """What one role observes of a joint move."""

    own: int | None  # the number of the role's action; None if it is unknown
    seen: NDArray[np.bool_]  # [percepts]; the percepts of the role
    legal: NDArray[np.bool_] | None  # [actions]; the role's legal actions in the next state, if known

    def agrees(self, lanes: Lanes, role: int) -> NDArray[np.bool_]:
        """Return for each lane whether its last joint move agrees with the observation of the role."""
        agrees = np.ones(lanes.count, np.bool_)
        if len(self.seen):
            agrees &= (lanes.percepts()[role] == self.seen).all(axis=1)
        if self.legal is not None:
            agrees &= (lanes.legal_by_role()[role] == self.legal).all(axis=1)
        return agrees


class TurnReader:
    """Translates observations to turns."""

    def __init__(self, actions: Sequence[Term], percepts: Sequence[Term]) -> None:
        self._actions, self._percepts = _Numbers(actions), _Numbers(percepts)

    def read(self, observation: Observation) -> Turn | None:
        """Return the turn; None if a term is unknown, because then no state agrees with the observation."""
        move, legal = observation.move, observation.legal
        try:
            return Turn(
                own=None if move is None else self._actions.of(move),
                seen=self._percepts.mask(observation.percepts),
                legal=None if legal is None else self._actions.mask(legal),
            )
        except KeyError:
            return None


class _Numbers:
    """Numbers of terms. A failed look-up is repeated without regard to case: managers can change case."""

    def __init__(self, terms: Sequence[Term]) -> None:
        self._exact = {term: number for number, term in enumerate(terms)}
        self._folded = {str(term).lower(): number for number, term in enumerate(terms)}

    def of(self, term: Term) -> int:
        return self._exact[term] if term in self._exact else self._folded[str(term).lower()]

    def mask(self, terms: Sequence[Term]) -> NDArray[np.bool_]:
        mask = np.zeros(len(self._exact), np.bool_)
        mask[[self.of(term) for term in terms]] = True
        return mask


@dataclass(frozen=True, eq=False)
class Particles:
    """Weighted states."""

    states: NDArray[np.uint64]  # [n, words]; packed states
    keys: NDArray[np.uint64]  # [n, roles]; see ``ObservationKeys``
    weights: NDArray[np.float64]  # [n]; normalised only in the result of ``merged``

    def __len__(self) -> int:
        return len(self.states)

    @classmethod
    def joined(cls, parts: Sequence[Particles]) -> Particles:
        """Concatenate particles."""
        return cls(*map(np.concatenate, zip(*(vars(part).values() for part in parts), strict=True)))

    def taken(self, places: NDArray[np.int64], weights: NDArray[np.float64]) -> Particles:
        """Return the particles with the given indices, with new weights."""
        return Particles(self.states[places], self.keys[places], weights)

    def resampled(self, count: int, random: np.random.Generator) -> Particles:
        """Sample particles in proportion to their weights, by systematic resampling."""
        points = (np.arange(count) + random.random()) / count
        places = np.searchsorted(np.cumsum(self.weights), points).clip(0, len(self) - 1)
        return self.taken(places, np.full(count, 1 / count))

    def merged(self) -> Particles:
        """Merge particles with equal states and equal keys, and normalise the weights."""
        marks = np.concatenate([self.states, self.keys], axis=1)
        _, first, group = np.unique(row_keys(marks), return_index=True, return_inverse=True)
        weights = np.bincount(group.reshape(-1), self.weights)
        return self.taken(first, weights / weights.sum())
