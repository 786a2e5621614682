"""What a player is shown of a state: fluents, as they are or from its own point of view, or percepts."""

from __future__ import annotations

from collections.abc import Callable
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, TypeAlias

import jax.numpy as jnp
import numpy as np

from anygame.envs.jax.evaluation import Array
from anygame.game.showing import planes_of
from anygame.language.terms import Compound

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from anygame.game.game import Game
    from anygame.language.terms import Term

#: From fluents, bool [fluents], and the number of a player, int32, to what it is shown.
Observe: TypeAlias = Callable[[Array, Array], Array]


def as_they_are(fluents: Array, player: Array) -> Array:
    """Return the fluents, for whoever looks."""
    del player
    return fluents


def relative(fluents: Sequence[Term], players: Sequence[Term]) -> Observe:
    """Return what shows each player the state as if it were the first.

    The names of players inside fluents go round, so that the first player's place is the own one: where x
    looks at ``(cell 1 1 x)``, o looks at ``(cell 1 1 o)``. Behind the fluents, bool [fluents], stands who
    looks, bool [players], since not all that differs between players has their names.
    """
    sources = np.array([_sources(fluents, players, player) for player in range(len(players))], np.int32)

    def observe(values: Array, player: Array) -> Array:
        whose = jnp.arange(len(players)) == player
        known = jnp.append(values, False)
        # Indices that do not depend on the player: gathers by traced ones are slow in large batches.
        views = jnp.stack([known[of_player] for of_player in sources])
        return jnp.concatenate([(views & whose[:, None]).any(axis=0), whose])

    return observe


def planes(game: Game, players: Sequence[Term]) -> Observe:
    """Return what shows each player the board as if it were the first: bool [rows, columns, channels].

    The channels are those of ``game.batch().plane_layout``, with what ``relative`` exchanges exchanged; then
    one for each player, true everywhere if it is that player who looks.
    """
    fluents = game.fluent_terms
    layout = planes_of(game, fluents)
    # Which fluent a cell shows, plus one: its binary digits, shown as if they were observations.
    sources = np.zeros((len(layout.channels), layout.rows, layout.columns), np.int32)
    for digit in range(len(fluents).bit_length()):
        sources |= layout.of((np.arange(1, len(fluents) + 1) >> digit & 1).astype(np.bool_)) << digit
    cells = sources.transpose(1, 2, 0)
    seen = relative(fluents, players)

    def observe(values: Array, player: Array) -> Array:
        view = seen(values, player)
        board = jnp.append(False, view)[cells]
        looks = jnp.broadcast_to(view[len(fluents) :], (*cells.shape[:2], len(players)))
        return jnp.concatenate([board, looks], axis=2)

    return observe


def _sources(fluents: Sequence[Term], players: Sequence[Term], player: int) -> NDArray[np.int32]:
    """Return for each fluent the number of the one that a player sees in its place; their number for none."""
    number = {fluent: index for index, fluent in enumerate(fluents)}
    turned = [*players[player:], *players[:player]]
    names = dict(zip(players, turned, strict=True))
    return np.array([number.get(_renamed(fluent, names), len(fluents)) for fluent in fluents], np.int32)


def _renamed(term: Term, names: Mapping[Term, Term]) -> Term:
    if term in names or not isinstance(term, Compound):
        return names.get(term, term)
    return Compound(term.functor, tuple(_renamed(argument, names) for argument in term.arguments))


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
        self._numbers = [np.array([number[term] for term in of_roles[role]], np.int32) for role in players]

    def of(self, percepts: Array) -> Array:
        """Return what each player sees, bool [players, terms], of what all roles see, one after the other."""
        return numbered(percepts, self._columns, self._numbers, len(self.terms))


def numbered(
    values: Array, columns: Sequence[slice], numbers: Sequence[NDArray[np.int32]], count: int
) -> Array:
    """Return values of all players by numbers that all share: bool [players, count].

    Args:
        values: bool; those of all roles, one after the other.
        columns: where those of each player are.
        numbers: for each player, the number of each of its values.
        count: how many numbers there are.
    """
    found = []
    for own, places in zip(columns, numbers, strict=True):
        sources = np.full(count, len(places), np.int32)
        sources[places] = np.arange(len(places))
        found.append(jnp.append(values[own], False)[sources])
    return jnp.stack(found)
