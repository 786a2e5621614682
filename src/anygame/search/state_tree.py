"""A search tree over states, for games without a network: one state after the other, by any machine.

UCT (Kocsis and Szepesvari 2006), with bounds of values that are proven from the ends backwards (score-bounded
search: Cazenave and Saffidine 2010). What a role can make sure of is the best over its moves of the worst
over the others' of what it can make sure of after both; what the others can hold it to is the worst over
their moves of the best over its own. Chance is weighed evenly. Values go from 0, the least goal of the game,
to 1, the greatest; before anything is known, they may lie anywhere between. Every step from there is true if
the steps before it are, so that the bounds also hold where play may go on for ever. With simultaneous moves
they enclose the value under mixed strategies.
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

#: Joint moves from the root to a leaf at most, and of a playout: more than nearly all matches have.
_DEEPEST: Final = 500
#: What a state, its node and its place in the table take: frozen sets of some tens of facts, measured.
_BYTES_OF_A_NODE: Final = 6_000
#: ... and each of its moves.
_BYTES_OF_A_MOVE: Final = 50
#: Python looks through all objects now and then, which takes a second where there are some millions.
_MOST_NODES: Final = 50_000
#: Nodes looked at between two looks at the clock.
_AT_A_TIME: Final = 200
#: Seconds of a playout that need no look at the clock: a tenth of the shortest clocks.
_QUICK: Final = 0.005
#: The weight of what is not known yet.
_EXPLORATION: Final = 0.5
#: Means over draws of chance are as exact as floating-point numbers are.
_CLOSE: Final = 1e-9
_DIGITS: Final = 9
#: Around a cycle with chance in it bounds approach each other for ever, by less and less: steps smaller than
#: this are left out.
_STEP: Final = 1e-3
#: From here on a value is rather won than lost.
_MIDDLE: Final = 0.5
#: Longer than any line that is looked at: distances around cycles stop growing there.
_FAR: Final = 1000

#: A joint move, as the indices of its moves.
_Choice = tuple[int, ...]
#: Own move, the others' moves.
_Pair = tuple[int, _Choice]


class _Bandit:
    """The moves of one role at a node, and how those did that were tried.

    Every role has a bandit of its own at every node, and chooses as if the others' choices were chance
    (decoupled UCT: Finnsson and Bjoernsson 2008). The role ``random`` draws.

    Attributes:
        arms: by the index of a move that was tried, how often, and what that was worth in all.
        count: how often a move was tried.
        sum: what that was worth in all.
    """

    __slots__ = ("_untried", "arms", "count", "is_random", "moves", "sum")

    def __init__(self, role: Role, moves: tuple[Term, ...]) -> None:
        self.moves = moves
        self.arms: dict[int, tuple[int, float]] = {}
        self.count, self.sum = 0, 0.0
        self.is_random = role.is_random
        self._untried = list(range(len(moves)))

    def choose(self, random: Random, barred: Container[int]) -> int:
        """Return the move to try next, not one that is barred: UCB1 (Auer, Cesa-Bianchi, Fischer 2002).

        A move that was not tried yet counts as if it had once brought what moves bring here on average, so
        that a few good ones are looked into also where there are more moves than time (first-play urgency:
        Gelly and Wang 2006).
        """
        if len(self.moves) == 1:
            return 0
        if self.is_random:
            return random.randrange(len(self.moves))
        urge = _EXPLORATION * sqrt(log(self.count + 1))
        chosen, highest = -1, -inf
        for index, (count, total) in self.arms.items():
            bound = total / count + urge / sqrt(count)
            if bound > highest and index not in barred:
                chosen, highest = index, bound
        if self._untried and (chosen < 0 or self.sum / self.count + urge >= highest):
            # What is drawn changes places with the last: all are drawn once, in any order.
            place = random.randrange(len(self._untried))
            self._untried[place], self._untried[-1] = self._untried[-1], self._untried[place]
            return self._untried.pop()
        return max(chosen, 0)

    def learn(self, chosen: int, worth: float) -> None:
        """Add what a try was worth."""
        count, total = self.arms.get(chosen, (0, 0.0))
        self.arms[chosen] = count + 1, total + worth
        self.count += 1
        self.sum += worth


@dataclass(slots=True, eq=False)
class _Node:
    """A state in the tree; paths that lead to the same state share it.

    Attributes:
        bandits: by role, in the order of the roles; empty before the node is opened, and where play ends.
        children: by the joint moves that lead to them.
        parents: the nodes whose child this is.
        worth: what the state is worth to each role where play ends, since it is terminal or a role has no
            legal move; else None.
        least: per role what it can make sure of, so far; values are from 0 to 1.
        most: per role what the others can hold it to, so far.
        is_closed: whether the value is known for every role but ``random``.
        mover: the only role that has several moves; None where none has, or several, or ``random``.
        barred: moves of the mover that cannot be best any more.
        remaining: joint moves to the end under best play, where the value is known.
    """

    state: State
    least: list[float]
    most: list[float]
    bandits: tuple[_Bandit, ...] = ()
    children: dict[_Choice, _Node] = field(default_factory=dict)
    parents: list[_Node] = field(default_factory=list)
    worth: tuple[float, ...] | None = None
    barred: set[int] = field(default_factory=set)
    is_closed: bool = False
    remaining: int = 0
    mover: int | None = None

    def open(self) -> None:
        """Find the legal moves, and who chooses between several alone."""
        roles = self.state.game.roles
        self.bandits = tuple([_Bandit(role, self.state.legal_moves(role)) for role in roles])
        several = [role for role, bandit in enumerate(self.bandits) if len(bandit.moves) > 1]
        if len(several) == 1 and not roles[several[0]].is_random:
            self.mover = several[0]

    @property
    def bytes(self) -> int:
        """The memory that it takes, about."""
        return _BYTES_OF_A_NODE + _BYTES_OF_A_MOVE * sum([len(each.moves) for each in self.bandits])

    @property
    def unseen(self) -> int:
        """Joint moves that were not made yet; 1 before they are counted."""
        if self.worth is not None:
            return 0
        return prod([len(each.moves) for each in self.bandits]) - len(self.children) if self.bandits else 1

    def replies(self, role: int) -> int:
        """Return how many joint moves the others have, ``random`` aside."""
        others = (each for place, each in enumerate(self.bandits) if place != role and not each.is_random)
        return prod([len(each.moves) for each in others])


#: The way from the root to a leaf: nodes, and the joint moves chosen there.
_Path = list[tuple[_Node, _Choice]]


class StateSearcher(TreeReporter[_Node]):
    """Searches any game. See ``anygame.search.searching.Searcher`` for the contract.

    Any number of roles that move at once, chance, cycles, and several paths to a state. The search ends with
    the proof of the root. What is proven guides it where what one role gains the other loses, as far as the
    ends show that have been seen; elsewhere what the others can hold a role to is not what they want.

    Args:
        seed: of the random numbers; None for fresh ones.
        memory: bytes that the tree may take, about; a full one is searched without growing.
    """

    engine = "states"

    def __init__(self, game: Game, *, seed: int | None = None, memory: int = 1 << 30) -> None:
        self.game = game
        self._random = Random(seed)
        self._scale = GoalScale(game)
        self._scales = [(self._scale.lowest, self._scale.highest)] * len(game.roles)
        self._memory = memory
        self._wanting = tuple([place for place, role in enumerate(game.roles) if not role.is_random])
        # Of more than two roles each is held to be on its own. Where rules hide information, nobody knows
        # what others can do to it.
        self._is_opposed = len(self._wanting) < 3 and not game.is_gdl2
        self._ends: set[tuple[int, int]] = set()
        #: Joint moves of the tree that were not made yet, and the roles that an end gave a goal.
        self._unseen, self._with_goal = 0, set[int]()
        self._playouts, self._seconds = 0, 0.0
        self._nodes: dict[State, _Node] = {}
        self.bytes = 0
        self.depth = 0
        self._root: _Node | None = None
        self._work: Iterator[bool] = iter(())
        self._trees = [self]

    def begin(self, state: State) -> None:
        """Make a state the root; what is known below it is kept."""
        if self._root is not None and self._root.state == state:
            return
        self._state, self.depth = state, 0
        found = self._nodes.get(state)
        if found is None:
            self._nodes, self.bytes, self._unseen, self._with_goal = {}, 0, 0, set()
            found = self._made(state)
        self._root = found
        if not found.bandits and found.worth is None:
            self._open(found)
        self._work = self._search(found)

    def advance(self, seconds: float, iterations: int | None = None) -> int:
        """Search for about so many seconds; return how many leaves were evaluated."""
        deadline = perf_counter() + seconds
        done = 0
        try:
            while not self.is_done and (iterations is None or done < iterations):
                done += next(self._work)
                if perf_counter() >= deadline:
                    break
        except BaseException:
            # What was begun is lost with the generator: Ctrl-C, or an error of the rules.
            self._work = self._search(self.root)
            raise
        return done

    @property
    def is_done(self) -> bool:
        """Whether the root is an end, or proven, or no end gives a role a goal."""
        root = self._root
        if root is None or root.worth is not None or self._is_closed(root):
            return True
        return bool(self.without_goal)

    # -- what is known -----------------------------------------------------------------------------

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
        """The roles that no end gives a goal, once all states were seen and the values of others proven."""
        root = self.root
        if self._unseen or any(root.least[place] < root.most[place] for place in self._with_goal):
            return []
        return [place for place in self._wanting if place not in self._with_goal]

    def value(self, node: _Node, role: int) -> tuple[int, float, float, float]:
        """Return visits of a node, and for a role mean value and bounds."""
        count, mean = 0, node.least[role]
        if node.bandits and node.bandits[role].count:
            count, mean = node.bandits[role].count, node.bandits[role].sum / node.bandits[role].count
        most = node.most[role] if self._is_opposed or node.worth is not None else 1.0
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
        found = []
        for index, move in enumerate(node.bandits[role].moves):
            count, total = node.bandits[role].arms.get(index, (0, 0.0))
            least, most = bounds.get(index, (0.0, 1.0))
            if not self._is_opposed:
                # What the others could hold a role to says nothing of what they will do.
                most = 1.0
            mean = total / count if count else least
            found.append(Option(move, count, mean, least, most, distances.get(index, 0)))
        return found

    def child(self, node: _Node, options: Sequence[int]) -> _Node | None:
        """Return the node that a joint move, an option per role, leads to; None where there is none."""
        return node.children.get(tuple(options))

    def _goal(self, role: int, value: float) -> float:
        return self._scale.goal(value)

    # -- iterations --------------------------------------------------------------------------------

    def _search(self, root: _Node) -> Iterator[bool]:
        """Yield whether a leaf was evaluated, after everything that may take long."""
        yield from self._drop_unreachable(root)
        while True:
            path, leaf, state = yield from self._descend(root)
            if leaf is not None and leaf.worth is not None:
                worth = leaf.worth
            elif leaf is not None and self._is_closed(leaf):
                worth = tuple(leaf.least)
            else:
                worth = yield from self._played_out(state)
            for node, chosen in reversed(path):
                for bandit, index, value in zip(node.bandits, chosen, worth, strict=True):
                    bandit.learn(index, value)
                if self._is_opposed:
                    # What was sampled is corrected by what is proven.
                    bounds = zip(node.least, worth, node.most, strict=True)
                    worth = tuple([min(max(value, least), most) for least, value, most in bounds])
            yield True

    def _descend(self, root: _Node) -> Generator[bool, None, tuple[_Path, _Node | None, State]]:
        """Go down to a node that is new, ends, or is met again; out of the tree if that is full."""
        path: _Path = []
        met = set()
        node = root
        while True:
            if not node.bandits and node.worth is None:
                self._open(node)
                yield False
            if node.worth is not None or self._is_closed(node) or node in met or len(path) >= _DEEPEST:
                return path, node, node.state
            met.add(node)
            mover = node.mover if self._is_opposed else None
            chosen = tuple(
                [
                    bandit.choose(self._random, node.barred if role == mover else ())
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
        """Play on at random; return what the end is worth to each role, from 0 to 1.

        That is made step by step with a look at the clock between, or at once where that is quick; both draw
        the same moves, so that how long something took never shows in what is found.
        """
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
        return self._scale.worth(goals)

    def _goals(self, state: State) -> list[int | None]:
        return list(state.goals().values())

    def _see_end(self, goals: Sequence[int | None]) -> None:
        """Note who has a goal, and whether two roles are still opponents: what one gains the other loses."""
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
        node.worth = self._scale.worth(goals)
        # Where rules hide information, nobody can play by what is proven of a state that it does not see.
        if not self.game.is_gdl2:
            for role, goal in enumerate(goals):
                if goal is not None and abs(goal) <= LARGEST:
                    node.least[role] = node.most[role] = node.worth[role]
            node.is_closed = all(node.least[role] == node.most[role] for role in self._wanting)
        return node

    def _open(self, node: _Node) -> None:
        """Find the moves of a node; where a role has none, play ends."""
        unseen = node.unseen
        if node.state.stuck_role is not None:
            node.worth = self._scale.worth(self._goals(node.state))
        else:
            node.open()
            self.bytes += node.bytes - _BYTES_OF_A_NODE
        self._unseen += node.unseen - unseen

    def _linked(self, node: _Node, chosen: _Choice, state: State) -> _Node | None:
        """Return the node of a state as a child of another; None where there is no room for a new one."""
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
        """Forget the nodes to which no play leads any more, some at a time."""
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
    """Compute the bounds of a node from its children; return whether anything is new."""
    known = (list(node.least), list(node.most), node.remaining)
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
    return known != (node.least, node.most, node.remaining)


def _pairs(node: _Node, role: int) -> tuple[dict[_Pair, float], dict[_Pair, float]]:
    """Return lower and upper bounds for each own move and the others' moves, the mean over chance."""
    draws = prod([len(each.moves) for each in node.bandits if each.is_random])
    others = [place for place, each in enumerate(node.bandits) if place != role and not each.is_random]
    lower: dict[_Pair, float] = {}
    upper: dict[_Pair, float] = {}
    for chosen, child in node.children.items():
        pair = chosen[role], tuple([chosen[place] for place in others])
        # What chance may lead to and is not in the tree yet may be worth anything.
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
    """Return the least value of each group that has all its values."""
    groups: dict[Hashable, tuple[int, float]] = {}
    for group, value in values:
        count, least = groups.get(group, (0, inf))
        groups[group] = count + 1, min(least, value)
    return [least for count, least in groups.values() if count == size]


def _remaining(node: _Node) -> int:
    """Return the joint moves to the end: who wins hurries, who loses delays."""
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
    """Return the bounds of the moves of a role, whatever the others do at the same time, by index.

    A move that is not there may be worth anything.
    """
    if len(node.bandits[role].moves) == 1:
        return {0: (node.least[role], node.most[role])}
    found: dict[int, list[tuple[float, float]]] = {}
    lower, upper = _pairs(node, role)
    for pair, low in lower.items():
        found.setdefault(pair[0], []).append((low, upper[pair]))
    replies = node.replies(role)
    return {move: _enclosing(pairs) for move, pairs in found.items() if len(pairs) == replies}


def _enclosing(pairs: list[tuple[float, float]]) -> tuple[float, float]:
    least, most = min(low for low, _ in pairs), max(high for _, high in pairs)
    return (least, most) if most - least >= _CLOSE else (round(least, _DIGITS), round(least, _DIGITS))
