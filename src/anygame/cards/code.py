"""The code of a game for graphics cards: a warp plays a block, each of its 32 threads 64 lanes of it.

It is written by the same functions as that for processors, and read by the driver of the card as PTX (NVIDIA,
"Parallel Thread Execution ISA"). All threads of a warp go the same way, but where they visit those of
their own lanes that end: what is decided for a block is decided by votes and sums over its warp.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from anygame.native.code import make_ptx
from anygame.network.kernels.function import RUNNING
from anygame.network.kernels.kernel import Kernel, Style, build_kernel
from anygame.network.kernels.playout_loop import LEFT, STARTS, STUCK_LANES
from anygame.network.kernels.target import WARP, WIDE

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from anygame.network.network import Network

#: Up to so many gate inputs a network becomes straight code, which is four times as fast as a loop: LLVM and
#: the driver take half a millisecond to compile each.
_STRAIGHT_INPUTS: Final = 50_000
#: How many registers a thread has: for straight code as many as there are, since it waits for memory less
#: often; for loops fewer, so that other threads go on meanwhile.
REGISTERS: Final[dict[Style, int]] = {"straight": 255, "loop": 64}
#: The name of the function that the driver starts.
ENTRY: Final = "playouts"
#: What it tells of each block, as 64-bit words: whether all its playouts have ended, how many are left to
#: start, how many are under way, how many got stuck.
DONE, STILL_LEFT, UNDER_WAY, GOT_STUCK, STATUS_WORDS = range(5)
#: Words of the record of a block that each thread has, one thread's beside the other's.
RECORD_WORDS: Final = STARTS + 64 * WARP.words


def card_kernel(network: Network, style: Style = "auto") -> Kernel:
    """Lay out the code of a network for blocks as wide as a warp's."""
    if style == "auto":
        style = "straight" if len(network.inputs) <= _STRAIGHT_INPUTS else "loop"
    return build_kernel(network, style, target=WIDE)


def warp_code(kernel: Kernel) -> tuple[str, NDArray[np.int32]]:
    """Return the code of a game as PTX, and what it reads.

    Its function ``playouts`` gets the addresses of rows and data, how many blocks there are, the bytes of the
    rows of one, the addresses of records, lengths, start and status, and the steps to make. What belongs to a
    block stands behind what belongs to the one before.

    Args:
        kernel: of the game, written for rows as wide as those of a warp.
    """
    code, data = kernel.written_for(WARP)
    return make_ptx(code + _playouts() + COLLECTIVES), data


def entry(name: str, parameters: Sequence[str], lines: Sequence[str]) -> str:
    """Write a function that the driver starts, for the threads of all blocks.

    Args:
        name: of the function.
        parameters: behind rows and data, how many blocks there are and the bytes of the rows of one.
        lines: what a thread does. It knows ``%rows.own``, where its words of the rows begin, and the numbers
            of its ``%block``, of itself in there (``%number``), and of its ``%first`` lane.
    """
    given = ", ".join(["ptr %rows", "ptr %data", "i64 %blocks", "i64 %bytes", *parameters])
    return "\n".join(
        [
            f"define ptx_kernel void @{name}({given}) {{",
            "entry:",
            "  %thread = call i64 @thread_number()",
            "  %block = lshr i64 %thread, 5",
            "  %is_block = icmp ult i64 %block, %blocks",
            "  br i1 %is_block, label %own, label %out",
            "own:",
            "  %number = and i64 %thread, 31",
            "  %first = shl i64 %thread, 6",
            "  %words = shl i64 %number, 3",
            "  %rows.offset = mul i64 %block, %bytes",
            "  %rows.first = getelementptr i8, ptr %rows, i64 %rows.offset",
            "  %rows.own = getelementptr i8, ptr %rows.first, i64 %words",
            *lines,
            "  br label %out",
            "out:",
            "  ret void",
            "}",
            "",
        ]
    )


def _playouts() -> str:
    parameters = ["ptr %records", "ptr %lengths", "ptr %start", "ptr %status", "i64 %steps"]
    called = "ptr %rows.own, ptr %data, ptr %record.own, ptr %lengths, ptr %start, i64 %steps"

    def telling(value: str, word: int) -> list[str]:
        place = f"%told.{value}"
        return [f"  {place} = getelementptr i64, ptr %told, i64 {word}", f"  store i64 %{value}, ptr {place}"]

    lines = [
        f"  %told.offset = mul i64 %block, {8 * STATUS_WORDS}",
        "  %told = getelementptr i8, ptr %status, i64 %told.offset",
        "  %was_done = load i64, ptr %told",
        "  %is_done = icmp ne i64 %was_done, 0",
        "  br i1 %is_done, label %out, label %play",
        "play:",
        f"  %record.offset = mul i64 %block, {RECORD_WORDS * WARP.stride}",
        "  %record.first = getelementptr i8, ptr %records, i64 %record.offset",
        "  %record.own = getelementptr i8, ptr %record.first, i64 %words",
        f"  %over = call i1 @play({called})",
        "  %done = zext i1 %over to i64",
        f"  %left.place = getelementptr i8, ptr %record.own, i64 {LEFT * WARP.stride}",
        "  %left = load i64, ptr %left.place",
        f"  %running.place = getelementptr i8, ptr %rows.own, i64 {RUNNING * WARP.stride}",
        "  %running.lanes = load i64, ptr %running.place",
        "  %running.own = call i64 @llvm.ctpop.i64(i64 %running.lanes)",
        "  %running = call i64 @sum_over_threads(i64 %running.own)",
        f"  %stuck.place = getelementptr i8, ptr %record.own, i64 {STUCK_LANES * WARP.stride}",
        "  %stuck.own = load i64, ptr %stuck.place",
        "  %stuck = call i64 @sum_over_threads(i64 %stuck.own)",
        "  %is_first = icmp eq i64 %number, 0",
        "  br i1 %is_first, label %tell, label %out",
        "tell:",
        *telling("done", DONE),
        *telling("left", STILL_LEFT),
        *telling("running", UNDER_WAY),
        *telling("stuck", GOT_STUCK),
    ]
    return entry(ENTRY, parameters, lines) + "declare i64 @llvm.ctpop.i64(i64)\n"


#: What a warp does together, and the number of a thread among all of them.
COLLECTIVES: Final = """
declare i1 @llvm.nvvm.vote.any.sync(i32, i1)
declare i32 @llvm.nvvm.redux.sync.add(i32, i32)
declare i32 @llvm.nvvm.redux.sync.min(i32, i32)
declare i32 @llvm.nvvm.shfl.sync.up.i32(i32, i32, i32, i32)
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()

define internal i64 @thread_number() alwaysinline {
  %number = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %size = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %group = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %before = mul i32 %group, %size
  %thread = add i32 %before, %number
  %long = zext i32 %thread to i64
  ret i64 %long
}

define internal i1 @any_thread(i1 %own) alwaysinline convergent {
  %any = call i1 @llvm.nvvm.vote.any.sync(i32 -1, i1 %own)
  ret i1 %any
}

define internal i64 @sum_over_threads(i64 %own) alwaysinline convergent {
  %short = trunc i64 %own to i32
  %sum = call i32 @llvm.nvvm.redux.sync.add(i32 %short, i32 -1)
  %long = zext i32 %sum to i64
  ret i64 %long
}

define internal i64 @least_of_threads(i64 %own) alwaysinline convergent {
  %short = trunc i64 %own to i32
  %least = call i32 @llvm.nvvm.redux.sync.min(i32 %short, i32 -1)
  %long = sext i32 %least to i64
  ret i64 %long
}

define internal i32 @add_from(i32 %sum, i32 %distance) alwaysinline convergent {
  %number = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %lane = and i32 %number, 31
  %other = call i32 @llvm.nvvm.shfl.sync.up.i32(i32 -1, i32 %sum, i32 %distance, i32 0)
  %is_there = icmp uge i32 %lane, %distance
  %more = select i1 %is_there, i32 %other, i32 0
  %both = add i32 %sum, %more
  ret i32 %both
}

define internal i64 @sum_before(i64 %own) alwaysinline convergent {
  %s0 = trunc i64 %own to i32
  %s1 = call i32 @add_from(i32 %s0, i32 1)
  %s2 = call i32 @add_from(i32 %s1, i32 2)
  %s3 = call i32 @add_from(i32 %s2, i32 4)
  %s4 = call i32 @add_from(i32 %s3, i32 8)
  %s5 = call i32 @add_from(i32 %s4, i32 16)
  %before = sub i32 %s5, %s0
  %long = zext i32 %before to i64
  ret i64 %long
}
"""
