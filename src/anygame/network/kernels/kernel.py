"""The kernel of a game: its functions as one module of LLVM's text, and their machine code."""

from __future__ import annotations

import ctypes
import hashlib
import os
import pickle
import sys
import threading
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

import numpy as np

from anygame.native import code as native
from anygame.network.kernels.clusters import cluster, part_by_phase
from anygame.network.kernels.compilation import Compilation
from anygame.network.kernels.function import SharedFunctions
from anygame.network.kernels.gate_code import NO_DATA, single_state_functions
from anygame.network.kernels.gate_loop import LoopWriter
from anygame.network.kernels.layout import MOST_UNROLLED, RowLayout
from anygame.network.kernels.nth_set_bit import Candidates, factor_functions, scratch_rows
from anygame.network.kernels.phases import Phases, find_phases
from anygame.network.kernels.playout_loop import Counters, PlayedGame, account_function, play_functions
from anygame.network.kernels.schedule import schedule
from anygame.network.kernels.segments import Allocation
from anygame.network.kernels.straight_line import StraightWriter, sizes
from anygame.network.kernels.target import PROCESSOR, Target
from anygame.network.kernels.uniform_choice import choose_function

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from anygame.native.code import Library
    from anygame.network.kernels.gate_code import GateCode
    from anygame.network.kernels.layout import GateOutputs
    from anygame.network.kernels.schedule import Schedule
    from anygame.network.network import Network

#: ``straight``: code for each gate. ``loop``: a loop that reads the gates as data. ``auto``: chosen by size.
#: If straight-line code takes long to compile, ``auto`` uses a loop until this code is compiled.
Style = Literal["auto", "straight", "loop"]
#: Maximum number of gate inputs for straight-line code, which takes 40 to 130 microseconds per input to
#: compile. The loop needs no compilation, but runs 2x to 4x slower.
STRAIGHT_INPUTS = 150_000
#: Maximum number of gate inputs for which this process compiles straight-line code. Compiling then takes 0.1
#: to 0.2 s, less than in another process.
COMPILED_AT_ONCE = 2_000
#: Maximum number of gate inputs for compiling in this process if a caller waits for straight-line code. Up to
#: this size, compiling takes no longer than starting another process.
COMPILED_IF_WAITED_FOR = 4_000
#: For each move that straight-line code can choose, compiling takes as long as for this many gate inputs.
_INPUTS_PER_MOVE: Final = 25
#: Minimum number of gate inputs for phases, which save half of each step or more. However, each playout waits
#: for the first phase (half a step with two phases), which costs more in short, small games.
PHASED_INPUTS = 4_000
#: Phases are only used if, on average, a phase needs at most this fraction of the gate inputs. Reversi, whose
#: phases need nearly all inputs, would get slower.
PHASED_SHARE = 0.75
#: Minimum number of gate inputs for clustering gates; see ``clusters``. Smaller games fit into the cache.
CLUSTERED_INPUTS = 4_000
#: If the gates that only goals need have at most this many inputs together, each step evaluates these gates.
#: With more inputs, these gates are evaluated only when games have ended. With phases, they are evaluated in
#: each step, since waiting lanes would leave the common phase.
LATE_INPUTS = 4_000

#: Niceness of the compiling process: on a shared core, the process that plays has priority.
_NICE: Final = 5

_POINTER, _WORD = ctypes.c_void_p, ctypes.c_int64
_SIGNATURES = {
    "evaluate_state": (None, _POINTER, _POINTER),
    "evaluate_moves": (None, _POINTER, _POINTER),
    "query": (None, _POINTER, _POINTER, ctypes.c_char_p, _POINTER),
    "advance": (None, _POINTER, _POINTER, _POINTER, _WORD, _POINTER),
    "choose": (ctypes.c_bool, _POINTER, _POINTER),
    "play": (ctypes.c_bool, _POINTER, _POINTER, _POINTER, _POINTER, _POINTER, _WORD),
}
_LOCK = threading.RLock()
#: Computed at import, since later changes of the sources do not change the code of this program.
_SOURCES: Final = native.source_digest(Path(__file__).parent, Path(native.__file__).parent)


@dataclass(eq=False)
class _Start:
    """The machine code that a kernel currently uses, with its data.

    Attributes:
        making: the running compilation of the final code, if any.
        replaced: the code before the final code, kept because other threads may still run it.
    """

    library: Library
    data: NDArray[np.int32]
    rows: int
    making: Compilation | None = None
    replaced: Library | None = None


@dataclass(frozen=True, eq=False)
class Kernel:
    """Compiled code of a game, shared by all its simulators.

    The final code may take long to compile. Then the kernel uses a loop while another process compiles the
    final code. The loop and the final code have inputs, outputs and counters in the same rows, and the same
    results. However, the loop cannot make moves from a state that the final code has evaluated, or vice
    versa. So callers keep a ``library`` from an evaluation to the following moves.

    Attributes:
        style: how the final code evaluates the gates.
        candidates: per role the moves that can be legal.
        end: number of rows of a block in the final code.
        stands_in: whether the kernel uses a loop until the final code is compiled.
    """

    network: Network
    style: Style
    layout: RowLayout
    counters: Counters
    candidates: tuple[Candidates, ...]
    end: int
    stands_in: bool
    target: Target
    _parted: Network
    _phases: Phases
    _order: Schedule
    #: The first row that the loop and the final code do not share.
    _shared_end: int
    _written: GateCode | None

    @property
    def gates(self) -> GateOutputs:
        """The bit literals of the outputs of the gates."""
        return self.layout.outputs

    @property
    def library(self) -> Library:
        """The machine code, compiled at the first use; faster code may replace it later."""
        return self._start.library

    @property
    def data(self) -> NDArray[np.int32]:
        """The data that the machine code reads."""
        return self._start.data

    @cached_property
    def _start(self) -> _Start:
        return self._started(wait=False)

    def _started(self, *, wait: bool) -> _Start:
        with _LOCK:
            if "_start" not in self.__dict__:  # another thread may already have initialised it
                self.__dict__["_start"] = self._begin(wait=wait)
        return self.__dict__["_start"]  # type: ignore[no-any-return]

    def _begin(self, *, wait: bool) -> _Start:
        if not self.stands_in:
            assert self._written is not None
            if self.style == "loop":
                return _Start(self._linked(self._written, keep=True), self._written.data, self.end)
            return _Start(native.compile_library(self.code, _SIGNATURES), self._written.data, self.end)
        library = native.find_library(self.key, _SIGNATURES)
        if library is None and wait and _to_compile(self.network) <= COMPILED_IF_WAITED_FOR:
            library = native.load_library(native.make_image(self.code, self.key), _SIGNATURES)
        if library is not None:
            return _Start(library, NO_DATA, self.end)
        gates = self._gates("loop", self.target)
        return _Start(
            self._linked(gates, keep=False), gates.data, max(gates.end, self.end), Compilation(self)
        )

    def _linked(self, gates: GateCode, *, keep: bool) -> Library:
        """Compile a loop and link it with the shared functions; ``keep`` says whether to cache its code."""
        shared = SharedFunctions(gates.shared)
        code = self._functions(gates, self.target, shared)
        code = self.target.preamble + shared.declarations + code
        return native.compile_library(code, _SIGNATURES, shared=shared.modules(self.target), keep=keep)

    def finish(self) -> bool:
        """Wait for the final code; return whether this code came from the cache."""
        start = self._started(wait=True)
        making = start.making
        if making is None:
            return start.library.cached
        if not making.wait():
            self.take_over(native.make_image(self.code, self.key))
        return False

    def take_over(self, image: bytes) -> None:
        """Switch to the final code, given as machine code."""
        start = self._start
        with _LOCK:
            start.library, start.replaced = native.load_library(image, _SIGNATURES), start.library
            start.making = None

    @property
    def is_final(self) -> bool:
        """Whether the final code is in use."""
        return not self.stands_in or self._start.making is None

    @cached_property
    def code(self) -> str:
        """The final code in LLVM's text form."""
        return self._module(self._written or self._gates("straight", self.target), self.target)

    def _gates(self, style: Style, target: Target) -> GateCode:
        parts = (self._parted, self._order, self._phases, self.layout)
        if style == "loop":
            return LoopWriter(*parts, target, self._shared_end).write()
        return StraightWriter(self._parted, Allocation(*parts, self._shared_end), target).write()

    @property
    def key(self) -> str:
        """Digest of all data on which the final code depends."""
        network = self.network
        digest = hashlib.sha256(_SOURCES.encode())
        flags, literals = (network.initially, network.initial), (network.inputs, network.legal, network.next)
        for array in (*flags, network.starts, *literals):
            digest.update(repr((array.dtype.str, array.shape)).encode() + array.tobytes())
        numbers = (network.fluents, network.actions, network.state_gates, network.terminal, network.goals)
        cycles = [(cycle.first, cycle.end) for cycle in network.cycles]
        digest.update(repr((numbers, cycles, sizes(), PHASED_INPUTS, CLUSTERED_INPUTS, LATE_INPUTS)).encode())
        return digest.hexdigest()

    @property
    def _patience(self) -> int:
        # Ended lanes wait until their waiting has cost as much as one evaluation of the goals.
        goals = int(np.diff(self._parted.starts)[self._order.gates(self._order.goals)].sum())
        return -(-self.target.lanes * goals // max(1, self._step_cost - goals))

    @property
    def _step_cost(self) -> int:
        # The cost is in row operations.
        moves = sum(len(role.legal) for role in self.candidates)
        return len(self.network.inputs) + 3 * self.network.fluents + 8 * moves

    def written_for(self, target: Target) -> tuple[str, NDArray[np.int32]]:
        """Return the text and the data of the final code for another target with rows of the same width."""
        assert target.row_words == self.target.row_words
        gates = self._gates(self.style, target)
        return self._module(gates, target), gates.data

    def _module(self, gates: GateCode, target: Target) -> str:
        shared = SharedFunctions(gates.shared)
        code = self._functions(gates, target, shared)
        return target.preamble + shared.text + code

    def _functions(self, gates: GateCode, target: Target, shared: SharedFunctions) -> str:
        numbers = (self.layout, self.gates.terminal, self.counters.moves, self._phases)
        choice = (self.candidates, self._step_cost, self._phases, target)
        parts = (
            gates.code,
            choose_function(*choice, shared),
            factor_functions(self.layout, self._phases, gates.factors, target),
            account_function(self.gates, self.counters, target),
            play_functions(PlayedGame(target, *numbers, gates.factors, self._patience), shared),
            single_state_functions(self.layout, self.gates, target) if target.threads == 1 else "",
        )
        return "".join(parts)

    @property
    def bytes(self) -> int:
        """Size in bytes of a block of lanes and of the data of the final code."""
        data = NO_DATA if self._written is None else self._written.data
        return self.end * self.target.stride + data.nbytes

    def describe(self) -> dict[str, int | str]:
        """Return figures of the final code."""
        return {
            "style": self.style,
            "gates": self.network.gates,
            "inputs": len(self.network.inputs),
            "lanes": self.target.lanes,
            "rows": self.end,
            "bytes": self.bytes,
            "text": len(self.code),
        }

    def rows(self, blocks: int = 1) -> NDArray[np.uint64]:
        """Return aligned rows of zeros for several blocks: uint64 [blocks * rows, words]."""
        width, stride = self.target.row_words, self.target.stride
        size = blocks * (self._start.rows if self.stands_in else self.end) * width
        words = np.zeros(size + width, np.uint64)
        skip = -words.ctypes.data % stride // 8
        return words[skip : skip + size].reshape(-1, width)


def build_kernel(
    network: Network, style: Style = "auto", phases: Phases | None = None, target: Target = PROCESSOR
) -> Kernel:
    """Return the kernel of a network; the code is compiled at the first use.

    ``phases`` are the phases of the game. If ``phases`` is None, the function finds the phases of networks
    that are large enough to benefit. Targets other than ``PROCESSOR`` need an explicit style.
    """
    becomes_straight = style == "auto" and len(network.inputs) <= STRAIGHT_INPUTS
    stands_in = becomes_straight and phases is None and _to_compile(network) > COMPILED_AT_ONCE
    parted, phases, first = _prepared(network, phases)
    late = None if phases.patterns else LATE_INPUTS
    order, layout = schedule(parted, phases, first, late), RowLayout(parted, phases)
    if style == "auto":
        style = "straight" if len(network.inputs) <= STRAIGHT_INPUTS else "loop"
    # For each role, its actions; for a role with few actions, only the actions that can be legal.
    roles = [
        [action for action in range(first, end) if layout.outputs.legal[action] or action in layout.legal]
        for first, end in pairwise(accumulate(network.actions, initial=0))
    ]
    counters = Counters.after(layout, list(map(len, roles)))
    candidates, shared_end = [], counters.end
    for actions, counting in zip(roles, counters.options, strict=True):
        many = bool(actions) and actions[0] in layout.legal
        legal, does = [layout.outputs.legal[a] for a in actions], [layout.actions + a for a in actions]
        chosen = [layout.chosen[a] for a in actions]
        scratch, factors = (shared_end, layout.factors[actions[0]]) if many else (None, (0, 0))
        candidates.append(Candidates(legal, does, counting, chosen, scratch, factors))
        shared_end += scratch_rows(len(actions)) if many else 0
    written: GateCode | None
    if style == "loop":
        written = LoopWriter(parted, order, phases, layout, target, shared_end).write()
        end = written.end
    else:
        straight = Allocation(parted, order, phases, layout, shared_end)
        end = straight.end
        written = None if stands_in else StraightWriter(parted, straight, target).write()
    places = (layout, counters, tuple(candidates), end, stands_in, target)
    return Kernel(network, style, *places, parted, phases, order, shared_end, written)


def _to_compile(network: Network) -> int:
    unrolled = sum(count for count in network.actions if count <= MOST_UNROLLED)
    return len(network.inputs) + _INPUTS_PER_MOVE * unrolled


def _prepared(network: Network, phases: Phases | None) -> tuple[Network, Phases, list[int]]:
    """Split gates if that saves time; return the network, its phases and the literals to compute first."""
    given = phases
    if given is None and len(network.inputs) >= PHASED_INPUTS:
        given = find_phases(network)
    if given is not None and given.patterns:
        parted, first = _clustered(part_by_phase(network, given))
        new_phases = find_phases(parted)
        phases_of = np.bitwise_count(np.array(new_phases.gates, np.int64) & ~new_phases.whole)
        needed = int((np.diff(parted.starts) * phases_of).sum())
        if phases is not None or needed <= PHASED_SHARE * len(new_phases.patterns) * len(network.inputs):
            return parted, new_phases, first
    parted, first = _clustered(network)
    return parted, Phases.none(parted), first


def _clustered(network: Network) -> tuple[Network, list[int]]:
    few = len(network.inputs) < CLUSTERED_INPUTS
    return (network, []) if few or len(network.inputs) > STRAIGHT_INPUTS else cluster(network)


def make_requested() -> None:
    """Read a network from standard input; compile, cache and write its code to standard output."""
    if hasattr(os, "nice"):
        os.nice(_NICE)
    key, network = pickle.load(sys.stdin.buffer)
    kernel = build_kernel(network, "straight")
    if kernel.key != key:
        sys.exit("the code differs from the requested code: the package was changed meanwhile")
    image = native.make_image(kernel.code, key)
    with suppress(OSError):
        sys.stdout.buffer.write(image)
        sys.stdout.buffer.flush()
    os._exit(0)
