"""What roles observe, as numbers that lanes can be compared with, and particles: states with what led there.

Two histories have the same key for a role where it cannot tell them apart. A key is a hash of all that the
role did and saw, so that information sets can be compared, and found in tables, without holding histories.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from anygame.game.state import Observation
    from anygame.language.terms import Term
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

    def missed(self, lanes: Lanes, role: int) -> NDArray[np.int64]:
        """Return how much of what a role knows of the moves made last is otherwise: int64 [lanes]."""
        found = np.zeros(lanes.count, np.int64)
        if len(self.seen):
            found += (lanes.percepts()[role] != self.seen).sum(axis=1)
        if self.legal is not None:
            found += (lanes.legal_by_role()[role] != self.legal).sum(axis=1)
        return found


class TurnReader:
    """Reads what a role is told."""

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


@dataclass(frozen=True, eq=False)
class Particles:
    """States side by side.

    Attributes:
        states: uint64 [n, words], a bit for each fluent.
        keys: uint64 [n, roles]; equal where a role has observed the same.
        weights: float [n], in all 1.
        moves: int32 [n, turns, roles], the actions that led from the start to each of them.
        choices: int32 [n, turns, roles], of how many actions those were drawn; 1 where they are known.
        before: int [n], by place the particles whose histories they continue; no longer needed when they have
            those, too.
    """

    states: NDArray[np.uint64]
    keys: NDArray[np.uint64]
    weights: NDArray[np.float64]
    moves: NDArray[np.int32]
    choices: NDArray[np.int32]
    before: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.states)

    @classmethod
    def joined(cls, parts: Sequence[Particles]) -> Particles:
        """Return all that are in the parts, with their weights as they are."""
        return cls(*map(np.concatenate, zip(*(vars(part).values() for part in parts), strict=True)))

    def taken(self, places: NDArray[np.int64], weights: NDArray[np.float64]) -> Particles:
        """Return those at some places, with other weights."""
        taken = {name: array[places] for name, array in vars(self).items()}
        return Particles(**taken | {"weights": weights})

    def following(self, earlier: Particles) -> Particles:
        """Return those that know their last turn alone with the histories of those before them."""
        return replace(
            self,
            moves=np.concatenate([earlier.moves[self.before], self.moves], axis=1),
            choices=np.concatenate([earlier.choices[self.before], self.choices], axis=1),
        )

    def without_histories(self) -> Particles:
        """Return them without their histories."""
        return replace(self, moves=self.moves[:, :0], choices=self.choices[:, :0])

    def drawn(self, count: int, random: np.random.Generator) -> Particles:
        """Return so many of them, drawn by their weights: systematic resampling, which varies least."""
        points = (np.arange(count) + random.random()) / count
        places = np.searchsorted(np.cumsum(self.weights), points).clip(0, len(self) - 1)
        return self.taken(places, np.full(count, 1 / count))

    def merged(self) -> Particles:
        """Return each state once, as far as the roles have observed the same."""
        marks = np.concatenate([self.states, self.keys], axis=1)
        _, first, group = np.unique(row_keys(marks), return_index=True, return_inverse=True)
        weights = np.bincount(group.reshape(-1), self.weights)
        return self.taken(first, weights / weights.sum())
