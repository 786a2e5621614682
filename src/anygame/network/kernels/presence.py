"""What is left out of a step, as code: branches on the phase that all lanes are in.

Row ``ABSENT`` says which phases no lane is in, in its first word: none, where the lanes are not all in one
phase. So what looks at lanes of all kinds leaves the row as it is, at nothing, and all is computed.
"""

from __future__ import annotations

from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING

from anygame.network.kernels.rows import ABSENT, RESTART

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager

    from anygame.network.kernels.function import FunctionBuilder
    from anygame.network.kernels.phases import Phases


class Presence:
    """The branches of one function.

    Args:
        code: the function, at its beginning.
        phases: of the game.

    Attributes:
        present: the mask of the phases that lanes are in.
        alone: the same, but 0 where there is no common one.
    """

    def __init__(self, code: FunctionBuilder, phases: Phases) -> None:
        self._code = code
        self._every = phases.every
        self.present, self.alone = str(phases.every), "0"
        if phases.patterns:
            self.present = code.let(f"xor i64 {code.word(code.address(ABSENT))}, {phases.every}")
            alone = code.let(f"icmp ult i64 {self.present}, {phases.whole}")
            self.alone = code.let(f"select i1 {alone}, i64 {self.present}, i64 0")

    def during(self, mask: int) -> AbstractContextManager[None]:
        """Write what is done in some phases, and where there is no common one."""
        return nullcontext() if mask == self._every else self._code.when(self._any(self.present, mask))

    def only_during(self, mask: int) -> AbstractContextManager[None]:
        """Write what is done only where all lanes are in one of some phases."""
        return self._code.when(self._any(self.alone, mask))

    @contextmanager
    def restarting_during(self, mask: int) -> Iterator[None]:
        """Write what is done only where all lanes are in one of some phases, and one starts anew."""
        with self.only_during(mask), self._code.when(self._code.any_lane(self._code.load(RESTART))):
            yield

    def _any(self, present: str, mask: int) -> str:
        return self._code.let(f"icmp ne i64 {self._code.let(f'and i64 {present}, {mask}')}, 0")


def find_presence(code: FunctionBuilder, phases: Phases, first_fluent: int, lanes: str) -> None:
    """Write what sets row ABSENT: all but the phase of these lanes; nothing if it is not the same for all."""
    if not phases.patterns:
        return
    clock = [code.load(first_fluent + fluent) for fluent in phases.clock]
    rows = []
    for pattern in phases.patterns:
        values = zip(pattern, clock, strict=True)
        rows.append(code.all([lanes, *(row if holds else code.not_(row) for holds, row in values)]))
    absent = "0"
    for phase, row in enumerate(rows):
        others = code.any_lane(code.and_(lanes, code.not_(row)))
        absent = code.let(f"select i1 {others}, i64 {absent}, i64 {phases.every & ~(1 << phase)}")
    code.set_word(code.address(ABSENT), absent)
