"""One state at a time, in as few microseconds as Python allows."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from anygame.network.kernels.code import WORDS
from anygame.network.kernels.emit import Program, emit
from anygame.network.kernels.rows import GO
from anygame.network.lanes import DOUBLED, MISSING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from anygame.network.kernels.emit import Style
    from anygame.network.network import Network

__all__ = ["Single"]

_ALL = (1 << 64) - 1


class Single:
    """Answers about single states. A state is a ``bytes`` of one byte per fluent, 0 or 1.

    Questions about the state of the last question, or about the one that :meth:`next` made last, are the
    fastest. Not to be shared by threads.

    Args:
        network: the compiled game, or the program of one.
        style: how the gates are written; see ``emit``.
    """

    def __init__(self, network: Network | Program, style: Style = "auto") -> None:
        program = network if isinstance(network, Program) else emit(network, style)
        self._program = program
        self.network = program.network
        self.initial = self.network.initial.astype(np.uint8).tobytes()
        rows = program.rows()
        rows[GO, 0] = _ALL  # the first word is used, all its lanes alike
        self._words = rows.reshape(-1)
        places = program.places
        self._fluents = rows[places.fluent_rows, 0]
        self._actions = rows[places.action_rows, 0]
        self._pointers = (rows.ctypes.data, program.gates.data.ctypes.data)
        self._state_code, self._moves_code = program.library["state"], program.library["moves"]
        self._legal = [_words_of(bits) for bits in _split(program.gates.legal, self.network.actions)]
        self._goals = [
            (*_words_of([bit for _, bit in role]), np.array([value for value, _ in role], np.int64))
            for role in program.gates.goals
        ]
        self._terminal = program.gates.terminal
        self._first = [sum(self.network.actions[:role]) for role in range(len(self.network.actions))]
        self._loaded: bytes | None = None
        self._evaluated = False

    def legal(self, state: bytes) -> list[list[int]]:
        """Return per role the legal actions, counted from its first one."""
        self._look(state)
        words = self._words
        return [(words.take(places) != inverted).nonzero()[0].tolist() for places, inverted in self._legal]

    def terminal(self, state: bytes) -> bool:
        """Return whether the game is over."""
        self._look(state)
        return bool(self._words[(self._terminal >> 1) * WORDS]) != bool(self._terminal & 1)

    def goals(self, state: bytes) -> list[int]:
        """Return per role the goal; MISSING or DOUBLED where the rules give none or several."""
        self._look(state)
        result = []
        for places, inverted, values in self._goals:
            found = values[self._words.take(places) != inverted]
            result.append(int(found[0]) if len(found) == 1 else DOUBLED if len(found) else MISSING)
        return result

    def next(self, state: bytes, actions: Sequence[int]) -> bytes:
        """Return the state after each role has taken an action; whether they are legal is not looked at."""
        self._look(state)
        self._actions[:] = 0
        for first, action in zip(self._first, actions, strict=True):
            self._actions[first + action] = _ALL
        self._moves_code(*self._pointers)
        self._evaluated = False
        following: bytes = (self._fluents != 0).tobytes()
        self._loaded = following
        return following

    def _look(self, state: bytes) -> None:
        """Evaluate what depends on a state alone, if that was not done last."""
        if self._evaluated and state == self._loaded:
            return
        if state != self._loaded:
            values = np.frombuffer(state, np.uint8)
            if len(values) != len(self._fluents):
                raise ValueError(f"expected a state of {len(self._fluents)} bytes, got {len(values)}")
            np.negative(values, out=self._fluents, dtype=np.uint64)
            self._loaded = state
        self._state_code(*self._pointers)
        self._evaluated = True


def _split(bits: Sequence[int], counts: Sequence[int]) -> list[Sequence[int]]:
    ends = np.cumsum([0, *counts]).tolist()
    return [bits[first:end] for first, end in pairwise(ends)]


def _words_of(bits: Sequence[int]) -> tuple[NDArray[np.intp], NDArray[np.uint64]]:
    """Return which words hold bit literals in the first lane, and the words at which they do not hold."""
    places = np.array([(bit >> 1) * WORDS for bit in bits], np.intp)
    return places, np.array([_ALL if bit & 1 else 0 for bit in bits], np.uint64)
