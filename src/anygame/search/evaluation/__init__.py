"""Evaluation of states for the search tree, by playouts or estimates.

*Playouts* (``playouts``) give the value of a leaf several passes later. *Estimates* give the values of many
states at once; the only kind is a learned network (``network``). The setting ``TRUST`` weights estimates: 0
means playouts alone, and 1 means estimates alone. With a weight between 0 and 1, searches combine minimax
values over estimates with mean values of playouts.

A new kind of estimate needs one module and one branch of :func:`evaluate`. The new module has a named tuple
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
    """Return whether the tree plays out its leaves."""
    return worker.settings[TRUST] < 1


@compiled
def evaluate(game, worker, states, parent, count):
    """Estimate the values of ``count`` nodes that are similar to a parent.

    ``states``, uint64 [nodes, words], has the states of all nodes. ``worker.batch_node`` has the nodes to
    estimate, or NONE for rows to skip. The function sets ``worker.batch_value``, float64 [count, roles], to
    values between 0 and 1.
    """
    if game.evaluation[KIND] == NETWORK:
        evaluate_by_network(value_network_at(game.evaluation[ADDRESS]), worker, states, parent, count)
