"""Bounds of values, proven from the ends backwards: score-bounded search (Cazenave and Saffidine 2010).

What a role can make sure of is the best over its moves of the worst over the others' of what it can make
sure of after both; what the others can hold it to is the worst over their moves of the best over its own.
Chance is weighed evenly. Values go from 0, the least goal of the game, to 1, the greatest; before anything is
known, they may lie anywhere between. Every step from there tells the truth if the steps before it did, so
that the bounds also hold where play may go on for ever. With simultaneous moves they enclose the value under
mixed strategies.
"""

from __future__ import annotations

from math import inf, prod
from typing import TYPE_CHECKING, Final

from anygame.search.bounds import Bounds

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable

    from anygame.search.state_tree.node import Node

#: Means over draws of chance are as exact as floating-point numbers are.
_CLOSE: Final = 1e-9
_DIGITS: Final = 9
#: Around a cycle with chance in it bounds approach each other for ever, by less and less: steps smaller than
#: this are left out.
_STEP: Final = 1e-3

#: From here on a value is rather won than lost.
MIDDLE: Final = 0.5
#: Longer than any line that is looked at: distances around cycles stop growing there.
_FAR: Final = 1000

#: Own move, the others' moves.
_Pair = tuple[int, tuple[int, ...]]


def spread(node: Node, wanting: tuple[int, ...]) -> None:
    """Tell those above a node what its bounds, which have changed, mean for theirs.

    Args:
        node: whose bounds are new.
        wanting: the roles but ``random``.
    """
    waiting = [node]
    while waiting:
        changed = waiting.pop()
        waiting += [parent for parent in changed.parents if _tighten(parent, wanting)]


def _tighten(node: Node, wanting: tuple[int, ...]) -> bool:
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
    was_closed = node.is_closed
    node.is_closed = all(node.least[role] == node.most[role] for role in wanting)
    if node.is_closed and not (was_closed and node.mover is None):
        node.remaining = _remaining(node)
    if node.mover is not None:
        node.barred = _barred(node, node.mover)
    return known != (node.least, node.most, node.remaining)


def _pairs(node: Node, role: int) -> tuple[dict[_Pair, float], dict[_Pair, float]]:
    """Return lower and upper bounds for each own move and the others' moves, the mean over chance."""
    options = node.options
    draws = prod([len(each.moves) for each in options if each.is_random])
    others = [place for place, each in enumerate(options) if place != role and not each.is_random]
    lower: dict[_Pair, float] = {}
    upper: dict[_Pair, float] = {}
    for chosen, child in node.children.items():
        pair = chosen[role], tuple([chosen[place] for place in others])
        # What chance may lead to and is not in the tree yet may be worth anything.
        lower[pair] = lower.get(pair, 0.0) + child.least[role] / draws
        upper[pair] = upper.get(pair, 1.0) - (1.0 - child.most[role]) / draws
    return lower, upper


def _bounds(node: Node, role: int) -> tuple[float, float]:
    lower, upper = _pairs(node, role)
    own, replies = len(node.options[role].moves), _replies(node, role)
    least = max(_complete(((pair[0], value) for pair, value in lower.items()), replies), default=0.0)
    # The worst of some numbers is the best of their opposites.
    opposites = ((pair[1], -value) for pair, value in upper.items())
    most = -max(_complete(opposites, own), default=-1.0)
    return least, most


def _replies(node: Node, role: int) -> int:
    """Return how many joint moves the others have, ``random`` aside."""
    return prod(
        [len(each.moves) for place, each in enumerate(node.options) if place != role and not each.is_random]
    )


def _complete(values: Iterable[tuple[Hashable, float]], size: int) -> list[float]:
    """Return the least value of each group that has all its values."""
    groups: dict[Hashable, tuple[int, float]] = {}
    for group, value in values:
        count, least = groups.get(group, (0, inf))
        groups[group] = count + 1, min(least, value)
    return [least for count, least in groups.values() if count == size]


def _barred(node: Node, mover: int) -> set[int]:
    """Return the moves that cannot be better than what is proven."""
    return {
        chosen[mover] for chosen, child in node.children.items() if child.most[mover] <= node.least[mover]
    }


def _remaining(node: Node) -> int:
    """Return the joint moves to the end: who wins hurries, who loses delays."""
    mover = node.mover
    value = 0.0 if mover is None else node.least[mover]
    ends = [
        child.remaining
        for child in node.children.values()
        if child.is_closed and (mover is None or child.least[mover] == value)
    ]
    hurries = mover is not None and value >= MIDDLE
    return min(1 + (min(ends, default=0) if hurries else max(ends, default=0)), _FAR)


def bounds_of_moves(node: Node, role: int) -> dict[int, Bounds]:
    """Return between what the moves of a role lie, whatever the others do at the same time.

    Args:
        node: where they are made; it has been opened.
        role: the index of the role.

    Returns:
        by the index of the move; a move that is not there may be worth anything.
    """
    if len(node.options[role].moves) == 1:
        return {0: Bounds(node.least[role], node.most[role])}
    found: dict[int, list[tuple[float, float]]] = {}
    lower, upper = _pairs(node, role)
    for pair, low in lower.items():
        found.setdefault(pair[0], []).append((low, upper[pair]))
    replies = _replies(node, role)
    return {move: _enclosing(pairs) for move, pairs in found.items() if len(pairs) == replies}


def _enclosing(pairs: list[tuple[float, float]]) -> Bounds:
    least, most = min(low for low, _ in pairs), max(high for _, high in pairs)
    return Bounds(least, most) if most - least >= _CLOSE else Bounds(*[round(least, _DIGITS)] * 2)
