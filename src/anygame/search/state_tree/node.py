"""The nodes of the tree: states, how their moves did, and between what their values lie."""

from __future__ import annotations

from math import inf, log, sqrt
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Container
    from random import Random

    from anygame.game.roles import Role
    from anygame.game.state import State
    from anygame.language.terms import Term

#: A joint move, as the indices of its moves.
Choice = tuple[int, ...]


class Arm:
    """How one move did: how often it was tried, the sum of what that was worth, and of the squares."""

    __slots__ = ("count", "squares", "sum")

    def __init__(self) -> None:
        self.count = 0
        self.sum = 0.0
        self.squares = 0.0

    def add(self, worth: float) -> None:
        """Count a try."""
        self.count += 1
        self.sum += worth
        self.squares += worth * worth


class Options:
    """The moves of one role at a node, and how those did that were tried.

    Every role has a bandit of its own at every node, and chooses as if the others' choices were chance
    (decoupled UCT: Finnsson and Bjoernsson 2008). The role ``random`` draws.

    Attributes:
        moves: the legal moves.
        arms: by the index of the move.
        all: the moves taken together.
    """

    __slots__ = ("_untried", "all", "arms", "is_random", "moves")

    def __init__(self, role: Role, moves: tuple[Term, ...]) -> None:
        self.moves = moves
        self.arms: dict[int, Arm] = {}
        self.all = Arm()
        self.is_random = role.is_random
        self._untried = list(range(len(moves)))

    def choose(self, random: Random, exploration: float, barred: Container[int]) -> int:
        """Return the index of the move to try next.

        Args:
            random: draws between moves that were not tried yet.
            exploration: the weight of what is not known yet.
            barred: moves that cannot change anything any more.
        """
        if len(self.moves) == 1:
            return 0
        if self.is_random:
            return random.randrange(len(self.moves))
        return self._urgent(random, exploration, barred)

    def _urgent(self, random: Random, exploration: float, barred: Container[int]) -> int:
        """Return the index of the move with the highest upper bound: UCB1 (Auer, Cesa-Bianchi, Fischer 2002).

        A move that was not tried yet counts as if it had once brought what moves bring here on average, so
        that a few good ones are looked into also where there are more moves than time (first-play urgency:
        Gelly and Wang 2006).
        """
        urge = exploration * sqrt(log(self.all.count + 1))
        chosen, highest = -1, -inf
        for index, arm in self.arms.items():
            bound = arm.sum / arm.count + urge / sqrt(arm.count)
            if bound > highest and index not in barred:
                chosen, highest = index, bound
        if self._untried and (chosen < 0 or self.all.sum / self.all.count + urge >= highest):
            # What is drawn changes places with the last: all are drawn once, in any order.
            place = random.randrange(len(self._untried))
            self._untried[place], self._untried[-1] = self._untried[-1], self._untried[place]
            return self._untried.pop()
        return max(chosen, 0)

    def learn(self, chosen: int, worth: float) -> None:
        """Add what a try was worth."""
        arm = self.arms.get(chosen)
        if arm is None:
            arm = self.arms[chosen] = Arm()
        arm.add(worth)
        self.all.add(worth)


class Node:
    """A state in the tree; paths that lead to the same state share it.

    Attributes:
        state: the state.
        options: by role, in the order of the roles; empty before the node is opened, and where play ends.
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

    __slots__ = (
        "barred",
        "children",
        "is_closed",
        "least",
        "most",
        "mover",
        "options",
        "parents",
        "remaining",
        "state",
        "worth",
    )

    def __init__(self, state: State) -> None:
        roles = len(state.game.roles)
        self.state = state
        self.options: tuple[Options, ...] = ()
        self.children: dict[Choice, Node] = {}
        self.parents: list[Node] = []
        self.worth: tuple[float, ...] | None = None
        self.least = [0.0] * roles
        self.most = [1.0] * roles
        self.barred: set[int] = set()
        self.is_closed = False
        self.remaining = 0
        self.mover: int | None = None

    def open(self) -> None:
        """Find the legal moves, and who chooses between several alone."""
        state = self.state
        roles = state.game.roles
        self.options = tuple([Options(role, state.legal_moves(role)) for role in roles])
        several = [role for role, options in enumerate(self.options) if len(options.moves) > 1]
        if len(several) == 1 and not roles[several[0]].is_random:
            self.mover = several[0]

    def choose(self, random: Random, exploration: float, *, pruned: bool) -> Choice:
        """Return the joint move that the roles try next; with ``pruned``, none that is barred."""
        mover = self.mover if pruned else None
        return tuple(
            [
                options.choose(random, exploration, self.barred if role == mover else ())
                for role, options in enumerate(self.options)
            ]
        )

    def joint(self, chosen: Choice) -> tuple[Term, ...]:
        """Return the moves of a joint move."""
        return tuple([options.moves[index] for options, index in zip(self.options, chosen, strict=True)])

    def learn(self, chosen: Choice, worth: tuple[float, ...]) -> None:
        """Add what a try was worth to each role."""
        for options, index, value in zip(self.options, chosen, worth, strict=True):
            options.learn(index, value)
