"""What players see of joint moves where the rules hide the rest (GDL-II), as arrays."""

from __future__ import annotations

from itertools import accumulate, pairwise
from typing import TYPE_CHECKING

import jax.numpy as jnp
import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from anygame.envs.jax.evaluation import Array
    from anygame.game.game import Game


class Percepts:
    """The percepts of a game.

    Args:
        game: the rules.
        players: the indices of the roles whose percepts they are.

    Attributes:
        terms: what any of these can see, sorted by text: the same term has the same number whoever sees it.

    Raises:
        LimitError: the game is too large for a network that computes what roles see.
    """

    def __init__(self, game: Game, players: Sequence[int]) -> None:
        machine = game.backends.needed_network()
        machine.check_percepts(game.name)
        of_roles = machine.compiled.percepts
        self.terms = tuple(sorted({term for role in players for term in of_roles[role]}))
        number = {term: index for index, term in enumerate(self.terms)}
        slices = [slice(*ends) for ends in pairwise([0, *accumulate(map(len, of_roles))])]
        self._columns = [slices[role] for role in players]
        self._sources = []
        for role in players:
            sources = np.full(len(self.terms), len(of_roles[role]), np.int32)
            sources[[number[term] for term in of_roles[role]]] = np.arange(len(of_roles[role]))
            self._sources.append(sources)

    def of(self, percepts: Array) -> Array:
        """Return what each player sees, bool [players, terms], of what all roles see, one after the other."""
        seen = [
            jnp.append(percepts[columns], False)[sources]
            for columns, sources in zip(self._columns, self._sources, strict=True)
        ]
        return jnp.stack(seen)
