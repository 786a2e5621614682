"""Belief: the possible states of a match, for one role, with their probabilities.

A belief stores each possible state together with a hash of the observations of every role. After each joint
move, the belief expands each state by every possible joint move, and keeps the successors that agree with the
role's observation. The belief assumes that every other role, including ``random``, chooses uniformly among
its legal moves. While the number of states is below a limit, the belief is complete and its probabilities are
exact. Beyond the limit, the belief is a particle filter (Gordon, Salmond and Smith, "Novel approach to
nonlinear/non-Gaussian Bayesian state estimation", 1993). If no particle agrees with the observations, the
belief samples the match again from its start.
"""

from __future__ import annotations

from contextlib import suppress
from time import monotonic
from typing import TYPE_CHECKING, Final

import numpy as np

from anygame.errors import PositionError
from anygame.search.hidden.observing import ObservationKeys, Particles, Turn, TurnReader, row_keys
from anygame.search.lane_pool import LanePool, joint_choices, legal_choices
from anygame.search.lanes import packed_state

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from anygame.game.game import Game
    from anygame.game.roles import Role
    from anygame.game.state import Observation, RoleView, State

    Ids = NDArray[np.int64]
    #: Results of ``legal_choices``, one per role.
    Options = Sequence[tuple[Ids, Ids, Ids]]

#: Maximum number of states of a belief. An update of a full belief takes about 10 ms.
MOST_STATES: Final = 16_384
#: Maximum number of joint moves of a belief's states. With more joint moves, an update takes a sample.
_MOST_JOINTS: Final = 131_072
#: Maximum number of batches of samples per turn. In some turns, most samples contradict the observation.
_MOST_BATCHES: Final = 16
#: Maximum number of times that an update resamples the match from its first state.
_MOST_REPLAYS: Final = 30


class Belief:
    """The possible states of a match for one role, with their probabilities.

    Attributes:
        particles: the states; None if no state was found that agrees with the observations.
        is_exact: whether ``particles`` has all possible states, with exact probabilities.

    Raises:
        LimitError: the game has no network that computes percepts.
    """

    def __init__(self, game: Game, role: Role, seed: int = 0, *, most: int = MOST_STATES) -> None:
        self._game = game
        self._role = game.role_index(role)
        machine = game.backends.needed_network()
        machine.check_percepts(game.name)
        self._random = np.random.default_rng(seed)
        self._most = most
        actions, percepts = machine.compiled.actions, machine.compiled.percepts
        self._actions = len(actions[self._role])
        self.pool = LanePool(machine.percept_kernel or machine.kernel, seed)
        self.observing = ObservationKeys(
            list(map(len, actions)),
            list(map(len, percepts)),
            self._role,
            [number for number, name in enumerate(game.roles) if not name.is_random],
            is_hiding=game.is_gdl2,
        )
        self._reader = TurnReader(actions[self._role], percepts[self._role])
        self._view: RoleView | None = None
        self._turns = 0
        self.particles: Particles | None = None
        self.is_exact = self._is_assumed = False

    def follow(self, view: RoleView, deadline: float) -> None:
        """Update the belief with the new observations of a view. Sampling stops at the deadline."""
        former, self._view = self._view, view
        if self._is_assumed:
            self.particles, self._is_assumed = None, False
        if former is None or not view.continues(former):
            self._begin(view)
        self._observe(view.observations[self._turns :], deadline)
        for _ in range(_MOST_REPLAYS):
            # If an exact belief is empty, no state agrees with the observations.
            if self.particles is not None or self.is_exact or monotonic() >= deadline:
                break
            self._begin(view)
            self._observe(view.observations, deadline, may_stop=True)

    def assume(self, state: State) -> None:
        """Use a given state as the belief until the next update.

        Raises:
            PositionError: the network cannot hold the state.
        """
        states = packed_state(self._game, state)
        keys = np.repeat(row_keys(states)[:, None], len(self._game.roles), axis=1)
        self.particles, self._is_assumed = Particles(states, keys, np.ones(1)), True

    def leave_out_ends(self) -> None:
        """Drop terminal states; a role that must move knows that the match is not over."""
        particles = self.particles
        if particles is None:
            return
        going = np.ones(len(particles), np.bool_)
        for part in self.pool.parts(len(particles)):
            going[part] = ~self.pool.holding(particles.states[part]).terminal[: part.stop - part.start]
        if going.any() and not going.all():
            weights = particles.weights[going]
            self.particles = particles.taken(np.flatnonzero(going), weights / weights.sum())

    def weight_of_legal(self) -> NDArray[np.float64]:
        """Return the probability that each action of the role is legal: float [actions]."""
        assert self.particles is not None
        legal_weights = np.zeros(self._actions)
        for part in self.pool.parts(len(self.particles)):
            lanes = self.pool.holding(self.particles.states[part])
            weights = self.particles.weights[part]
            legal_weights += weights @ lanes.legal_by_role()[self._role][: len(weights)]
        return legal_weights

    # -- turns -------------------------------------------------------------------------------------

    def _begin(self, view: RoleView) -> None:
        self.is_exact = True
        self.particles = None
        self._turns = 0
        with suppress(PositionError):
            states = packed_state(self._game, view.start)
            self.particles = Particles(states, self.observing.at_start(states), np.ones(1))

    def _observe(
        self, observations: Sequence[Observation], deadline: float, *, may_stop: bool = False
    ) -> None:
        """Update the particles with observations; with ``may_stop``, drop all particles at the deadline."""
        for observation in observations:
            if self.particles is None:
                return
            if may_stop and monotonic() > deadline:
                self.particles, self.is_exact = None, False
                return
            turn = self._reader.read(observation)
            self.particles = None if turn is None else self._after(self.particles, turn, deadline)
            self._turns += 1

    def _after(self, particles: Particles, turn: Turn, deadline: float) -> Particles | None:
        """Return the particles after a turn; None if no particle agrees with the observation."""
        options = self._options(particles, turn.own)
        joints = np.prod([counts.astype(np.float64) for _, _, counts in options], axis=0)
        if joints.sum() <= _MOST_JOINTS:
            source, chosen = joint_choices(options)
            weights = particles.weights[source] / np.maximum(joints[source], 1)
            following = self._agreeing(particles, options, source, chosen, weights, turn)
        else:
            self.is_exact = False
            following = self._sampled(particles, options, joints > 0, turn, deadline)
        if following is None:
            return None
        following = following.merged()
        if len(following) > self._most:
            self.is_exact = False
            following = following.resampled(self._most, self._random).merged()
        return following

    def _options(self, particles: Particles, own: int | None) -> Options:
        """Return each role's possible actions in each state; ``own`` is the action of the belief's role."""
        parts: list[list[NDArray[np.bool_]]] = []
        for part in self.pool.parts(len(particles)):
            lanes = self.pool.holding(particles.states[part])
            count = part.stop - part.start
            going = ~lanes.terminal[:count, None]
            parts.append([legal[:count] & going for legal in lanes.legal_by_role()])
        by_role = [np.concatenate(of_role) for of_role in zip(*parts, strict=True)]
        if own is not None:
            by_role[self._role][:, np.arange(by_role[self._role].shape[1]) != own] = False
        return [legal_choices(legal) for legal in by_role]

    def _sampled(
        self, particles: Particles, options: Options, possible: NDArray[np.bool_], turn: Turn, deadline: float
    ) -> Particles | None:
        """Make sampled joint moves until enough successors agree with the observation, or the time is up."""
        parts: list[Particles] = []
        weights = particles.weights * possible
        if not weights.sum():
            return None
        weights /= weights.sum()
        for _ in range(_MOST_BATCHES):
            source = self._random.choice(len(weights), self._most, p=weights)
            chosen = [
                actions[first[source] + (self._random.random(self._most) * counts[source]).astype(np.int64)]
                for actions, first, counts in options
            ]
            agreeing = self._agreeing(particles, options, source, chosen, np.ones(self._most), turn)
            if agreeing is not None:
                parts.append(agreeing)
            if sum(map(len, parts)) >= self._most // 2 or monotonic() > deadline:
                break
        return Particles.joined(parts) if parts else None

    def _agreeing(
        self,
        particles: Particles,
        options: Options,
        source: Ids,
        chosen: Sequence[Ids],
        weights: NDArray[np.float64],
        turn: Turn,
    ) -> Particles | None:
        """Make joint moves; return the successors that agree with the observation of the role."""
        parts = []
        for part in self.pool.parts(len(source)):
            lanes = self.pool.holding(particles.states[source[part]])
            made = [of_role[part] for of_role in chosen]
            self.pool.step(lanes, made)
            agree = np.flatnonzero(turn.agrees(lanes, self._role)[: part.stop - part.start])
            before = source[part][agree]
            made = [of_role[agree] for of_role in made]
            counts = [of_role[before] for _, _, of_role in options]
            keys = self.observing.after(particles.keys[before], made, counts, lanes, agree)
            parts.append(Particles(lanes.packed()[agree], keys, weights[part][agree]))
        return Particles.joined(parts) if any(map(len, parts)) else None
