"""``legal`` at the prompt: the moves of a role with their numbers, filtered, and in groups by name."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from anygame.cli.output import columns_of
from anygame.errors import UnknownRoleError
from anygame.game.typed_moves import filtered_moves
from anygame.language.diagnostics import shown
from anygame.language.terms import Compound

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from anygame.game.game import Game
    from anygame.game.roles import Role
    from anygame.language.terms import Term


def chosen_moves(game: Game, legal: Mapping[Role, Sequence[Term]], asked: str) -> dict[Role, Sequence[Term]]:
    """Return the moves that are asked for, by ``ROLE``, ``PATTERN`` or ``ROLE PATTERN``.

    Raises:
        UnknownRoleError: what is asked for is no role, and no move fits it.
    """
    role = next((role for role in sorted(legal, key=len, reverse=True) if _starts_with(asked, role)), None)
    pattern = asked[len(role) :].strip() if role else asked.strip()
    within = {role: legal[role]} if role else dict(legal)
    if not pattern:
        return within
    found = {role: filtered_moves(pattern, moves) for role, moves in within.items()}
    if not any(found.values()):
        if role is None and " " not in pattern:
            game.role_index(pattern)
        raise UnknownRoleError(f"no legal move fits {shown(pattern, 40)}; `legal` lists them all", pattern)
    return {role: moves for role, moves in found.items() if moves}


def _starts_with(asked: str, role: str) -> bool:
    return asked == role or asked.startswith(f"{role} ")


def list_moves(
    moves: Sequence[Term], all_moves: Sequence[Term], width: int, *, grouped: bool
) -> Iterator[str]:
    """Yield lines with some of a role's moves, each with its number among all.

    Moves of several names may stand in groups, those that are constants in one of their own.
    """
    numbers = {move: number for number, move in enumerate(all_moves, start=1)}
    digits = len(str(len(all_moves)))
    groups = [(name, list(group)) for name, group in groupby(moves, key=_name if grouped else lambda _: "")]
    for name, group in groups:
        indent = "  "
        if len(groups) > 1 and name:
            yield f"  {name} ({len(group)})"
            indent = "    "
        cells = [f"{numbers[move]:>{digits}}  {move}" for move in group]
        for line in columns_of(cells, width - len(indent)):
            yield indent + line


def _name(move: Term) -> str:
    return move.functor if isinstance(move, Compound) else ""
