"""The code of a game for graphics cards: a warp plays a block, and each of its 32 threads plays 64 lanes.

The same builders write code for processors and for cards. The driver of a card reads the code as PTX (NVIDIA,
"Parallel Thread Execution ISA"). The threads of a warp diverge only while they visit the lanes whose playouts
end. Decisions for a whole block are votes and sums over its warp.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from anygame.native.code import make_ptx
from anygame.network.kernels.function import RUNNING, FunctionBuilder
from anygame.network.kernels.kernel import Kernel, Style, build_kernel
from anygame.network.kernels.playout_loop import LEFT, STARTS, STUCK_LANES
from anygame.network.kernels.target import WARP, WIDE

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from anygame.network.network import Network

#: Maximum number of gate inputs of a network that is compiled to straight-line code, which is 4x as fast as a
#: loop. LLVM and the driver take 0.5 ms per input.
_STRAIGHT_INPUTS: Final = 50_000
#: Maximum number of registers per thread. Straight-line code gets all registers, so that it accesses memory
#: less often. A loop gets fewer registers, so that more threads run while others wait for memory.
REGISTERS: Final[dict[Style, int]] = {"straight": 255, "loop": 64}
#: Name of the function that the driver starts.
ENTRY: Final = "playouts"
#: Indices of the 64-bit words of a block's status: whether all its playouts have ended, and the numbers of
#: its playouts that have not started, that are running, and that got stuck.
DONE, STILL_LEFT, UNDER_WAY, GOT_STUCK = range(4)
#: Number of words of a block's status.
STATUS_WORDS: Final = 4
#: Number of words per thread in the record of a block. The words of all threads are interleaved.
RECORD_WORDS: Final = STARTS + 64 * WARP.words


def card_kernel(network: Network, style: Style = "auto") -> Kernel:
    """Return the kernel of a network for blocks of 2,048 games."""
    if style == "auto":
        style = "straight" if len(network.inputs) <= _STRAIGHT_INPUTS else "loop"
    return build_kernel(network, style, target=WIDE)


def warp_code(kernel: Kernel) -> tuple[str, NDArray[np.int32]]:
    """Return the code that plays a game as PTX, and the data that the code reads."""
    code, data = kernel.written_for(WARP)
    entries = entry(ENTRY, "play_block", _PARAMETERS)
    return make_ptx("".join([code, _play_block(), entries, COLLECTIVES])), data


def entry(name: str, called: str, parameters: Sequence[str]) -> str:
    """Write a function that the driver starts, and that calls another function in each thread of each block.

    Its first parameters are the rows, the data, the number of blocks and the size in bytes of a block's rows.
    The called function gets the thread's words of the rows, the data, the other parameters, and the number of
    the thread's first lane.
    """
    given = ", ".join(["ptr %rows", "ptr %data", "i64 %blocks", "i64 %bytes", *parameters])
    arguments = ", ".join(["ptr %rows.own", "ptr %data", *parameters, "i64 %first"])
    return f"""
define ptx_kernel void @{name}({given}) {{
entry:
  %thread = call i64 @thread_number()
  %block = lshr i64 %thread, 5
  %is_block = icmp ult i64 %block, %blocks
  br i1 %is_block, label %own, label %out
own:
  %number = and i64 %thread, 31
  %first = shl i64 %thread, 6
  %words = shl i64 %number, 3
  %rows.offset = mul i64 %block, %bytes
  %rows.first = getelementptr i8, ptr %rows, i64 %rows.offset
  %rows.own = getelementptr i8, ptr %rows.first, i64 %words
  call void @{called}({arguments})
  br label %out
out:
  ret void
}}
"""


_PARAMETERS: Final = ("ptr %records", "ptr %lengths", "ptr %start", "ptr %status", "i64 %steps")


def _play_block() -> str:
    """Write a function that plays a block while playouts are left, and stores the status of the block."""
    code = FunctionBuilder("play_block", WARP, parameters=[*_PARAMETERS, "i64 %first"])
    thread = code.let("lshr i64 %first, 6")
    block, number = code.let(f"lshr i64 {thread}, 5"), code.let(f"and i64 {thread}, 31")
    status = code.offset("%status", code.let(f"mul i64 {block}, {STATUS_WORDS}"))
    with code.when(code.let(f"icmp eq i64 {code.word(status, DONE)}, 0")):
        records = code.let(f"mul i64 {block}, {RECORD_WORDS * WARP.row_words}")
        record = code.offset(code.offset("%records", records), number)
        given = f"ptr %rows, ptr %data, ptr {record}, ptr %lengths, ptr %start, i64 %steps"
        done = code.let(f"zext i1 {code.let(f'call i1 @play({given})')} to i64")
        left = code.word(record, LEFT * WARP.row_words)
        running = code.popcount(code.load(RUNNING))
        own_stuck = code.word(record, STUCK_LANES * WARP.row_words)
        stuck = code.let(f"call i64 @sum_over_threads(i64 {own_stuck})")
        with code.when(code.let(f"icmp eq i64 {number}, 0")):
            for word, value in ((DONE, done), (STILL_LEFT, left), (UNDER_WAY, running), (GOT_STUCK, stuck)):
                code.set_word(status, value, word)
    return code.text()


#: LLVM functions for collective operations of a warp, and for the global number of a thread.
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
