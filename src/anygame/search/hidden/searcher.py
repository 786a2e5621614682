"""Information-set search for one role, over the states that agree with its observations.

The algorithm is multiple-observer information-set tree search (Cowling, Powley and Whitehouse, "Information
Set Monte Carlo Tree Search", 2012). Each iteration samples a state from the belief and descends one tree per
role. The nodes of a tree are the information sets of its role, so no role acts on hidden facts. The
iterations of a batch run in parallel lanes.
"""

from __future__ import annotations

from contextlib import suppress
from math import inf, sqrt
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
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from anygame.game.game import Game
    from anygame.game.roles import Role
    from anygame.game.state import State
    from anygame.language.terms import Term

    Ids = NDArray[np.int64]

#: Initial capacity of a tree in nodes.
_FIRST_NODES: Final = 256
#: Number of virtual tries added to each action's tries. A virtual try has the mean value of the node.
_PRIOR_TRIES: Final = 1.0


class RoleTree:
    """Statistics of a role's actions in its information sets.

    Attributes:
        tries: float64 [nodes, actions]; number of tries of each action.
        sums: float64 [nodes, actions]; sum of the values of all tries of each action. A value is from 0 to 1.
    """

    def __init__(self, actions: int, most: int) -> None:
        self._most = most
        self._places: dict[int, int] = {}
        self.tries = np.zeros((min(most, _FIRST_NODES), actions))
        self.sums = np.zeros_like(self.tries)

    def __len__(self) -> int:
        return len(self._places)

    def find(self, keys: NDArray[np.uint64]) -> Ids:
        """Return the node of each key; -1 if the key is unknown."""
        get = self._places.get
        return np.array([get(key, -1) for key in keys.tolist()], np.int64)

    def add(self, keys: NDArray[np.uint64]) -> Ids:
        """Add nodes for unknown keys; return the node of each key, or -1 where the tree is full."""
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
        self, nodes: Ids, legal: NDArray[np.bool_], deviation: float, random: np.random.Generator
    ) -> Ids:
        """Choose a legal action for each lane by Thompson sampling, given the standard deviation of values.

        Lanes choose at the same time. With upper confidence bounds, all lanes in a node would choose the same
        action. Random samples differ (Chapelle and Li, "An empirical evaluation of Thompson sampling", 2011).
        """
        tries, sums = self.tries[nodes], self.sums[nodes]
        visits = tries.sum(axis=1, keepdims=True)
        mean = sums.sum(axis=1, keepdims=True) / np.maximum(visits, 1)
        expected = (sums + _PRIOR_TRIES * mean) / (tries + _PRIOR_TRIES)
        noise = random.standard_normal(tries.shape, np.float32)
        scores = expected + deviation * noise / np.sqrt(tries + _PRIOR_TRIES)
        scores[~legal] = -np.inf
        best: Ids = scores.argmax(axis=1)
        return best

    def learn(self, nodes: Ids, actions: Ids, values: NDArray[np.float64]) -> None:
        """Add tries: each try has a node, an action and a value."""
        np.add.at(self.tries, (nodes, actions), 1)
        np.add.at(self.sums, (nodes, actions), values)


#: Maximum number of iterations in a batch. Larger batches are faster per iteration, but an iteration cannot
#: use results of its own batch.
_LANES: Final = 256
#: Maximum number of joint moves of an iteration. A longer iteration gets the goals of its last state.
_LONGEST: Final = 2_000
#: Lower bound of the estimated standard deviation: values that are all equal so far can differ later.
_LEAST_DEVIATION: Final = 0.05
#: Size in bytes of an action's statistics.
_BYTES: Final = 16
#: Size in bytes of a node, excluding the statistics of its actions.
_NODE_BYTES: Final = 200


class InformationSetSearch:
    """The trees of all roles. ``memory`` limits their total size in bytes.

    Attributes:
        trees: the tree of each role that is not random, by the index of the role.
        tries: number of iterations so far.
    """

    def __init__(self, game: Game, role: Role, belief: Belief, seed: int, memory: int) -> None:
        self.belief = belief
        self._role = game.role_index(role)
        self.random = np.random.default_rng(seed)
        compiled = game.backends.needed_network().compiled
        # GDL defines goals from 0 to 100, but rules can contain lower and higher goals.
        by_role = [[goal for goal, _ in goals] for goals in compiled.network.goals]
        self._scales = [GoalScale(min([0, *goals]), max([100, *goals])) for goals in by_role]
        widths = {i: len(compiled.actions[i]) for i, name in enumerate(game.roles) if not name.is_random}
        bytes_of_a_node = _BYTES * max(1, sum(widths.values())) + _NODE_BYTES * len(widths)
        self._most = max(1, memory // bytes_of_a_node)
        self.trees = {index: RoleTree(width, self._most) for index, width in widths.items()}
        # For each role: the number of values, their sum, and the sum of their squares.
        self._moments = np.zeros((len(game.roles), 3))
        self.tries = 0

    def forget_if_full(self) -> None:
        """Clear all trees if some tree has filled half of its memory."""
        if any(2 * len(tree) > self._most for tree in self.trees.values()):
            for index, tree in self.trees.items():
                self.trees[index] = RoleTree(tree.tries.shape[1], self._most)

    def run(self, tries: int) -> None:
        """Run a batch of iterations."""
        particles = self.belief.particles
        assert particles is not None
        sampled = self.random.choice(len(particles), tries, p=particles.weights)
        descent = _Descent(self, particles.states[sampled], particles.keys[sampled])
        goals = descent.final_goals()
        values = {}
        for role in self.trees:
            scale = self._scales[role]
            above = goals[role][:tries].astype(np.float64) - scale.lowest
            values[role] = (above / scale.width).clip(0, 1)
        for role, lanes, nodes, actions in descent.path:
            self.trees[role].learn(nodes, actions, values[role][lanes])
        for role, of_role in values.items():
            self._moments[role] += len(of_role), of_role.sum(), (of_role * of_role).sum()
        self.tries += tries

    def deviation(self, role: int) -> float:
        """Return the standard deviation of the values of a role in all iterations."""
        count, total, squares = self._moments[role].tolist()
        if not count:
            return 0.5
        mean = total / count
        return max(_LEAST_DEVIATION, sqrt(max(0.0, squares / count - mean * mean)))

    def statistics(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the number of tries and the mean value of each action in the current information set."""
        particles = self.belief.particles
        assert particles is not None
        tree = self.trees[self._role]
        node = int(tree.find(particles.keys[:1, self._role])[0])
        if node < 0:
            zeros = np.zeros(tree.tries.shape[1])
            return zeros, zeros
        return tree.tries[node], tree.sums[node] / np.maximum(tree.tries[node], 1)

    def goal(self, value: float) -> float:
        """Convert a value between 0 and 1 to a goal of the role."""
        scale = self._scales[self._role]
        return float(scale.lowest + value * scale.width)


class _Descent:
    """A batch of iterations.

    Attributes:
        path: the choices made in trees. An entry holds a role, the lanes in which the role chose, and for
            each lane the node and the action.
    """

    def __init__(
        self, search: InformationSetSearch, states: NDArray[np.uint64], keys: NDArray[np.uint64]
    ) -> None:
        self._search, self._keys, self._count = search, keys, len(states)
        self._lanes = search.belief.pool.holding(states)
        self._in_tree = {role: np.ones(self._count, np.bool_) for role in search.trees}
        self.path: list[tuple[int, Ids, Ids, Ids]] = []

    def final_goals(self) -> Sequence[NDArray[np.int32]]:
        """Play all lanes to the end of the match; return the goals of each role."""
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
        return lanes.goals()

    def _step(self, going: NDArray[np.bool_]) -> None:
        """Make a joint move in all lanes whose match is not over."""
        lanes, search = self._lanes, self._search
        chosen, choices = [], []
        able = np.flatnonzero(going)
        for role, all_legal in enumerate(lanes.legal_by_role()):
            legal = all_legal[: self._count]
            actions, first, counts = legal_choices(legal)
            picked = np.zeros(self._count, np.int64)
            sampled = (search.random.random(len(able)) * counts[able]).astype(np.int64)
            picked[able] = actions[first[able] + sampled]
            if role in self._in_tree:
                choosing = np.flatnonzero(going & self._in_tree[role] & (counts > 1))
                if len(choosing):
                    self._choose(role, choosing, legal, picked)
            chosen.append(picked)
            choices.append(counts[able])
        search.belief.pool.step(lanes, chosen)
        moves = [of_role[able] for of_role in chosen]
        self._keys[able] = search.belief.observing.after(self._keys[able], moves, choices, lanes, able)

    def _choose(self, role: int, choosing: Ids, legal: NDArray[np.bool_], picked: Ids) -> None:
        """Let a role choose with its tree. In lanes whose key has no node, add a node and keep ``picked``."""
        search = self._search
        tree, keys = search.trees[role], self._keys[choosing, role]
        nodes = tree.find(keys)
        known = nodes >= 0
        if known.any():
            inside = choosing[known]
            deviation = search.deviation(role)
            picked[inside] = tree.choose(nodes[known], legal[inside], deviation, search.random)
        if not known.all():
            nodes = tree.add(keys)
            self._in_tree[role][choosing[~known]] = False
        kept = nodes >= 0
        self.path.append((role, choosing[kept], nodes[kept], picked[choosing[kept]]))


#: Minimum number of batches if iterations are limited, since a batch learns only from earlier batches.
_LEAST_BATCHES: Final = 16
_FEWEST_LANES: Final = 16
#: Probabilities above this number count as 1, because of rounding errors.
_CERTAIN: Final = 1 - 1e-9


class BeliefSearcher:
    """Information-set search for one role; it implements ``anygame.search.searching.Searcher``.

    If some moves are legal in all states of the belief, the role plays one of these moves.

    Attributes:
        is_lost: whether the belief is empty. If so, the search starts from the state given to `begin`.

    Raises:
        LimitError: the game has no network that computes percepts.
    """

    def __init__(self, game: Game, role: Role, *, seed: int | None = None, memory: int = 1 << 30) -> None:
        if game.backends.network is None:
            raise LimitError(f"{game.name} has no compiled network")
        seed = SystemRandom().getrandbits(32) if seed is None else seed
        self._game, self._role = game, role
        self._moves = game.actions(role)
        self._random = Random(seed)
        self._belief = Belief(game, role, seed)
        self._search = InformationSetSearch(game, role, self._belief, seed, memory)
        self._allowed: list[int] = []
        self._lanes: int | None = None
        self._has_searched = self.is_lost = False
        # Run a batch now, so that the native code is compiled before the clock of the first move starts.
        self._belief.follow(RoleView(game.initial_state()), inf)
        self._search.run(_FEWEST_LANES)

    def follow(self, view: RoleView, seconds: float) -> None:
        """Update the belief with the new observations of a view, in about the given number of seconds."""
        self._belief.follow(view, monotonic() + seconds)
        self._belief.leave_out_ends()
        self.is_lost = self._belief.particles is None

    def begin(self, state: State) -> None:
        """Start the search for a move. The state must agree with the knowledge of the role."""
        legal = () if state.is_terminal else state.legal_moves(self._role)
        self._fallback = self._random.choice(legal) if legal else None
        self._allowed, self._lanes, self._has_searched = [], None, False
        if self._belief.particles is None and legal:
            with suppress(PositionError):
                self._belief.assume(state)
        if self._belief.particles is not None and not state.is_terminal:
            # If no action is legal in all possible states, allow the actions that are most probably legal.
            weights = self._belief.weight_of_legal()
            allowed = np.flatnonzero(weights >= min(_CERTAIN, weights.max() * _CERTAIN)).tolist()
            # The given state agrees with the observations, so only its legal moves are possible.
            self._allowed = [action for action in allowed if self._moves[action] in legal] or allowed
            self._fallback = self._moves[self._random.choice(self._allowed)]
            self._search.forget_if_full()

    def advance(self, seconds: float, iterations: int | None = None) -> int:
        """Search for about the given number of seconds; return the number of iterations."""
        if self.is_done:
            return 0
        if self._lanes is None:
            wanted = _LANES if iterations is None else max(_FEWEST_LANES, iterations // _LEAST_BATCHES)
            self._lanes = min(_LANES, wanted)
        deadline = perf_counter() + seconds
        done = 0
        while iterations is None or done < iterations:
            batch = self._lanes if iterations is None else min(self._lanes, iterations - done)
            self._search.run(batch)
            self._has_searched = True
            done += batch
            if perf_counter() >= deadline:
                break
        return done

    @property
    def is_done(self) -> bool:
        """Whether the role has no choice, or the belief is empty."""
        return len(self._allowed) < 2

    def best(self, role: int) -> Term:
        """Return the move with the most tries; ties are broken by the mean goal.

        Raises:
            ValueError: the role has no legal move, or is not the role that searches.
        """
        if self._game.roles[role] != self._role or self._fallback is None:
            raise ValueError(f"{self._game.roles[role]} has no move to choose here")
        ranked = self._ranked() if self._has_searched else []
        return self._moves[ranked[0][0]] if ranked else self._fallback

    def _ranked(self) -> list[tuple[int, int, float]]:
        """Return the allowed actions, best first, with their tries and mean goals."""
        if self._belief.particles is None:
            return []
        tries, means = self._search.statistics()
        ranked = sorted(self._allowed, key=lambda action: (-tries[action], -means[action]))
        return [(action, int(tries[action]), self._search.goal(means[action])) for action in ranked]

    def analysis(self, *, lines: bool = True) -> Analysis:
        """Return the mean goals of the role's moves, without proofs or lines."""
        role, ranked, trees = self._role, self._ranked(), self._search.trees.values()
        states = 0 if self._belief.particles is None else len(self._belief.particles)
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
            nodes=sum(map(len, trees)),
            depth=0,
            bytes=sum(tree.tries.nbytes + tree.sums.nbytes for tree in trees),
            moves={role: tuple(moves)},
            goals={role: mean},
            proven={role: None},
            engine="beliefs",
            believed=f"{states:,} {'possible states' if self._belief.is_exact else 'particles'}",
        )
