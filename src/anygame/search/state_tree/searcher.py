"""The search over states: descents by upper bounds of confidence, playouts, and proofs from the ends."""

from __future__ import annotations

from random import Random
from time import perf_counter
from typing import TYPE_CHECKING, Final

from anygame.search.state_tree.goal_scale import GoalScale
from anygame.search.state_tree.node import Node
from anygame.search.state_tree.opposition import Opposition
from anygame.search.state_tree.playouts import Playouts
from anygame.search.state_tree.report import Reporter
from anygame.search.state_tree.score_bounds import spread

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

    from anygame.game.game import Game
    from anygame.game.state import State
    from anygame.language.terms import Term
    from anygame.search.analysis import Analysis
    from anygame.search.state_tree.node import Choice

#: Joint moves from the root to a leaf at most, for games that go on for ever.
_DEEPEST: Final = 500
#: What a state, its node and its place in the table take: frozen sets of some tens of facts, measured.
_BYTES_OF_A_NODE: Final = 6_000
#: ... and each of its moves.
_BYTES_OF_A_MOVE: Final = 50
#: Python looks through all objects now and then, which takes a second where there are some millions.
_MOST_NODES: Final = 50_000
#: Nodes looked at between two looks at the clock.
_AT_A_TIME: Final = 200

#: The way from the root to a leaf: nodes, and the joint moves chosen there.
_Path = list[tuple[Node, "Choice"]]


class StateSearcher:
    """Monte Carlo tree search over states: UCT (Kocsis and Szepesvari 2006) with proofs.

    Any number of roles that move at once, chance, cycles, and several paths to a state. Values of ends are
    proven upwards (see `score_bounds`), and the search ends with the proof of the root. That guides it where
    what one role gains the other loses, as far as the ends show that have been seen; elsewhere what the
    others can hold a role to is not what they want.

    Args:
        game: the game.
        seed: of the random numbers; None for fresh ones.
        memory: bytes that the tree may take, about; a full one is searched without growing.
    """

    def __init__(self, game: Game, *, seed: int | None = None, memory: int = 1 << 30) -> None:
        self._game = game
        self._random = Random(seed)
        self._scale = GoalScale(game)
        self._opposition = Opposition(game)
        self._playouts = Playouts(game, self._scale, self._opposition, self._random)
        self._memory = memory
        self._wanting = tuple([place for place, role in enumerate(game.roles) if not role.is_random])
        self._nodes: dict[State, Node] = {}
        self._bytes = 0
        self._depth = 0
        self._root: Node | None = None
        self._work: Iterator[bool] = iter(())

    def begin(self, state: State) -> None:
        """Make a state the root; what is known below it is kept."""
        if self._root is not None and self._root.state == state:
            return
        self._depth = 0
        found = self._nodes.get(state)
        if found is None:
            self._nodes, self._bytes = {}, 0
            found = self._made(state)
        self._root = found
        if not found.options and found.worth is None:
            self._open(found)
        self._work = self._search(found)

    def advance(self, seconds: float, iterations: int | None = None) -> int:
        """Search for about so many seconds; return how many leaves were evaluated."""
        assert self._root is not None
        deadline = perf_counter() + seconds
        done = 0
        try:
            while not self.is_done and (iterations is None or done < iterations):
                done += next(self._work)
                if perf_counter() >= deadline:
                    break
        except BaseException:
            # What was begun is lost with the generator: Ctrl-C, or an error of the rules.
            self._work = self._search(self._root)
            raise
        return done

    @property
    def is_done(self) -> bool:
        """Whether the root is an end, or proven."""
        root = self._root
        return root is None or root.worth is not None or self._is_closed(root)

    @property
    def bytes(self) -> int:
        """The memory that the tree takes, about."""
        return self._bytes

    def best(self, role: int) -> Term:
        """Return the move that a role should make at the root."""
        assert self._root is not None
        return self._reporter().best(self._root, role)

    def analysis(self, *, lines: bool = True) -> Analysis:
        """Return what is known of the root."""
        assert self._root is not None
        return self._reporter().analysis(
            self._root, lines=lines, nodes=len(self._nodes), depth=self._depth, size=self._bytes
        )

    def _reporter(self) -> Reporter:
        return Reporter(self._scale, opposed=self._opposition.holds)

    # -- iterations --------------------------------------------------------------------------------

    def _search(self, root: Node) -> Iterator[bool]:
        """Yield whether a leaf was evaluated, after everything that may take long."""
        yield from self._drop_unreachable(root)
        while True:
            path, leaf, state = yield from self._descend(root)
            if leaf is not None and leaf.worth is not None:
                worth = leaf.worth
            elif leaf is not None and self._is_closed(leaf):
                worth = tuple(leaf.least)
            else:
                worth = yield from self._played(state)
            self._learn(path, worth)
            yield True

    def _descend(self, root: Node) -> Generator[bool, None, tuple[_Path, Node | None, State]]:
        """Go down to a node that is new, ends, or is met again; out of the tree if that is full."""
        path: _Path = []
        met = set()
        node = root
        while True:
            if not node.options and node.worth is None:
                self._open(node)
                yield False
            if node.worth is not None or self._is_closed(node) or node in met or len(path) >= _DEEPEST:
                return path, node, node.state
            met.add(node)
            chosen = node.choose(self._random, self._playouts.exploration, pruned=self._opposition.holds)
            path.append((node, chosen))
            self._depth = max(self._depth, len(path))
            child = node.children.get(chosen)
            if child is None:
                state = node.state.next(node.joint(chosen))
                yield False
                child = self._linked(node, chosen, state)
                if child is None or not child.options:
                    return path, child, state
            node = child

    def _played(self, state: State) -> Generator[bool, None, tuple[float, ...]]:
        playing = self._playouts.play(state)
        while True:
            try:
                next(playing)
            except StopIteration as end:
                worth: tuple[float, ...] = end.value
                return worth
            yield False

    def _learn(self, path: _Path, worth: tuple[float, ...]) -> None:
        for node, chosen in reversed(path):
            node.learn(chosen, worth)
            if self._opposition.holds:
                # What was sampled is corrected by what is proven.
                worth = tuple(map(_between, node.least, worth, node.most))

    # -- nodes -------------------------------------------------------------------------------------

    def _is_closed(self, node: Node) -> bool:
        return node.is_closed and self._opposition.holds

    def _is_full(self) -> bool:
        return self._bytes >= self._memory or len(self._nodes) >= _MOST_NODES

    def _made(self, state: State) -> Node:
        """Return a new node for a state."""
        node = self._nodes[state] = Node(state)
        self._bytes += _BYTES_OF_A_NODE
        if not state.is_terminal:
            return node
        goals = self._scale.goals(state)
        self._opposition.see(goals)
        node.worth = self._scale.worth(goals)
        # Where rules hide information, nobody can play by what is proven of a state that it does not see.
        if not self._game.is_gdl2:
            bounds = [self._scale.bounds(goal) for goal in goals]
            node.least, node.most = [each.least for each in bounds], [each.most for each in bounds]
            node.is_closed = all(bounds[role].least == bounds[role].most for role in self._wanting)
        return node

    def _open(self, node: Node) -> None:
        """Find the moves of a node; where a role has none, play ends."""
        if node.state.stuck_role is not None:
            node.worth = self._scale.worth(self._scale.goals(node.state))
        else:
            node.open()
            self._bytes += _BYTES_OF_A_MOVE * sum([len(options.moves) for options in node.options])

    def _linked(self, node: Node, chosen: Choice, state: State) -> Node | None:
        """Return the node of a state as a child of another; None where there is no room for a new one."""
        child = self._nodes.get(state)
        if child is None:
            if self._is_full():
                return None
            child = self._made(state)
        node.children[chosen] = child
        child.parents.append(node)
        spread(child, self._wanting)
        return child

    def _drop_unreachable(self, root: Node) -> Iterator[bool]:
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
        size = 0
        for number, node in enumerate(reached.values()):
            node.parents = [parent for parent in node.parents if parent.state in reached]
            size += _BYTES_OF_A_NODE + _BYTES_OF_A_MOVE * sum([len(each.moves) for each in node.options])
            if number % _AT_A_TIME == 0:
                yield False
        self._nodes, self._bytes = reached, size


def _between(least: float, worth: float, most: float) -> float:
    return min(max(worth, least), most)
