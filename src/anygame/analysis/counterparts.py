"""Counterparts: pairs of names that a swap of two roles exchanges, such as their pieces."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Collection

#: Minimum length of a role's name; only names this long are searched inside other names (``blackWins``).
_FEWEST_LETTERS: Final = 3


def counterparts(one: str, other: str, names: Collection[str]) -> dict[str, str]:
    """Return the new name for each name that changes if two roles are swapped.

    >>> counterparts("xPlayer", "oPlayer", {"x", "o", "xPlayer", "oPlayer", "b"})
    {'xPlayer': 'oPlayer', 'oPlayer': 'xPlayer', 'x': 'o', 'o': 'x'}
    """
    start = _common_prefix(one, other)
    end = _common_prefix(one[start:][::-1], other[start:][::-1])
    different = one[start : len(one) - end], other[start : len(other) - end]
    parts = [(one, other), different] if all(different) else [(one, other)]
    replacements: dict[str, str] = {}
    for left, right in parts:
        pairs = [(name, _renamed(name, left, right)) for name in sorted(names)]
        for name, like in pairs:
            if like in names and like != name and name not in replacements and like not in replacements:
                replacements |= {name: like, like: name}
    return replacements


def _common_prefix(one: str, other: str) -> int:
    differing = (n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b)
    return next(differing, min(len(one), len(other)))


def _renamed(name: str, one: str, other: str) -> str:
    if name == one:
        return other
    if len(one) < _FEWEST_LETTERS or len(other) < _FEWEST_LETTERS:
        return name
    return name.replace(one, other).replace(one.capitalize(), other.capitalize())
