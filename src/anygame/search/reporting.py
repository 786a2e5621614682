"""Analyses of search trees: the ranked moves at the root, and lines of best play."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import TYPE_CHECKING, Final, Generic, Protocol, TypeVar

from anygame.search.analysis import Analysis, MoveAnalysis, best_first
from anygame.search.goals import Bounds

if TYPE_CHECKING:
    from collections.abc import Sequence

    from anygame.game.game import Game
    from anygame.game.state import State
    from anygame.language.terms import Term
    from anygame.search.analysis import JointMoves
    from anygame.search.goals import GoalScale

#: Maximum number of joint moves of a line of best play.
_LONGEST_LINE: Final = 40
#: Maximum number of root moves with a line of best play.
_MOST_LINES: Final = 50

_Node = TypeVar("_Node")


@dataclass(frozen=True, slots=True)
class Option:
    """Statistics of a move of a role at a node."""

    move: Term
    tries: int  # Number of leaves evaluated below the move.
    mean: float  # Mean value, for the role, of the leaves below the move.
    low: float  # Proven lower bound of the value of the move.
    high: float  # Proven upper bound of the value of the move.
    distance: int  # Number of joint moves to the end of the game, if the value is proven.
    estimate: float | None = None  # Minimax value of estimates, between 0 and 1; None without estimates.


class _ReadableTree(Protocol[_Node]):
    """A search tree for ``TreeReporter``. ``state_tree.StateSearcher`` documents the members."""

    @property
    def root(self) -> _Node: ...
    @property
    def nodes(self) -> int: ...
    @property
    def depth(self) -> int: ...
    @property
    def bytes(self) -> int: ...
    @property
    def without_goal(self) -> list[int]: ...

    def value(self, node: _Node, role: int) -> tuple[int, float, float, float]: ...
    def options(self, node: _Node, role: int) -> list[Option]: ...
    def child(self, node: _Node, options: Sequence[int]) -> _Node | None: ...


class TreeReporter(Generic[_Node]):
    """Base class of searchers that combine trees with the same root into one analysis."""

    game: Game
    engine: str
    _state: State
    _trees: Sequence[_ReadableTree[_Node]]
    #: Goal scale of each role.
    _scales: Sequence[GoalScale]

    def best(self, role: int) -> Term:
        """Return the best move of a role at the root; raise ValueError if there is no legal move."""
        moves = self._moves(role, lines=False)
        if not moves:
            raise ValueError(f"{self.game.roles[role]} has no legal move here")
        return moves[0].move

    def analysis(self, *, lines: bool = True) -> Analysis:
        """Return the analysis of the root. In the result, the numbers of iterations and of seconds are 0."""
        roles = [(place, role) for place, role in enumerate(self.game.roles) if not role.is_random]
        values = {role: self._value(place) for place, role in roles}
        return Analysis(
            iterations=0,
            seconds=0.0,
            nodes=sum(tree.nodes for tree in self._trees),
            depth=max(tree.depth for tree in self._trees),
            bytes=sum(tree.bytes for tree in self._trees),
            moves={role: self._moves(place, lines) for place, role in roles},
            goals={role: goal for role, (goal, _) in values.items()},
            proven={role: proven for role, (_, proven) in values.items()},
            engine=self.engine,
            reason=next(
                (f"no final state gives {self.game.roles[place]} a goal" for place in self._without_goal), ""
            ),
        )

    @property
    def _without_goal(self) -> list[int]:
        return next(filter(None, [tree.without_goal for tree in self._trees]), [])

    def _range_of_goals(self, role: int) -> float:
        """Return the range of goals for ``best_first``, or 0 to rank moves by visits."""
        return 0

    @property
    def _trust(self) -> float:
        """Weight of estimates relative to mean values, from 0 to 1."""
        return 0.0

    def _value(self, role: int) -> tuple[float | None, float | None]:
        """Return the mean goal and the proven goal of a role at the root; None for an unknown goal."""
        estimates = [tree.value(tree.root, role) for tree in self._trees]
        low, high = max(each[2] for each in estimates), min(each[3] for each in estimates)
        goal = self._scales[role].goal
        if low >= high:
            return goal(low), goal(low)
        visits = sum(each[0] for each in estimates)
        if not visits or role in self._without_goal:
            return None, None
        return goal(sum(each[0] * each[1] for each in estimates) / visits), None

    def _moves(self, role: int, lines: bool) -> tuple[MoveAnalysis, ...]:
        """Return the analyses of the moves of a role at the root, best first."""
        per_tree = [tree.options(tree.root, role) for tree in self._trees]
        expanded = [options for options in per_tree if options]
        scale = self._scales[role]
        if not expanded:
            legal = () if self._state.is_terminal else self._state.legal_moves(self.game.roles[role])
            return tuple(
                [MoveAnalysis(move, 0, None, None, Bounds(scale.lowest, scale.highest)) for move in legal]
            )
        together = [_together(of_move) for of_move in zip(*expanded, strict=True)]
        has_goal = role not in self._without_goal
        ranked = best_first(
            [
                MoveAnalysis(
                    move=option.move,
                    visits=option.tries,
                    goal=scale.goal(option.mean)
                    if has_goal and (option.tries or option.low == option.high)
                    else None,
                    error=self._error(role, option) if has_goal else None,
                    bounds=Bounds(scale.goal(option.low), scale.goal(option.high)),
                    estimate=None if option.estimate is None else scale.goal(option.estimate),
                )
                for option in sorted(together, key=_eagerness)
            ],
            range_of_goals=self._range_of_goals(role),
            trust=self._trust,
        )
        return self._with_lines(role, ranked, per_tree) if lines else ranked

    def _error(self, role: int, option: Option) -> float | None:
        """Return the maximum standard error of a mean goal, given the number of tries and the mean."""
        if option.low == option.high:
            return 0.0
        if option.tries < 2:
            return None
        return self._scales[role].width * sqrt(max(0.0, option.mean * (1 - option.mean)) / option.tries)

    def _with_lines(
        self, role: int, moves: tuple[MoveAnalysis, ...], per_tree: Sequence[Sequence[Option]]
    ) -> tuple[MoveAnalysis, ...]:
        """Add a line of best play to each of the first moves, from the tree that tried the move most."""
        grown = [each for each in zip(self._trees, per_tree, strict=True) if each[1]]
        numbers = {option.move: number for number, option in enumerate(grown[0][1])}
        cache: dict[tuple[int, _Node], list[list[Option]]] = {}
        with_lines = []
        for move in moves[:_MOST_LINES]:
            number = numbers[move.move]
            tree = max(grown, key=lambda pair: pair[1][number].tries)[0]
            with_lines.append(move.with_line(self._line(tree, role, number, cache)))
        return (*with_lines, *moves[_MOST_LINES:])

    def _line(
        self,
        tree: _ReadableTree[_Node],
        role: int,
        number: int,
        cache: dict[tuple[int, _Node], list[list[Option]]],
    ) -> JointMoves:
        """Return the line of best play that begins with option ``number`` of a role.

        ``cache`` has the options of all roles by tree and node.
        """
        line: list[tuple[Term, ...]] = []
        node: _Node | None = tree.root
        while node is not None and len(line) < _LONGEST_LINE:
            place = id(tree), node
            if place not in cache:
                cache[place] = [tree.options(node, other) for other in range(len(self.game.roles))]
            options = cache[place]
            if not all(options):
                break
            chosen = [_preferred(each) for each in options]
            if not line:
                chosen[role] = number
            line.append(tuple([each[n].move for each, n in zip(options, chosen, strict=True)]))
            node = tree.child(node, chosen)
        return tuple(line)


def _together(options: Sequence[Option]) -> Option:
    """Merge the statistics of one move from several trees."""
    if len(options) == 1:
        return options[0]
    tries = sum(option.tries for option in options)
    low, high = max(option.low for option in options), min(option.high for option in options)
    high = max(low, high)
    mean = sum(option.mean * option.tries for option in options) / tries if tries else options[0].mean
    distance = next((o.distance for o in options if o.low == o.high), 0)
    estimates = [option.estimate for option in options if option.estimate is not None]
    estimate = sum(estimates) / len(estimates) if estimates else None
    return Option(options[0].move, tries, min(max(mean, low), high), low, high, distance, estimate)


def _eagerness(option: Option) -> tuple[float, ...]:
    """Return the sort key of a move: upper bound, then quick wins and slow losses, then tries."""
    if option.low == option.high:
        return -option.high, option.distance if option.low >= 0.5 else -option.distance, -option.tries
    return -option.high, 0, -option.tries


def _preferred(options: Sequence[Option]) -> int:
    """Return the index of the move that a role chooses in a line of best play."""
    floor = max(option.low for option in options)
    ceiling = max(option.high for option in options)

    def rank(number: int) -> tuple[float, ...]:
        option = options[number]
        if option.low >= ceiling:
            return 0, option.distance if option.low >= 0.5 else -option.distance
        return 1 + (option.high < floor), -option.tries

    return min(range(len(options)), key=rank)
