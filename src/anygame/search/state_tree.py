"""Search tree over states, which any machine expands one by one.

UCT (Kocsis and Szepesvari 2006), with bounds of values that are proven from the ends backwards (score-bounded
search: Cazenave and Saffidine 2010). The lower bound of a role is the maximin of the lower bounds over its
moves and the moves of the others. The upper bound is the minimax of the upper bounds. All moves of chance
have the same weight. Values go from 0, the least goal of the game, to 1, the greatest; these are the first
bounds. Each update is correct if the earlier ones are, so bounds also hold in games without end. With
simultaneous moves they enclose the value under mixed strategies.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf, log, prod, sqrt
from random import Random
from time import perf_counter
from typing import TYPE_CHECKING, Final

from anygame.game.outcomes import usable_goal
from anygame.search.goals import LARGEST, GoalScale
from anygame.search.reporting import Option, TreeReporter

if TYPE_CHECKING:
    from collections.abc import Container, Generator, Hashable, Iterable, Iterator, Sequence

    from anygame.game.game import Game
    from anygame.game.roles import Role
    from anygame.game.state import State
    from anygame.language.terms import Term

#: Joint moves of a descent, or of a playout, at most: more than nearly all matches have.
_DEEPEST: Final = 500
#: Bytes of a state, its node and its place in the table: frozen sets of some tens of facts, measured.
_BYTES_OF_A_NODE: Final = 6_000
_BYTES_OF_A_MOVE: Final = 50
#: Garbage collection takes a second where there are millions of objects.
_MOST_NODES: Final = 50_000
#: Nodes visited between two checks of the clock.
_AT_A_TIME: Final = 200
#: Seconds of a playout that needs no check of the clock: a tenth of the shortest clocks.
_QUICK: Final = 0.005
#: The weight of exploration, for single playouts and for means of many.
_EXPLORATION, _EXPLORATION_OF_MEANS = 0.5, 0.3
#: Playouts of a leaf in lanes: all take hardly longer than one. Maximum number of joint moves of a playout.
_LANES, _LONGEST = 512, 10_000
#: Means over chance are as exact as floating-point numbers.
_CLOSE: Final = 1e-9
_DIGITS: Final = 9
#: Around a cycle with chance, bounds converge for ever: smaller steps are left out.
_STEP: Final = 1e-3
#: Values from here on are rather won than lost.
_MIDDLE: Final = 0.5
#: Distances around cycles stop growing here.
_FAR: Final = 1000

#: A joint move, as the indices of its moves.
_Choice = tuple[int, ...]
#: Own move, the others' moves.
_Pair = tuple[int, _Choice]


class _Bandit:
    """The moves of one role at a node, and the values of tried ones.

    Every role has a bandit of its own at every node, and chooses as if the others' choices were chance
    (decoupled UCT: Finnsson and Bjoernsson 2008). The moves of ``random`` are sampled.

    Attributes:
        arms: by the index of a tried move, its tries and the sum of their values.
        count: tries of all moves.
        sum: of their values.
    """

    __slots__ = ("_untried", "arms", "count", "is_random", "moves", "sum")

    def __init__(self, role: Role, moves: tuple[Term, ...]) -> None:
        self.moves = moves
        self.arms: dict[int, tuple[int, float]] = {}
        self.count, self.sum = 0, 0.0
        self.is_random = role.is_random
        self._untried = list(range(len(moves)))

    def choose(self, random: Random, exploration: float, barred: Container[int]) -> int:
        """Return the move to try next, not a barred one: UCB1 (Auer, Cesa-Bianchi, Fischer 2002).

        An untried move counts as if it had been tried once with the mean value. So a few good moves are
        explored even if there are more moves than time (first-play urgency: Gelly and Wang 2006).
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
            # Swap the sampled move with the last untried one, so that each is sampled once.
            place = random.randrange(len(self._untried))
            self._untried[place], self._untried[-1] = self._untried[-1], self._untried[place]
            return self._untried.pop()
        return max(chosen, 0)

    def learn(self, chosen: int, value: float) -> None:
        """Add the value of a try."""
        count, total = self.arms.get(chosen, (0, 0.0))
        self.arms[chosen] = count + 1, total + value
        self.count += 1
        self.sum += value


@dataclass(slots=True, eq=False)
class _Node:
    """A state in the tree; paths that lead to the same state share it.

    Attributes:
        least: lower bounds, by role.
        most: upper bounds, by role.
        bandits: by role; empty before the node is opened, and where play ends.
        children: by joint move.
        parents: the nodes whose child this is.
        values: by role, where play ends, since it is terminal or a role has no legal move; else None.
        barred: moves of the mover that cannot be best any more.
        is_closed: whether the value is known for every role but ``random``.
        remaining: joint moves to the end under best play, where the value is known.
        mover: the only role with several moves; None where none has, or several, or ``random``.
    """

    state: State
    least: list[float]
    most: list[float]
    bandits: tuple[_Bandit, ...] = ()
    children: dict[_Choice, _Node] = field(default_factory=dict)
    parents: list[_Node] = field(default_factory=list)
    values: tuple[float, ...] | None = None
    barred: set[int] = field(default_factory=set)
    is_closed: bool = False
    remaining: int = 0
    mover: int | None = None

    def open(self) -> None:
        """Find the legal moves, and the only role that has a choice."""
        roles = self.state.game.roles
        self.bandits = tuple([_Bandit(role, self.state.legal_moves(role)) for role in roles])
        several = [role for role, bandit in enumerate(self.bandits) if len(bandit.moves) > 1]
        if len(several) == 1 and not roles[several[0]].is_random:
            self.mover = several[0]

    @property
    def bytes(self) -> int:
        """Approximate memory of the tree, in bytes."""
        return _BYTES_OF_A_NODE + _BYTES_OF_A_MOVE * sum([len(each.moves) for each in self.bandits])

    @property
    def unseen(self) -> int:
        """Joint moves that were not made yet; 1 before they are counted."""
        if self.values is not None:
            return 0
        return prod([len(each.moves) for each in self.bandits]) - len(self.children) if self.bandits else 1

    def replies(self, role: int) -> int:
        """Return the number of joint moves of the others, without ``random``."""
        others = (each for place, each in enumerate(self.bandits) if place != role and not each.is_random)
        return prod([len(each.moves) for each in others])


#: The way from the root to a leaf: nodes, and the joint moves chosen there.
_Path = list[tuple[_Node, _Choice]]


class StateSearcher(TreeReporter[_Node]):
    """Searches any game. See ``anygame.search.searching.Searcher`` for the contract.

    It supports any number of simultaneous roles, chance, cycles, and several paths to a state. The search
    ends with the proof of the root. Bounds guide it as long as the goals of two roles are opposed at all ends
    seen so far. In other games the others do not want to hold a role to its upper bound.

    Args:
        game: the game.
        seed: of the random numbers; None for fresh ones.
        memory: bytes of the tree at most, about; a full one is searched without growing.
        in_lanes: whether a leaf is evaluated by the mean of many playouts of a compiled game.
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
        # With more than two roles each is on its own. Where rules hide information, bounds do not hold.
        self._is_opposed = len(self._wanting) < 3 and not game.is_gdl2
        self._ends: set[tuple[int, int]] = set()
        #: Joint moves of the tree that were not made yet, and roles that got a goal at an end.
        self._unseen, self._with_goal = 0, set[int]()
        self._playouts, self._seconds = 0, 0.0
        self._nodes: dict[State, _Node] = {}
        self.bytes = 0
        self.depth = 0
        self._root: _Node | None = None
        self._work: Iterator[bool] = iter(())
        self._trees = [self]

    def begin(self, state: State) -> None:
        """Make a state the root; the tree below it is kept."""
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
        """Search for some seconds, about; return the number of evaluated leaves."""
        deadline = perf_counter() + seconds
        done = 0
        try:
            while not self.is_done and (iterations is None or done < iterations):
                done += next(self._work)
                if perf_counter() >= deadline:
                    break
        except BaseException:
            # The generator is lost: by Ctrl-C, or an error of the rules.
            self._work = self._search(self.root)
            raise
        return done

    @property
    def is_done(self) -> bool:
        """Whether the root is an end, or proven, or no end gives a role a goal."""
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
        """How many nodes there are."""
        return len(self._nodes)

    @property
    def without_goal(self) -> list[int]:
        """The roles without a goal at any end, once all states were seen and the values of others proven."""
        root = self.root
        if self._unseen or any(root.least[place] < root.most[place] for place in self._with_goal):
            return []
        return [place for place in self._wanting if place not in self._with_goal]

    def value(self, node: _Node, role: int) -> tuple[int, float, float, float]:
        """Return visits of a node, and for a role mean value and bounds."""
        count, mean = 0, node.least[role]
        if node.bandits and node.bandits[role].count:
            count, mean = node.bandits[role].count, node.bandits[role].sum / node.bandits[role].count
        most = node.most[role] if self._is_opposed or node.values is not None else 1.0
        return count, mean, node.least[role], most

    def options(self, node: _Node, role: int) -> list[Option]:
        """Return the moves of a role at a node; none if it is not opened."""
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
        """Return the child of a joint move, an option per role; None where there is none."""
        return node.children.get(tuple(options))

    # -- iterations --------------------------------------------------------------------------------

    def _search(self, root: _Node) -> Iterator[bool]:
        """Yield whether a leaf was evaluated, after every step that may take long."""
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
                    # Bounds correct sampled values.
                    bounds = zip(node.least, values, node.most, strict=True)
                    values = tuple([min(max(value, least), most) for least, value, most in bounds])
            yield True

    def _descend(self, root: _Node) -> Generator[bool, None, tuple[_Path, _Node | None, State]]:
        """Go down to a node that is new, an end, or met again; out of the tree if that is full."""
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
            mover = node.mover if self._is_opposed else None
            chosen = tuple(
                [
                    bandit.choose(self._random, self._exploration, node.barred if role == mover else ())
                    for role, bandit in enumerate(node.bandits)
                ]
            )
            path.append((node, chosen))
            self.depth = max(self.depth, len(path))
            child = node.children.get(chosen)
            if child is None:
                joint = [each.moves[index] for each, index in zip(node.bandits, chosen, strict=True)]
                state = node.state.next(joint)
                yield False
                child = self._linked(node, chosen, state)
                if child is None or not child.bandits:
                    return path, child, state
            node = child

    def _played_out(self, state: State) -> Generator[bool, None, tuple[float, ...]]:
        """Play on at random; return the values of the end.

        A slow playout yields after each move, so that the caller can check the clock. Both ways sample the
        same moves, so results do not depend on time.
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
                joint = [each[random.randrange(len(each))] if len(each) > 1 else each[0] for each in legal]
                state = state.next(joint)
                self._seconds += perf_counter() - begin
                yield False
            goals, is_over = self._goals(state), state.is_terminal
        self._playouts += 1
        if is_over:
            self._see_end(goals)
        return self._scale.values(goals)

    def _goals(self, state: State) -> list[int | None]:
        return list(state.goals().values())

    def _see_end(self, goals: Sequence[int | None]) -> None:
        """Record the roles with a goal, and whether the goals of two roles are still opposed."""
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
        """Return a new node for a state."""
        roles = len(self.game.roles)
        node = self._nodes[state] = _Node(state, [0.0] * roles, [1.0] * roles)
        self.bytes += node.bytes
        if not state.is_terminal:
            self._unseen += node.unseen
            return node
        goals = self._goals(state)
        self._see_end(goals)
        node.values = self._scale.values(goals)
        # Where rules hide information, no role can play by the bounds of a state that it does not see.
        if not self.game.is_gdl2:
            for role, goal in enumerate(goals):
                if goal is not None and abs(goal) <= LARGEST:
                    node.least[role] = node.most[role] = node.values[role]
            node.is_closed = all(node.least[role] == node.most[role] for role in self._wanting)
        return node

    def _open(self, node: _Node) -> None:
        """Find the moves of a node; play ends where a role has none."""
        unseen = node.unseen
        if node.state.stuck_role is not None:
            node.values = self._scale.values(self._goals(node.state))
        else:
            node.open()
            self.bytes += node.bytes - _BYTES_OF_A_NODE
        self._unseen += node.unseen - unseen

    def _linked(self, node: _Node, chosen: _Choice, state: State) -> _Node | None:
        """Return the node of a state as a child of another; None where there is no room."""
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
        """Forget the nodes that cannot be reached any more, some at a time."""
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
                self._see_end(self._goals(node.state))
            if number % _AT_A_TIME == 0:
                yield False
        self._nodes, self.bytes, self._unseen = reached, size, unseen


# -- bounds ------------------------------------------------------------------------------------------


def _tighten(node: _Node, wanting: tuple[int, ...]) -> bool:
    """Compute the bounds of a node from its children; return whether anything changed."""
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
    """Return lower and upper bounds for each own move and the others' moves, the mean over chance."""
    draws = prod([len(each.moves) for each in node.bandits if each.is_random])
    others = [place for place, each in enumerate(node.bandits) if place != role and not each.is_random]
    lower: dict[_Pair, float] = {}
    upper: dict[_Pair, float] = {}
    for chosen, child in node.children.items():
        pair = chosen[role], tuple([chosen[place] for place in others])
        # A move of chance that is not in the tree yet may have any value.
        lower[pair] = lower.get(pair, 0.0) + child.least[role] / draws
        upper[pair] = upper.get(pair, 1.0) - (1.0 - child.most[role]) / draws
    return lower, upper


def _bounds(node: _Node, role: int) -> tuple[float, float]:
    lower, upper = _pairs(node, role)
    own, replies = len(node.bandits[role].moves), node.replies(role)
    least = max(_complete(((pair[0], value) for pair, value in lower.items()), replies), default=0.0)
    # The worst of some numbers is the best of their opposites.
    opposites = ((pair[1], -value) for pair, value in upper.items())
    most = -max(_complete(opposites, own), default=-1.0)
    return least, most


def _complete(values: Iterable[tuple[Hashable, float]], size: int) -> list[float]:
    """Return the minimum of each group that has all its values."""
    groups: dict[Hashable, tuple[int, float]] = {}
    for group, value in values:
        count, least = groups.get(group, (0, inf))
        groups[group] = count + 1, min(least, value)
    return [least for count, least in groups.values() if count == size]


def _remaining(node: _Node) -> int:
    """Return the joint moves to the end: a winner hurries, a loser delays."""
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
    """Return the bounds of the moves of a role against all moves of the others, by index, where known."""
    if len(node.bandits[role].moves) == 1:
        return {0: (node.least[role], node.most[role])}
    by_move: dict[int, list[tuple[float, float]]] = {}
    lower, upper = _pairs(node, role)
    for pair, low in lower.items():
        by_move.setdefault(pair[0], []).append((low, upper[pair]))
    replies = node.replies(role)
    return {move: _enclosing(pairs) for move, pairs in by_move.items() if len(pairs) == replies}


def _enclosing(pairs: list[tuple[float, float]]) -> tuple[float, float]:
    least, most = min(low for low, _ in pairs), max(high for _, high in pairs)
    return (least, most) if most - least >= _CLOSE else (round(least, _DIGITS), round(least, _DIGITS))
