"""Search tree over states that the machine of a game expands one by one.

The search is UCT (Kocsis and Szepesvari 2006). The search backs up proven bounds of values from final states
(score-bounded search: Cazenave and Saffidine 2010). A value is a goal on a scale from 0, the lowest goal of
the game, to 1, the highest. For each role, the lower bound of a state is the maximin of the lower bounds of
its children: the role maximises, and the other roles minimise. The upper bound is the minimax of the upper
bounds. All moves of ``random`` are equally probable. Each update keeps the bounds correct, so bounds
also hold in endless games. With simultaneous moves, the bounds enclose the value under mixed strategies.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf, log, prod, sqrt
from random import Random
from time import perf_counter
from typing import TYPE_CHECKING, Final, TypeVar

from anygame.game.outcomes import usable_goal
from anygame.search.goals import LARGEST, GoalScale
from anygame.search.reporting import Option, TreeReporter

if TYPE_CHECKING:
    from collections.abc import Container, Generator, Iterable, Iterator, Sequence

    from anygame.game.game import Game
    from anygame.game.roles import Role
    from anygame.game.state import State
    from anygame.language.terms import Term

#: Maximum number of joint moves of a descent or a playout.
_DEEPEST: Final = 500
#: Size in bytes of a node with a state of tens of facts, without its moves.
_BYTES_OF_A_NODE: Final = 6_000
#: Size in bytes of a move of a node.
_BYTES_OF_A_MOVE: Final = 50
#: Maximum number of nodes. A garbage collection of millions of objects takes a second.
_MOST_NODES: Final = 50_000
#: Number of nodes visited between two checks of the clock.
_AT_A_TIME: Final = 200
#: Maximum duration in seconds of a playout that runs without a check of the clock.
_QUICK: Final = 0.005
#: Weight of exploration if a single playout evaluates each leaf.
_EXPLORATION: Final = 0.5
#: Weight of exploration if the mean of many playouts evaluates each leaf.
_EXPLORATION_OF_MEANS: Final = 0.3
#: Number of playouts per leaf in lanes, which hardly take more time than one playout.
_LANES: Final = 512
#: Maximum number of joint moves of a playout in a lane.
_LONGEST: Final = 10_000
#: Tolerance for floating-point errors in means over moves of ``random``.
_CLOSE: Final = 1e-9
#: Number of decimals to which means over moves of ``random`` are rounded.
_DIGITS: Final = 9
#: Minimum change of a bound that is backed up. In a cycle with chance, changes shrink forever.
_STEP: Final = 1e-3
#: Minimum value at which a role prefers a short match.
_MIDDLE: Final = 0.5
#: Maximum distance to the end. Without a maximum, distances in a cycle would grow forever.
_FAR: Final = 1000

#: A joint move: for each role, the index of its move.
_Choice = tuple[int, ...]
#: A move of one role, and the moves of the other roles.
_Pair = tuple[int, _Choice]
_Key = TypeVar("_Key", int, _Choice)


class _Bandit:
    """The moves of one role at a node, and the values of the tried moves.

    Every role has its own bandit at every node, and treats the choices of other roles as chance (decoupled
    UCT, Finnsson and Bjoernsson 2008). The bandit of ``random`` samples its moves.

    Attributes:
        arms: for each tried move, by index: the number of tries and the sum of their values.
        count: number of tries of all moves.
        sum: sum of the values of all tries.
    """

    __slots__ = ("_untried", "arms", "count", "is_random", "moves", "sum")

    def __init__(self, role: Role, moves: tuple[Term, ...]) -> None:
        self.moves = moves
        self.arms: dict[int, tuple[int, float]] = {}
        self.count, self.sum = 0, 0.0
        self.is_random = role.is_random
        self._untried = list(range(len(moves)))

    def choose(self, random: Random, exploration: float, barred: Container[int]) -> int:
        """Return the move to try next, by UCB1 (Auer, Cesa-Bianchi, Fischer 2002) without the barred moves.

        An untried move counts as tried once, with the mean value of all moves. So the search tries good moves
        again before it has tried all moves (first-play urgency: Gelly and Wang 2006).
        """
        if len(self.moves) == 1:
            return 0
        if self.is_random:
            return random.randrange(len(self.moves))
        urge = exploration * sqrt(log(self.count + 1))
        chosen, highest = -1, -inf
        for index, (count, total) in self.arms.items():
            bound = total / count + urge / sqrt(count)
            if bound > highest and index not in barred:
                chosen, highest = index, bound
        if self._untried and (chosen < 0 or self.sum / self.count + urge >= highest):
            # Sample without replacement: swap the sampled move with the last untried move.
            place = random.randrange(len(self._untried))
            self._untried[place], self._untried[-1] = self._untried[-1], self._untried[place]
            return self._untried.pop()
        return max(chosen, 0)

    def learn(self, chosen: int, value: float) -> None:
        count, total = self.arms.get(chosen, (0, 0.0))
        self.arms[chosen] = count + 1, total + value
        self.count += 1
        self.sum += value


@dataclass(slots=True, eq=False)
class _Node:
    """A state in the tree; all paths to the same state share one node.

    Play ends in a terminal state, and in a state where a role has no legal move.
    """

    state: State
    least: list[float]  # lower bounds of the values, by role
    most: list[float]  # upper bounds of the values, by role
    bandits: tuple[_Bandit, ...] = ()  # bandits by role; empty before ``open`` and in final states
    children: dict[_Choice, _Node] = field(default_factory=dict)  # the children, by joint move
    parents: list[_Node] = field(default_factory=list)  # the nodes that have this node as a child
    values: tuple[float, ...] | None = None  # values by role if play ends in the state, else None
    barred: set[int] = field(default_factory=set)  # moves whose values cannot exceed the mover's lower bound
    is_closed: bool = False  # whether the value is proven for every role except ``random``
    remaining: int = 0  # number of joint moves to the end under best play, if the value is proven
    mover: int | None = None  # the only role with several moves, unless it is ``random``; otherwise None

    def open(self) -> None:
        roles = self.state.game.roles
        self.bandits = tuple([_Bandit(role, self.state.legal_moves(role)) for role in roles])
        several = [role for role, bandit in enumerate(self.bandits) if len(bandit.moves) > 1]
        if len(several) == 1 and not roles[several[0]].is_random:
            self.mover = several[0]

    @property
    def bytes(self) -> int:
        return _BYTES_OF_A_NODE + _BYTES_OF_A_MOVE * sum([len(bandit.moves) for bandit in self.bandits])

    @property
    def unseen(self) -> int:
        """The number of joint moves without a child. Before ``open``, the number is 1."""
        if self.values is not None:
            return 0
        moves = [len(bandit.moves) for bandit in self.bandits]
        return prod(moves) - len(self.children) if moves else 1

    def replies(self, role: int) -> int:
        """Return the number of joint moves of the other roles, without ``random``."""
        others = (bandit for place, bandit in enumerate(self.bandits) if place != role)
        return prod([len(bandit.moves) for bandit in others if not bandit.is_random])


#: The path from the root to a leaf: nodes, and the joint moves chosen there.
_Path = list[tuple[_Node, _Choice]]


class StateSearcher(TreeReporter[_Node]):
    """Searches any game; it implements ``anygame.search.searching.Searcher``.

    The search uses upper bounds while the goals of two roles are opposed in all final states seen so far.
    Without opposed goals, no role tries to limit another role to its upper bound.

    Args:
        game: the game.
        seed: seed of the random numbers; None for a new seed.
        memory: approximate maximum size of the tree in bytes. A full tree gets no new nodes.
        in_lanes: whether the value of a leaf is the mean of many playouts of a compiled game.
    """

    engine = "states"

    def __init__(
        self, game: Game, *, seed: int | None = None, memory: int = 1 << 30, in_lanes: bool = False
    ) -> None:
        self.game = game
        self.in_lanes = in_lanes
        self._exploration = _EXPLORATION_OF_MEANS if in_lanes else _EXPLORATION
        self._random = Random(seed)
        self._scale = GoalScale.of(game)
        self._scales = [self._scale] * len(game.roles)
        self._memory = memory
        self._wanting = tuple([place for place, role in enumerate(game.roles) if not role.is_random])
        # Bounds are valid only if at most two roles choose and the rules hide no information.
        self._is_opposed = len(self._wanting) < 3 and not game.is_gdl2
        self._ends: set[tuple[int, int]] = set()
        #: Number of joint moves without a child, in the whole tree.
        self._unseen = 0
        #: The roles that had a goal in some final state.
        self._with_goal = set[int]()
        self._playouts, self._seconds = 0, 0.0
        self._nodes: dict[State, _Node] = {}
        self.bytes = 0
        self.depth = 0
        self._root: _Node | None = None
        self._work: Iterator[bool] = iter(())
        self._trees = [self]

    def begin(self, state: State) -> None:
        """Make a state the root, and keep the tree below it."""
        if self._root is not None and self._root.state == state:
            return
        self._state, self.depth = state, 0
        node = self._nodes.get(state)
        if node is None:
            self._nodes, self.bytes, self._unseen, self._with_goal = {}, 0, 0, set()
            node = self._made(state)
        self._root = node
        if not node.bandits and node.values is None:
            self._open(node)
        self._work = self._search(node)

    def advance(self, seconds: float, iterations: int | None = None) -> int:
        """Search for about the given number of seconds, and return the number of evaluated leaves."""
        deadline = perf_counter() + seconds
        done = 0
        try:
            while not self.is_done and (iterations is None or done < iterations):
                done += next(self._work)
                if perf_counter() >= deadline:
                    break
        except BaseException:
            # Ctrl-C or an error in the rules has ended the generator, so start a new one.
            self._work = self._search(self.root)
            raise
        return done

    @property
    def is_done(self) -> bool:
        """Whether play ends at the root, its value is proven, or no final state gives some role a goal."""
        root = self._root
        if root is None or root.values is not None or self._is_closed(root):
            return True
        return bool(self.without_goal)

    # -- reading -----------------------------------------------------------------------------------

    @property
    def root(self) -> _Node:
        """The node of the state that is searched."""
        assert self._root is not None
        return self._root

    @property
    def nodes(self) -> int:
        """The number of nodes."""
        return len(self._nodes)

    @property
    def without_goal(self) -> list[int]:
        """Roles that no final state gives a goal.

        Empty until the search has seen all states and proven the values of the other roles.
        """
        root = self.root
        if self._unseen or any(root.least[place] < root.most[place] for place in self._with_goal):
            return []
        return [place for place in self._wanting if place not in self._with_goal]

    def value(self, node: _Node, role: int) -> tuple[int, float, float, float]:
        """Return the visits of a node, and its mean value and bounds for a role."""
        count, mean = 0, node.least[role]
        if node.bandits and node.bandits[role].count:
            count, mean = node.bandits[role].count, node.bandits[role].sum / node.bandits[role].count
        most = node.most[role] if self._is_opposed or node.values is not None else 1.0
        return count, mean, node.least[role], most

    def options(self, node: _Node, role: int) -> list[Option]:
        """Return the moves of a role at a node; empty if the node is not open yet."""
        if not node.bandits:
            return []
        bounds = _bounds_of_moves(node, role)
        distances = {
            chosen[role]: child.remaining
            for chosen, child in node.children.items()
            if child.is_closed and node.mover == role
        }
        options = []
        for index, move in enumerate(node.bandits[role].moves):
            count, total = node.bandits[role].arms.get(index, (0, 0.0))
            least, most = bounds.get(index, (0.0, 1.0))
            most = most if self._is_opposed else 1.0
            mean = total / count if count else least
            options.append(Option(move, count, mean, least, most, distances.get(index, 0)))
        return options

    def child(self, node: _Node, options: Sequence[int]) -> _Node | None:
        """Return the child after a joint move with one option per role; None if the child does not exist."""
        return node.children.get(tuple(options))

    # -- iterations --------------------------------------------------------------------------------

    def _search(self, root: _Node) -> Iterator[bool]:
        """Search for ever; after every step that can be slow, yield whether the step has evaluated a leaf."""
        yield from self._drop_unreachable(root)
        while True:
            path, leaf, state = yield from self._descend(root)
            if leaf is not None and leaf.values is not None:
                values = leaf.values
            elif leaf is not None and self._is_closed(leaf):
                values = tuple(leaf.least)
            else:
                values = yield from self._played_out(state)
            for node, chosen in reversed(path):
                for bandit, index, value in zip(node.bandits, chosen, values, strict=True):
                    bandit.learn(index, value)
                if self._is_opposed:
                    bounds = zip(node.least, values, node.most, strict=True)
                    values = tuple([min(max(value, least), most) for least, value, most in bounds])
            yield True

    def _descend(self, root: _Node) -> Generator[bool, None, tuple[_Path, _Node | None, State]]:
        """Descend to a node that is new, that ends play, or that is already on the path.

        Returns the path, the leaf, and its state. The leaf is None if the tree is too full for a new node.
        """
        path: _Path = []
        met = set()
        node = root
        while True:
            if not node.bandits and node.values is None:
                self._open(node)
                yield False
            if node.values is not None or self._is_closed(node) or node in met or len(path) >= _DEEPEST:
                return path, node, node.state
            met.add(node)
            chosen = self._choose(node)
            path.append((node, chosen))
            self.depth = max(self.depth, len(path))
            child = node.children.get(chosen)
            if child is None:
                joint = [bandit.moves[index] for bandit, index in zip(node.bandits, chosen, strict=True)]
                state = node.state.next(joint)
                yield False
                child = self._linked(node, chosen, state)
                if child is None or not child.bandits:
                    return path, child, state
            node = child

    def _choose(self, node: _Node) -> _Choice:
        mover = node.mover if self._is_opposed else None
        barred = [node.barred if role == mover else () for role in range(len(node.bandits))]
        bandits = zip(node.bandits, barred, strict=True)
        return tuple([bandit.choose(self._random, self._exploration, moves) for bandit, moves in bandits])

    def _played_out(self, state: State) -> Generator[bool, None, tuple[float, ...]]:
        """Play random moves to the end, and return the values of the last state.

        A slow playout yields after each move, so that the caller can check the clock. Fast and slow playouts
        sample the same moves, so results do not depend on the speed of the machine.
        """
        if self.in_lanes:
            playouts = self.game.simulate(_LANES, self._random.getrandbits(32), state=state, limit=_LONGEST)
            if playouts.playouts:
                return self._scale.values([playouts.mean_goals[role] for role in self.game.roles])
        random = Random(self._random.getrandbits(64))
        machine, position = self.game.backends.start(state)
        begin = perf_counter()
        if self._playouts and 4 * self._seconds / self._playouts < _QUICK:
            outcome = machine.play_out(position, random, _DEEPEST)
            goals, is_over = [usable_goal(values) for values in outcome.goals], outcome.is_complete
            self._seconds += perf_counter() - begin
        else:
            for _ in range(_DEEPEST):
                begin = perf_counter()
                if state.is_terminal or state.stuck_role is not None:
                    break
                legal = [state.legal_moves(role) for role in self.game.roles]
                joint = [
                    moves[random.randrange(len(moves))] if len(moves) > 1 else moves[0] for moves in legal
                ]
                state = state.next(joint)
                self._seconds += perf_counter() - begin
                yield False
            goals, is_over = list(state.goals().values()), state.is_terminal
        self._playouts += 1
        if is_over:
            self._see_end(goals)
        return self._scale.values(goals)

    def _see_end(self, goals: Sequence[int | None]) -> None:
        """Record which roles have a goal in a final state, and whether the goals of two roles are opposed."""
        self._with_goal.update(place for place, goal in enumerate(goals) if goal is not None)
        if len(self._wanting) != 2 or not self._is_opposed:
            return
        one, other = (goals[place] for place in self._wanting)
        if one is not None and other is not None and (one, other) not in self._ends:
            self._is_opposed = all((one - a) * (other - b) < 0 for a, b in self._ends)
            self._ends.add((one, other))

    # -- nodes -------------------------------------------------------------------------------------

    def _is_closed(self, node: _Node) -> bool:
        return node.is_closed and self._is_opposed

    def _made(self, state: State) -> _Node:
        roles = len(self.game.roles)
        node = self._nodes[state] = _Node(state, [0.0] * roles, [1.0] * roles)
        self.bytes += node.bytes
        if not state.is_terminal:
            self._unseen += node.unseen
            return node
        goals = list(state.goals().values())
        self._see_end(goals)
        node.values = self._scale.values(goals)
        # If rules hide information, a role does not know the state, so the state's bounds are of no use.
        if not self.game.is_gdl2:
            for role, goal in enumerate(goals):
                if goal is not None and abs(goal) <= LARGEST:
                    node.least[role] = node.most[role] = node.values[role]
            node.is_closed = all(node.least[role] == node.most[role] for role in self._wanting)
        return node

    def _open(self, node: _Node) -> None:
        """Set the bandits of a node, or the node's values if a role has no move."""
        unseen = node.unseen
        if node.state.stuck_role is not None:
            node.values = self._scale.values(node.state.goals().values())
        else:
            node.open()
            self.bytes += node.bytes - _BYTES_OF_A_NODE
        self._unseen += node.unseen - unseen

    def _linked(self, node: _Node, chosen: _Choice, state: State) -> _Node | None:
        """Make the node of a state a child of a node, and return the child; None if the tree is full."""
        child = self._nodes.get(state)
        if child is None:
            if self.bytes >= self._memory or len(self._nodes) >= _MOST_NODES:
                return None
            child = self._made(state)
        node.children[chosen] = child
        self._unseen -= 1
        child.parents.append(node)
        waiting = [child]
        while waiting:
            changed = waiting.pop()
            waiting += [parent for parent in changed.parents if _tighten(parent, self._wanting)]
        return child

    def _drop_unreachable(self, root: _Node) -> Iterator[bool]:
        """Drop the nodes that are not reachable from the root; yield between steps."""
        reached = {root.state: root}
        waiting = [root]
        while waiting:
            for child in waiting.pop().children.values():
                if child.state not in reached:
                    reached[child.state] = child
                    waiting.append(child)
            if len(reached) % _AT_A_TIME == 0:
                yield False
        if len(reached) == len(self._nodes):
            return
        size, unseen = 0, 0
        self._with_goal.clear()
        for number, node in enumerate(reached.values()):
            node.parents = [parent for parent in node.parents if parent.state in reached]
            size, unseen = size + node.bytes, unseen + node.unseen
            if node.state.is_terminal:
                self._see_end(list(node.state.goals().values()))
            if number % _AT_A_TIME == 0:
                yield False
        self._nodes, self.bytes, self._unseen = reached, size, unseen


# -- bounds ------------------------------------------------------------------------------------------


def _tighten(node: _Node, wanting: tuple[int, ...]) -> bool:
    """Update the bounds of a node from its children; return whether a bound or the distance changed."""
    before = (list(node.least), list(node.most), node.remaining)
    for role in wanting:
        if node.least[role] == node.most[role]:
            continue
        least, most = _bounds(node, role)
        least, most = max(least, node.least[role]), min(most, node.most[role])
        if most - least < _CLOSE:
            node.least[role] = node.most[role] = round(least, _DIGITS)
        elif least - node.least[role] + node.most[role] - most > _STEP:
            node.least[role], node.most[role] = least, most
    was_closed, mover = node.is_closed, node.mover
    node.is_closed = all(node.least[role] == node.most[role] for role in wanting)
    if node.is_closed and not (was_closed and mover is None):
        node.remaining = _remaining(node)
    if mover is not None:
        children = node.children.items()
        node.barred = {chosen[mover] for chosen, child in children if child.most[mover] <= node.least[mover]}
    return before != (node.least, node.most, node.remaining)


def _pairs(node: _Node, role: int) -> tuple[dict[_Pair, float], dict[_Pair, float]]:
    """Return lower and upper bounds, as means over chance, by the role's move and the other roles' reply."""
    outcomes = prod([len(bandit.moves) for bandit in node.bandits if bandit.is_random])
    others = [place for place, bandit in enumerate(node.bandits) if place != role and not bandit.is_random]
    lower: dict[_Pair, float] = {}
    upper: dict[_Pair, float] = {}
    for chosen, child in node.children.items():
        pair = chosen[role], tuple([chosen[place] for place in others])
        # Without a child, a move of ``random`` can have any value.
        lower[pair] = lower.get(pair, 0.0) + child.least[role] / outcomes
        upper[pair] = upper.get(pair, 1.0) - (1.0 - child.most[role]) / outcomes
    return lower, upper


def _bounds(node: _Node, role: int) -> tuple[float, float]:
    lower, upper = _pairs(node, role)
    by_move = _minima(((own, value) for (own, _), value in lower.items()), node.replies(role))
    # The maximum is minus the minimum of the negated values.
    by_reply = _minima(
        ((reply, -value) for (_, reply), value in upper.items()), len(node.bandits[role].moves)
    )
    return max(by_move.values(), default=0.0), -max(by_reply.values(), default=-1.0)


def _minima(values: Iterable[tuple[_Key, float]], size: int) -> dict[_Key, float]:
    """Return the minimum of each group that has exactly ``size`` values."""
    groups: dict[_Key, list[float]] = {}
    for group, value in values:
        groups.setdefault(group, []).append(value)
    return {group: min(members) for group, members in groups.items() if len(members) == size}


def _remaining(node: _Node) -> int:
    """Return the number of joint moves to the end. A winner prefers a short match, a loser a long match."""
    mover = node.mover
    value = 0.0 if mover is None else node.least[mover]
    ends = [
        child.remaining
        for child in node.children.values()
        if child.is_closed and (mover is None or child.least[mover] == value)
    ]
    hurries = mover is not None and value >= _MIDDLE
    return min(1 + (min(ends, default=0) if hurries else max(ends, default=0)), _FAR)


def _bounds_of_moves(node: _Node, role: int) -> dict[int, tuple[float, float]]:
    """Return the bounds of the moves that have a child for each reply, by the index of the move."""
    if len(node.bandits[role].moves) == 1:
        return {0: (node.least[role], node.most[role])}
    lower, upper = _pairs(node, role)
    replies = node.replies(role)
    bounds = _minima(((own, value) for (own, _), value in lower.items()), replies)
    opposites = _minima(((own, -value) for (own, _), value in upper.items()), replies)
    exact = {own: round(least, _DIGITS) for own, least in bounds.items() if -opposites[own] - least < _CLOSE}
    return {own: (exact.get(own, least), exact.get(own, -opposites[own])) for own, least in bounds.items()}
