"""Moving particles: other ways to have come here that agree with all that was seen.

A particle filter loses variety with every turn, since only what agrees goes on: of the deals that were drawn
at first few are left when some cards have been played, and in the end none. So the ways by which particles
came are changed at random, and played anew from the start (Gilks and Berzuini, "Following a moving target",
2001). Steps are those of Metropolis and Hastings, so that in the long run each way is met as often as it is
probable: either a move that the role does not know becomes another one, or two such moves of a role exchange
an argument, as ``(deal north ace)`` and ``(deal east king)`` do their cards.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from anygame.language.terms import Compound
from anygame.search.hidden.particles import Particles

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from anygame.language.terms import Term
    from anygame.search.hidden.lane_pool import LanePool
    from anygame.search.hidden.observing import ObservationKeys
    from anygame.search.hidden.turns import Turn

    Ids = NDArray[np.int64]

__all__ = ["Rejuvenation"]

#: How many of the tries exchange two moves.
_EXCHANGING: Final = 0.5
#: An action that nobody has.
_NONE: Final = -1


class Rejuvenation:
    """Changes of histories.

    Args:
        actions: of all roles.
        role: the one that believes, by number.
        pool: lanes of the game.
        observing: how roles tell histories apart.
        random: the source of what is drawn.
    """

    def __init__(
        self,
        actions: Sequence[Sequence[Term]],
        role: int,
        pool: LanePool,
        observing: ObservationKeys,
        random: np.random.Generator,
    ) -> None:
        self._exchanges = [_Exchanges(of_role) for of_role in actions]
        self._role = role
        self._pool, self._observing, self._random = pool, observing, random

    def moved(
        self, particles: Particles, start: NDArray[np.uint64], turns: Sequence[Turn]
    ) -> tuple[Particles, int]:
        """Try to change the way of each particle, once.

        Args:
            particles: of equal weight.
            start: uint64 [words], the state in which all ways begin.
            turns: what was told since, a turn each.

        Returns:
            The particles, and how many of them have come another way now.
        """
        is_hidden = np.ones(particles.moves.shape[1:], np.bool_)
        is_hidden[:, self._role] = [turn.own is None for turn in turns]
        tried = _Change(self._exchanges, particles, is_hidden, self._random)
        if not tried.is_possible:
            return particles, 0
        parts, accepted = [], 0
        for part in self._pool.parts(len(particles)):
            old = np.arange(part.start, part.stop)
            found, agrees = self._played(start, turns, tried, old)
            likely = tried.log_ratio(found, old)
            taken = agrees & (np.log(self._random.random(len(old))) < likely)
            weights = particles.weights[old]
            kept = particles.taken(old, weights)
            both = Particles.joined([kept, found])
            parts.append(both.taken(np.where(taken, len(old), 0) + np.arange(len(old)), weights))
            accepted += int(taken.sum())
        return Particles.joined(parts), accepted

    def _played(
        self, start: NDArray[np.uint64], turns: Sequence[Turn], tried: _Change, places: Ids
    ) -> tuple[Particles, NDArray[np.bool_]]:
        """Play changed ways from the start; return where they lead, and which agree with what was told."""
        count = len(places)
        lanes = self._pool.holding(np.broadcast_to(start, (count, len(start))))
        keys = self._observing.at_start(lanes.packed()[:count])
        moves, choices = tried.moves[places].copy(), np.ones_like(tried.moves[places])
        agrees = np.ones(count, np.bool_)
        every = np.arange(count)
        for number, turn in enumerate(turns):
            agrees &= ~lanes.terminal[:count]
            counts = []
            for role, all_legal in enumerate(self._pool.legal(lanes)):
                legal = all_legal[:count]
                drawn = np.flatnonzero(tried.is_drawn(places, number, role) & agrees)
                moves[drawn, number, role] = self._drawn(legal[drawn])
                chosen = moves[:, number, role]
                agrees &= (chosen >= 0) & legal[every, chosen]
                counts.append(legal.sum(axis=1))
                if role != self._role or turn.own is None:
                    choices[:, number, role] = counts[role]
            if not agrees.any():
                break
            made = [np.maximum(moves[:, number, role], 0).astype(np.int64) for role in range(moves.shape[2])]
            self._pool.step(lanes, made, agrees)
            agrees &= self._pool.agrees(lanes, self._role, turn)[:count]
            keys = self._observing.after(keys, made, counts, lanes, every)
        return Particles(lanes.packed()[:count], keys, np.ones(count), moves, choices), agrees

    def _drawn(self, legal: NDArray[np.bool_]) -> Ids:
        """Return for each row one of the actions that are legal, all alike."""
        ranks = np.cumsum(legal, axis=1)
        wanted = (self._random.random(len(legal)) * ranks[:, -1]).astype(np.int64) + 1
        found: Ids = (ranks < wanted[:, None]).sum(axis=1)
        return np.where(found < legal.shape[1], found, _NONE)


class _Change:
    """What is tried with each particle.

    Attributes:
        moves: int32 [n, turns, roles], the ways that are tried, but for moves that are drawn on the way.
    """

    def __init__(
        self,
        exchanges: Sequence[_Exchanges],
        particles: Particles,
        is_hidden: NDArray[np.bool_],
        random: np.random.Generator,
    ) -> None:
        count, length, roles = particles.moves.shape
        every = np.arange(count)
        self.moves = particles.moves.copy()
        self._choices, self._roles = particles.choices, roles
        is_open = (particles.choices > 1).reshape(count, length * roles)
        self._first = _picked(is_open, random)
        # It is exchanged with any move of its kind, of which some were the only choice: the last card.
        kinds = np.stack([each.kinds[self.moves[:, :, role]] for role, each in enumerate(exchanges)], axis=2)
        kinds = np.where(is_hidden, kinds, _NONE).reshape(count, length * roles)
        others = kinds == kinds[every, self._first][:, None]
        others &= np.arange(length * roles) % roles == (self._first % roles)[:, None]
        others[every, self._first] = False
        self._second = _picked(others, random)
        exchanging = (random.random(count) < _EXCHANGING) & (self._second >= 0)
        self._drawing = (self._first >= 0) & ~exchanging
        self._exchanging = exchanging & (self._first >= 0)
        self._exchange(exchanges, random)

    @property
    def is_possible(self) -> bool:
        """Whether there is anything to change."""
        return bool((self._first >= 0).any())

    def is_drawn(self, places: Ids, turn: int, role: int) -> NDArray[np.bool_]:
        """Return for which particles a move is drawn from those that are legal."""
        drawn: NDArray[np.bool_] = self._drawing[places] & (self._first[places] == turn * self._roles + role)
        return drawn

    def log_ratio(self, found: Particles, places: Ids) -> NDArray[np.float64]:
        """Return the logarithm of how much more probable the new way and the try back are: float [places]."""
        before, after = self._choices[places], np.maximum(found.choices, 1)
        likely = np.log(before).sum(axis=(1, 2)) - np.log(after).sum(axis=(1, 2))
        back = self._log_tries(after, places) - self._log_tries(before, places)
        ratio: NDArray[np.float64] = np.where(self._first[places] >= 0, likely + back, -np.inf)
        return ratio

    def _log_tries(self, choices: NDArray[np.int32], places: Ids) -> NDArray[np.float64]:
        """Return the logarithm of how probable such a try is, but for what is the same on the way back."""
        is_open = (choices > 1).reshape(len(places), -1)
        either = np.stack([self._first[places], self._second[places]])
        ways = np.where(self._exchanging[places], is_open[np.arange(len(places)), either].sum(axis=0), 1)
        found: NDArray[np.float64] = np.log(np.maximum(ways, 1)) - np.log(np.maximum(is_open.sum(axis=1), 1))
        return found

    def _exchange(self, exchanges: Sequence[_Exchanges], random: np.random.Generator) -> None:
        draws = random.random(len(self._first))
        for place in np.flatnonzero(self._exchanging).tolist():
            role = int(self._first[place]) % self._roles
            turns = int(self._first[place]) // self._roles, int(self._second[place]) // self._roles
            argument = int(draws[place] * (exchanges[role].arguments + 1)) - 1
            old = [int(self.moves[place, turn, role]) for turn in turns]
            self.moves[place, turns, role] = exchanges[role].of(old[0], old[1], argument)


def _picked(able: NDArray[np.bool_], random: np.random.Generator) -> Ids:
    """Return for each row one of the places that hold, all alike; -1 where none does."""
    ranks = np.cumsum(able, axis=1)
    if not able.shape[1]:
        return np.full(len(able), _NONE)
    wanted = (random.random(len(able)) * ranks[:, -1]).astype(np.int64) + 1
    found: Ids = (ranks < wanted[:, None]).sum(axis=1)
    return np.where(found < able.shape[1], found, _NONE)


class _Exchanges:
    """Which actions come of two others of a role that exchange an argument.

    Attributes:
        arguments: the most that an action has.
        kinds: int [actions], alike for actions of one name and as many arguments, and for all without any.
    """

    def __init__(self, actions: Sequence[Term]) -> None:
        self._terms = list(actions)
        self._numbers = {term: number for number, term in enumerate(actions)}
        self._known: dict[tuple[int, int, int], tuple[int, int]] = {}
        self.arguments = max((len(t.arguments) for t in actions if isinstance(t, Compound)), default=0)
        names = [(t.functor, len(t.arguments)) if isinstance(t, Compound) else None for t in actions]
        order = {name: number for number, name in enumerate(dict.fromkeys(names))}
        self.kinds = np.array([order[name] for name in names], np.int64)

    def of(self, first: int, second: int, argument: int) -> tuple[int, int]:
        """Return the actions; where there are none, -1. Without an argument (-1) the moves change places."""
        if argument < 0:
            return second, first
        key = first, second, argument
        if key not in self._known:
            self._known[key] = self._find(first, second, argument)
        return self._known[key]

    def _find(self, first: int, second: int, argument: int) -> tuple[int, int]:
        one, other = self._terms[first], self._terms[second]
        if not isinstance(one, Compound) or not isinstance(other, Compound):
            return _NONE, _NONE
        if argument >= len(one.arguments):
            return _NONE, _NONE
        new = [
            Compound(
                to.functor, (*to.arguments[:argument], of.arguments[argument], *to.arguments[argument + 1 :])
            )
            for to, of in ((one, other), (other, one))
        ]
        return self._numbers.get(new[0], _NONE), self._numbers.get(new[1], _NONE)
