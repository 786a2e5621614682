"""Walks through whole trees: every history once; counts of them, and their text for Gambit and OpenSpiel."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import TYPE_CHECKING, Final

from anygame.envs.extensive.form import CHANCE, SIMULTANEOUS, TERMINAL, ExtensiveForm
from anygame.errors import LimitError, RuleSheetError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from anygame.envs.extensive.form import Node
    from anygame.game import Game, Role
    from anygame.language.terms import Term

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


def gambit_text(
    game: Game, *, scale: Fraction | float = 1, offset: Fraction | float = 0, limit: int = MOST_HISTORIES
) -> Iterator[str]:
    """Yield the lines of a game as a tree with information sets, chance and payoffs: the format ``.efg``.

    The format is described at https://gambitproject.readthedocs.io/en/latest/formats.efg.html.

    Roles that move at the same time decide one after the other, without seeing what the others have chosen;
    then `random` draws.

    Args:
        game: the game.
        scale: a payoff is the goal times this, and
        offset: this added; both are taken as they are written, so that payoffs are exact.
        limit: how many histories there may be.

    Raises:
        LimitError: there are more histories.
        RuleSheetError: a role has different moves where it does not see any difference.
        GoalError: the rules give a role no usable goal at the end of a play.
    """
    form = ExtensiveForm(game, "sequential")
    factor, added = Fraction(str(scale)), Fraction(str(offset))
    yield f"EFG 2 R {_quoted(game.name)} {{ {' '.join(map(_quoted, form.players))} }}"
    yield _quoted("")
    known: list[dict[str, tuple[int, tuple[Term, ...]]]] = [{} for _ in form.players]
    outcome = draw = 0
    for node in walk(form, limit):
        if node.actor == TERMINAL:
            outcome += 1
            payoffs = " ".join(str(factor * goal + added) for goal in node.goals())
            yield f't "" {outcome} "" {{ {payoffs} }}'
        elif node.actor == CHANCE:
            draw += 1
            yield f'c "" {draw} "" {{ {_drawn(node)} }} 0'
        else:
            moves, text = node.moves(node.actor), node.information(node.actor)
            number, others = known[node.actor].setdefault(text, (len(known[node.actor]) + 1, moves))
            if others != moves:
                raise _different(form.players[node.actor], text, others, moves)
            yield f'p "" {node.actor + 1} {number} {_quoted(text)} {{ {_listed(map(str, moves))} }} 0'


def _different(role: Role, text: str, moves: Iterable[Term], others: Iterable[Term]) -> RuleSheetError:
    """Return the error for histories that a role cannot distinguish though it has other moves in them."""
    listed = [", ".join(map(str, each)) for each in (moves, others)]
    return RuleSheetError(
        f"{role} has different legal moves in histories that it cannot distinguish: {listed[0]}, or "
        f"{listed[1]}, both where it knows no more than `{text}`; let it see what makes the difference"
    )


def _drawn(node: Node) -> str:
    moves = node.draws()
    return " ".join(f"{_quoted(str(move))} 1/{len(moves)}" for move in moves)


def _listed(names: Iterable[str]) -> str:
    return " ".join(map(_quoted, names))


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
