"""Random matches that several workers play: each some blocks of them, which add up."""

from __future__ import annotations

from dataclasses import dataclass, replace
from time import perf_counter
from typing import TYPE_CHECKING, Final, Protocol

from anygame.playouts.request import PlayoutRequest
from anygame.playouts.tally import Tally

if TYPE_CHECKING:
    from anygame.game.backends import Backends
    from anygame.game.machine import Machine, Position
    from anygame.game.outcomes import Stuck
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

    def tally(self, machine: Machine, request: PlayoutRequest) -> Tally[Stuck]:
        """Have random matches played in parts, and return what the machine would have counted alone.

        Ctrl-C ends it early, with the parts that are complete.
        """
        began = perf_counter()
        blocks = machine.blocks(request.playouts)
        count = min(blocks, _PARTS_A_WORKER * self.workers.count)
        parts = [(blocks * part // count, blocks * (part + 1) // count) for part in range(count)]
        alone = replace(request, threads=1, strict=False, progress=None)
        shared = _Part(self.game, self.state, machine.name, alone)
        found: dict[int, Tally[Stuck]] = {}
        played, interrupted = 0, False
        try:
            for number, tally in self.workers.map(_play_part, shared, parts, _get_ready):
                found[number] = tally
                played += tally.playouts + tally.cut + tally.stuck
                if request.progress:
                    request.progress(played)
        except KeyboardInterrupt:
            interrupted = True
        together: Tally[Stuck] = Tally.empty(len(machine.roles))
        for _, tally in sorted(found.items()):
            together.add(tally)
        together.interrupted, together.threads = interrupted, self.workers.count
        together.seconds = perf_counter() - began
        return together


@dataclass(frozen=True, slots=True)
class _Part:
    """What all workers need to know."""

    game: _Compiled
    state: State | None
    machine: str
    request: PlayoutRequest

    def begin(self) -> tuple[Machine, Position]:
        """Return the machine of the name asked for, and the position that it starts from."""
        backends = self.game.backends
        machine: Machine = backends.reasoner if self.machine == "reasoner" else backends.needed_network()
        return machine, machine.initial() if self.state is None else self.state.position_in(machine)


def _get_ready(shared: _Part) -> None:
    """Compile the game, so that the workers of a machine find its code."""
    machine, start = shared.begin()
    machine.simulate(start, PlayoutRequest(1, limit=1))


def _play_part(shared: _Part, part: tuple[int, int]) -> Tally[Stuck]:
    machine, start = shared.begin()
    return machine.simulate(start, replace(shared.request, blocks=range(*part)))
