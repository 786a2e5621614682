"""Check of a model against exact values: games of few states are solved, and moves are compared."""

from __future__ import annotations

from math import inf
from random import Random
from typing import TYPE_CHECKING, Final

from anygame.search.solving import solve
from anygame.search.tree.searcher import TreeSearcher

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np
    from numpy.typing import NDArray

    from anygame.game.game import Game
    from anygame.game.state import State
    from anygame.language.terms import Term
    from anygame.search.table import Table

#: Maximum number of states of a game that is solved. For most public sheets, the solver takes less than a
#: second to find this number of states.
_MOST_STATES: Final = 300_000
#: Sizes in bytes of the table of states, and of the tree of a search.
_MEMORY_OF_TABLE, _MEMORY = 1 << 28, 1 << 24
#: Maximum number of states in which moves are compared, and of random playouts that sample such states.
_COMPARED, _PLAYOUTS = 100, 400


def errs_more(game: Game, weights: NDArray[np.float32], trust: float, *, seed: int, leaves: int) -> bool:
    """Return whether searches with estimates lose more value by their moves than searches without.

    Args:
        game: the game. If it has too many states to be solved, the result is False.
        weights: the weights of the network.
        trust: weight of the estimates in the search, 0 to 1.
        seed: the random seed.
        leaves: number of leaves per move.
    """
    table = solve(
        game, table=True, states=_MOST_STATES, memory=_MEMORY_OF_TABLE, progress=lambda *_: None
    ).table
    if table is None:
        return False
    excess = 0.0
    for state, role, losses in _decisions(table, Random(seed)):
        with_estimates, without = (TreeSearcher(game, seed=seed, memory=_MEMORY) for _ in range(2))
        with_estimates.use_estimates(weights, trust)
        for searcher in (with_estimates, without):
            searcher.begin(state)
            searcher.advance(inf, leaves)
        excess += losses[with_estimates.best(role)] - losses[without.best(role)]
    return excess > 0


def _decisions(table: Table, random: Random) -> Iterator[tuple[State, int, dict[Term, float]]]:
    """Yield states where a role's moves differ in value, the role, and the value that each move loses."""
    game, seen = table.game, set()
    for _ in range(_PLAYOUTS):
        states = [game.initial_state()]
        while not states[-1].is_terminal and states[-1].stuck_role is None:
            state = states[-1]
            states.append(state.next([random.choice(state.legal_moves(role)) for role in game.roles]))
        state = random.choice(states)
        for role, moves in table.moves(state).items():
            values = {move: bounds.least for move, bounds in moves.items()}
            best = max(values.values())
            if min(values.values()) < best and state not in seen:
                seen.add(state)
                yield state, game.role_index(role), {move: best - values[move] for move in values}
        if len(seen) == _COMPARED:
            return
