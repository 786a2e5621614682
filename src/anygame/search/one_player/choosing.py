"""Who chooses: whether a game is one of a single role, whatever the others are there for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from anygame.game.game import Game

#: Playouts that are looked at where the rules do not show it: a choice that none of them meets is rare. The
#: reasoner plays some tens in a second.
_PLAYOUTS: Final = {"network": 512, "reasoner": 16}
#: Moves of such a playout at most, so that endless games take no longer than others.
_LONGEST: Final = 200


class SeveralChooseError(ValueError):
    """A second role has a choice: the game is not one of a single player."""

    def __init__(self, role: str) -> None:
        super().__init__(f"expected a game in which one role chooses; {role} has a choice too")
        self.role = role


def sole_chooser(game: Game, seed: int = 0) -> int | None:
    """Return the index of the only role that has choices, None where several have, or there is chance.

    A game of one role is recognised at once. For others random playouts are looked at; where a choice of
    another role escapes them, ``LineSearch`` raises ``SeveralChooseError`` as soon as it meets one. Where
    nobody ever chooses, the first role that is not ``random`` counts.

    Args:
        game: the game; it is compiled if that is worth it, unless it has one role.
        seed: of the playouts.
    """
    able = [place for place, role in enumerate(game.roles) if not role.is_random]
    if len(game.roles) <= 1:
        return able[0] if able else None
    game.compile_if_worth_it()
    branching = game.simulate(_PLAYOUTS[game.machine.name], seed, limit=_LONGEST).branching
    choosing = [place for place, role in enumerate(game.roles) if (branching[role] or 1.0) > 1.0]
    if len(choosing) > 1 or not set(choosing) <= set(able):
        return None
    return choosing[0] if choosing else next(iter(able), None)
