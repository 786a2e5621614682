"""Walks through whole trees: every history once."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Final

from anygame.envs.extensive.form import CHANCE, SIMULTANEOUS, TERMINAL
from anygame.errors import LimitError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from anygame.envs.extensive.form import ExtensiveForm, Node

#: So many histories take longer than compiling the game first.
_COMPILED: Final = 1_000
#: Histories of a tree that is written or counted, unless said otherwise: some seconds.
MOST_HISTORIES: Final = 100_000


@dataclass(frozen=True)
class Counts:
    """How large a tree is.

    Attributes:
        histories: all of them, the empty one and the ended ones too.
        plays: those that have ended.
        information_sets: of each player, in their order.
    """

    histories: int
    plays: int
    information_sets: tuple[int, ...]


#: From here on numbers are shorter as powers of ten.
_READABLE: Final = 1e15


def _rounded(number: float) -> str:
    """Return a number to one digit, as people write it.

    >>> _rounded(58.3), _rounded(483_000.0), _rounded(2.6e21)
    ('60', '500,000', '3e+21')
    """
    return f"{float(f'{number:.1g}'):,.0f}" if number < _READABLE else f"{number:.1g}"


def walk(form: ExtensiveForm, limit: int = MOST_HISTORIES) -> Iterator[Node]:
    """Yield every history, parents before their children, these in the order of the moves' text.

    Raises:
        LimitError: there are more than so many.
    """
    if form.turns.tree_size > _COMPILED:
        form.game.compile_if_worth_it()
    open_nodes, number = [form.root()], 0
    while open_nodes:
        node = open_nodes.pop()
        number += 1
        if number > limit:
            raise LimitError(
                f"the tree of {form.game.name} has more than {limit:,} histories; about "
                f"{_rounded(form.turns.tree_size)}, by an estimate from random play",
                "histories",
                limit,
            )
        yield node
        open_nodes.extend(reversed(list(_children(node))))


def _children(node: Node) -> Iterator[Node]:
    if node.actor == TERMINAL:
        return
    if node.actor == SIMULTANEOUS:
        players = range(len(node.form.players))
        yield from map(node.child_of_all, product(*map(node.moves, players)))
    else:
        yield from map(node.child, node.draws() if node.actor == CHANCE else node.moves(node.actor))


def count(form: ExtensiveForm, limit: int = MOST_HISTORIES) -> Counts:
    """Count histories and information sets.

    Raises:
        LimitError: there are more than so many histories.
    """
    histories = plays = 0
    known: list[set[str]] = [set() for _ in form.players]
    for node in walk(form, limit):
        histories += 1
        plays += node.actor == TERMINAL
        for player, texts in enumerate(known):
            if node.actor in (player, SIMULTANEOUS):
                texts.add(node.information(player))
    return Counts(histories, plays, tuple(map(len, known)))
