"""Information-set search for one role, over the states that agree with its observations.

Many-observer information-set tree search (Cowling, Powley and Whitehouse, "Information Set Monte Carlo Tree
Search", 2012): each iteration samples a state from the belief and descends one tree per role. The nodes of a
tree are the information sets of its role, so that no role acts on hidden facts. Here some hundred iterations
run side by side, one in each lane.
"""

from __future__ import annotations

from contextlib import suppress
from math import inf
from random import Random, SystemRandom
from time import monotonic, perf_counter
from typing import TYPE_CHECKING, Final

import numpy as np

from anygame.errors import LimitError, PositionError
from anygame.game.state import RoleView
from anygame.search.analysis import Analysis, MoveAnalysis
from anygame.search.goals import Bounds, GoalScale
from anygame.search.hidden.belief import Belief
from anygame.search.lane_pool import legal_choices

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from anygame.game.game import Game
    from anygame.game.roles import Role
    from anygame.game.state import State
    from anygame.language.terms import Term

    Ids = NDArray[np.int64]

#: Initial capacity of a tree, in nodes.
_FIRST_NODES: Final = 256
#: Weight of the prior of an action: number of virtual tries with the mean value of its node.
_PRIOR_TRIES: Final = 1.0


class RoleTree:
    """Statistics of a role's actions in its information sets.

    Attributes:
        tries: float64 [nodes, actions]; number of times that an action was taken.
        sums: float64 [nodes, actions]; sum of the values, each from 0 to 1.
    """

    def __init__(self, actions: int, most: int) -> None:
        self._most = most
        self._places: dict[int, int] = {}
        self.tries = np.zeros((min(most, _FIRST_NODES), actions))
        self.sums = np.zeros_like(self.tries)

    def __len__(self) -> int:
        return len(self._places)

    def find(self, keys: NDArray[np.uint64]) -> NDArray[np.int64]:
        """Return the node of each key; -1 for unknown keys."""
        get = self._places.get
        return np.array([get(key, -1) for key in keys.tolist()], np.int64)

    def add(self, keys: NDArray[np.uint64]) -> NDArray[np.int64]:
        """Return the node of each key, adding unknown keys; -1 where the tree is full."""
        places = self._places
        for key in dict.fromkeys(keys.tolist()):
            if key not in places and len(places) < self._most:
                places[key] = len(places)
        while len(places) > len(self.tries):
            more = min(2 * len(self.tries), self._most) - len(self.tries)
            room = np.zeros((more, self.tries.shape[1]))
            self.tries = np.concatenate([self.tries, room])
            self.sums = np.concatenate([self.sums, room])
        return self.find(keys)

    def choose(
        self,
        nodes: NDArray[np.int64],
        legal: NDArray[np.bool_],
        spread: float,
        random: np.random.Generator,
    ) -> NDArray[np.int64]:
        """Choose an action for each lane by Thompson sampling.

        Lanes choose at the same time: upper confidence bounds would send all of them the same way, samples do
        not (Chapelle and Li, "An empirical evaluation of Thompson sampling", 2011).

        Args:
            nodes: the node of each lane.
            legal: bool [lanes, actions].
            spread: the standard deviation of values.
            random: the random generator.
        """
        tries, sums = self.tries[nodes], self.sums[nodes]
        visits = tries.sum(axis=1, keepdims=True)
        mean = sums.sum(axis=1, keepdims=True) / np.maximum(visits, 1)
        expected = (sums + _PRIOR_TRIES * mean) / (tries + _PRIOR_TRIES)
        noise = random.standard_normal(tries.shape, np.float32)
        scores = expected + spread * noise / np.sqrt(tries + _PRIOR_TRIES)
        scores[~legal] = -np.inf
        best: NDArray[np.int64] = scores.argmax(axis=1)
        return best

    def learn(
        self, nodes: NDArray[np.int64], actions: NDArray[np.int64], values: NDArray[np.float64]
    ) -> None:
        """Add the values that actions brought."""
        np.add.at(self.tries, (nodes, actions), 1)
        np.add.at(self.sums, (nodes, actions), values)


#: Iterations side by side: a batch of 512 costs little more than one of 32, but the iterations of a batch do
#: not learn from each other.
LANES: Final = 256
#: Upper bound of the joint moves of an iteration, which then takes the goals of its last state.
_LONGEST: Final = 2_000
#: Lower bound of the standard deviation: where all values were equal so far, others may differ.
_LEAST_SPREAD: Final = 0.05
#: Bytes of the statistics of an action, and of a node.
_BYTES, _NODE_BYTES = 16, 200


class InformationSetSearch:
    """The trees of all roles.

    Args:
        game: the game, which must have a network that computes percepts.
        role: the role that searches.
        memory: approximate upper bound of all trees, in bytes.

    Attributes:
        random: the random generator.
        deciders: the roles that are not random, by number.
        trees: the tree of each of them.
        deviations: the standard deviation of the values of each of them.
        tries: number of iterations so far.
    """

    def __init__(self, game: Game, role: Role, belief: Belief, seed: int, memory: int) -> None:
        self._belief = belief
        self._role = game.role_index(role)
        self.random = np.random.default_rng(seed)
        compiled = game.backends.needed_network().compiled
        # From 0 to 100, as the language defines goals, or beyond where the rules go beyond.
        by_role = [[goal for goal, _ in goals] for goals in compiled.network.goals]
        self._scales = [GoalScale(min([0, *goals]), max([100, *goals])) for goals in by_role]
        self.deciders = [index for index, each in enumerate(game.roles) if not each.is_random]
        width = max(1, sum(len(compiled.actions[index]) for index in self.deciders))
        most = max(1, memory // (_BYTES * width + _NODE_BYTES * len(self.deciders)))
        self.trees = {index: RoleTree(len(compiled.actions[index]), most) for index in self.deciders}
        self._most = most
        self.deviations = {index: _StandardDeviation() for index in self.deciders}
        self.tries = 0

    def forget_if_full(self) -> None:
        """Clear all trees when one of them has used half of its memory, so that there is room to search."""
        if any(2 * len(tree) > self._most for tree in self.trees.values()):
            for index, tree in self.trees.items():
                self.trees[index] = RoleTree(tree.tries.shape[1], self._most)

    def run(self, tries: int) -> None:
        """Run a number of iterations side by side."""
        particles = self._belief.particles
        assert particles is not None
        sampled = self.random.choice(len(particles), tries, p=particles.weights)
        descent = _Descent(self, self._belief, particles.states[sampled], particles.keys[sampled])
        values = descent.go()
        for role, place, nodes, actions in descent.path:
            self.trees[role].learn(nodes, actions, values[role][place])
        for role, deviation in self.deviations.items():
            deviation.add(values[role])
        self.tries += tries

    def statistics(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the tries and the mean value of each action of the role in its present information set."""
        particles = self._belief.particles
        assert particles is not None
        tree = self.trees[self._role]
        node = int(tree.find(particles.keys[:1, self._role])[0])
        if node < 0:
            nothing = np.zeros(tree.tries.shape[1])
            return nothing, nothing
        return tree.tries[node], tree.sums[node] / np.maximum(tree.tries[node], 1)

    @property
    def nodes(self) -> int:
        """Number of nodes of all trees."""
        return sum(map(len, self.trees.values()))

    @property
    def bytes(self) -> int:
        """Memory of the statistics of all trees."""
        return sum(tree.tries.nbytes + tree.sums.nbytes for tree in self.trees.values())

    def worth(self, role: int, goals: NDArray[np.int32]) -> NDArray[np.float64]:
        """Return goals of a role as values from 0 to 1."""
        scale = self._scales[role]
        values: NDArray[np.float64] = ((goals.astype(np.float64) - scale.lowest) / scale.width).clip(0, 1)
        return values

    def goal(self, worth: float) -> float:
        """Return the goal of the role with a value from 0 to 1."""
        scale = self._scales[self._role]
        return float(scale.lowest + worth * scale.width)


class _Descent:
    """A batch of iterations.

    Attributes:
        path: role, lanes, nodes and actions of all choices made in trees.
    """

    def __init__(
        self,
        search: InformationSetSearch,
        belief: Belief,
        states: NDArray[np.uint64],
        keys: NDArray[np.uint64],
    ) -> None:
        self._search = search
        self._belief = belief
        self._count = len(states)
        self._lanes = belief.pool.holding(states)
        self._keys = keys.copy()
        self._in_tree = {role: np.ones(self._count, np.bool_) for role in search.deciders}
        self.path: list[tuple[int, Ids, Ids, Ids]] = []

    def go(self) -> dict[int, NDArray[np.float64]]:
        """Play all lanes to their end; return the values of each decider, from 0 to 1."""
        lanes, count = self._lanes, self._count
        steps = 0
        while steps < _LONGEST:
            going = ~(lanes.terminal | lanes.stuck)[:count]
            if not any((in_tree & going).any() for in_tree in self._in_tree.values()):
                break
            self._step(going)
            steps += 1
        while steps < _LONGEST and not (lanes.terminal | lanes.stuck)[:count].all():
            lanes.step_random()
            steps += 1
        goals = lanes.goals()
        return {role: self._search.worth(role, goals[role][:count]) for role in self._search.deciders}

    def _step(self, going: NDArray[np.bool_]) -> None:
        """Make a joint move in all lanes whose match is not over."""
        lanes, search = self._lanes, self._search
        chosen, choices = [], []
        for role, all_legal in enumerate(lanes.legal_by_role()):
            legal = all_legal[: self._count]
            actions, first, counts = legal_choices(legal)
            picked = np.zeros(self._count, np.int64)
            able = np.flatnonzero(going)
            draws = (search.random.random(len(able)) * counts[able]).astype(np.int64)
            picked[able] = actions[first[able] + draws]
            if role in self._in_tree:
                choosing = np.flatnonzero(going & self._in_tree[role] & (counts > 1))
                if len(choosing):
                    self._choose(role, choosing, legal, picked)
            chosen.append(picked)
            choices.append(counts)
        self._belief.pool.step(lanes, chosen)
        able = np.flatnonzero(going)
        moves, counts_then = [[of_role[able] for of_role in each] for each in (chosen, choices)]
        self._keys[able] = self._belief.observing.after(self._keys[able], moves, counts_then, lanes, able)

    def _choose(self, role: int, choosing: Ids, legal: NDArray[np.bool_], picked: NDArray[np.int64]) -> None:
        """Let a role choose by its tree. Where the tree ends, add a node; the random action stays."""
        search = self._search
        tree, keys = search.trees[role], self._keys[choosing, role]
        nodes = tree.find(keys)
        known = nodes >= 0
        if known.any():
            inside = choosing[known]
            picked[inside] = tree.choose(
                nodes[known], legal[inside], search.deviations[role].value, search.random
            )
        if not known.all():
            nodes = tree.add(keys)
            self._in_tree[role][choosing[~known]] = False
        kept = nodes >= 0
        self.path.append((role, choosing[kept], nodes[kept], picked[choosing[kept]]))


class _StandardDeviation:
    """Running standard deviation."""

    def __init__(self) -> None:
        self._count, self._sum, self._squares = 0, 0.0, 0.0

    def add(self, values: NDArray[np.float64]) -> None:
        self._count += len(values)
        self._sum += float(values.sum())
        self._squares += float((values * values).sum())

    @property
    def value(self) -> float:
        if not self._count:
            return 0.5
        mean = self._sum / self._count
        return max(_LEAST_SPREAD, float(np.sqrt(max(0.0, self._squares / self._count - mean * mean))))


#: Least number of batches of a search with a given number of iterations: each learns from those before.
_LEAST_PASSES: Final = 16
_FEWEST_LANES: Final = 16
#: A probability of 1, minus rounding errors.
_CERTAIN: Final = 1 - 1e-9


class BeliefSearcher:
    """Information-set search for one role. See ``anygame.search.searching.Searcher`` for the contract.

    The belief holds all states that agree with the moves and percepts of the role, with their probabilities.
    If these do not fit, it samples them. The role plays only moves that are legal in all of these states, if
    there are any.

    Args:
        role: the role that searches.
        seed: of the random numbers; None for fresh ones.
        memory: approximate upper bound of the trees, in bytes.

    Attributes:
        is_lost: whether the belief has run empty: then only the state given to `begin` is searched.

    Raises:
        LimitError: the game has no network that computes percepts.
    """

    def __init__(self, game: Game, role: Role, *, seed: int | None = None, memory: int = 1 << 30) -> None:
        if game.backends.network is None:
            raise LimitError(f"{game.name} has no network")
        seed = SystemRandom().getrandbits(32) if seed is None else seed
        self._game, self._role = game, role
        self._moves = game.actions(role)
        self._random = Random(seed)
        self._belief = Belief(game, role, seed)
        self._search = InformationSetSearch(game, role, self._belief, seed, memory)
        self._allowed: list[int] = []
        self._lanes: int | None = None
        self._has_searched = self.is_lost = False
        # Compile machine code now, not on the clock of the first move.
        self._belief.follow(RoleView(game.initial_state()), inf)
        self._search.run(_FEWEST_LANES)

    def follow(self, view: RoleView, seconds: float) -> None:
        """Bring the belief up to date.

        Args:
            view: everything that the role knows of the match.
            seconds: approximate time limit; may be infinite.
        """
        self._belief.follow(view, monotonic() + seconds)
        self._belief.leave_out_ends()
        self.is_lost = self._belief.particles is None

    def begin(self, state: State) -> None:
        """Begin to choose between moves.

        Args:
            state: a state that agrees with the knowledge of the role.
        """
        legal = () if state.is_terminal else state.legal_moves(self._role)
        self._drawn = self._random.choice(legal) if legal else None
        self._allowed, self._lanes, self._has_searched = [], None, False
        if self._belief.particles is None and legal:
            with suppress(PositionError):
                self._belief.assume(state)
        if self._belief.particles is not None and not state.is_terminal:
            self._allowed = self._allowed_in(legal).tolist()
            self._drawn = self._moves[self._random.choice(self._allowed)]
            self._search.forget_if_full()

    def _allowed_in(self, legal: tuple[Term, ...]) -> NDArray[np.int64]:
        """Return the actions that are legal in all states of the belief, else in most of its weight."""
        weights = self._belief.weight_of_legal()
        allowed = np.flatnonzero(weights >= min(_CERTAIN, weights.max() * _CERTAIN))
        # The given state agrees with the observations, too.
        both = [action for action in allowed.tolist() if self._moves[action] in legal]
        return np.array(both, np.int64) if both else allowed

    def advance(self, seconds: float, iterations: int | None = None) -> int:
        """Search for about the given number of seconds; return the number of iterations, made in batches."""
        if self.is_done:
            return 0
        if self._lanes is None:
            few = LANES if iterations is None else max(_FEWEST_LANES, iterations // _LEAST_PASSES)
            self._lanes = min(LANES, few)
        deadline = perf_counter() + seconds
        done = 0
        while iterations is None or done < iterations:
            made = self._lanes if iterations is None else min(self._lanes, iterations - done)
            self._search.run(made)
            self._has_searched = True
            done += made
            if perf_counter() >= deadline:
                break
        return done

    @property
    def is_done(self) -> bool:
        """Whether there is no choice, or nothing to search."""
        return len(self._allowed) < 2

    def best(self, role: int) -> Term:
        """Return the move with the most tries; ties go to the greater mean.

        Raises:
            ValueError: the role has no legal move, or is not the one that searches.
        """
        if self._game.roles[role] != self._role or self._drawn is None:
            raise ValueError(f"{self._game.roles[role]} has no move to choose here")
        ranked = self._ranked() if self._has_searched else []
        return self._moves[ranked[0][0]] if ranked else self._drawn

    def _ranked(self) -> list[tuple[int, int, float]]:
        """Return the allowed actions with their tries and mean goals, best first."""
        if self._belief.particles is None:
            return []
        tries, means = self._search.statistics()
        ranked = sorted(self._allowed, key=lambda action: (-tries[action], -means[action]))
        return [(action, int(tries[action]), self._search.goal(means[action])) for action in ranked]

    def analysis(self, *, lines: bool = True) -> Analysis:
        """Return the estimates of the moves of the role, without proofs or lines."""
        role, ranked = self._role, self._ranked()
        tries = sum(count for _, count, _ in ranked)
        mean = sum(count * goal for _, count, goal in ranked) / tries if tries else None
        scale = Bounds(self._search.goal(0.0), self._search.goal(1.0))
        moves = [
            MoveAnalysis(self._moves[action], count, goal if count else None, None, scale)
            for action, count, goal in ranked
        ]
        return Analysis(
            iterations=0,
            seconds=0.0,
            nodes=self._search.nodes,
            depth=0,
            bytes=self._search.bytes,
            moves={role: tuple(moves)},
            goals={role: mean},
            proven={role: None},
            engine="beliefs",
            believed=self._believed,
        )

    @property
    def _believed(self) -> str:
        """The number of states of the belief, as text."""
        count = 0 if self._belief.particles is None else len(self._belief.particles)
        return f"{count:,} {'states believed in' if self._belief.is_exact else 'particles'}"
