"""Counterparts: the pairs of names that are exchanged if two roles change places."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Collection

#: Minimum number of letters of the name of a role that is found inside other names, such as ``blackWins``.
_FEWEST_LETTERS: Final = 3


def counterparts(one: str, other: str, names: Collection[str]) -> dict[str, str]:
    """Return the replacement of each name that changes if two roles change places.

    >>> counterparts("xPlayer", "oPlayer", {"x", "o", "xPlayer", "oPlayer", "b"})
    {'xPlayer': 'oPlayer', 'oPlayer': 'xPlayer', 'x': 'o', 'o': 'x'}
    """
    start, end = _shared(one, other)
    parts = [(one, other)]
    if one[start : len(one) - end] and other[start : len(other) - end]:
        parts.append((one[start : len(one) - end], other[start : len(other) - end]))
    replacements: dict[str, str] = {}
    for left, right in parts:
        pairs = [(name, _renamed(name, left, right)) for name in sorted(names)]
        for name, like in pairs:
            if like in names and like != name and name not in replacements and like not in replacements:
                replacements |= {name: like, like: name}
    return replacements


def _shared(one: str, other: str) -> tuple[int, int]:
    """Return the number of letters that two names share at the start and, after these, at the end."""
    start = next((n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), 0)
    reversed_ends = zip(reversed(one[start:]), reversed(other[start:]), strict=False)
    end = next((n for n, (a, b) in enumerate(reversed_ends) if a != b), 0)
    return start, end


def _renamed(name: str, one: str, other: str) -> str:
    """Return a name with the name of one role replaced by the name of another role."""
    if name == one:
        return other
    if len(one) < _FEWEST_LETTERS or len(other) < _FEWEST_LETTERS:
        return name
    return name.replace(one, other).replace(one.capitalize(), other.capitalize())
