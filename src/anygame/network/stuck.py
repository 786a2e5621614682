"""Playouts that cannot go on: a role has no legal move in a state that is not terminal.

Machine code notes no moves. But a block is played the same way every time, so the first such playout of a
block is found again by playing the block once more, step by step where it matters.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    from numpy.typing import NDArray

    from anygame.network.block import Block

#: Steps made at one go on the way to where it matters: an interrupt is seen between them.
_STEPS = 256
#: Lanes may wait, so a playout may begin before the step that its length shows: so many steps are looked at
#: besides, which is nearly always enough; where it is not, more and more.
_SLACK, _MORE = 32, 8


@dataclass(frozen=True, eq=False)
class Stuck:
    """A playout that could not go on.

    Attributes:
        role: the number of the first role without a legal move.
        state: bool [fluents]; where this was so.
        moves: the joint moves from the start of the playout to there: an action per role, counted from the
            first action of the role.
    """

    role: int
    state: NDArray[np.bool_]
    moves: tuple[tuple[int, ...], ...]


class StuckError(Exception):
    """A role has no legal move in a state that is not terminal.

    Attributes:
        stuck: where that was, and how it came about.
    """

    def __init__(self, stuck: Stuck) -> None:
        super().__init__(f"role {stuck.role} has no legal move in a state that is not terminal")
        self.stuck = stuck


@dataclass(frozen=True, slots=True)
class Found:
    """Where a playout of a simulation got stuck.

    Attributes:
        block: the number of its block.
        step: the step of the block in which it ended.
        lane: its lane.
        length: joint moves made before.
        last_start: the step from which on the block started no more playouts since there was an interrupt,
            None if there was none.
    """

    block: int
    step: int
    lane: int
    length: int
    last_start: int | None


def replay(block: Block, begin: Callable[[], None], found: Found) -> Stuck:
    """Play a block once more, up to a playout that got stuck.

    Args:
        block: what plays.
        begin: prepares it as it was prepared before.
        found: the playout.
    """
    slack = _SLACK
    while True:
        begin()
        first = max(0, found.step - found.length - slack)
        _advance(block, first, found.last_start)
        moves: list[tuple[int, ...]] = []
        while block.step < found.step:
            _advance(block, block.step + 1, found.last_start)
            joint = block.joint_move(found.lane)
            if not block.length(found.lane):
                moves.clear()
            elif joint is not None:
                moves.append(joint)
        if len(moves) == found.length:
            state = block.state(found.lane)
            return Stuck(block.roles_without_a_move(found.lane)[0], state, tuple(moves))
        assert first, "a block is played the same way every time"
        slack *= _MORE


def _advance(block: Block, step: int, last_start: int | None) -> None:
    while block.step < step:
        if block.step == last_start:
            block.start_no_more()
        stops = [step, block.step + _STEPS]
        if last_start is not None and last_start > block.step:
            stops.append(last_start)
        block.play(min(stops) - block.step)
