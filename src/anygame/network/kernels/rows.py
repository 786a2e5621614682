"""Which row of a block of lanes holds what."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from anygame.network.kernels.code import Code
    from anygame.network.network import Network

__all__ = [
    "ACTIVE",
    "CUT",
    "ENDED",
    "GO",
    "MANY",
    "RANDOM",
    "RESTART",
    "RUNNING",
    "STUCK",
    "Gates",
    "Places",
    "blend",
    "blend_order",
    "no_data",
]

#: Rows with a fixed place; row 0 never holds.
GO, RESTART, RUNNING, ACTIVE, ENDED, CUT, STUCK, RANDOM = 1, 2, 3, 4, 5, 6, 7, 8
_FIRST = 16
#: A role with more actions chooses among them by loops, others by straight code.
MANY = 64


class Places:
    """Where inputs lie: fluents, then actions, each a row; behind them lies what is computed.

    The legal actions of a role that has many are put in rows side by side, so that loops can read them.

    Attributes:
        fluents: the row of the first fluent.
        actions: the row of the first action.
        legal: per action of a role with many the row that says whether it is legal.
        end: the first row behind these.
    """

    def __init__(self, network: Network) -> None:
        self.fluents = _FIRST
        self.actions = _FIRST + network.fluents
        self._actions = sum(network.actions)
        self.end = self.actions + self._actions
        self.legal: dict[int, int] = {}
        first = 0
        for count in network.actions:
            if count > MANY:
                self.legal.update((first + number, self.end + number) for number in range(count))
                self.end += count
            first += count

    @property
    def fluent_rows(self) -> slice:
        """The rows of the fluents."""
        return slice(self.fluents, self.actions)

    @property
    def action_rows(self) -> slice:
        """The rows of the actions."""
        return slice(self.actions, self.actions + self._actions)

    def input(self, node: int) -> int:
        """Return the row of an input node; the constant has row 0."""
        return node + _FIRST - 1 if node else 0


@dataclass(frozen=True, eq=False)
class Gates:
    """The gates of a network as code: functions ``@state`` and ``@moves``.

    ``@state`` evaluates what depends on the state alone. ``@moves`` then reads the actions and puts the
    next state in place of the state: in the lanes of row ``GO``; lanes of row ``RESTART`` get the initial
    state.

    Attributes:
        code: definitions.
        data: what they read through ``%data``.
        rows: the first row that they leave alone.
        legal: bit literals of the legal actions, to be read between the two.
        terminal: bit literal of the end.
        goals: per role its values, each with a bit literal.
        functions: how many functions of straight code.
    """

    code: str
    data: NDArray[np.int32]
    rows: int
    legal: tuple[int, ...]
    terminal: int
    goals: tuple[tuple[tuple[int, int], ...], ...]
    functions: int


def no_data() -> NDArray[np.int32]:
    """Return data for code that reads none."""
    return np.zeros(1, np.int32)


def blend(code: Code, row: int, value: str, initial: bool) -> None:
    """Set a fluent: its next value where the game goes on, its initial value where a game starts."""
    restart = code.load(RESTART)
    value = code.choose(code.load(GO), value, code.load(row))
    code.store(row, code.or_(value, restart) if initial else code.and_(value, code.not_(restart)))


def blend_order(sources: dict[int, int | None]) -> Iterator[list[int]]:
    """Order fluents such that none is overwritten before it is read.

    Args:
        sources: per fluent to be set the fluent that its new value is a copy of, if it is one.

    Yields:
        Fluents to be set together: all read, then all written. One each, or a ring of copies.
    """
    readers = dict.fromkeys(sources, 0)
    for fluent, source in sources.items():
        if source is not None and source != fluent and source in readers:
            readers[source] += 1
    ready = [fluent for fluent, count in readers.items() if not count]
    while ready:
        fluent = ready.pop()
        yield [fluent]
        source = sources[fluent]
        if source is not None and source != fluent and source in readers:
            readers[source] -= 1
            if not readers[source]:
                ready.append(source)
    rest = {fluent for fluent, count in readers.items() if count}
    while rest:
        ring = [rest.pop()]
        while (source := sources[ring[-1]]) in rest:
            assert source is not None
            ring.append(source)
            rest.discard(source)
        yield ring
