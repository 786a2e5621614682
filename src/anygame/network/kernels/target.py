"""The machines for which code is written: processors, and graphics cards whose threads share rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

#: Function attributes for processors. LLVM uses the widest registers, and no spilled register crosses a cache
#: line.
_VECTORS = 'alignstack(64) "min-legal-vector-width"="512" "prefer-vector-width"="512"'


@dataclass(frozen=True)
class Target:
    """A machine for which code is written, with LLVM's attributes and linkage of each function.

    Attributes:
        words: number of 64-bit words of a row that one thread computes.
        row_words: number of 64-bit words of a whole row.
        reads: number of memory reads that the code of a thread should have in flight. Processors overlap
            reads without help.
    """

    words: int
    row_words: int
    attributes: str = _VECTORS
    linkage: str = ""
    reads: int = 1

    @property
    def row(self) -> str:
        """LLVM's type of a thread's part of a row."""
        return f"<{self.words} x i64>"

    @property
    def lanes(self) -> int:
        """Number of lanes of a block."""
        return 64 * self.row_words

    @property
    def stride(self) -> int:
        """Distance in bytes from one row to the next."""
        return 8 * self.row_words

    @property
    def threads(self) -> int:
        """Number of threads that share a row."""
        return self.row_words // self.words

    def received(self, parameters: Sequence[str]) -> tuple[list[str], list[str]]:
        """Return the declarations of a function's parameters, and the first lines of the function.

        On a graphics card, all pointer parameters point to main memory. The first lines tell LLVM so, and its
        pass ``infer-address-spaces`` infers the address spaces of derived pointers.
        """
        if self.threads == 1:
            return list(parameters), []
        declared, casts = [], []
        for parameter in parameters:
            start, _, name = parameter.rpartition("%")
            if not start.startswith("ptr"):
                declared.append(parameter)
                continue
            declared.append(f"{start}%any.{name}")
            casts += [
                f"  %main.{name} = addrspacecast ptr %any.{name} to ptr addrspace(1)",
                f"  %{name} = addrspacecast ptr addrspace(1) %main.{name} to ptr",
            ]
        return declared, casts

    @property
    def preamble(self) -> str:
        """Declarations of intrinsics, in LLVM's text form."""
        row, kind = self.row, f"v{self.words}i64"
        return f"""\
declare {row} @llvm.ctpop.{kind}({row})
declare {row} @llvm.fshl.{kind}({row}, {row}, {row})
declare i64 @llvm.vector.reduce.add.{kind}({row})
declare i64 @llvm.cttz.i64(i64, i1)
declare i64 @llvm.smax.i64(i64, i64)
"""


#: A processor. A row is as wide as the widest vector register, or as two or four narrower registers.
PROCESSOR = Target(8, 8)
#: A processor with blocks of 2,048 games, which gets the same results as a warp.
WIDE = Target(32, 32)
#: A thread of a warp. The 32 threads of a warp share a row.
WARP = Target(1, 32, "convergent", "internal ", reads=16)
