"""Many simultaneous games, for search and learning; the caller chooses the moves in each lane."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final, Self

import numpy as np

from anygame.network.kernels.function import ACTIVE, GO, LANES, RANDOM, RESTART, STUCK, WORDS
from anygame.network.kernels.uniform_choice import STATE_ROWS, seeds_of_blocks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from anygame.network.kernels.kernel import Kernel

#: Number that represents a missing goal: the rules give the role no goal.
MISSING = int(np.iinfo(np.int32).min)
#: Number that represents an ambiguous goal: the rules give the role several goals.
DOUBLE = MISSING + 1

#: Rounds of a bit transposition: the width in bits of the exchanged squares, and a mask of the lower squares
#: in a word.
_ROUNDS: Final = tuple(
    (width, np.uint64(sum(((1 << width) - 1) << at for at in range(0, 64, 2 * width))))
    for width in (32, 16, 8, 4, 2, 1)
)


class IllegalChoiceError(ValueError):
    """A chosen action is not legal, and no lane has changed.

    ``lane`` is the first lane with an illegal action, and ``role`` the first role with an illegal action in
    this lane.
    """

    def __init__(self, lane: int, role: int, action: int) -> None:
        super().__init__(f"role {role} cannot take action {action} in lane {lane}")
        self.lane = lane
        self.role = role
        self.action = action


class Lanes:
    """Simultaneous games; each lane is an independent game.

    A lane is stuck if a role has no legal move although the game is not over. Moves do not change lanes that
    are stuck or whose games are over.

    Args:
        kernel: the code of the compiled game.
        count: number of lanes. Memory is allocated for a multiple of 512 lanes.
        seed: seed of :meth:`step_random`.

    >>> from anygame.network.kernels.kernel import build_kernel
    >>> from anygame.network.network import Network
    >>> kernel = build_kernel(Network.example())
    >>> lanes = Lanes(kernel, 3)
    >>> lanes.legal().tolist()
    [[True, True], [True, True], [True, True]]
    >>> lanes.step([[0, 1, 1]])
    >>> lanes.terminal.tolist(), lanes.goals()[0].tolist()
    ([True, True, True], [0, 100, 100])
    """

    def __init__(self, kernel: Kernel, count: int, seed: int = 0) -> None:
        if not 1 <= count <= 1 << 24:
            raise ValueError(f"expected from 1 to {1 << 24} lanes, got {count}")
        self._kernel = kernel
        self.network = kernel.network
        self.count = count
        self._blocks = -(-count // LANES)
        self._rows = kernel.rows(self._blocks).reshape(self._blocks, -1, WORDS)
        self._pointers = self._addresses()
        self._used = self._pack(np.arange(self._blocks * LANES) < count)
        fluents = kernel.layout.fluent_rows
        self._fluents = slice(fluents.start, fluents.start + self.network.facts)
        self._percepts = slice(self._fluents.stop, fluents.stop)
        self._actions = kernel.layout.action_rows
        self._first = np.cumsum([0, *self.network.actions]).tolist()
        self._legal = np.array(kernel.gates.legal, np.int64)
        self._does = np.zeros((self._blocks, int(self._first[-1]), LANES), np.bool_)
        self._fresh = False
        self.seed(seed)
        self.reset()

    def copy(self) -> Self:
        """Return an independent copy, with the same states and the same future random numbers."""
        made = object.__new__(type(self))
        made.__dict__.update(self.__dict__)
        made._rows = self._kernel.rows(self._blocks).reshape(self._rows.shape)
        made._rows[:] = self._rows
        made._pointers = made._addresses()
        made._does = np.zeros_like(self._does)
        return made

    def _addresses(self) -> list[tuple[int, int]]:
        # For each block, the arguments of machine code: the addresses of its rows and of the kernel's data.
        size, first = self._rows[0].nbytes, self._rows.ctypes.data
        return [(first + block * size, self._kernel.data.ctypes.data) for block in range(self._blocks)]

    def seed(self, seed: int) -> None:
        """Restart the random numbers."""
        self.random_state = seeds_of_blocks(seed, range(self._blocks), WORDS)

    def reset(self, mask: ArrayLike | None = None) -> None:
        """Reset the lanes of a mask, bool [lanes], or all lanes, to the initial state."""
        chosen = np.ones(self.count, np.bool_) if mask is None else self._mask(mask)
        words = self._pack(chosen)[:, None]
        if mask is None:
            words = np.full_like(words, ~np.uint64(0))
        initial = self.network.initial[: self.network.facts]
        state = np.where(initial, ~np.uint64(0), np.uint64(0))[:, None]
        old = self._rows[:, self._fluents]
        old ^= (old ^ state) & words
        self._rows[:, self._percepts] &= ~words
        self._fresh = False

    def get(self, lane: int) -> NDArray[np.bool_]:
        """Return the state of a lane: bool [facts]."""
        block, word, bit = self._position(lane)
        words = self._rows[block, self._fluents, word]
        return (words >> bit & np.uint64(1)).astype(np.bool_)

    def set(self, lane: int, state: ArrayLike) -> None:
        """Set the state of a lane, bool [facts], and clear its percepts."""
        block, word, bit = self._position(lane)
        values = np.asarray(state, np.bool_)
        if values.shape != (self.network.facts,):
            raise ValueError(f"expected a state of {self.network.facts} fluents, got shape {values.shape}")
        words = self._rows[block, self._fluents, word]
        words &= ~(np.uint64(1) << bit)
        words |= values.astype(np.uint64) << bit
        self._rows[block, self._percepts, word] &= ~(np.uint64(1) << bit)
        self._fresh = False

    def observation(self) -> NDArray[np.bool_]:
        """Return all states: bool [lanes, facts]."""
        return self._unpack(self._rows[:, self._fluents])

    def load(self, states: ArrayLike) -> None:
        """Set the states of all lanes, bool [lanes, facts], and clear all percepts."""
        values = np.asarray(states, np.bool_)
        if values.shape != (self.count, self.network.facts):
            raise ValueError(f"expected shape [{self.count}, {self.network.facts}], got {values.shape}")
        padded = np.zeros((self._blocks * LANES, self.network.facts), np.bool_)
        padded[: self.count] = values
        lanes = padded.reshape(self._blocks, LANES, -1).transpose(0, 2, 1)
        self._rows[:, self._fluents] = _pack(lanes)
        self._rows[:, self._percepts] = 0
        self._fresh = False

    def packed(self) -> NDArray[np.uint64]:
        """Return all states with a bit for each fluent: uint64 [lanes, words]. Unused bits are 0."""
        words = self._packed_words
        fluents = np.zeros((self._blocks, 64 * words, WORDS), np.uint64)
        fluents[:, : self.network.facts] = self._rows[:, self._fluents]
        turned = transpose_bits(fluents.reshape(self._blocks, words, 64, WORDS).transpose(0, 3, 1, 2))
        return turned.transpose(0, 1, 3, 2).reshape(-1, words)[: self.count]

    def load_packed(self, states: NDArray[np.uint64]) -> None:
        """Set the states of all lanes, uint64 [lanes, words] as in ``packed``, and clear all percepts."""
        words = self._packed_words
        given = np.asarray(states)
        if given.shape != (self.count, words) or not np.can_cast(given.dtype, np.uint64):
            raise ValueError(
                f"expected packed states, uint64 [{self.count}, {words}], got {given.dtype} {given.shape}"
            )
        padded = np.zeros((self._blocks * LANES, words), np.uint64)
        padded[: self.count] = given
        turned = transpose_bits(padded.reshape(self._blocks, WORDS, 64, words).transpose(0, 1, 3, 2))
        fluents = turned.reshape(self._blocks, WORDS, 64 * words).transpose(0, 2, 1)
        self._rows[:, self._fluents] = fluents[:, : self.network.facts]
        self._rows[:, self._percepts] = 0
        self._fresh = False

    @property
    def _packed_words(self) -> int:
        return max(1, -(-self.network.facts // 64))

    def legal(self) -> NDArray[np.bool_]:
        """Return which actions are legal: bool [lanes, actions of all roles], in column-major order."""
        self._look()
        return self._unpack(self._values(self._legal))

    def legal_by_role(self) -> list[NDArray[np.bool_]]:
        """Return per role which actions are legal: bool [lanes, actions of the role]."""
        legal = self.legal()
        return [legal[:, first:end] for first, end in pairwise(self._first)]

    @property
    def terminal(self) -> NDArray[np.bool_]:
        """The lanes in which the game is over: bool [lanes]."""
        return self._unpack(self._terminal()[:, None])[:, 0]

    @property
    def stuck(self) -> NDArray[np.bool_]:
        """The lanes in which a role has no legal move although the game is not over: bool [lanes]."""
        self._look()
        legal = self._values(self._legal)
        able = [np.bitwise_or.reduce(legal[:, a:b], axis=1) for a, b in pairwise(self._first)]
        stuck = ~self._terminal()
        stuck &= ~np.bitwise_and.reduce(able, axis=0) if able else np.uint64(0)
        return self._unpack(stuck[:, None])[:, 0]

    def goals(self) -> list[NDArray[np.int32]]:
        """Return per role the goal in each lane, also before the end: int32 [lanes].

        The goal is MISSING if the rules give no goal, and DOUBLE if they give several goals.
        """
        self._look()
        result = []
        for role in self._kernel.gates.goals:
            holds = self._unpack(self._values(np.array([bit for _, bit in role], np.int64)))
            goal = np.full(self.count, MISSING, np.int32)
            doubled = np.zeros(self.count, np.bool_)
            for (value, _), here in zip(role, holds.T, strict=True):
                doubled |= here & (goal != MISSING)
                goal[here] = value
            goal[doubled] = DOUBLE
            result.append(goal)
        return result

    def goal_values(self) -> list[NDArray[np.float64]]:
        """Return ``goals`` as float64 [lanes] per role, with nan instead of MISSING and DOUBLE."""
        return [np.where((goals == MISSING) | (goals == DOUBLE), np.nan, goals) for goals in self.goals()]

    def percepts(self) -> list[NDArray[np.bool_]]:
        """Return per role its percepts of the last joint move: bool [lanes, percepts of the role].

        A lane has no percepts if it made no move, or if its state was set after the move.
        """
        seen = self._unpack(self._rows[:, self._percepts])
        ends = np.cumsum([0, *self.network.percepts]).tolist()
        return [seen[:, first:end] for first, end in pairwise(ends)]

    @property
    def random_state(self) -> NDArray[np.uint64]:
        """The state of the random number generators; assign a saved state to restore it."""
        return self._rows[:, RANDOM : RANDOM + STATE_ROWS].copy()

    @random_state.setter
    def random_state(self, words: NDArray[np.uint64]) -> None:
        self._rows[:, RANDOM : RANDOM + STATE_ROWS] = words

    def step(self, choices: Sequence[ArrayLike], mask: ArrayLike | None = None) -> None:
        """Make a joint move in all lanes that can move, and ignore the choices in other lanes.

        Args:
            choices: per role the chosen actions, int [lanes], each counted from the first action of the role.
            mask: the lanes to move, bool [lanes]; None for all.

        Raises:
            IllegalChoiceError: an action is not legal; no lane has changed.
            ValueError: the number of arrays is not the number of roles, or an array has the wrong shape.
        """
        roles = self.network.actions
        if len(choices) != len(roles):
            raise ValueError(f"expected an array for each of {len(roles)} roles, got {len(choices)} arrays")
        going = ~self.terminal if mask is None else ~self.terminal & self._mask(mask)
        lanes = np.flatnonzero(going)
        actions = np.empty((len(roles), len(lanes)), np.int64)
        for role, chosen in enumerate(choices):
            actions[role] = self._of_lanes(chosen, f"integers for role {role}", np.integer)[lanes]
        try:
            self._check(lanes, actions)
        except IllegalChoiceError:
            # No joint move is legal in a stuck lane, so check for stuck lanes before raising the error.
            able = ~self.stuck[lanes]
            if able.all():
                raise
            lanes, actions = lanes[able], actions[:, able]
            self._check(lanes, actions)
            going &= ~self.stuck
        actions += np.array(self._first[:-1], np.int64)[:, None]
        for of_role in actions:
            self._does[lanes // LANES, of_role, lanes % LANES] = True
        self._rows[:, self._actions] = _pack(self._does)
        for of_role in actions:
            self._does[lanes // LANES, of_role, lanes % LANES] = False
        self._rows[:, GO] = self._pack(going)
        self._move()

    def step_random(self) -> list[NDArray[np.int32]]:
        """Make a random joint move in all lanes that can move; each legal move is equally probable.

        Returns per role the actions, int32 [lanes], with -1 in lanes that made no move.
        """
        self._look()
        rows = self._rows
        choose = self._library["choose"]
        active = self._used & ~self._terminal()
        pending = active.copy()
        taken = np.zeros_like(rows[:, self._actions])
        while pending.any():
            rows[:, ACTIVE] = pending
            for block, pointers in enumerate(self._pointers):
                if choose(*pointers):
                    stuck = rows[block, STUCK]
                    for mask in (active, pending, rows[:, ACTIVE]):
                        mask[block] &= ~stuck
                    choose(*pointers)
            chosen = rows[:, GO]
            taken |= rows[:, self._actions] & chosen[:, None]
            pending &= ~chosen
        rows[:, self._actions] = taken
        rows[:, GO] = active
        self._move()
        going = self._unpack(active[:, None])[:, 0]
        return [self._numbers(taken[:, a:b], going) for a, b in pairwise(self._first)]

    def _numbers(self, taken: NDArray[np.uint64], going: NDArray[np.bool_]) -> NDArray[np.int32]:
        """Return per lane the index n of the row [blocks, n, 8] that holds; -1 outside of ``going``."""
        count = taken.shape[1]
        numbers = np.zeros(self.count, np.int32)
        for weight in range(max(0, count - 1).bit_length()):
            rows = taken[:, np.arange(count) >> weight & 1 == 1]
            plane = np.bitwise_or.reduce(rows, axis=1, keepdims=True)
            numbers += self._unpack(plane)[:, 0].astype(np.int32) << weight
        numbers[~going] = -1
        return numbers

    def _move(self) -> None:
        moves = self._library["evaluate_moves"]
        self._rows[:, RESTART] = 0
        if self.network.percepts:
            # Machine code writes percepts only in lanes that move.
            self._rows[:, self._percepts] = 0
        for pointers in self._pointers:
            moves(*pointers)
        self._fresh = False

    def _look(self) -> None:
        if not self._fresh:
            self._library = self._kernel.library  # the same code must evaluate a state and move from it
            state = self._library["evaluate_state"]
            for pointers in self._pointers:
                state(*pointers)
            self._fresh = True

    def _terminal(self) -> NDArray[np.uint64]:
        self._look()
        return self._values(np.array([self._kernel.gates.terminal]))[:, 0]

    def _check(self, lanes: NDArray[np.int64], actions: NDArray[np.int64]) -> None:
        legal = self._values(self._legal)
        allowed = np.empty(actions.shape, np.bool_)
        for role, count in enumerate(self.network.actions):
            within = (actions[role] >= 0) & (actions[role] < count)
            columns = np.where(within, actions[role], 0) + self._first[role]
            if not count:
                allowed[role] = False
                continue
            words = legal[lanes // LANES, columns, lanes % LANES // 64]
            allowed[role] = within & (words >> (lanes % 64).astype(np.uint64) & np.uint64(1)).astype(np.bool_)
        if not allowed.all():
            first = int((~allowed).any(axis=0).argmax())
            role = int((~allowed[:, first]).argmax())
            raise IllegalChoiceError(int(lanes[first]), role, int(actions[role, first]))

    def _of_lanes(self, values: ArrayLike, what: str, kind: Any) -> NDArray[Any]:
        array = np.asarray(values)
        if array.shape != (self.count,) or not np.issubdtype(array.dtype, kind):
            raise ValueError(f"expected {self.count} {what}, got {array.dtype} of shape {array.shape}")
        return array

    def _mask(self, values: ArrayLike) -> NDArray[np.bool_]:
        return self._of_lanes(values, "truth values in the mask", np.bool_)

    def _position(self, lane: int) -> tuple[int, int, np.uint64]:
        if not 0 <= lane < self.count:
            raise IndexError(f"expected a lane from 0 to {self.count - 1}, got {lane}")
        return lane // LANES, lane % LANES // 64, np.uint64(lane % 64)

    def _values(self, literals: NDArray[np.int64]) -> NDArray[np.uint64]:
        """Return the values of bit literals: uint64 [blocks, literals, 8]."""
        return self._rows[:, literals >> 1] ^ -(literals & 1).astype(np.uint64)[:, None]

    def _pack(self, lanes: NDArray[np.bool_]) -> NDArray[np.uint64]:
        """Pack bool [lanes] into rows: uint64 [blocks, 8]."""
        padded = np.zeros(self._blocks * LANES, np.bool_)
        padded[: len(lanes)] = lanes
        return _pack(padded.reshape(self._blocks, LANES))

    def _unpack(self, rows: NDArray[np.uint64]) -> NDArray[np.bool_]:
        """Unpack rows [blocks, n, 8] to bool [lanes, n], in column-major order."""
        words = np.ascontiguousarray(rows.transpose(1, 0, 2)).reshape(rows.shape[1], self._blocks * WORDS)
        bits = np.unpackbits(words.view(np.uint8), axis=-1, count=self.count, bitorder="little")
        return bits.view(np.bool_).T


def _pack(bits: NDArray[np.bool_]) -> NDArray[np.uint64]:
    """Pack bool [..., 512] into rows: uint64 [..., 8]."""
    return np.ascontiguousarray(np.packbits(bits, axis=-1, bitorder="little")).view(np.uint64)


def transpose_bits(words: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Transpose matrices of 64 x 64 bits, uint64 [..., 64]: bit j of word i becomes bit i of word j.

    Each round exchanges squares of half the size (Warren, "Hacker's Delight", 2nd edition, 2012, section
    7-3).

    >>> import numpy as np
    >>> block = np.zeros(64, np.uint64)
    >>> block[3] = 1 << 5
    >>> turned = transpose_bits(block)
    >>> np.flatnonzero(turned).tolist(), int(turned[5]) == 1 << 3
    ([5], True)
    """
    turned = np.array(words, np.uint64, order="C")
    for width, mask in _ROUNDS:
        halves = turned.reshape(-1, 2, width)
        low, high = halves[:, 0], halves[:, 1]
        moved = low >> np.uint64(width)
        moved ^= high
        moved &= mask
        high ^= moved
        moved <<= np.uint64(width)
        low ^= moved
    return turned
