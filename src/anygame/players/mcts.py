"""Monte Carlo tree search: UCT (Kocsis and Szepesvari 2006) for any number of roles that move at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from anygame.players.player import Player
from anygame.players.rollouts import PlainRollouts, rollouts_of
from anygame.players.tree import Node

if TYPE_CHECKING:
    from anygame.game.game import Game
    from anygame.game.roles import Role
    from anygame.game.state import State
    from anygame.language.terms import Term
    from anygame.players.clock import Clock
    from anygame.players.rollouts import Rollouts, Values

__all__ = ["MctsPlayer"]

#: A node takes some kilobytes: half a gigabyte for all.
_MOST_NODES: Final = 100_000

#: The way from the root to a leaf: nodes, and the joint moves chosen there, as indices of moves.
_Path = list[tuple[Node, tuple[int, ...]]]


class MctsPlayer(Player):
    """Searches until the clock is up, and plays the move that it tried most.

    The part of the tree below what was played is kept for the next move. Where there is only one legal move,
    it is played at once.

    Where the game can be compiled within half of the start clock, values are those of many playouts at once.

    Attributes:
        tries: how many states are played on from for a move, if the clock allows; None for as many as it
            allows.
    """

    def __init__(self, seed: int | None = None, *, tries: int | None = None) -> None:
        super().__init__(seed)
        self.tries = tries
        self._root: Node | None = None
        self._nodes = 0

    def start(self, game: Game, role: Role, clock: Clock) -> None:
        """Search from the initial state."""
        super().start(game, role, clock)
        self._role_index = game.role_index(role)
        self._root = None
        # Whatever happens while the game is compiled, there is something to play with.
        self._rollouts: Rollouts = PlainRollouts(game, self.random)
        self._rollouts = rollouts_of(game, self.random, clock)
        if self.tries is None:
            self._search(game.initial_state(), clock)

    def move(self, state: State, clock: Clock) -> Term:
        """Return the move tried most."""
        legal = state.legal_moves(self.role)
        if len(legal) == 1:
            return legal[0]
        self.best = best = self.random.choice(legal)
        self._search(state, clock)
        return self.best or best

    def _search(self, state: State, clock: Clock) -> None:
        """Grow the tree from a state, and keep `best` up to date."""
        root = self._grown(state)
        if root.values is not None:
            return
        own = root.options[self._role_index]
        tried = 0
        while not clock.is_up and (self.tries is None or tried < self.tries):
            if not self._try(root, clock):
                break
            tried += self._rollouts.width
            self.best = own.best()

    def _grown(self, state: State) -> Node:
        """Return the node of a state: the last root, one of its children, or a new one."""
        known = [self._root, *self._root.children.values()] if self._root else []
        found = next((node for node in known if node.state == state), None)
        if found is None:
            found = Node(state, self.random)
        self._root = found
        self._nodes = _size(found)
        return found

    def _try(self, root: Node, clock: Clock) -> bool:
        """Walk down to some leaves, play on from there, and learn from it; False if the clock ran out."""
        paths: list[_Path] = []
        leaves: list[State] = []
        for _ in range(self._rollouts.width):
            path, leaf = self._descend(root)
            if leaf.values is not None:
                _learn(path, leaf.values)
            else:
                paths.append(path)
                leaves.append(leaf.state)
        if not leaves:
            return True
        values = self._rollouts.values(leaves, clock)
        for path, each in zip(paths, values or (), strict=False):
            _learn(path, each)
        return values is not None

    def _descend(self, root: Node) -> tuple[_Path, Node]:
        """Return a way to a node that is new, or where play ends."""
        path: _Path = []
        node = root
        is_new = False
        while node.values is None and not is_new:
            chosen = node.choose(self.random, self._rollouts.exploration)
            path.append((node, chosen))
            if self._nodes >= _MOST_NODES and chosen not in node.children:
                break
            node, is_new = node.child(chosen, self.random)
            self._nodes += is_new
        return path, node


def _learn(path: _Path, values: Values) -> None:
    for node, chosen in path:
        node.learn(chosen, values)


def _size(root: Node) -> int:
    count, waiting = 0, [root]
    while waiting:
        node = waiting.pop()
        count += 1
        waiting.extend(node.children.values())
    return count
