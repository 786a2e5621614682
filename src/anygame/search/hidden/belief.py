"""Belief: the states in which a match may be, as far as one role can tell, with their probabilities.

States are carried side by side, with what each role has observed on the way there. A turn moves each of them
on by every joint move that could have been made, and what the role would have seen otherwise is dropped.
Chance draws its moves alike, and so, for want of better knowledge, do the others. As long as they fit, these
are all states with their exact probabilities; beyond, a particle filter (Gordon, Salmond and Smith, "Novel
approach to nonlinear/non-Gaussian Bayesian state estimation", 1993). Where no particle is left, the match is
played again from its start, under the constraint of all that was seen.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate, pairwise
from time import monotonic
from typing import TYPE_CHECKING, Final

import numpy as np

from anygame.network.lanes import Lanes
from anygame.search.hidden.lane_pool import LanePool, legal_choices
from anygame.search.hidden.observing import ObservationKeys, row_keys

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from anygame.game.game import Game
    from anygame.game.role_view import Observation, RoleView
    from anygame.game.roles import Role
    from anygame.language.terms import Term

__all__ = ["MOST_STATES", "Belief", "Particles"]

#: States that are carried: some hundredths of a second a turn, and far more than games of cards need.
MOST_STATES: Final = 16_384
#: Joint moves that are tried for all of them in one turn; where there are more, some are drawn.
_MOST_JOINTS: Final = 131_072
#: Draws for each state to be found, while most of them contradict what was seen.
_ROUNDS: Final = 16
#: Ways from the start, where no way has led to what was seen.
_MOST_REPLAYS: Final = 30


@dataclass(frozen=True, eq=False)
class Particles:
    """States side by side.

    Attributes:
        states: uint64 [n, words], a bit for each fluent.
        keys: uint64 [n, roles]; equal where a role has observed the same.
        weights: float [n], in all 1.
    """

    states: NDArray[np.uint64]
    keys: NDArray[np.uint64]
    weights: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.states)

    def drawn(self, count: int, random: np.random.Generator) -> Particles:
        """Return so many of them, drawn by their weights: systematic resampling, which varies least."""
        points = (np.arange(count) + random.random()) / count
        chosen = np.searchsorted(np.cumsum(self.weights), points).clip(0, len(self) - 1)
        return Particles(self.states[chosen], self.keys[chosen], np.full(count, 1 / count))

    def merged(self) -> Particles:
        """Return each of them once."""
        marks = np.concatenate([self.states, self.keys], axis=1)
        _, first, group = np.unique(row_keys(marks), return_index=True, return_inverse=True)
        weights = np.bincount(group.reshape(-1), self.weights)
        return Particles(self.states[first], self.keys[first], weights / weights.sum())


class Belief:
    """What a role believes.

    Args:
        game: the rules, which must have a network that knows percepts.
        role: who believes.
        seed: of what is drawn.
        most: states that are carried at most.

    Attributes:
        particles: the states; None where none agrees with what was seen.
        is_exact: whether they are all states that agree, each with its probability.

    Raises:
        LimitError: there is no such network.
    """

    def __init__(self, game: Game, role: Role, seed: int = 0, *, most: int = MOST_STATES) -> None:
        self._game = game
        self._role = game.role_index(role)
        self._machine = machine = game.backends.needed_network()
        machine.check_percepts(game.name)
        self._random = np.random.default_rng(seed)
        self._most = most
        self._kernel = machine.percept_kernel or machine.kernel
        self.pool = LanePool(self._kernel, seed)
        actions = list(map(len, machine.compiled.actions))
        percepts = list(map(len, machine.compiled.percepts))
        self.observing = ObservationKeys(actions, percepts, is_hiding=game.is_gdl2)
        self._ends = [0, *accumulate(actions)]
        self._actions = [_Numbers(moves) for moves in machine.compiled.actions]
        self._terms = _Numbers(machine.compiled.percepts[self._role])
        self._view: RoleView | None = None
        self.particles: Particles | None = None
        self.is_exact = False

    def follow(self, view: RoleView, deadline: float) -> None:
        """Take in what the role knows by now.

        Args:
            view: all that it knows of the match.
            deadline: when to stop looking for states, as `time.monotonic` counts.
        """
        known = self._view
        self._view = view
        if known is None or view.start != known.start or not _begins(view, known):
            self._begin(view)
            fresh = view.observations
        else:
            fresh = view.observations[len(known.observations) :]
        for observation in fresh:
            if self.particles is not None:
                self._observe(observation, deadline)
        replays = 0
        # Where all states were tried, there are none.
        while self.particles is None and not self.is_exact and replays < _MOST_REPLAYS:
            if monotonic() >= deadline:
                break
            self._replay(view, deadline)
            replays += 1

    def leave_out_ends(self) -> None:
        """Leave out states in which the match is over: who is asked for a move knows that it is not."""
        particles = self.particles
        if particles is None:
            return
        going = np.ones(len(particles), np.bool_)
        for part in self.pool.parts(len(particles)):
            going[part] = ~self.pool.holding(particles.states[part]).terminal[: part.stop - part.start]
        if going.any() and not going.all():
            weights = particles.weights[going]
            self.particles = Particles(
                particles.states[going], particles.keys[going], weights / weights.sum()
            )

    def weight_of_legal(self) -> NDArray[np.float64]:
        """Return, for each action of the role, how probable it is that it is legal: float [actions]."""
        assert self.particles is not None
        found = np.zeros(len(self._machine.compiled.actions[self._role]))
        for part in self.pool.parts(len(self.particles)):
            lanes = self.pool.holding(self.particles.states[part])
            weights = self.particles.weights[part]
            found += weights @ self.legal(lanes)[self._role][: len(weights)]
        return found

    def legal(self, lanes: Lanes) -> list[NDArray[np.bool_]]:
        """Return per role which actions are legal: bool [lanes, actions]."""
        legal = lanes.legal()
        return [legal[:, first:end] for first, end in pairwise(self._ends)]

    # -- turns -------------------------------------------------------------------------------------

    def _begin(self, view: RoleView) -> None:
        lanes = Lanes(self._kernel, 1)
        position = view.start.position_in(self._machine)
        self.is_exact = True
        self.particles = None
        if position is not None:
            lanes.set(0, np.frombuffer(position, np.bool_))
            states = lanes.packed()
            self.particles = Particles(states, self.observing.at_start(states), np.ones(1))

    def _replay(self, view: RoleView, deadline: float) -> None:
        self._begin(view)
        for observation in view.observations:
            if self.particles is None:
                return
            if monotonic() > deadline:
                self.particles, self.is_exact = None, False
                return
            self._observe(observation, deadline)

    def _observe(self, observation: Observation, deadline: float) -> None:
        """Go on by a turn."""
        assert self.particles is not None
        own = None if observation.move is None else self._actions[self._role].get(observation.move)
        told = self._told(observation)
        if told is None or (own is None and observation.move is not None):
            self.particles = None
            return
        options = self._options(self.particles, own)
        joints = np.prod([counts.astype(np.float64) for _, _, counts in options], axis=0)
        if joints.sum() <= _MOST_JOINTS:
            found = self._expanded(self.particles, options, joints.astype(np.int64), told)
        else:
            self.is_exact = False
            found = self._sampled(options, joints > 0, told, deadline)
        if found is None:
            self.particles = None
            return
        found = found.merged()
        if len(found) > self._most:
            self.is_exact = False
            found = found.drawn(self._most, self._random).merged()
        self.particles = found

    def _options(
        self, particles: Particles, own: int | None
    ) -> list[tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]]:
        """Return what each role could do in each state; nothing where the match is over."""
        legal = np.zeros((len(particles), self._ends[-1]), np.bool_)
        for part in self.pool.parts(len(particles)):
            lanes = self.pool.holding(particles.states[part])
            count = part.stop - part.start
            legal[part] = lanes.legal()[:count] & ~lanes.terminal[:count, None]
        if own is not None:
            others = np.arange(self._ends[self._role], self._ends[self._role + 1])
            legal[:, np.delete(others, own)] = False
        return [legal_choices(legal[:, first:end]) for first, end in pairwise(self._ends)]

    def _expanded(
        self,
        particles: Particles,
        options: Sequence[tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]],
        joints: NDArray[np.int64],
        told: _Told,
    ) -> Particles | None:
        """Move each state on by every joint move; return what agrees with what was seen."""
        source = np.repeat(np.arange(len(particles)), joints)
        rest = np.arange(len(source)) - (np.cumsum(joints) - joints)[source]
        chosen = []
        for actions, first, counts in options:
            chosen.append(actions[first[source] + rest % counts[source]] if len(source) else source)
            rest = rest // counts[source] if len(source) else rest
        weights = particles.weights[source] / np.maximum(joints[source], 1)
        return self._agreeing(particles, source, chosen, weights, told)

    def _sampled(
        self,
        options: Sequence[tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]],
        possible: NDArray[np.bool_],
        told: _Told,
        deadline: float,
    ) -> Particles | None:
        """Move states on by joint moves that are drawn, until enough agree with what was seen."""
        particles = self.particles
        assert particles is not None
        parts: list[Particles] = []
        weights = particles.weights * possible
        if not weights.sum():
            return None
        weights /= weights.sum()
        for _ in range(_ROUNDS):
            source = self._random.choice(len(particles), self._most, p=weights)
            chosen = [
                actions[first[source] + (self._random.random(self._most) * counts[source]).astype(np.int64)]
                for actions, first, counts in options
            ]
            found = self._agreeing(particles, source, chosen, np.ones(self._most), told)
            if found is not None:
                parts.append(found)
            if sum(map(len, parts)) >= self._most // 2 or monotonic() > deadline:
                break
        if not parts:
            return None
        states, keys, drawn = zip(*[(part.states, part.keys, part.weights) for part in parts], strict=True)
        return Particles(np.concatenate(states), np.concatenate(keys), np.concatenate(drawn))

    def _agreeing(
        self,
        particles: Particles,
        source: NDArray[np.int64],
        chosen: Sequence[NDArray[np.int64]],
        weights: NDArray[np.float64],
        told: _Told,
    ) -> Particles | None:
        """Make joint moves; return the states behind those of which the role would be told just that."""
        states, keys, kept = [], [], []
        for part in self.pool.parts(len(source)):
            lanes = self.pool.holding(particles.states[source[part]])
            moves = [of_role[part] for of_role in chosen]
            self.pool.step(lanes, moves)
            count = part.stop - part.start
            agree = np.flatnonzero(self._agrees(lanes, told)[:count])
            before = particles.keys[source[part]][agree]
            states.append(lanes.packed()[agree])
            keys.append(self.observing.after(before, [of_role[agree] for of_role in moves], lanes, agree))
            kept.append(weights[part][agree])
        if not sum(map(len, states)):
            return None
        return Particles(np.concatenate(states), np.concatenate(keys), np.concatenate(kept))

    def _told(self, observation: Observation) -> _Told | None:
        """Return a turn as masks; None if something was told that has no number."""
        seen = self._terms.mask(observation.percepts)
        legal = None if observation.legal is None else self._actions[self._role].mask(observation.legal)
        if seen is None or (legal is None and observation.legal is not None):
            return None
        return _Told(seen, legal)

    def _agrees(self, lanes: Lanes, told: _Told) -> NDArray[np.bool_]:
        """Return in which lanes the role would be told just that of the moves made last: bool [lanes]."""
        found: NDArray[np.bool_] = np.ones(lanes.count, np.bool_)
        if len(told.seen):
            found &= (lanes.percepts()[self._role] == told.seen).all(axis=1)
        if told.legal is not None:
            found &= (self.legal(lanes)[self._role] == told.legal).all(axis=1)
        return found


@dataclass(frozen=True, eq=False)
class _Told:
    """What a role is told of a turn.

    Attributes:
        seen: bool [percepts].
        legal: bool [actions]; which are legal next; None where that is not known.
    """

    seen: NDArray[np.bool_]
    legal: NDArray[np.bool_] | None


def _begins(view: RoleView, known: RoleView) -> bool:
    return view.observations[: len(known.observations)] == known.observations


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
