"""A simulation in parts adds up to that in one, in whatever order the parts come."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from tests.match.games import STUCK

import anygame
from anygame.errors import IllegalMoveError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence


class _Backwards:
    """Makes the calls here, the last one first."""

    count = 3

    def __init__(self, interrupted_after: int = 1 << 30) -> None:
        self.prepared = 0
        self._left = interrupted_after

    def map(
        self,
        call: Callable[[Any, Any], Any],
        shared: Any,
        items: Sequence[Any],
        prepare: Callable[[Any], object] | None = None,
    ) -> Iterator[tuple[int, Any]]:
        if prepare is not None:
            prepare(shared)
            self.prepared += 1
        for number in reversed(range(len(items))):
            if not self._left:
                raise KeyboardInterrupt
            self._left -= 1
            yield number, call(shared, items[number])


@pytest.mark.parametrize("name", ["tic_tac_toe", "pig", "copolymer"])
def test_parts_add_up(name: str) -> None:
    game = anygame.load(name)
    workers = _Backwards()
    apart, alone = game.simulate(20_000, seed=2, cluster=workers), game.simulate(20_000, seed=2)
    for what in ("goal_counts", "missing_goals", "double_goals", "lengths", "branching", "states", "cut"):
        assert getattr(apart, what) == getattr(alone, what), what
    assert (workers.prepared, apart.threads, apart.interrupted) == (1, 3, False)


def test_the_first_that_is_stuck_is_the_same() -> None:
    game = anygame.loads(STUCK)
    apart, alone = game.simulate(20_000, seed=2, cluster=_Backwards()), game.simulate(20_000, seed=2)
    assert apart.stuck == alone.stuck > 0
    assert apart.first_stuck == alone.first_stuck
    with pytest.raises(IllegalMoveError, match="no legal move"):
        game.simulate(20_000, seed=2, strict=True, cluster=_Backwards())


def test_an_interrupt_leaves_the_parts_that_are_complete() -> None:
    game = anygame.load("tic_tac_toe")
    found = game.simulate(160_000, seed=2, cluster=_Backwards(interrupted_after=4))
    assert found.interrupted
    assert 0 < found.playouts < 160_000
    assert sum(found.lengths.values()) == found.playouts


def test_nothing_to_play_is_nothing() -> None:
    assert anygame.load("tic_tac_toe").simulate(0, seed=2, cluster=_Backwards()).playouts == 0
