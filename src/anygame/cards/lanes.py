"""Many simultaneous games on a graphics card, for search and learning on the card."""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from anygame.cards.array import CardArray, lies_on_card
from anygame.cards.card import CardMemory
from anygame.cards.code import REGISTERS, card_kernel
from anygame.cards.lanes_code import ENTRIES, warp_lanes_code
from anygame.network.kernels.function import IDLE, RANDOM, STUCK
from anygame.network.kernels.target import WIDE
from anygame.network.kernels.uniform_choice import seeds_of_blocks
from anygame.network.lanes import IllegalChoiceError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from anygame.cards.card import Card
    from anygame.network.kernels.kernel import Style
    from anygame.network.network import Network

#: Number of threads in a thread block of the card: four warps.
_THREADS: Final = 128
_MOST_LANES: Final = 1 << 26
#: The result of ``check`` if every action is legal.
_NOWHERE: Final = (1 << 64) - 1


class WarpLanes:
    """Simultaneous games on a card; see ``Lanes``.

    Returned arrays are views, which the next move overwrites. Moves and masks can be on the card or in main
    memory. The number of lanes is rounded up to a multiple of 2,048. Raises DeviceError if the card has too
    little memory.
    """

    def __init__(
        self, network: Network, card: Card, count: int, seed: int = 0, style: Style = "auto"
    ) -> None:
        if not 1 <= count <= _MOST_LANES:
            raise ValueError(f"expected from 1 to {_MOST_LANES:,} lanes, got {count}")
        self.network = network
        self.card = card
        self.count = count
        self._blocks = -(-count // WIDE.lanes)
        self._lanes = self._blocks * WIDE.lanes
        self._firsts: list[int] = [0, *accumulate(network.actions)]
        card.use()
        kernel = card_kernel(network, style)
        ptx, data = warp_lanes_code(kernel)
        self._functions = card.load(ptx, [f"{name}_of_lanes" for name in ENTRIES], REGISTERS[kernel.style])
        gates, layout, roles = kernel.gates, kernel.layout, len(network.actions)
        fluents = [2 * row for row in range(layout.fluents, layout.fluents + network.facts)]
        answers = [gates.terminal, *gates.legal, *fluents, 2 * STUCK]
        self._stuck = len(answers) - 1
        goals = [pair for role in gates.goals for pair in role]
        self._tables = {
            "data": CardMemory.of(card, data),
            "answers": CardMemory.of(card, np.array(answers, np.int32)),
            "firsts": CardMemory.of(card, np.array(self._firsts, np.int32)),
            "ends": CardMemory.of(card, np.array([0, *accumulate(map(len, gates.goals))], np.int32)),
            "bits": CardMemory.of(card, np.array([bit for _, bit in goals], np.int32)),
            "values": CardMemory.of(card, np.array([value for value, _ in goals], np.float32)),
            "start": CardMemory.of(card, -network.initial.astype(np.int64)),
        }
        self._rows = CardMemory(card, self._blocks, kernel.end * WIDE.stride)
        self._told = CardMemory(card, len(answers), self._lanes)
        self._goals = CardMemory(card, max(1, roles), 4 * self._lanes)
        self._chosen = CardMemory(card, max(1, roles), 4 * self._lanes)
        self._wrong = CardMemory(card, 1, 8)
        self._given = CardMemory(card, max(1, roles), 8 * count)
        self._places = CardMemory(card, max(1, roles), 24)
        used = np.arange(self._lanes) < count
        words = np.packbits(used.reshape(self._blocks, -1), axis=1, bitorder="little")
        self._rows.write(words, IDLE * WIDE.stride)
        self._fresh = False
        self.seed(seed)
        self.reset()

    def seed(self, seed: int) -> None:
        """Restart the random numbers."""
        self.card.use()
        seeds = seeds_of_blocks(seed, range(self._blocks), WIDE.row_words)
        self._rows.write(seeds, RANDOM * WIDE.stride)

    def _start(self, name: str, *arguments: int) -> None:
        of_rows = (self._rows.address, self._tables["data"].address, self._blocks, self._rows.width)
        groups = -(-self._blocks * 32 // _THREADS)
        self.card.use()
        self.card.launch(self._functions[f"{name}_of_lanes"], (*of_rows, *arguments), groups, _THREADS)

    def _table(self, *names: str) -> list[int]:
        return [self._tables[name].address for name in names]

    def _look(self) -> None:
        if not self._fresh:
            answers, firsts, *of_goals = self._table("answers", "firsts", "ends", "bits", "values")
            told = (self._told.address, self._lanes)
            count, roles = self._stuck + 1, len(self.network.actions)
            self._start("look", answers, count, firsts, roles, *told, *of_goals, self._goals.address)
            self._fresh = True

    def _answers(self, first: int, count: int) -> CardArray:
        self._look()
        shape, strides = (self.count, count), (1, self._lanes)
        return CardArray(self._told, first * self._lanes, shape, strides, np.dtype(np.bool_))

    def legal(self, role: int) -> CardArray:
        """Return which actions of a role are legal: bool [lanes, actions], in column-major order."""
        return self._answers(1 + self._firsts[role], self.network.actions[role])

    def observation(self) -> CardArray:
        """Return all states: bool [lanes, facts], in column-major order."""
        return self._answers(1 + self._firsts[-1], self.network.facts)

    @property
    def terminal(self) -> CardArray:
        """The lanes in which the game is over: bool [lanes]."""
        return self._line(0)

    @property
    def stuck(self) -> CardArray:
        """The lanes in which a role has no legal move although the game is not over: bool [lanes]."""
        return self._line(self._stuck)

    def _line(self, number: int) -> CardArray:
        self._look()
        return CardArray(self._told, number * self._lanes, (self.count,), (1,), np.dtype(np.bool_))

    def goals(self, role: int) -> CardArray:
        """Return the goals of a role, also before the end: float32 [lanes], nan without a unique goal."""
        self._look()
        return CardArray(self._goals, 4 * role * self._lanes, (self.count,), (4,), np.dtype(np.float32))

    def step(self, choices: Sequence[ArrayLike]) -> None:
        """Make a joint move in all lanes that can move; choices in other lanes are ignored.

        Args:
            choices: per role the chosen actions, int32 or int64 [lanes], on the card or in main memory.

        Raises:
            IllegalChoiceError: an action is not legal; no lane has changed.
            ValueError: the number of arrays, a shape or a type is wrong.
        """
        roles = len(self.network.actions)
        if len(choices) != roles:
            raise ValueError(f"expected an array for each of {roles} roles, got {len(choices)} arrays")
        self._look()
        names = [f"the actions of role {role}" for role in range(roles)]
        places = [self._place(choices[role], names[role], role) for role in range(roles)]
        self._places.write(np.array(places, np.int64))
        answers, firsts = self._table("answers", "firsts")
        self._wrong.write(np.array([_NOWHERE], np.uint64))
        self._start("check", answers, firsts, roles, self._places.address, self._wrong.address)
        wrong = int(self._wrong.read((1,), np.uint64)[0])
        if wrong != _NOWHERE:
            lane, role = wrong >> 16, wrong & 0xFFFF
            start, stride, wide = places[role]
            size = 8 if wide else 4
            action = int.from_bytes(self.card.read(start + lane * stride, size), "little", signed=True)
            raise IllegalChoiceError(lane, role, action)
        self._start("move", firsts, roles, self._places.address)
        self._fresh = False

    def step_random(self) -> list[CardArray]:
        """Make a joint move in all lanes that can move; each role's move is uniformly random.

        Returns:
            Per role the actions, int32 [lanes]; -1 in lanes that did not move.
        """
        self._look()
        roles = len(self.network.actions)
        self._start("choose_moves", *self._table("firsts"), roles, self._chosen.address, self._lanes)
        self._fresh = False
        width, kind = self._chosen.width, np.dtype(np.int32)
        return [CardArray(self._chosen, role * width, (self.count,), (4,), kind) for role in range(roles)]

    def reset(self, mask: ArrayLike | None = None) -> None:
        """Reset the lanes of a mask, bool [lanes] on the card or in main memory; None for all lanes."""
        self.card.use()
        if mask is None:
            mask = np.ones(self.count, np.bool_)
        start, stride, _ = self._place(mask, "the mask", None)
        self._start("put_back", start, stride, *self._table("start"), self.network.fluents)
        self._fresh = False

    def _place(self, value: Any, what: str, role: int | None) -> tuple[int, int, int]:
        """Copy an array, which has an item for each lane, to the card, unless the array is there already.

        Returns the array's address on the card, the stride, and a mask: -1 for 8-byte items, else 0. The
        array has integers for a role, or truth values if ``role`` is None. ``what`` is its name in errors.
        """
        interface = lies_on_card(value)
        array = np.empty(0) if interface else np.asarray(value)
        shape = tuple(interface["shape"]) if interface else array.shape
        dtype = np.dtype(interface["typestr"]) if interface else array.dtype
        is_one = dtype.itemsize == 1 and dtype.kind in "bu" if role is None else dtype.kind in "iu"
        is_one &= not interface or role is None or (dtype.itemsize >= 4 and dtype.isnative)
        if shape != (self.count,) or not is_one:
            wanted = (
                "truth values" if role is None else "integers of 4 or 8 bytes" if interface else "integers"
            )
            given = f"an array of {dtype} of shape {shape}"
            raise ValueError(f"{what} should be {self.count} {wanted}, one per lane, not {given}")
        if interface:
            stride = int((interface.get("strides") or (dtype.itemsize,))[0])
            return int(interface["data"][0]), stride, -(dtype.itemsize == 8)
        items = array.astype(np.uint8 if role is None else np.int64)
        self._given.write(items.reshape(1, -1), (role or 0) * self._given.width)
        return self._given.address + (role or 0) * self._given.width, items.itemsize, -(role is not None)
