"""Continuing states by every joint move: hundreds at a time in lanes, or one by one by the reasoner."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Final

import numpy as np

from anygame.network.state_set import StateSet
from anygame.search.goals import goal_or_nan
from anygame.search.graph import MANY_STATES, Found
from anygame.search.lane_pool import LanePool, joint_choices, legal_choices, packed_state

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from anygame.game.game import Game
    from anygame.game.state import State
    from anygame.language.terms import Term
    from anygame.search.block_successors import BlockSuccessors

#: What a state and its place in a dictionary take at least: a frozen set of some tens of facts.
_BYTES_OF_A_STATE: Final = 4_000


class LaneExpansion:
    """States of a compiled game, packed to a bit a fluent; each joint move is made in a lane of its own.

    Args:
        game: the game.
        start: the first state.

    Raises:
        LimitError: the game has no network.
        PositionError: its network does not know the state.
    """

    def __init__(self, game: Game, start: State) -> None:
        machine = game.backends.needed_network()
        first = packed_state(game, start)
        self._fluents = game.fluent_terms
        self._states = StateSet(first.shape[1])
        self._states.add(first)
        self._kernel = machine.kernel
        self._pool = LanePool(machine.kernel, list(map(len, machine.compiled.actions)))
        self._blocks: BlockSuccessors | None = None

    def __len__(self) -> int:
        return len(self._states)

    def bytes_with(self, more: int) -> int:
        """Return the bytes that it takes while so many states are met."""
        return self._states.bytes_with(more) if more else self._states.bytes

    def packed(self) -> tuple[tuple[Term, ...], StateSet]:
        """Return the fluents of the game, and all states."""
        return self._fluents, self._states

    def expand(self, first: int, end: int) -> Found:
        """Continue a range of states by every joint move."""
        states = self._states.part(first, end)
        if len(self._states) < MANY_STATES:
            return self._in_pool(states)
        options, terminal, goals, successors = self._native().of(states)
        return Found(options, terminal, goals, self._states.add(successors))

    def _native(self) -> BlockSuccessors:
        if self._blocks is None:
            from anygame.search.block_successors import BlockSuccessors

            self._blocks = BlockSuccessors(self._kernel)
        return self._blocks

    def _in_pool(self, states: NDArray[np.uint64]) -> Found:
        pool, count = self._pool, len(states)
        lanes = pool.holding(states)
        terminal = lanes.terminal[:count]
        goals = np.stack([of_role[:count] for of_role in pool.goals(lanes)], axis=1)
        legal = [mask[:count] & ~terminal[:, None] for mask in pool.legal(lanes)]
        options = np.stack([mask.sum(axis=1, dtype=np.int32) for mask in legal], axis=1)
        options *= np.minimum(options, 1).min(axis=1, keepdims=True)
        sources, moves = joint_choices([legal_choices(mask) for mask in reversed(legal)])
        children = np.empty(len(sources), np.int32)
        for part in pool.parts(len(sources)):
            lanes = pool.holding(states[sources[part]])
            pool.step(lanes, [chosen[part] for chosen in reversed(moves)])
            children[part] = self._states.add(lanes.packed()[: part.stop - part.start])
        return Found(options, terminal, goals, children)


class StateExpansion:
    """States of any game, one after the other, by whatever machine answers for it.

    Args:
        start: the first state.
    """

    def __init__(self, start: State) -> None:
        self._roles = start.game.roles
        self._states = [start]
        self._numbers = {start: 0}

    def __len__(self) -> int:
        return len(self._states)

    def bytes_with(self, more: int) -> int:
        """Return about how many bytes it takes while so many states are met."""
        return (len(self._states) + more) * _BYTES_OF_A_STATE

    def expand(self, first: int, end: int) -> Found:
        """Continue a range of states by every joint move."""
        options, terminal, goals, children = [], [], [], []
        for state in self._states[first:end]:
            terminal.append(state.is_terminal)
            goals.append([goal_or_nan(state, role) for role in self._roles])
            legal = [() if state.is_terminal else state.legal_moves(role) for role in self._roles]
            joints = list(product(*legal))
            options.append([len(moves) if joints else 0 for moves in legal])
            children += [self._number(state.next(joint)) for joint in joints]
        return Found(
            np.array(options, np.int32).reshape(-1, len(self._roles)),
            np.array(terminal, np.bool_),
            np.array(goals, np.float64).reshape(-1, len(self._roles)),
            np.array(children, np.int32),
        )

    def packed(self) -> tuple[tuple[Term, ...], StateSet]:
        """Return all facts that hold in some state, and all states."""
        from anygame.search.table import pack_states

        fluents, rows = pack_states([state.facts for state in self._states])
        states = StateSet(rows.shape[1])
        states.add(rows)
        return fluents, states

    def _number(self, state: State) -> int:
        number = self._numbers.setdefault(state, len(self._states))
        if number == len(self._states):
            self._states.append(state)
        return number
