"""Plain Monte Carlo tree search, to be read: UCT (Kocsis and Szepesvari 2006) for any number of roles.

A node of the tree is a state. UCT treats it as a bandit whose arms are the moves, and pulls the arm with the
greatest upper confidence bound (UCB1: Auer, Cesa-Bianchi and Fischer 2002). All roles move at the same time
in GDL, so every role has a bandit of its own at every node, and treats the choices of the others as chance
(Finnsson and Bjoernsson 2008). The strong player is ``mcts``, which uses `anygame.search.Search`.
"""

from __future__ import annotations

from contextlib import suppress
from math import log, sqrt
from typing import TYPE_CHECKING, Final

from anygame.game.machine import FallbackWarning
from anygame.players.player import Player, check_option

if TYPE_CHECKING:
    from random import Random

    from anygame.game.state import State
    from anygame.language.terms import Term
    from anygame.players.clock import Clock

#: The value of a state to each role, in the order of the roles: 0 for a goal of 0, 1 for a goal of 100.
Values = tuple[float, ...]

#: Upper bound of the nodes, of some kilobytes each; new leaves of a full tree are evaluated but not kept.
_MOST_NODES: Final = 100_000
#: Upper bound of the joint moves of a playout; playouts of a leaf where the game is compiled.
_LONGEST, _LANES = 10_000, 512
#: The share of the start clock for compiling.
_COMPILING: Final = 0.5
#: Exploration constants, for single playouts and for means of many.
_EXPLORATION, _EXPLORATION_OF_MEANS = 0.5, 0.3


class Node:
    """A state in the tree.

    Attributes:
        state: the state.
        moves: per role its legal moves; empty where play ends.
        counts: per role the number of tries of each move.
        sums: per role the sum of the values of each move.
        children: by joint move, as the indices of its moves.
    """

    def __init__(self, state: State) -> None:
        ends = state.is_terminal or state.stuck_role is not None
        self.state = state
        self.moves = [] if ends else [state.legal_moves(role) for role in state.game.roles]
        self.counts = [[0] * len(moves) for moves in self.moves]
        self.sums = [[0.0] * len(moves) for moves in self.moves]
        self.children: dict[tuple[int, ...], Node] = {}

    def choose(self, role: int, exploration: float, random: Random) -> int:
        """Return the index of the move that a role tries next."""
        counts, sums = self.counts[role], self.sums[role]
        if self.state.game.roles[role].is_random:
            return random.randrange(len(counts))
        visits = sum(counts)
        urge = exploration * sqrt(log(visits + 1))
        # An untried move counts as one try that brought the mean of all moves.
        new = sum(sums) / max(visits, 1) + urge
        bounds = [s / n + urge / sqrt(n) if n else new for s, n in zip(sums, counts, strict=True)]
        chosen = bounds.index(max(bounds))
        return chosen if counts[chosen] else random.choice([move for move, n in enumerate(counts) if not n])

    def learn(self, chosen: tuple[int, ...], values: Values) -> None:
        """Add the values that a joint move brought."""
        for role, (move, value) in enumerate(zip(chosen, values, strict=True)):
            self.counts[role][move] += 1
            self.sums[role][move] += value


class UctPlayer(Player):
    """Searches until the clock is up, and plays the move with the most tries.

    The tree is kept from move to move.

    Attributes:
        iterations: upper bound of the leaves evaluated for a move; None for as many as the clock allows.
            ``tries`` is its former name.
    """

    def __init__(
        self, seed: int | None = None, *, iterations: int | None = None, tries: int | None = None
    ) -> None:
        super().__init__(seed)
        self.iterations = iterations if tries is None else tries
        check_option("iterations", self.iterations, 1)
        self.remembers = self.iterations is not None
        self._root: Node | None = None
        self._nodes = 0

    def start(self, clock: Clock) -> None:
        """Compile the game, if half of the clock is enough."""
        game = self.game
        self._root = None
        if not game.is_settled and not clock.is_up:
            with suppress(FallbackWarning):
                game.compile(seconds=clock.remaining() * _COMPILING)
        self._in_lanes = game.is_settled and game.machine == "network"

    def move(self, state: State, clock: Clock) -> Term:
        """Return the move with the most tries."""
        role = self.game.role_index(self.role)
        legal = state.legal_moves(self.role)
        self.best = best = self.random.choice(legal)
        self._root = root = self._kept(state)
        tries = 0
        while len(legal) > 1 and root.moves and not clock.is_up and tries != self.iterations:
            self._try(root, clock)
            tries += 1
            self.best = best = legal[max(range(len(legal)), key=root.counts[role].__getitem__)]
        return best

    def _kept(self, state: State) -> Node:
        """Return the node of a state: one of the last tree near its root, or a new one."""
        last = self._root
        near = [last, *last.children.values()] if last else []
        near += [node for child in near[1:] for node in child.children.values()]
        kept = next((node for node in near if node.state == state), None) or Node(state)
        self._nodes, unseen = 0, [kept]
        while unseen:
            children = unseen.pop().children.values()
            self._nodes += len(children)
            unseen += children
        return kept

    def _try(self, root: Node, clock: Clock) -> None:
        """Descend to a leaf, evaluate it, and back up its values."""
        path: list[tuple[Node, tuple[int, ...]]] = []
        node, is_new = root, False
        exploration = _EXPLORATION_OF_MEANS if self._in_lanes else _EXPLORATION
        while node.moves and not is_new:
            chosen = tuple([node.choose(role, exploration, self.random) for role in range(len(node.moves))])
            path.append((node, chosen))
            child = node.children.get(chosen)
            is_new = child is None
            if child is None:
                joint = [moves[move] for moves, move in zip(node.moves, chosen, strict=True)]
                child = Node(node.state.next(joint))
                if self._nodes < _MOST_NODES:
                    node.children[chosen] = child
                    self._nodes += 1
            node = child
        values = self._evaluate(node, clock)
        if values is not None:
            for above, chosen in path:
                above.learn(chosen, values)

    def _evaluate(self, node: Node, clock: Clock) -> Values | None:
        """Return the values of random play from a node; None if the clock ran out first."""
        state = node.state
        if node.moves and self._in_lanes:
            found = self.game.simulate(_LANES, self.random.getrandbits(32), state=state, limit=_LONGEST)
            if found.playouts:
                return tuple([_worth(found.mean_goals[role]) for role in self.game.roles])
        elif node.moves:
            for _ in range(_LONGEST):
                if state.is_terminal or state.stuck_role is not None:
                    break
                if clock.is_up:
                    return None
                state = state.next([self.random.choice(state.legal_moves(role)) for role in self.game.roles])
        return values_of(state)


def values_of(state: State) -> Values:
    """Return the values of the goals of a state; 0 where there is no usable goal."""
    return tuple(map(_worth, state.goals().values()))


def _worth(goal: float | None) -> float:
    # Of 0 and nan, in this order, 0 is the greater one.
    return min(max(0, goal or 0), 100) / 100
