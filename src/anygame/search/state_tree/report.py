"""What the tree says of its root: moves in order, and lines of best play."""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING, Final

from anygame.search.analysis import Analysis, MoveAnalysis, best_first
from anygame.search.bounds import Bounds
from anygame.search.state_tree.score_bounds import MIDDLE, bounds_of_moves

if TYPE_CHECKING:
    from collections.abc import Callable

    from anygame.language.terms import Term
    from anygame.search.analysis import JointMoves
    from anygame.search.state_tree.goal_scale import GoalScale
    from anygame.search.state_tree.node import Arm, Choice, Node

#: Joint moves of a line, and moves that have one: more than anybody reads.
_LONGEST_LINE: Final = 60
_MOST_LINES: Final = 50


class Reporter:
    """Reads a tree.

    Args:
        scale: of the goals.
        opposed: whether the roles are opponents; else what the others could hold a role to says nothing of
            what they will do, and only what it can make sure of counts.
    """

    def __init__(self, scale: GoalScale, *, opposed: bool) -> None:
        self._scale = scale
        self._opposed = opposed

    def analysis(self, root: Node, *, lines: bool, nodes: int, depth: int, size: int) -> Analysis:
        """Return what is known of a node; iterations and seconds are left at 0."""
        roles = [(place, role) for place, role in enumerate(root.state.game.roles) if not role.is_random]
        moves = {role: self._moves(root, place) if root.options else () for place, role in roles}
        if lines:
            moves = {role: self._with_lines(root, place, moves[role]) for place, role in roles}
        return Analysis(
            iterations=0,
            seconds=0.0,
            nodes=nodes,
            depth=depth,
            bytes=size,
            moves=moves,
            goals={role: self._goal(root, place) for place, role in roles},
            proven={role: self._proven(root, place) for place, role in roles},
            engine="states",
        )

    def best(self, root: Node, role: int) -> Term:
        """Return the move that a role should make.

        Raises:
            ValueError: it has none.
        """
        if root.options:
            return self._moves(root, role)[0].move
        legal = root.state.legal_moves(root.state.game.roles[role])
        if not legal:
            raise ValueError(f"{root.state.game.roles[role]} has no legal move here")
        return legal[0]

    def _goal(self, root: Node, role: int) -> float | None:
        if root.worth is not None:
            return self._proven(root, role)
        return self._mean(root.options[role].all)

    def _proven(self, root: Node, role: int) -> float | None:
        least, most = self._told(Bounds(root.least[role], root.most[role]), is_end=root.worth is not None)
        return least if least == most else None

    def _told(self, bounds: Bounds, *, is_end: bool = False) -> Bounds:
        """Return bounds on the scale of the goals."""
        most = bounds.most if self._opposed or is_end else 1.0
        return Bounds(self._scale.goal(bounds.least), self._scale.goal(most))

    def _mean(self, arm: Arm | None) -> float | None:
        return self._scale.goal(arm.sum / arm.count) if arm is not None and arm.count else None

    def _error(self, arm: Arm | None) -> float | None:
        if arm is None or arm.count < 2:
            return None
        variance = max(0.0, arm.squares - arm.sum**2 / arm.count) / (arm.count - 1)
        return sqrt(variance / arm.count) * (self._scale.highest - self._scale.lowest)

    def _moves(self, node: Node, role: int) -> tuple[MoveAnalysis, ...]:
        """Return the moves of a role, best first."""
        options = node.options[role]
        bounds = bounds_of_moves(node, role)
        order = sorted(range(len(options.moves)), key=self._haste(node, role))
        found = []
        for index in order:
            arm = options.arms.get(index)
            found.append(
                MoveAnalysis(
                    options.moves[index],
                    0 if arm is None else arm.count,
                    self._mean(arm),
                    self._error(arm),
                    self._told(bounds.get(index, Bounds(0.0, 1.0))),
                )
            )
        return best_first(found)

    def _haste(self, node: Node, role: int) -> Callable[[int], int]:
        """Return what orders moves of equal value: a win is best by a short line, a loss by a long one."""
        if node.mover != role:
            return lambda _: 0
        ahead = {
            chosen[role]: child.remaining if child.least[role] >= MIDDLE else -child.remaining
            for chosen, child in node.children.items()
            if child.is_closed
        }
        return lambda index: ahead.get(index, 0)

    def _with_lines(self, root: Node, role: int, moves: tuple[MoveAnalysis, ...]) -> tuple[MoveAnalysis, ...]:
        if not root.options:
            return moves
        indices = {move: index for index, move in enumerate(root.options[role].moves)}
        first, rest = moves[:_MOST_LINES], moves[_MOST_LINES:]
        lines = [self._line(root, role, indices[each.move]) for each in first]
        return (*map(MoveAnalysis.with_line, first, lines), *rest)

    def _line(self, root: Node, role: int, move: int) -> JointMoves:
        """Return best play from a move of a role, to an end, a draw of chance or the edge of the tree."""
        line: list[tuple[Term, ...]] = []
        node: Node | None = root
        given: tuple[int, int] | None = (role, move)
        while node is not None and node.options and len(line) < _LONGEST_LINE:
            chosen = self._chosen(node, given)
            if chosen is None:
                break
            line.append(node.joint(chosen))
            node, given = node.children.get(chosen), None
        return tuple(line)

    def _chosen(self, node: Node, given: tuple[int, int] | None) -> Choice | None:
        """Return the best joint move, the move of a role given; None where chance draws, or all is new."""
        chosen = []
        for role, options in enumerate(node.options):
            if given is not None and given[0] == role:
                chosen.append(given[1])
            elif len(options.moves) == 1:
                chosen.append(0)
            elif options.is_random or not options.all.count:
                return None
            else:
                chosen.append(options.moves.index(self._moves(node, role)[0].move))
        return tuple(chosen)
