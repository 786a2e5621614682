"""Random matches that several workers play: each some blocks of them, which add up."""

from __future__ import annotations

from dataclasses import dataclass, replace
from time import perf_counter
from typing import TYPE_CHECKING, Final, Protocol

from anygame.game.outcomes import added_up

if TYPE_CHECKING:
    from collections.abc import Callable

    from anygame.game.backends import Backends
    from anygame.game.machine import Machine, Position
    from anygame.game.outcomes import Tally
    from anygame.game.state import State
    from anygame.game.workers import Workers

#: Parts of the work per worker: when the first ones have nothing left to do, the others are nearly done.
_PARTS_A_WORKER: Final = 16


class _Compiled(Protocol):
    """A game, as far as workers need it."""

    backends: Backends


@dataclass(frozen=True, slots=True)
class Share:
    """A game that several workers play, from a state."""

    game: _Compiled
    state: State | None
    workers: Workers

    def tally(
        self,
        machine: Machine,
        playouts: int,
        seed: int,
        *,
        limit: int,
        progress: Callable[[int], None] | None,
    ) -> Tally:
        """Have random matches played in parts, and return what the machine would have counted alone.

        Ctrl-C ends it early, with the parts that are complete.
        """
        began = perf_counter()
        blocks = machine.blocks(playouts)
        count = min(blocks, _PARTS_A_WORKER * self.workers.count)
        parts = [(blocks * part // count, blocks * (part + 1) // count) for part in range(count)]
        shared = _Part(self.game, self.state, machine.name, playouts, seed, limit)
        found: dict[int, Tally] = {}
        played, interrupted = 0, False
        try:
            for number, tally in self.workers.map(_play_part, shared, parts, _get_ready):
                found[number] = tally
                played += tally.playouts + tally.cut + tally.stuck
                if progress:
                    progress(played)
        except KeyboardInterrupt:
            interrupted = True
        together = added_up([tally for _, tally in sorted(found.items())], len(machine.roles))
        return replace(
            together,
            interrupted=interrupted,
            seconds=perf_counter() - began,
            threads=self.workers.count,
        )


@dataclass(frozen=True, slots=True)
class _Part:
    """What all workers need to know."""

    game: _Compiled
    state: State | None
    machine: str
    playouts: int
    seed: int
    limit: int

    def begin(self) -> tuple[Machine, Position]:
        """Return the machine of the name asked for, and the position that it starts from."""
        backends = self.game.backends
        machine: Machine = backends.reasoner if self.machine == "reasoner" else backends.needed_network()
        return machine, machine.initial() if self.state is None else self.state.position_in(machine)


def _get_ready(shared: _Part) -> None:
    """Compile the game, so that the workers of a machine find its code."""
    machine, start = shared.begin()
    machine.simulate(start, 1, 0, threads=1, limit=1, strict=False, progress=None)


def _play_part(shared: _Part, part: tuple[int, int]) -> Tally:
    machine, start = shared.begin()
    return machine.simulate(
        start,
        shared.playouts,
        shared.seed,
        threads=1,
        limit=shared.limit,
        strict=False,
        progress=None,
        blocks=range(*part),
    )
