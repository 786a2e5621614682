"""States continued by every joint move, in blocks of lanes and native code: for graphs of many states."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from anygame.network.kernels.function import LANES
from anygame.search import blocks

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from anygame.network.kernels.kernel import Kernel

#: The joint moves of some states: options, which are terminal, goals, the packed states that follow.
Successors = tuple["NDArray[np.int32]", "NDArray[np.bool_]", "NDArray[np.float64]", "NDArray[np.uint64]"]


class BlockSuccessors:
    """A block of lanes: each state stays in its lane, where its joint moves are made one after the other.

    What the state alone decides is so evaluated once, and not for each of its moves.

    Args:
        kernel: the code of the game.
    """

    def __init__(self, kernel: Kernel) -> None:
        self._rows = kernel.rows()
        gates, layout = kernel.gates, kernel.layout
        self._functions = kernel.library.functions  # looked up for each call: they may be replaced
        self._addresses = self._rows.ctypes.data, kernel.data.ctypes.data
        self._data = kernel.data
        self._evaluated = np.zeros((gates.rows, self._rows.shape[1]), np.uint64)
        self._fluents = layout.fluents, kernel.network.fluents
        self._actions = layout.action_rows
        self._first_actions = np.cumsum([0, *kernel.network.actions]).astype(np.int64)
        self._legal = np.array(gates.legal, np.int64)
        self._terminal = gates.terminal
        goals = [(role, bit, value) for role, each in enumerate(gates.goals) for value, bit in each]
        self._goal_roles = np.array([role for role, _, _ in goals], np.int64)
        self._goal_bits = np.array([bit for _, bit, _ in goals], np.int64)
        self._goal_values = np.array([value for _, _, value in goals], np.float64)
        roles = len(kernel.network.actions)
        self._moves = np.zeros((roles * LANES, max(1, *kernel.network.actions)), np.int32)
        self._square, self._places = np.zeros(64, np.uint64), np.zeros(64, np.int64)

    def of(self, states: NDArray[np.uint64]) -> Successors:
        """Return what follows some states, uint64 [n, words], in their order."""
        parts = [self._block(states[at : at + LANES]) for at in range(0, len(states), LANES)]
        options, terminal, goals, children = (np.concatenate(each) for each in zip(*parts, strict=True))
        return options, terminal, goals, children

    def _block(self, states: NDArray[np.uint64]) -> Successors:
        rows, count = self._rows, len(states)
        blocks.load_states(rows, *self._fluents, states, self._square)
        self._functions["evaluate_state"](*self._addresses)
        rows[self._actions] = 0
        self._evaluated[:] = rows[: len(self._evaluated)]
        options = np.empty((count, len(self._first_actions) - 1), np.int32)
        first, terminal = self._first_actions, self._terminal
        edges = blocks.list_moves(rows, self._legal, first, terminal, options, self._moves)
        ended = np.empty(count, np.bool_)
        goals = np.empty(options.shape)
        blocks.read_ends(rows, terminal, self._goal_roles, self._goal_bits, self._goal_values, ended, goals)
        children = np.empty((edges, states.shape[1]), np.uint64)
        number = 0
        while blocks.put_moves(rows, self._actions.start, options, self._moves, number):
            self._functions["evaluate_moves"](*self._addresses)
            blocks.read_children(rows, *self._fluents, options, number, children, self._square, self._places)
            rows[: len(self._evaluated)] = self._evaluated
            number += 1
        return options, ended, goals, children
