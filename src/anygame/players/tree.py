"""The tree of a Monte Carlo search, with the statistics of decoupled UCT.

UCT (Kocsis and Szepesvari 2006) takes every node for a bandit, and its moves for arms. All roles move at once
in GDL, so every role has its own bandit at every node and chooses on its own, as if the others' choices were
chance (Finnsson and Bjoernsson 2008); a role whose turn it is not has a single move. The role ``random``
draws.
"""

from __future__ import annotations

from math import log, sqrt
from typing import TYPE_CHECKING

from anygame.players.rollouts import values_of

if TYPE_CHECKING:
    from random import Random

    from anygame.game.roles import Role
    from anygame.game.state import State
    from anygame.language.terms import Term
    from anygame.players.rollouts import Values

__all__ = ["Node", "Options"]


class Options:
    """The moves of one role at a node, and how they did.

    Attributes:
        moves: the legal moves.
        counts: how often each was tried; tries under way count too, so that others are tried meanwhile.
        sums: what each brought the role in all.
        visits: the sum of the counts.
        total: the sum of the sums.
    """

    __slots__ = ("_untried", "counts", "is_random", "moves", "sums", "total", "visits")

    def __init__(self, role: Role, moves: tuple[Term, ...], random: Random) -> None:
        self.moves = moves
        self.counts = [0] * len(moves)
        self.sums = [0.0] * len(moves)
        self.visits = 0
        self.total = 0.0
        self.is_random = role.is_random
        self._untried = [] if self.is_random else random.sample(range(len(moves)), len(moves))

    def choose(self, random: Random, exploration: float) -> int:
        """Return the index of the move to try next, and count it."""
        if len(self.moves) == 1:
            chosen = 0
        elif self.is_random:
            chosen = random.randrange(len(self.moves))
        else:
            chosen = self._urgent(exploration)
        self.counts[chosen] += 1
        self.visits += 1
        return chosen

    def _urgent(self, exploration: float) -> int:
        """Return the index of the move with the highest upper bound: UCB1 (Auer, Cesa-Bianchi, Fischer 2002).

        A move that was not tried yet counts as if it had once brought what moves bring here on average, so
        that a few good ones are looked into also where there are more moves than time.
        """
        urge = exploration * sqrt(log(self.visits + 1))
        chosen, highest = -1, -1.0
        for index, count in enumerate(self.counts):
            if count:
                bound = self.sums[index] / count + urge / sqrt(count)
                if bound > highest:
                    chosen, highest = index, bound
        if self._untried and (chosen < 0 or self.total / self.visits + urge >= highest):
            return self._untried.pop()
        return chosen

    def best(self) -> Term:
        """Return the move tried most; among equals, the one that did best."""
        return self.moves[max(range(len(self.moves)), key=lambda move: (self.counts[move], self.sums[move]))]


class Node:
    """A state in the tree.

    Attributes:
        state: the state.
        options: by role, in the order of the roles; empty where play ends.
        children: by the joint moves that lead to them, each as the indices of its moves.
        values: what the state is worth where play ends, since it is terminal or a role has no legal move;
            else None.
    """

    __slots__ = ("children", "options", "state", "values")

    def __init__(self, state: State, random: Random) -> None:
        self.state = state
        self.children: dict[tuple[int, ...], Node] = {}
        self.values: Values | None = None
        self.options: tuple[Options, ...] = ()
        if state.is_terminal or state.stuck_role is not None:
            self.values = values_of(state)
        else:
            roles = state.game.roles
            self.options = tuple([Options(role, state.legal_moves(role), random) for role in roles])

    def choose(self, random: Random, exploration: float) -> tuple[int, ...]:
        """Return the joint move that the roles try next, as indices, and count it."""
        return tuple([options.choose(random, exploration) for options in self.options])

    def child(self, chosen: tuple[int, ...], random: Random) -> tuple[Node, bool]:
        """Return the node that a joint move leads to, and whether it is new."""
        known = self.children.get(chosen)
        if known is not None:
            return known, False
        joint = [options.moves[index] for options, index in zip(self.options, chosen, strict=True)]
        made = self.children[chosen] = Node(self.state.next(joint), random)
        return made, True

    def learn(self, chosen: tuple[int, ...], values: Values) -> None:
        """Add what a try brought each role."""
        for options, index, value in zip(self.options, chosen, values, strict=True):
            options.sums[index] += value
            options.total += value
