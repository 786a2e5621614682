"""Symbols: short texts for names, all different, by which things are distinguished on a board."""

from __future__ import annotations

import re
from itertools import count
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_WORD: Final = re.compile(r"(?<=[a-z])[A-Z]|(?<=[^A-Za-z0-9])[A-Za-z]")
_WHOLE: Final = 2
_SHORT: Final = 3
_LONGEST: Final = 5


def abbreviate(names: Sequence[str]) -> list[str]:
    """Return a short text for each name, all different: the letters that distinguish it, and its digits.

    >>> abbreviate(["blackKing", "blackPawn", "whiteKing", "whitePawn", "x"])
    ['bK', 'bP', 'wK', 'wP', 'x']
    """
    taken = {name for name in names if len(name) <= _WHOLE}
    found = []
    for number, name in enumerate(names, start=1):
        short = name if len(name) <= _WHOLE else _abbreviated(name, number, names, taken)
        taken.add(short)
        found.append(short)
    return found


def _abbreviated(name: str, number: int, names: Sequence[str], taken: set[str]) -> str:
    distinguishing = _letters(name, _distinguishing_positions(name, names))
    spelled = _letters(
        name, _distinguishing_positions(name, names) | {match.start() for match in _WORD.finditer(name)}
    )
    if len(distinguishing) > 1 and len(name) <= _SHORT:
        return name
    for short in (spelled, distinguishing):
        if 0 < len(short) <= _SHORT and short not in taken:
            return short
    if len(name) <= _LONGEST:
        return name
    numbered = (f"{_letters(name, {0}) or '#'}{number + skipped}" for skipped in count(step=len(names)))
    return next(short for short in numbered if short not in taken)


def _letters(name: str, positions: Iterable[int]) -> str:
    return "".join(name[position] for position in sorted(positions) if name[position].isalnum())


def _distinguishing_positions(name: str, names: Iterable[str]) -> set[int]:
    """Return the positions of the first letter, of those by which a name parts from others, and of digits."""
    found = {position for position, letter in enumerate(name) if letter.isdigit()}
    found.add(next((position for position, letter in enumerate(name) if letter.isalnum()), 0))
    for other in names:
        pairs = enumerate(zip(name, other, strict=False))
        parting = next((position for position, (one, two) in pairs if one != two), len(other))
        if parting < len(name):
            found.add(parting)
    return found
