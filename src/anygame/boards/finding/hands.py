"""Hands: fluents whose facts are cards that somebody has, or things in an order, and no places on a board."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from anygame.boards.names import CARDS, words

if TYPE_CHECKING:
    from collections.abc import Iterable

    from anygame.boards.finding.fluents import Fluent

#: Fewer things are in no order that is worth a picture.
_SHORTEST: Final = 3


def find_hands(fluents: Iterable[Fluent]) -> dict[tuple[str, int], int]:
    """Return fluents that hold cards or an order; with each, how many arguments own it.

    Cards are known by their name. An order is a single fact whose arguments are all different, and of
    the same things: a stack, a queue.
    """
    found = {}
    for fluent in fluents:
        if set(words(fluent.functor)) & CARDS:
            found[fluent.functor, fluent.arity] = int(fluent.arity > 1)
        elif _is_order(fluent):
            found[fluent.functor, fluent.arity] = 0
    return found


def _is_order(fluent: Fluent) -> bool:
    if fluent.arity < _SHORTEST or len(fluent.initial) != 1:
        return False
    (started,) = fluent.initial
    kinds = {frozenset(values) for values in fluent.domains}
    return len(kinds) == 1 and len(set(started)) == fluent.arity
