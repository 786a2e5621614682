"""Trees as text that Gambit and OpenSpiel read: the format ``.efg``.

The format is described at https://gambitproject.readthedocs.io/en/latest/formats.efg.html.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from anygame.envs.extensive.form import CHANCE, TERMINAL, ExtensiveForm
from anygame.envs.extensive.walk import MOST_HISTORIES, walk
from anygame.errors import RuleSheetError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from anygame.envs.extensive.form import Node
    from anygame.game import Game, Role
    from anygame.language.terms import Term


def gambit_text(
    game: Game, *, scale: Fraction | float = 1, offset: Fraction | float = 0, limit: int = MOST_HISTORIES
) -> Iterator[str]:
    """Yield the lines of a game as a tree with information sets, chance and payoffs.

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
