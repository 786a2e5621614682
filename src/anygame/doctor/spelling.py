"""Similar names, which differ by slips of typing.

A slip omits, adds or changes a letter, or exchanges two adjacent letters. A single slip causes 80 % of
misspelt words (Damerau, "A technique for computer detection and correction of spelling errors", 1964).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable


#: Minimum length of compared names; shorter names, such as row and raw, are similar by chance.
_SHORTEST: Final = 4
#: Minimum length of names with two exchanged letters, such as rde and red.
_SHORTEST_TURNED: Final = 3
#: Names of up to this length with different first letters, such as pcol and ncol, differ on purpose.
_SHORT: Final = 4
#: Names of at least this length are similar even if they differ by two slips.
_LONG: Final = 8
_DIGITS: Final = re.compile(r"\d+")


def nearest(
    name: str, known: Iterable[str], shortest: int = _SHORTEST, *, is_stray: bool = False
) -> str | None:
    """Return the known name that is most similar to a name; None if no name is similar."""
    near = [
        (slips(name.lower(), other.lower()), other)
        for other in known
        if is_near(name, other, shortest, is_stray=is_stray)
    ]
    return min(near)[1] if near else None


def is_near(name: str, other: str, shortest: int = _SHORTEST, *, is_stray: bool = False) -> bool:
    """Return whether two names differ by a few slips, and not only in capitals or numbers.

    Args:
        name: one name.
        other: a name to compare with ``name``.
        shortest: the minimum length of names that may differ in a letter.
        is_stray: whether other evidence shows that a name is misspelt. If so, the first letters can differ.

    >>> is_near("contrl", "control"), is_near("leagl", "legal"), is_near("row1", "row2")
    (True, True, False)
    """
    # Digits do not count: names with only two letters, such as ea6 and ae6, are weak evidence.
    length = max(len(_DIGITS.sub("", each)) for each in (name, other))
    if (
        length < (_SHORTEST_TURNED if sorted(name) == sorted(other) else shortest)
        or abs(len(name) - len(other)) > 2
        or name.lower() == other.lower()
    ):
        return False
    if _DIGITS.findall(name) != _DIGITS.findall(other):
        return False
    if length <= _SHORT and not is_stray and sorted(name) != sorted(other) and name[:1] != other[:1]:
        return False
    return slips(name.lower(), other.lower()) <= (2 if length >= _LONG else 1)


def slips(name: str, other: str) -> int:
    """Return the number of slips between two names: the optimal string alignment distance."""
    before: list[int] = []
    row = list(range(len(other) + 1))
    for i, letter in enumerate(name, 1):
        before, row, last = row, [i], before
        for j, its in enumerate(other, 1):
            least = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (letter != its))
            if i > 1 and j > 1 and letter == other[j - 2] and its == name[i - 2]:
                least = min(least, last[j - 2] + 1)
            row.append(least)
    return row[-1]
