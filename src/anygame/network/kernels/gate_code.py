"""What the gates become: functions ``@evaluate_state`` and ``@evaluate_moves``; and how fluents are set.

There are two ways to write them: ``straight_line`` and ``gate_loop``. Where a loop is to stand in for
straight code, both have their outputs at the same places: one can go on behind the other after any call.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from anygame.network.kernels.function import FunctionBuilder
from anygame.network.kernels.rows import GO, RESTART

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from anygame.network.kernels.rows import RowLayout
    from anygame.network.network import Network


@dataclass(frozen=True, eq=False)
class GateOutputs:
    """Where the outputs of the gates lie.

    Attributes:
        rows: the first row that the gates leave alone.
        legal: bit literals of the legal actions, to be read between the two functions.
        terminal: bit literal of the end.
        goals: per role its values, each with a bit literal.
    """

    rows: int
    legal: tuple[int, ...]
    terminal: int
    goals: tuple[tuple[tuple[int, int], ...], ...]


def outputs_of(network: Network, layout: RowLayout, bit: Callable[[int], int], rows: int) -> GateOutputs:
    """Return where outputs lie, given the bit literal of each literal, and the first row left alone."""
    legal = [
        2 * layout.legal[action] if action in layout.legal else bit(literal)
        for action, literal in enumerate(network.legal.tolist())
    ]
    goals = tuple(tuple((value, bit(literal)) for value, literal in role) for role in network.goals)
    return GateOutputs(rows, tuple(legal), bit(network.terminal), goals)


def state_function() -> str:
    """Return ``@evaluate_state``, where its two parts are functions of their own, as text."""
    code = FunctionBuilder("evaluate_state")
    for name in ("evaluate_options", "evaluate_goals"):
        code.line(f"call void @{name}(ptr %rows, ptr %data)")
    return code.text()


@dataclass(frozen=True, eq=False)
class GateCode:
    """The gates of a network as code: functions ``@evaluate_state`` and ``@evaluate_moves``.

    ``@evaluate_state`` evaluates what depends on the state alone. Where goals take long, ``@evaluate_goals``
    evaluates what they alone need, and ``@evaluate_options`` the rest of it. ``@evaluate_moves`` then reads
    the actions and replaces the state by the next one, in the lanes of row ``GO``; lanes of row ``RESTART``
    get the initial state.

    Attributes:
        code: definitions.
        data: what they read through ``%data``.
        outputs: where the outputs lie.
        end: the first row that is not used: that of ``outputs``, or one further on if it is a loop that
            stands in for straight code, and keeps its own values behind all that both have.
        factors: whether ``@evaluate_factors`` is there in place of ``@evaluate_moves``, see ``factors``.
    """

    code: str
    data: NDArray[np.int32]
    outputs: GateOutputs
    end: int
    factors: bool = False


def answer_bits(gates: GateOutputs) -> list[int]:
    """Return the bit literals of the answers: the end, the legal actions, the goals role by role."""
    return [gates.terminal, *gates.legal, *(bit for role in gates.goals for _, bit in role)]


def no_data() -> NDArray[np.int32]:
    """Return data for code that reads none."""
    return np.zeros(1, np.int32)


def set_fluent(code: FunctionBuilder, row: int, value: str, initial: bool) -> None:
    """Set a fluent: to its next value where the game goes on, to its initial value where a game starts."""
    restart_fluent(code, row, code.mux(code.load(GO), value, code.load(row)), initial)


def restart_fluent(code: FunctionBuilder, row: int, value: str, initial: bool) -> None:
    """Set a fluent: to a value, but to its initial value where a game starts."""
    restart = code.load(RESTART)
    code.store(row, code.or_(value, restart) if initial else code.and_(value, code.not_(restart)))


def copy_order(sources: dict[int, int | None]) -> Iterator[list[int]]:
    """Order fluents such that none is overwritten before it is read: a parallel assignment made sequential.

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
