"""Whether what one role gains the other loses, as far as that has been seen."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from anygame.game.game import Game


class Opposition:
    """The ends of a game: whether its roles, ``random`` aside, are opponents.

    One role has none, two are opponents if one has less the more the other has, and of more than two each is
    held to be on its own. Where rules hide information, nobody knows what others can do to it.

    Attributes:
        holds: whether there is nothing against it.

    >>> import anygame
    >>> opposition = Opposition(anygame.load("tic_tac_toe"))
    >>> opposition.see((100, 0)), opposition.see((50, 50)), opposition.holds
    (None, None, True)
    >>> opposition.see((100, 100)), opposition.holds
    (None, False)
    """

    def __init__(self, game: Game) -> None:
        self._wanting = [place for place, role in enumerate(game.roles) if not role.is_random]
        self._seen: set[tuple[int, int]] = set()
        self.holds = len(self._wanting) < 3 and not game.is_gdl2

    def see(self, goals: Sequence[int | None]) -> None:
        """Take the goals of an end into account."""
        if len(self._wanting) != 2 or not self.holds:
            return
        one, other = (goals[place] for place in self._wanting)
        if one is None or other is None or (one, other) in self._seen:
            return
        self.holds = all((one < a and other > b) or (one > a and other < b) for a, b in self._seen)
        self._seen.add((one, other))
