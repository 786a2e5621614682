"""Boxes: square boards whose rules count in boxes, as those of number puzzles do."""

from __future__ import annotations

from collections import defaultdict
from itertools import product
from math import isqrt
from typing import TYPE_CHECKING

from anygame.language.rules import atoms_in

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from anygame.boards.finding.axes import Axis
    from anygame.boards.finding.layout import Layout
    from anygame.language.rules import Atom, Rule
    from anygame.language.terms import Term


def box_size(layout: Layout, rules: Sequence[Rule]) -> int:
    """Return the width and height of the boxes of a board, 0 for a board without.

    A board as high as it is wide, of n times n squares each way, has boxes of n if rules ask a relation
    for just the first squares of all boxes, or facts put n neighbouring coordinates each into a group.
    """
    step = isqrt(len(layout.rows))
    axis = layout.rows[::-1] if layout.upwards else layout.rows
    square = len(layout.rows) == len(layout.columns) == step * step and len(layout.squares) == 1
    if not square or step < 2 or layout.shape != "square" or set(axis) != set(layout.columns):
        return 0
    corners = set(product(axis[::step], repeat=2))
    asked: dict[tuple[str, int], set[tuple[Term, ...]]] = defaultdict(set)
    for atom in _atoms(rules):
        if len(atom.arguments) == 2 and all(term.is_ground for term in atom.arguments):
            asked[atom.key].add(atom.arguments)
    return step if any(pairs == corners or _groups(pairs, axis, step) for pairs in asked.values()) else 0


def _groups(pairs: Iterable[tuple[Term, ...]], axis: Axis, step: int) -> bool:
    """Whether each value of the axis has one group, and as many neighbours as a box is wide share it."""
    group = {pair[0]: pair[1] for pair in pairs}
    if len(group) != len(set(pairs)) or set(group) != set(axis):
        return False
    names = [group[value] for value in axis]
    parts = [set(names[start : start + step]) for start in range(0, len(names), step)]
    return all(len(part) == 1 for part in parts) and len(set(names)) == len(parts)


def _atoms(rules: Sequence[Rule]) -> Iterator[Atom]:
    for rule in rules:
        yield rule.head
        for atom, _ in atoms_in(rule.body):
            yield atom
