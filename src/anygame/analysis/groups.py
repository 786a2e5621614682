"""Things by what they have in common, and all that is reached from some of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable

K = TypeVar("K", bound="Hashable")
V = TypeVar("V")


def grouped(pairs: Iterable[tuple[K, V]]) -> dict[K, list[V]]:
    """Return the values of each key, both in the order of the pairs.

    >>> grouped([("a", 1), ("b", 2), ("a", 3)])
    {'a': [1, 3], 'b': [2]}
    """
    found: dict[K, list[V]] = {}
    for key, value in pairs:
        found.setdefault(key, []).append(value)
    return found


def reached(starts: Iterable[K], onward: Callable[[K], Iterable[K]]) -> dict[K, None]:
    """Return what one comes to from some things step by step, and these things themselves, each once.

    >>> list(reached([1], lambda number: [number * 2 % 7, number]))
    [1, 2, 4]
    """
    found = dict.fromkeys(starts)
    pending = list(found)
    while pending:
        new = [each for each in dict.fromkeys(onward(pending.pop())) if each not in found]
        found.update(dict.fromkeys(new))
        pending += new
    return found
