"""Evaluation of single states with little overhead."""

from __future__ import annotations

import ctypes
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING

import numpy as np

from anygame.network.kernels.gate_code import answer_bits
from anygame.network.lanes import DOUBLE, MISSING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from anygame.network.kernels.kernel import Kernel


class Single:
    """Answers about single states. A state is a ``bytes`` object with a byte for each fluent, 0 or 1.

    Consecutive questions about a state evaluate the state only once. Threads must not share an instance.

    >>> from anygame.network.kernels.kernel import build_kernel
    >>> from anygame.network.network import Network
    >>> kernel = build_kernel(Network.example())
    >>> single = Single(kernel)
    >>> single.legal(single.initial)
    [[0, 1]]
    >>> end = single.next(single.initial, [1])
    >>> list(end), single.terminal(end), single.goals(end)
    ([0, 1], True, [100])
    """

    def __init__(self, kernel: Kernel) -> None:
        self._kernel = kernel
        self.network = network = kernel.network
        self.initial: bytes = network.initial.tobytes()
        self._rows = kernel.rows()
        self._pointers = self._rows.ctypes.data, kernel.data.ctypes.data
        self._library = kernel.library
        answers = np.zeros(len(answer_bits(kernel.gates)), np.uint8)
        self._answers, self._out = memoryview(answers.data), answers.ctypes.data
        ends = list(accumulate(network.actions, initial=1))
        self._legal = [answers[first:end] for first, end in pairwise(ends)]
        self._goals = []
        for role in kernel.gates.goals:
            ends.append(ends[-1] + len(role))
            self._goals.append((self._answers[ends[-2] : ends[-1]], [value for value, _ in role]))
        self._first = [end - 1 for end in ends[: len(network.actions)]]
        self._taken = (ctypes.c_int32 * len(network.actions))()
        next_state = np.zeros(network.fluents, np.uint8)
        self._next_state, self._next_out = next_state, next_state.ctypes.data
        self._asked: bytes | None = None

    def legal(self, state: bytes) -> list[list[int]]:
        """Return the numbers of each role's legal actions, counted from the role's first action."""
        if state != self._asked:
            self._look(state)
        return [actions.nonzero()[0].tolist() for actions in self._legal]

    def terminal(self, state: bytes) -> bool:
        """Return whether the game is over."""
        if state != self._asked:
            self._look(state)
        return self._answers[0] == 1

    def goals(self, state: bytes) -> list[int]:
        """Return per role the goal, MISSING if the rules give no goal, or DOUBLE if they give several."""
        if state != self._asked:
            self._look(state)
        result = []
        for holds, values in self._goals:
            holding = [value for value, bit in zip(values, holds, strict=True) if bit]
            result.append(holding[0] if len(holding) == 1 else DOUBLE if holding else MISSING)
        return result

    def next(self, state: bytes, actions: Sequence[int]) -> bytes:
        """Return the state after a joint move. Raises ValueError if an action does not exist."""
        if state != self._asked:
            self._look(state)
        roles = self.network.actions
        if len(actions) != len(roles) or not all(0 <= a < n for a, n in zip(actions, roles, strict=True)):
            raise ValueError(f"expected an action per role, each below {roles}, got {tuple(actions)}")
        taken = self._taken
        for role, first in enumerate(self._first):
            taken[role] = first + actions[role]
        self._asked = None
        self._library["advance"](*self._pointers, taken, len(roles), self._next_out)
        return self._next_state.tobytes()

    def _look(self, state: bytes) -> None:
        if len(state) != self.network.fluents:
            raise ValueError(f"expected a state of {self.network.fluents} bytes, got {len(state)}")
        self._library = self._kernel.library  # the same machine code must evaluate a state and move from it
        self._library["query"](*self._pointers, state, self._out)
        self._asked = state
