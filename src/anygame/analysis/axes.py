"""Axes: ordered constants that are the coordinates of a board.

The module recognises three orders, and tries them in this sequence:

- **numbers**, alone or after a common prefix: ``1 2 3``, ``c01 c02``, ``row1 row2``;
- **single letters**: ``a`` to ``i``;
- **a successor relation**: facts of two arguments, such as ``(succ one two)``, that form a chain.

Numbers or letters must fill at least half of their range: ``a b c`` is an axis, but ``b o x`` are pieces.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from anygame.language.terms import Constant

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from anygame.language.rules import Rule
    from anygame.language.terms import Term

#: Maximum number of values of an axis. A longer axis does not fit a terminal.
AXIS_LIMIT: Final = 64

#: The values of a coordinate, in order.
Axis = tuple[Constant, ...]
#: For each constant in a chain of a successor relation, its position.
Chain = dict[Constant, int]

_NUMBERED: Final = re.compile(r"(\D*?)(-?[0-9]{1,6})")


def ordered(values: Iterable[Term], successions: Sequence[Chain] = ()) -> Axis:
    """Return the values in order, or an empty tuple if no order is recognised.

    >>> [str(value) for value in ordered(map(Constant, ["c10", "c9", "c8"]))]
    ['c8', 'c9', 'c10']
    >>> ordered(map(Constant, ["b", "o", "x"]))
    ()
    """
    constants = [value for value in set(values) if isinstance(value, Constant)]
    if not 2 <= len(constants) <= AXIS_LIMIT or len(constants) < len(set(values)):
        return ()
    for positions in (_numbers(constants), _letters(constants), *successions):
        if axis := _by_position(constants, positions):
            return axis
    return ()


def numbered(axis: Iterable[Term]) -> dict[Term, int]:
    """Return the index of each value of an axis, from 0."""
    return {value: number for number, value in enumerate(axis)}


def is_numbered(axis: Axis) -> bool:
    """Whether the values of an axis are numbers, with or without a prefix."""
    return all(_NUMBERED.fullmatch(value.name) for value in axis)


def prefix(axis: Axis) -> str:
    """Return the common prefix of numbered values; empty for other axes."""
    match = _NUMBERED.fullmatch(axis[0].name)
    return match[1] if match and is_numbered(axis) else ""


def chains(rules: Iterable[Rule]) -> tuple[Chain, ...]:
    """Return the chains of at least three constants that two-argument facts form."""
    return tuple(chain for pairs in pairs_in(rules).values() for chain in _chains_of(pairs))


def pairs_in(rules: Iterable[Rule]) -> dict[str, list[tuple[Constant, Constant]]]:
    """Return the pairs of constants in two-argument facts, by relation."""
    relations: dict[str, list[tuple[Constant, Constant]]] = {}
    for rule in rules:
        if not rule.body and len(rule.head.arguments) == 2:
            left, right = rule.head.arguments
            if isinstance(left, Constant) and isinstance(right, Constant):
                relations.setdefault(rule.head.predicate, []).append((left, right))
    return relations


def _numbers(constants: Sequence[Constant]) -> dict[Constant, int]:
    matches = [_NUMBERED.fullmatch(constant.name) for constant in constants]
    numbers = {c: int(match[2]) for c, match in zip(constants, matches, strict=True) if match}
    prefixes = {match[1] for match in matches if match}
    return numbers if len(prefixes) == 1 and len(set(numbers.values())) == len(constants) else {}


def _letters(constants: Sequence[Constant]) -> dict[Constant, int]:
    letters = {
        c: ord(c.name) for c in constants if len(c.name) == 1 and c.name.isascii() and c.name.isalpha()
    }
    return letters if len({c.name.islower() for c in letters}) == 1 else {}


def _by_position(constants: Sequence[Constant], positions: Mapping[Constant, int]) -> Axis:
    if not all(constant in positions for constant in constants):
        return ()
    by_position = sorted(constants, key=positions.__getitem__)
    span = positions[by_position[-1]] - positions[by_position[0]] + 1
    return tuple(by_position) if 2 * len(by_position) >= span else ()


def _chains_of(pairs: Sequence[tuple[Constant, Constant]]) -> list[Chain]:
    successor = dict(pairs)
    predecessor = {right: left for left, right in pairs}
    if len(successor) != len(set(pairs)) or len(predecessor) != len(set(pairs)):
        return []
    chains_found = []
    for first in successor.keys() - predecessor.keys():
        members = [first]
        while members[-1] in successor:
            members.append(successor[members[-1]])
        if len(members) >= 3:
            chains_found.append({member: position for position, member in enumerate(members)})
    return sorted(chains_found, key=lambda chain: (-len(chain), min(chain)))


def contiguous(axis: Axis, members: Iterable[Term]) -> bool:
    """Whether the members are neighbouring values of the axis."""
    position = numbered(axis)
    positions = sorted(position[member] for member in members if isinstance(member, Constant))
    return all(after - before == 1 for before, after in pairwise(positions))
