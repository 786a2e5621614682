"""Belief: the possible states of a match, for one role, with their probabilities.

States are carried side by side, with what each role has observed on the way there. A turn moves each of them
on by every joint move that could have been made, and what the role would have seen otherwise is dropped.
Chance draws its moves alike, and so, for want of better knowledge, do the others. As long as they fit, these
are all states with their exact probabilities; beyond, a particle filter (Gordon, Salmond and Smith, "Novel
approach to nonlinear/non-Gaussian Bayesian state estimation", 1993). Where few are left, or none, their
histories are changed at random (`rejuvenation`); if that does not help, the match is played again
from its start, under the constraint of all that was seen. What agrees with most of it is a guess until then.
"""

from __future__ import annotations

from contextlib import suppress
from time import monotonic
from typing import TYPE_CHECKING, Final

import numpy as np

from anygame.errors import PositionError
from anygame.search.hidden.observing import ObservationKeys, Particles, Turn, TurnReader
from anygame.search.hidden.rejuvenation import Rejuvenation
from anygame.search.lane_pool import LanePool, joint_choices, legal_choices, packed_state

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from anygame.game.game import Game
    from anygame.game.roles import Role
    from anygame.game.state import Observation, RoleView

    #: Per role the legal actions of all lanes, lane after lane; where those of each begin; and how many.
    Options = Sequence[tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]]

#: States that are carried: some hundredths of a second a turn, and far more than games of cards need.
MOST_STATES: Final = 16_384
#: Joint moves that are tried for all of them in one turn; where there are more, some are drawn.
_MOST_JOINTS: Final = 131_072
#: Draws for each state to be found, while most of them contradict what was seen.
_ROUNDS: Final = 16
#: Histories from the start, where none has led to what was seen.
_MOST_REPLAYS: Final = 30
#: Particles whose histories are changed at once, so many at least; how often where all have been dropped, and
#: how often where there are fewer of them.
_MOVED, _FEWEST_MOVED = 4_096, 256
_MOST_CHANGES, _CHANGES = 40, 12
#: Draws for a guess at each turn.
_GUESSED: Final = 2_048
#: Seconds that a turn of a history takes, as long as nothing is known of that.
_PACE: Final = 2e-6
#: Moves of a history that is kept; longer ones take too much memory.
_LONGEST_HISTORY: Final = 2_000


class Belief:
    """What a role believes.

    Attributes:
        particles: the states; None where none agrees with what was seen, and there is nothing to guess.
        is_exact: whether they are all states that agree, each with its probability.
        is_guess: whether none was found that agrees: those that are given agree with most of what was seen.

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
        kernel = machine.percept_kernel or machine.kernel
        actions = list(map(len, machine.compiled.actions))
        percepts = list(map(len, machine.compiled.percepts))
        self.pool = LanePool(kernel, seed)
        deciders = [number for number, each in enumerate(game.roles) if not each.is_random]
        self.observing = ObservationKeys(actions, percepts, self._role, deciders, is_hiding=game.is_gdl2)
        self._rejuvenation = Rejuvenation(
            machine.compiled.actions, self._role, self.pool, self.observing, self._random
        )
        self._reader = TurnReader(machine.compiled.actions[self._role], machine.compiled.percepts[self._role])
        self._view: RoleView | None = None
        self._start: NDArray[np.uint64] | None = None
        self._turns: list[Turn] = []
        self._pace = _PACE
        # Particles that no turn followed on, and those before it: to go on from when there is time again.
        self._stranded: tuple[Particles, list[Turn]] | None = None
        self.particles: Particles | None = None
        self.is_exact = self.is_guess = False

    def follow(self, view: RoleView, deadline: float) -> None:
        """Take in what the role knows by now.

        Args:
            view: all that it knows of the match.
            deadline: when to stop looking for states, as `time.monotonic` counts.
        """
        known = self._view
        self._view = view
        guess, guessed = (self.particles, len(known.observations)) if self.is_guess and known else (None, 0)
        self.is_guess = False
        if known is None or not view.continues(known):
            self._begin(view)
            self._stranded = guess = None
        elif self._stranded is not None:
            self.particles, self._turns = self._stranded
        fresh = view.observations[len(self._turns) :]
        self._observe(fresh, deadline)
        replays = 0
        # Where all states were tried, there are none.
        while self.particles is None and not self.is_exact and replays < _MOST_REPLAYS:
            if monotonic() >= deadline:
                break
            self._begin(view)
            self._observe(view.observations, deadline, may_stop=True)
            replays += 1
        if self.particles is not None:
            self._stranded = None
            if fresh:
                self._vary(monotonic() + (deadline - monotonic()) / 2)
        elif self._stranded is not None and not self.is_exact:
            particles, turns = self._stranded
            self._guess(guess or particles, view.observations[guessed if guess else len(turns) :])

    def _guess(self, particles: Particles, observations: Sequence[Observation]) -> None:
        """Continue to the states that agree with most of the observations, where none agrees with all."""
        found: Particles | None = particles
        for observation in observations:
            turn = self._reader.read(observation)
            if turn is None or found is None:
                return
            found = self._closest(found, turn)
        self.particles, self.is_guess = found, found is not None

    def _closest(self, particles: Particles, turn: Turn) -> Particles | None:
        """Return states behind a turn that agree with most of what was told of it."""
        # What the role itself did may be impossible in any of them; then it did something else there.
        for own in (turn.own, None):
            options = self._options(particles, own)
            possible = particles.weights * np.all([counts > 0 for _, _, counts in options], axis=0)
            if possible.any():
                break
        else:
            return None
        count = min(_GUESSED, self._most)
        drawn = self._drawn(options, possible / possible.sum(), count)
        found = self._agreeing(particles, options, *drawn, np.ones(count), turn, is_strict=False)
        return None if found is None else self._following(found.merged(), particles)

    def leave_out_ends(self) -> None:
        """Drop terminal states: a role that is asked for a move knows that the match is not over."""
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
        """Return, for each action of the role, how probable it is that it is legal: float [actions]."""
        assert self.particles is not None
        found = np.zeros(len(self._machine.compiled.actions[self._role]))
        for part in self.pool.parts(len(self.particles)):
            lanes = self.pool.holding(self.particles.states[part])
            weights = self.particles.weights[part]
            found += weights @ lanes.legal_by_role()[self._role][: len(weights)]
        return found

    # -- turns -------------------------------------------------------------------------------------

    def _begin(self, view: RoleView) -> None:
        self.is_exact = True
        self.particles = None
        self._turns = []
        with suppress(PositionError):
            states = packed_state(self._game, view.start)
            self._start = states[0]
            keys, nothing = self.observing.at_start(states), np.zeros((1, 0, len(self._game.roles)), np.int32)
            self.particles = Particles(states, keys, np.ones(1), nothing, nothing, np.zeros(1, np.int64))

    def _observe(
        self, observations: Sequence[Observation], deadline: float, *, may_stop: bool = False
    ) -> None:
        """Go on by some turns, while there are states that agree; if it may stop, until the deadline."""
        for observation in observations:
            particles = self.particles
            if particles is None:
                return
            if may_stop and monotonic() > deadline:
                self.particles, self.is_exact = None, False
                return
            turn = self._reader.read(observation)
            if turn is None:
                self.particles = None
                self._strand(particles)
                return
            self.particles = self._after(particles, turn, deadline)
            for _ in range(_MOST_CHANGES):
                if self.particles is not None or self.is_exact or not self._can_vary(particles, deadline):
                    break
                particles, _ = self._varied(particles, deadline)
                self.particles = self._after(particles, turn, deadline)
            if self.particles is None:
                self._strand(particles)
            else:
                self._turns.append(turn)

    def _strand(self, particles: Particles) -> None:
        """Remember particles that cannot go on, if none have come further."""
        if self._stranded is None or len(self._turns) >= len(self._stranded[1]):
            self._stranded = particles, list(self._turns)

    def _after(self, particles: Particles, turn: Turn, deadline: float) -> Particles | None:
        """Return the states behind a turn; None if none agrees with what was told of it."""
        options = self._options(particles, turn.own)
        joints = np.prod([counts.astype(np.float64) for _, _, counts in options], axis=0)
        if joints.sum() <= _MOST_JOINTS:
            source, chosen = joint_choices(options)
            weights = particles.weights[source] / np.maximum(joints[source], 1)
            found = self._agreeing(particles, options, source, chosen, weights, turn)
        else:
            self.is_exact = False
            found = self._sampled(particles, options, joints > 0, turn, deadline)
        if found is None:
            return None
        found = found.merged()
        if len(found) > self._most:
            self.is_exact = False
            found = found.drawn(self._most, self._random).merged()
        return self._following(found, particles)

    def _options(self, particles: Particles, own: int | None) -> Options:
        """Return what each role could do in each state; nothing where the match is over."""
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
        self,
        particles: Particles,
        options: Options,
        possible: NDArray[np.bool_],
        turn: Turn,
        deadline: float,
    ) -> Particles | None:
        """Move states on by joint moves that are drawn, until enough agree with what was seen."""
        parts: list[Particles] = []
        weights = particles.weights * possible
        if not weights.sum():
            return None
        weights /= weights.sum()
        for _ in range(_ROUNDS):
            source, chosen = self._drawn(options, weights, self._most)
            found = self._agreeing(particles, options, source, chosen, np.ones(self._most), turn)
            if found is not None:
                parts.append(found)
            if sum(map(len, parts)) >= self._most // 2 or monotonic() > deadline:
                break
        return Particles.joined(parts) if parts else None

    def _drawn(
        self, options: Options, weights: NDArray[np.float64], count: int
    ) -> tuple[NDArray[np.int64], list[NDArray[np.int64]]]:
        """Return so many particles that are drawn, by number, and for each role an action in each of them."""
        source = self._random.choice(len(weights), count, p=weights)
        return source, [
            actions[first[source] + (self._random.random(count) * counts[source]).astype(np.int64)]
            for actions, first, counts in options
        ]

    def _agreeing(
        self,
        particles: Particles,
        options: Options,
        source: NDArray[np.int64],
        chosen: Sequence[NDArray[np.int64]],
        weights: NDArray[np.float64],
        turn: Turn,
        *,
        is_strict: bool = True,
    ) -> Particles | None:
        """Make joint moves; return the successors in which the role observes what it did.

        Unless it ``is_strict``, those in which the role observes most of that.
        """
        found = []
        for part in self.pool.parts(len(source)):
            lanes = self.pool.holding(particles.states[source[part]])
            made = [of_role[part] for of_role in chosen]
            self.pool.step(lanes, made)
            missed = turn.missed(lanes, self._role)[: part.stop - part.start]
            agree = np.flatnonzero(missed == (0 if is_strict else missed.min()))
            before = source[part][agree]
            made = [of_role[agree] for of_role in made]
            counts = [of_role[before] for _, _, of_role in options]
            found.append(
                Particles(
                    lanes.packed()[agree],
                    self.observing.after(particles.keys[before], made, counts, lanes, agree),
                    weights[part][agree],
                    np.stack(made, axis=1).astype(np.int32)[:, None],
                    np.stack(counts, axis=1).astype(np.int32)[:, None],
                    before,
                )
            )
        return Particles.joined(found) if any(map(len, found)) else None

    # -- other histories ---------------------------------------------------------------------------

    def _following(self, found: Particles, particles: Particles) -> Particles:
        """Return particles that follow others, with their histories, unless these are too long to be kept."""
        turns, roles = particles.moves.shape[1:]
        is_kept = turns >= len(self._turns) and (turns + 1) * roles <= _LONGEST_HISTORY
        return found.following(particles) if is_kept else found.without_histories()

    def _can_vary(self, particles: Particles, deadline: float) -> bool:
        """Return whether there are histories that could be changed, and time for that."""
        is_kept = bool(self._turns) and particles.moves.shape[1] == len(self._turns)
        return is_kept and self._affordable(deadline) >= min(_FEWEST_MOVED, self._most)

    def _affordable(self, deadline: float) -> int:
        """Return how many histories can be changed at once until then."""
        most = min(_MOVED, self._most)
        seconds = deadline - monotonic()
        return int(min(most, max(0.0, seconds) / (self._pace * max(1, len(self._turns)))))

    def _vary(self, deadline: float) -> None:
        """Change the histories of particles, if few are left."""
        for _ in range(_CHANGES):
            particles = self.particles
            if particles is None or self.is_exact or len(particles) >= min(_MOVED, self._most):
                return
            if not self._can_vary(particles, deadline):
                return
            self.particles, changed = self._varied(particles, deadline)
            if not changed:
                return

    def _varied(self, particles: Particles, deadline: float) -> tuple[Particles, int]:
        """Return particles with other histories, and how many of them have one."""
        assert self._start is not None
        began = monotonic()
        drawn = particles.drawn(self._affordable(deadline), self._random)
        moved, changed = self._rejuvenation.moved(drawn, self._start, self._turns)
        self._pace = (monotonic() - began) / (len(drawn) * len(self._turns))
        return moved.merged(), changed
