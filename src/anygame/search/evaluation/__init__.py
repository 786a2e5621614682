"""Evaluations of states for the tree.

There are two kinds. *Playouts* (``playouts``) give the value of a leaf several passes later. *Estimates* give
the values of many states at once, here by a learned network (``network``). The setting ``TRUST`` is the
weight of estimates: 0 for playouts alone, 1 for estimates alone. In between, searches use minimax over
estimates beside the means of playouts.

A new kind of estimates needs one module and one branch of :func:`evaluate` below. The module has a bundle
with the data of a game, and a function like ``evaluate_by_network``.
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
    """Estimate the values of states that are similar to one state.

    Args:
        game: the game.
        worker: the thread. ``batch_node`` has the rows of the states, or NONE for rows to skip. The function
            sets ``batch_value``, float64 [count, roles], to values between 0 and 1.
        states: uint64 [any, words].
        parent: the row of the state that the other states resemble.
        count: number of states.
    """
    if game.evaluation[KIND] == NETWORK:
        evaluate_by_network(value_network_at(game.evaluation[ADDRESS]), worker, states, parent, count)
