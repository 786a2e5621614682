"""Evaluations: values of states. The tree knows only its own statistics, bounds and these values.

There are two kinds. *Playouts* (``playouts``) give the value of a leaf some passes later. *Estimates* give
the values of many states at once, here those of a learned network (``network``). The weight of estimates, the
setting ``TRUST``, selects them: 0 for playouts alone, 1 for estimates alone. In between, minimax over
estimates is used beside the means of playouts.

A new kind of estimates is one module, with the data of a game as a bundle and a function as
``evaluate_by_network``, and one branch of :func:`evaluate` below.
"""

from __future__ import annotations

from anygame.native.marking import compiled
from anygame.search.evaluation.network import NETWORK, evaluate_by_network, value_network_at
from anygame.search.lanes import ADDRESS, KIND
from anygame.search.tree.worker import TRUST


@compiled
def has_estimates(worker):
    """Return whether the tree uses estimates."""
    return worker.settings[TRUST] > 0


@compiled
def has_playouts(worker):
    """Return whether leaves are played out."""
    return worker.settings[TRUST] < 1


@compiled
def evaluate(game, worker, states, parent, count):
    """Estimate the values of states that differ little from one of them.

    Args:
        game: the game.
        worker: the thread. Its ``batch_node`` names the states, NONE for none; ``batch_value``, float64
            [count, roles], is set to values between 0 and 1.
        states: uint64 [any, words].
        parent: the row of the state that the other states resemble.
        count: number of states.
    """
    if game.evaluation[KIND] == NETWORK:
        evaluate_by_network(value_network_at(game.evaluation[ADDRESS]), worker, states, parent, count)
