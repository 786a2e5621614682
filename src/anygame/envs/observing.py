"""What learners observe: states as arrays of 0 and 1, or what a role has seen where the rules hide states."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from anygame.game.showing import planes_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from anygame.game.game import Game

#: ``flat``: one number a fluent; ``planes``: channels, rows and columns of the board.
Form: TypeAlias = Literal["flat", "planes"]


class Observer:
    """Makes observations of the states of a compiled game.

    In a game whose rules hide information (GDL-II) a role observes what it has seen, and not the state.

    Attributes:
        hides: whether the rules hide information.
        names: per role what the numbers of its observation stand for: fluents, channels of planes, or what
            the role can see.
        shapes: per role the shape of its observation. Where a role can observe nothing at all, it is one
            number that stays 0.

    Raises:
        ValueError: there is no such form, or the rules hide the board that planes would show.
        LimitError: the game is too large for a network that computes what roles see.
    """

    def __init__(self, game: Game, form: Form) -> None:
        if form not in ("flat", "planes"):
            raise ValueError(f"observations are flat or planes, not {form!r}")
        self.hides = game.is_gdl2
        if self.hides and form == "planes":
            raise ValueError(f"{game.name} hides information: roles see no board, only flat observations")
        self._planes = planes_of(game, game.fluent_terms) if form == "planes" else None
        self._fluents = len(game.fluent_terms)
        seen = [game.percept_terms(role) if self.hides else game.fluent_terms for role in game.roles]
        self.names = [tuple(map(str, terms)) for terms in seen]
        if self._planes is not None:
            self.names = [self._planes.channels] * len(game.roles)
        self.shapes = [self._shape(len(terms)) for terms in seen]

    def _shape(self, count: int) -> tuple[int, ...]:
        if self._planes is not None:
            return len(self._planes.channels), self._planes.rows, self._planes.columns
        # Neither Gymnasium nor PettingZoo takes an array without numbers.
        return (max(1, count),)

    def of(self, states: NDArray[np.bool_]) -> NDArray[np.int8]:
        """Return observations of states [..., fluents] that roles see as they are: int8 [..., *shape]."""
        if self._planes is not None:
            return self._planes.of(states).view(np.int8)
        if not self._fluents:
            return np.zeros((*states.shape[:-1], 1), np.int8)
        return states.astype(np.int8, order="C")

    def of_seen(self, role: int, percepts: NDArray[np.bool_]) -> NDArray[np.int8]:
        """Return observations of percepts [..., percepts] of a role: int8 [..., *shape]."""
        found = np.zeros((*percepts.shape[:-1], *self.shapes[role]), np.int8)
        found[..., : percepts.shape[-1]] = percepts
        return found
