"""Many games side by side, for search and learning: the caller chooses the moves in each lane."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final, Self

import numpy as np

from anygame.network.kernels.function import ACTIVE, GO, LANES, RANDOM, RESTART, STUCK, WORDS
from anygame.network.kernels.uniform_choice import STATE_ROWS, seed_rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from anygame.network.kernels.kernel import Kernel

#: Markers for the goal of a role to which the rules give no goal, or several goals.
MISSING, DOUBLE = int(np.iinfo(np.int32).min), int(np.iinfo(np.int32).min) + 1

#: The steps of a bit transposition: the width of the exchanged squares, and a mask of the lower squares.
_STEPS: Final = tuple(
    (width, np.uint64(sum(((1 << width) - 1) << at for at in range(0, 64, 2 * width))))
    for width in (32, 16, 8, 4, 2, 1)
)


class IllegalChoiceError(ValueError):
    """A chosen action is not legal; no lane was changed.

    The attributes are the first lane with an illegal action, and the first role with an illegal action in it.
    """

    def __init__(self, lane: int, role: int, action: int) -> None:
        super().__init__(f"role {role} cannot take action {action} in lane {lane}")
        self.lane = lane
        self.role = role
        self.action = action


class Lanes:
    """A number of games side by side.

    A lane whose game is over keeps its state until it is reset or set. So does a stuck lane, in which a role
    has no legal move although the game is not over.

    Args:
        kernel: the code of the compiled game.
        count: number of lanes; memory is allocated for a multiple of 512.
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
        self._legal = _Bits(kernel.gates.legal)
        self._goals = [_Bits([bit for _, bit in role]) for role in kernel.gates.goals]
        self._does = np.zeros((self._blocks, int(self._first[-1]), LANES), np.bool_)
        self._fresh = False
        self.seed(seed)
        self.reset()

    def copy(self) -> Self:
        """Return an independent copy: the same states and the same future random numbers."""
        made = object.__new__(type(self))
        made.__dict__.update(self.__dict__)
        made._rows = self._kernel.rows(self._blocks).reshape(self._rows.shape)
        made._rows[:] = self._rows
        made._pointers = made._addresses()
        made._does = np.zeros_like(self._does)
        return made

    def _addresses(self) -> list[tuple[int, int]]:
        # Per block the address of its rows and the address of the data of the gates.
        size, first = self._rows[0].nbytes, self._rows.ctypes.data
        return [(first + block * size, self._kernel.data.ctypes.data) for block in range(self._blocks)]

    @property
    def bytes(self) -> int:
        """Size in bytes of the rows of all lanes."""
        return self._rows.nbytes

    def seed(self, seed: int) -> None:
        """Restart the random numbers."""
        for block in range(self._blocks):
            self._rows[block, RANDOM : RANDOM + STATE_ROWS] = seed_rows(seed, block)

    def reset(self, mask: ArrayLike | None = None) -> None:
        """Put the lanes of a mask, bool [lanes], or all lanes, into the initial state."""
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
        """Put a lane into a state: bool [facts], without percepts."""
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
        """Put all lanes into states, bool [lanes, facts], without percepts."""
        values = np.asarray(states, np.bool_)
        if values.shape != (self.count, self.network.facts):
            raise ValueError(f"expected states [{self.count}, {self.network.facts}], got {values.shape}")
        padded = np.zeros((self._blocks * LANES, self.network.facts), np.bool_)
        padded[: self.count] = values
        lanes = padded.reshape(self._blocks, LANES, -1).transpose(0, 2, 1)
        self._rows[:, self._fluents] = _pack(lanes)
        self._rows[:, self._percepts] = 0
        self._fresh = False

    def packed(self) -> NDArray[np.uint64]:
        """Return all states with a bit for each fluent: uint64 [lanes, words], unused bits 0."""
        words = self._packed_words
        fluents = np.zeros((self._blocks, 64 * words, WORDS), np.uint64)
        fluents[:, : self.network.facts] = self._rows[:, self._fluents]
        turned = transpose_bits(fluents.reshape(self._blocks, words, 64, WORDS).transpose(0, 3, 1, 2))
        return turned.transpose(0, 1, 3, 2).reshape(-1, words)[: self.count]

    def load_packed(self, states: NDArray[np.uint64]) -> None:
        """Put all lanes into states, uint64 [lanes, words] as returned by ``packed``, without percepts."""
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
        """Return which actions are legal: bool [lanes, all actions], role after role.

        In memory, the lanes of an action lie side by side.
        """
        self._look()
        return self._unpack(self._legal.of(self._rows))

    def legal_by_role(self) -> list[NDArray[np.bool_]]:
        """Return which actions are legal, bool [lanes, actions of the role], per role."""
        legal = self.legal()
        return [legal[:, first:end] for first, end in pairwise(self._first)]

    @property
    def terminal(self) -> NDArray[np.bool_]:
        """In which lanes the game is over: bool [lanes]."""
        return self._unpack(self._terminal()[:, None])[:, 0]

    @property
    def stuck(self) -> NDArray[np.bool_]:
        """In which lanes a role has no legal move although the game is not over: bool [lanes]."""
        self._look()
        legal = self._legal.of(self._rows)
        able = [np.bitwise_or.reduce(legal[:, a:b], axis=1) for a, b in pairwise(self._first)]
        stuck = ~self._terminal()
        stuck &= ~np.bitwise_and.reduce(able, axis=0) if able else np.uint64(0)
        return self._unpack(stuck[:, None])[:, 0]

    def goals(self) -> list[NDArray[np.int32]]:
        """Return per role the goal in each lane, int32 [lanes], at the end or before.

        It is MISSING where the rules give no goal, and DOUBLE where they give several goals.
        """
        self._look()
        result = []
        for role, bits in zip(self._kernel.gates.goals, self._goals, strict=True):
            holds = self._unpack(bits.of(self._rows))
            goal = np.full(self.count, MISSING, np.int32)
            doubled = np.zeros(self.count, np.bool_)
            for (value, _), here in zip(role, holds.T, strict=True):
                doubled |= here & (goal != MISSING)
                goal[here] = value
            goal[doubled] = DOUBLE
            result.append(goal)
        return result

    def goal_values(self) -> list[NDArray[np.float64]]:
        """Return ``goals`` as float [lanes] per role; nan where the rules give no goal, or several goals."""
        return [np.where((goals == MISSING) | (goals == DOUBLE), np.nan, goals) for goals in self.goals()]

    def percepts(self) -> list[NDArray[np.bool_]]:
        """Return per role its percepts of the last joint move: bool [lanes, percepts of the role].

        Lanes that did not move, or were put into a state after the move, have no percepts.
        """
        seen = self._unpack(self._rows[:, self._percepts])
        ends = np.cumsum([0, *self.network.percepts]).tolist()
        return [seen[:, first:end] for first, end in pairwise(ends)]

    @property
    def random_state(self) -> NDArray[np.uint64]:
        """State of the random number generators; assign an earlier state to restore it."""
        return self._rows[:, RANDOM : RANDOM + STATE_ROWS].copy()

    @random_state.setter
    def random_state(self, words: NDArray[np.uint64]) -> None:
        self._rows[:, RANDOM : RANDOM + STATE_ROWS] = words

    def step(self, choices: Sequence[ArrayLike], mask: ArrayLike | None = None) -> None:
        """Make a joint move in all lanes that can move; choices in other lanes are ignored.

        Lanes whose games are over and :attr:`stuck` lanes keep their states.

        Args:
            choices: per role the chosen actions, int [lanes], each counted from the first action of the role.
            mask: the lanes to move, bool [lanes]; None for all.

        Raises:
            IllegalChoiceError: an action is not legal; no lane was changed.
            ValueError: the number of arrays is not the number of roles, or an array has the wrong shape.
        """
        roles = self.network.actions
        if len(choices) != len(roles):
            raise ValueError(f"expected an array for each of {len(roles)} roles, got {len(choices)}")
        going = ~self.terminal if mask is None else ~self.terminal & self._mask(mask)
        lanes = np.flatnonzero(going)
        actions = np.empty((len(roles), len(lanes)), np.int64)
        for role, chosen in enumerate(choices):
            actions[role] = self._of_lanes(chosen, f"integers for role {role}", np.integer)[lanes]
        try:
            self._check(lanes, actions)
        except IllegalChoiceError:
            # Every action in a stuck lane is illegal, so stuck lanes need to be found only after an error.
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
        """Move in all lanes whose games are not over, each role uniformly at random.

        :attr:`stuck` lanes keep their states. Returns per role the actions, int32 [lanes]; -1 in lanes that
        did not move.
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
        """Return which of the rows [blocks, n, 8] holds in each lane; -1 in lanes that do not move."""
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
            # Lanes that do not move have no percepts; the other lanes get new percepts.
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
        return _Bits([self._kernel.gates.terminal]).of(self._rows)[:, 0]

    def _check(self, lanes: NDArray[np.int64], actions: NDArray[np.int64]) -> None:
        legal = self._legal.of(self._rows)
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
        return self._of_lanes(values, "truth values as mask", np.bool_)

    def _position(self, lane: int) -> tuple[int, int, np.uint64]:
        if not 0 <= lane < self.count:
            raise IndexError(f"expected a lane from 0 to {self.count - 1}, got {lane}")
        return lane // LANES, lane % LANES // 64, np.uint64(lane % 64)

    def _pack(self, lanes: NDArray[np.bool_]) -> NDArray[np.uint64]:
        """Return rows [blocks, 8] of bool [lanes]."""
        padded = np.zeros(self._blocks * LANES, np.bool_)
        padded[: len(lanes)] = lanes
        return _pack(padded.reshape(self._blocks, LANES))

    def _unpack(self, rows: NDArray[np.uint64]) -> NDArray[np.bool_]:
        """Return bool [lanes, n] of rows [blocks, n, 8], column-major, so that no data is transposed."""
        words = np.ascontiguousarray(rows.transpose(1, 0, 2)).reshape(rows.shape[1], self._blocks * WORDS)
        bits = np.unpackbits(words.view(np.uint8), axis=-1, count=self.count, bitorder="little")
        return bits.view(np.bool_).T


class _Bits:
    def __init__(self, literals: Sequence[int]) -> None:
        self._rows = np.array([literal >> 1 for literal in literals], np.intp)
        inverted = np.array([literal & 1 for literal in literals], np.bool_)
        self._mask = np.where(inverted, ~np.uint64(0), np.uint64(0))[:, None]

    def of(self, rows: NDArray[np.uint64]) -> NDArray[np.uint64]:
        """Return rows [blocks, literals, 8] of rows [blocks, rows, 8]."""
        return rows[:, self._rows] ^ self._mask


def _pack(bits: NDArray[np.bool_]) -> NDArray[np.uint64]:
    """Return rows [..., 8] of bool [..., 512]."""
    return np.ascontiguousarray(np.packbits(bits, axis=-1, bitorder="little")).view(np.uint64)


def transpose_bits(words: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return blocks of 64 words, uint64 [..., 64], with bit i of word j at bit j of word i.

    It exchanges halves, then quarters and so on, in all blocks at once (Warren, "Hacker's Delight", 2nd
    edition, 2012, section 7-3).

    >>> import numpy as np
    >>> block = np.zeros(64, np.uint64)
    >>> block[3] = 1 << 5
    >>> turned = transpose_bits(block)
    >>> np.flatnonzero(turned).tolist(), int(turned[5]) == 1 << 3
    ([5], True)
    """
    turned = np.array(words, np.uint64, order="C")
    for width, mask in _STEPS:
        halves = turned.reshape(-1, 2, width)
        low, high = halves[:, 0], halves[:, 1]
        moved = low >> np.uint64(width)
        moved ^= high
        moved &= mask
        high ^= moved
        moved <<= np.uint64(width)
        low ^= moved
    return turned
