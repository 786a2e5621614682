"""What code is written for: how many words of a row a thread has, and how threads that share a row agree."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

#: What a processor is asked for: its widest registers; and that what they put by does not lie in two lines of
#: the cache, wherever the stack is.
_VECTORS = 'alignstack(64) "min-legal-vector-width"="512" "prefer-vector-width"="512"'


@dataclass(frozen=True)
class Target:
    """A machine, as those see it who write code for it.

    Attributes:
        words: of each row, 64 bits each, that one thread computes.
        row_words: of a whole row.
        attributes: of each function, as LLVM's text.
        linkage: of each function, as LLVM's text.
        reads: how many of memory one thread should have under way. A processor finds as many as it can by
            itself, running ahead of what it waits for.
    """

    words: int
    row_words: int
    attributes: str = _VECTORS
    linkage: str = ""
    reads: int = 1

    @property
    def row(self) -> str:
        """The type of what one thread has of a row."""
        return f"<{self.words} x i64>"

    @property
    def lanes(self) -> int:
        """How many games play side by side, and decide together what is worth while."""
        return 64 * self.row_words

    @property
    def stride(self) -> int:
        """Bytes from one row to the next."""
        return 8 * self.row_words

    @property
    def threads(self) -> int:
        """How many threads share a row."""
        return self.row_words // self.words

    def received(self, parameters: Sequence[str]) -> tuple[list[str], list[str]]:
        """Return how a function names its parameters, and the lines that it begins with.

        On a graphics card a pointer can be to several memories. All that are handed on here are to its main
        memory, and where LLVM is told so, it finds out what else is (pass ``infer-address-spaces``).
        """
        if self.threads == 1:
            return list(parameters), []
        given, casts = [], []
        for parameter in parameters:
            start, _, name = parameter.rpartition("%")
            if not start.startswith("ptr"):
                given.append(parameter)
                continue
            given.append(f"{start}%any.{name}")
            casts += [
                f"  %main.{name} = addrspacecast ptr %any.{name} to ptr addrspace(1)",
                f"  %{name} = addrspacecast ptr addrspace(1) %main.{name} to ptr",
            ]
        return given, casts

    @property
    def preamble(self) -> str:
        """What the code may call, as LLVM's text."""
        row, kind = self.row, f"v{self.words}i64"
        return f"""\
declare {row} @llvm.ctpop.{kind}({row})
declare {row} @llvm.fshl.{kind}({row}, {row}, {row})
declare i64 @llvm.vector.reduce.add.{kind}({row})
declare i64 @llvm.cttz.i64(i64, i1)
declare i64 @llvm.smax.i64(i64, i64)
"""


#: A processor: a row is as wide as the widest vector registers; one with narrower ones takes two or four.
PROCESSOR = Target(8, 8)
#: A processor that plays as a warp of a graphics card does: what one has begun the other can go on with.
WIDE = Target(32, 32)
#: A thread of a warp: 32 of them share a row, and go the same way but where they visit their own lanes.
WARP = Target(1, 32, "convergent", "internal ", reads=16)
