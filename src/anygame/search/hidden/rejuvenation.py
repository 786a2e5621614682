"""Moving particles: other histories that agree with all that was seen.

A particle filter loses variety with every turn, since only what agrees goes on: of the deals that were drawn
at first few are left when some cards have been played, and in the end none. So the histories of particles
are changed at random, and played anew from the start (Gilks and Berzuini, "Following a moving target",
2001). Steps are those of Metropolis and Hastings, so that in the long run each is met as often as it is
probable: a move that the role does not know becomes another one, or two such moves of a role change places,
or exchange an argument, as ``(deal north ace)`` and ``(deal east king)`` do their cards, these two alone or
all moves in which one of the cards stands. What has changed something more often is tried more often.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Final

import numpy as np

from anygame.language.terms import Compound
from anygame.search.hidden.observing import Particles

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from anygame.language.terms import Term
    from anygame.search.hidden.observing import ObservationKeys, Turn
    from anygame.search.lane_pool import LanePool

    Ids = NDArray[np.int64]

#: An action that nobody has.
NO_ACTION: Final = -1


class Exchanges:
    """Exchanges among the actions of a game.

    Attributes:
        kinds: per role int [actions], alike for actions of one name and as many arguments, and for all
            without any.
        arguments: the most that an action has.
    """

    def __init__(self, actions: Sequence[Sequence[Term]]) -> None:
        self._terms = [list(of_role) for of_role in actions]
        self._numbers = [{term: number for number, term in enumerate(of_role)} for of_role in actions]
        self.of_two = cache(self._of_two)
        self._everywhere: dict[tuple[Term, Term], list[Ids]] = {}
        self.kinds = [_kinds(of_role) for of_role in actions]
        self.arguments = max(
            (len(term.arguments) for of_role in actions for term in of_role if isinstance(term, Compound)),
            default=0,
        )

    def _of_two(self, role: int, first: int, second: int, argument: int) -> tuple[int, int]:
        """Return what becomes of two actions of a role and of one kind that exchange an argument."""
        one, other = self._terms[role][first], self._terms[role][second]
        mine, others = _argument(one, argument), _argument(other, argument)
        if mine is None or others is None:
            return NO_ACTION, NO_ACTION
        numbers = self._numbers[role]
        return (
            numbers.get(_with(one, argument, others), NO_ACTION),
            numbers.get(_with(other, argument, mine), NO_ACTION),
        )

    def everywhere(self, role: int, first: int, second: int, argument: int) -> list[Ids] | None:
        """Return what becomes of all actions, per role, when an argument of one and of another change places.

        Wherever one of the two stands the other is put, in whatever action. None if the two are the same.
        """
        terms = self._terms[role]
        mine, others = _argument(terms[first], argument), _argument(terms[second], argument)
        if mine is None or others is None or mine is others:
            return None
        key = (mine, others) if mine < others else (others, mine)
        if key not in self._everywhere:
            self._everywhere[key] = [
                np.array([numbers.get(_exchanged(term, *key), NO_ACTION) for term in of_role], np.int64)
                for of_role, numbers in zip(self._terms, self._numbers, strict=True)
            ]
        return self._everywhere[key]


def _kinds(actions: Sequence[Term]) -> Ids:
    names = [(term.functor, len(term.arguments)) if isinstance(term, Compound) else None for term in actions]
    order = {name: number for number, name in enumerate(dict.fromkeys(names))}
    return np.array([order[name] for name in names], np.int64)


def _argument(term: Term, argument: int) -> Term | None:
    """Return an argument of a term; None if it has not so many."""
    if not isinstance(term, Compound) or argument >= len(term.arguments):
        return None
    return term.arguments[argument]


def _with(term: Term, argument: int, new: Term) -> Term:
    """Return a term with another argument."""
    assert isinstance(term, Compound)
    arguments = list(term.arguments)
    arguments[argument] = new
    return Compound(term.functor, tuple(arguments))


def _exchanged(term: Term, one: Term, other: Term) -> Term:
    """Return a term with one in all places of the other, and the other way."""
    if term is one:
        return other
    if term is other:
        return one
    if not isinstance(term, Compound):
        return term
    return Compound(term.functor, tuple(_exchanged(argument, one, other) for argument in term.arguments))


#: As many tries of each proposal, one of which was accepted, are taken to have been made before.
_TRIES_BEFORE: Final = 50.0


@dataclass(frozen=True, slots=True)
class _Proposal:
    """A proposal of Metropolis and Hastings; the first of a list draws a move anew.

    Attributes:
        argument: the one that two moves exchange; None where they change places as a whole.
        is_everywhere: whether what is exchanged is so in all moves.
    """

    argument: int | None = None
    is_everywhere: bool = False


class Rejuvenation:
    """Changes of histories."""

    def __init__(
        self,
        actions: Sequence[Sequence[Term]],
        role: int,
        pool: LanePool,
        observing: ObservationKeys,
        random: np.random.Generator,
    ) -> None:
        self._exchanges = exchanges = Exchanges(actions)
        arguments = range(exchanges.arguments)
        proposals = [_Proposal(), _Proposal(), *map(_Proposal, arguments)]
        proposals += [_Proposal(argument, is_everywhere=True) for argument in arguments]
        self._proposals = proposals
        self._tried, self._changed = np.full(len(proposals), _TRIES_BEFORE), np.ones(len(proposals))
        self._role = role
        self._pool, self._observing, self._random = pool, observing, random

    def moved(
        self, particles: Particles, start: NDArray[np.uint64], turns: Sequence[Turn]
    ) -> tuple[Particles, int]:
        """Try to change the history of each particle, once.

        Args:
            particles: of equal weight.
            start: uint64 [words], the state in which all histories begin.
            turns: what was told since, a turn each.

        Returns:
            The particles, and how many of them have another history now.
        """
        is_hidden = np.ones(particles.moves.shape[1:], np.bool_)
        is_hidden[:, self._role] = [turn.own is None for turn in turns]
        likely = self._changed / self._tried
        tried = _Change(
            self._exchanges, self._proposals, likely / likely.sum(), particles, is_hidden, self._random
        )
        if not tried.is_possible:
            return particles, 0
        parts, changes = [], 0
        for part in self._pool.parts(len(particles)):
            old = np.arange(part.start, part.stop)
            found, agrees = self._played(start, turns, tried, old)
            taken = agrees & (np.log(self._random.random(len(old))) < tried.log_ratio(found, old))
            changed = taken & (found.moves != particles.moves[old]).any(axis=(1, 2))
            np.add.at(self._tried, tried.proposals[old], 1)
            np.add.at(self._changed, tried.proposals[old], changed)
            weights = particles.weights[old]
            kept = particles.taken(old, weights)
            both = Particles.joined([kept, found])
            parts.append(both.taken(np.where(taken, len(old), 0) + np.arange(len(old)), weights))
            changes += int(changed.sum())
        return Particles.joined(parts), changes

    def _played(
        self, start: NDArray[np.uint64], turns: Sequence[Turn], tried: _Change, places: Ids
    ) -> tuple[Particles, NDArray[np.bool_]]:
        """Play changed histories from the start; return where they lead, and which agree with all seen."""
        count = len(places)
        lanes = self._pool.holding(np.broadcast_to(start, (count, len(start))))
        keys = self._observing.at_start(lanes.packed()[:count])
        moves, choices = tried.moves[places].copy(), np.ones_like(tried.moves[places])
        agrees = np.ones(count, np.bool_)
        every = np.arange(count)
        for number, turn in enumerate(turns):
            agrees &= ~lanes.terminal[:count]
            counts = []
            for role, all_legal in enumerate(lanes.legal_by_role()):
                legal = all_legal[:count]
                drawn = np.flatnonzero(tried.is_drawn(places, number, role) & agrees)
                moves[drawn, number, role] = _picked(legal[drawn], self._random)
                chosen = moves[:, number, role]
                agrees &= (chosen >= 0) & legal[every, chosen]
                counts.append(legal.sum(axis=1))
                if role != self._role or turn.own is None:
                    choices[:, number, role] = counts[role]
            if not agrees.any():
                break
            made = [np.maximum(moves[:, number, role], 0).astype(np.int64) for role in range(moves.shape[2])]
            self._pool.step(lanes, made, agrees)
            agrees &= turn.missed(lanes, self._role)[:count] == 0
            keys = self._observing.after(keys, made, counts, lanes, every)
        return Particles(lanes.packed()[:count], keys, np.ones(count), moves, choices, places), agrees


class _Change:
    """What is tried with each particle.

    Attributes:
        moves: int32 [n, turns, roles], the histories that are tried, but for moves that are drawn meanwhile.
        proposals: int [n], by which of the proposals each is changed.
    """

    def __init__(
        self,
        exchanges: Exchanges,
        proposals: Sequence[_Proposal],
        likely: NDArray[np.float64],
        particles: Particles,
        is_hidden: NDArray[np.bool_],
        random: np.random.Generator,
    ) -> None:
        count, length, roles = particles.moves.shape
        every = np.arange(count)
        self.moves = particles.moves.copy()
        self._choices, self._roles, self._is_hidden = particles.choices, roles, is_hidden
        is_open = (particles.choices > 1).reshape(count, length * roles)
        self._first = _picked(is_open, random)
        # It is exchanged with any move of its kind, of which some were the only choice: the last card.
        kinds = np.stack([of_role[self.moves[:, :, role]] for role, of_role in enumerate(exchanges.kinds)], 2)
        kinds = np.where(is_hidden, kinds, NO_ACTION).reshape(count, length * roles)
        others = kinds == kinds[every, self._first][:, None]
        others &= np.arange(length * roles) % roles == (self._first % roles)[:, None]
        others[every, self._first] = False
        self._second = _picked(others, random)
        self.proposals = np.where(self._second >= 0, random.choice(len(proposals), count, p=likely), 0)
        self._exchanging = (self.proposals > 0) & (self._first >= 0)
        self._drawing = (self.proposals == 0) & (self._first >= 0)
        for place in np.flatnonzero(self._exchanging).tolist():
            self._exchange(exchanges, proposals[self.proposals[place]], place)

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

    def _exchange(self, exchanges: Exchanges, proposal: _Proposal, place: int) -> None:
        role = int(self._first[place]) % self._roles
        turns = int(self._first[place]) // self._roles, int(self._second[place]) // self._roles
        moves = self.moves[place]
        old = int(moves[turns[0], role]), int(moves[turns[1], role])
        if proposal.argument is None:
            moves[turns, role] = old[::-1]
        elif not proposal.is_everywhere:
            moves[turns, role] = exchanges.of_two(role, *old, proposal.argument)
        elif (changed := exchanges.everywhere(role, *old, proposal.argument)) is not None:
            for other, of_role in enumerate(changed):
                hidden = self._is_hidden[:, other]
                moves[hidden, other] = of_role[moves[hidden, other]]


def _picked(able: NDArray[np.bool_], random: np.random.Generator) -> Ids:
    """Return for each row one of the places that hold, all alike; -1 where none does."""
    ranks = np.cumsum(able, axis=1)
    if not able.shape[1]:
        return np.full(len(able), NO_ACTION)
    wanted = (random.random(len(able)) * ranks[:, -1]).astype(np.int64) + 1
    found: Ids = (ranks < wanted[:, None]).sum(axis=1)
    return np.where(found < able.shape[1], found, NO_ACTION)
