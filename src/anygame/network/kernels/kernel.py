"""The kernel of a game: its functions as one module of LLVM's text, and the machine code of that."""

from __future__ import annotations

import ctypes
import threading
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal

import numpy as np

from anygame.network.kernels.counters import Counters
from anygame.network.kernels.function import PREAMBLE, ROW_BYTES, WORDS
from anygame.network.kernels.gate_loop import loop_gates
from anygame.network.kernels.native import compile_library, is_cached
from anygame.network.kernels.nth_set_bit import Candidates, scratch_rows
from anygame.network.kernels.playout_loop import play_functions
from anygame.network.kernels.rows import RowLayout
from anygame.network.kernels.schedule import schedule
from anygame.network.kernels.single_state import single_state_functions
from anygame.network.kernels.straight_line import straight_gates
from anygame.network.kernels.uniform_choice import choose_function

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from anygame.network.kernels.gate_code import GateCode
    from anygame.network.kernels.native import Library
    from anygame.network.network import Network

__all__ = ["STRAIGHT_INPUTS", "Kernel", "Style", "build_kernel"]

#: ``straight``: code per gate. ``loop``: one loop that reads the gates as data. ``auto``: by size.
Style = Literal["auto", "straight", "loop"]
#: Up to so many gate inputs a network becomes straight code: compiling takes about 40 microseconds for
#: each, so six seconds at most; the loop is there at once, but a half to a quarter as fast.
STRAIGHT_INPUTS = 150_000

_POINTER, _WORD = ctypes.c_void_p, ctypes.c_int64
_SIGNATURES = {
    "evaluate_state": (None, _POINTER, _POINTER),
    "evaluate_moves": (None, _POINTER, _POINTER),
    "query": (None, _POINTER, _POINTER, ctypes.c_char_p, _POINTER),
    "advance": (None, _POINTER, _POINTER, _POINTER, _WORD, _POINTER),
    "choose": (ctypes.c_bool, _POINTER, _POINTER),
    "play": (ctypes.c_bool, _POINTER, _POINTER, _POINTER, _POINTER, _WORD),
}


@dataclass(frozen=True, eq=False)
class Kernel:
    """A game as code: what plays it shares one.

    Attributes:
        network: the game.
        style: how its gates are written.
        code: LLVM's text form.
        gates: where outputs are found.
        layout: where inputs go.
        counters: where a playing block counts.
        candidates: per role the moves that can be legal.
        end: how many rows a block has.
    """

    network: Network
    style: Style
    code: str
    gates: GateCode
    layout: RowLayout
    counters: Counters
    candidates: tuple[Candidates, ...]
    end: int

    @cached_property
    def library(self) -> Library:
        """The machine code, compiled on first use."""
        with _LOCK:
            return compile_library(self.code, _SIGNATURES)

    @property
    def is_compiled(self) -> bool:
        """Whether the machine code is there, or cached from an earlier process."""
        return "library" in self.__dict__ or is_cached(self.code)

    @property
    def block_bytes(self) -> int:
        """Bytes of the rows of one block of lanes."""
        return self.end * ROW_BYTES

    def rows(self, blocks: int = 1) -> NDArray[np.uint64]:
        """Return rows for blocks, one after the other, all false: uint64 [blocks * rows, 8], aligned."""
        size = blocks * self.end * WORDS
        words = np.zeros(size + WORDS, np.uint64)
        skip = -words.ctypes.data % ROW_BYTES // 8
        return words[skip : skip + size].reshape(-1, WORDS)


_LOCK = threading.RLock()


def build_kernel(network: Network, style: Style = "auto") -> Kernel:
    """Write the code of a network. It is compiled when it is first used.

    Args:
        network: the compiled game.
        style: how the gates are written.
    """
    order = schedule(network)
    if style == "auto":
        style = "straight" if len(network.inputs) <= STRAIGHT_INPUTS else "loop"
    gates = (straight_gates if style == "straight" else loop_gates)(network, order)
    layout = RowLayout(network)
    roles = _roles(network, layout, gates)
    counters = Counters.after(gates, list(map(len, roles)))
    candidates, end = [], counters.end
    for actions, rows in zip(roles, counters.options, strict=True):
        many = bool(actions) and actions[0] in layout.legal
        legal, does = [gates.legal[a] for a in actions], [layout.actions + a for a in actions]
        candidates.append(Candidates(legal, does, rows, end if many else None))
        end += scratch_rows(len(actions)) if many else 0
    cost = len(network.inputs) + 3 * network.fluents + 8 * sum(map(len, roles))
    parts = (
        PREAMBLE,
        gates.code,
        choose_function(candidates, cost),
        play_functions(layout, gates, counters),
        single_state_functions(layout, gates),
    )
    return Kernel(network, style, "".join(parts), gates, layout, counters, tuple(candidates), end)


def _roles(network: Network, layout: RowLayout, gates: GateCode) -> list[list[int]]:
    """Return the actions of each role, where they are few without those that are never legal."""
    roles, first = [], 0
    for count in network.actions:
        actions = range(first, first + count)
        roles.append([a for a in actions if gates.legal[a] or a in layout.legal])
        first += count
    return roles
