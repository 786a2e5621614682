"""Speed of random playouts on a graphics card and on one core, and a check that both results agree.

    python tools/card_speed.py gdl/hex_pie.kif gdl/copolymer.kif
    python tools/card_speed.py gdl --seconds 2 --repeats 5 --device cuda:1 --into docs/results/speed.md

For each sheet, the card and the processor first play the same playouts, in blocks of the same width. All
counts must be equal. Then the card and the processor play in alternation. The processor uses the core to
which this process is pinned. Each run has as many playouts as take about ``--seconds``. The table shows
medians of the speeds, and the median and the spread of the ratios between paired runs. ``ready`` is the time
until the card has finished its first playouts, without reading the sheet.
"""

from __future__ import annotations

import argparse
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import TYPE_CHECKING, Any, Final

sys.path.insert(0, str(Path(__file__).parents[1]))

from tools.tables import aligned, as_markdown, number, put_into, seconds, spread, told

import anygame
from anygame.cards.card import card
from anygame.cards.simulator import WarpSimulator
from anygame.errors import AnygameError
from anygame.game.simulation import card_of
from anygame.network import simulator as simulators
from anygame.network.kernels.kernel import build_kernel
from anygame.network.kernels.target import WIDE
from anygame.playouts import PlayoutRequest

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from anygame.network.network import Network

#: Number of playouts whose counts are compared, and a limit of moves that some of these playouts reach.
_COMPARED: Final = 3_000
_LIMIT: Final = 60
_FIRST: Final = 1 << 12
_MOST: Final = 1 << 32
_HEAD: Final = ("sheet", "playouts a second", "states a second", "one core", "x one core", "±", "ready, s")


@dataclass(frozen=True)
class Measured:
    """Speeds of a sheet: playouts per second of card and core, by pair; states per second of the card."""

    sheet: str
    cards: list[float]
    states: list[float]
    cores: list[float]
    ready: float

    def row(self) -> tuple[str, ...]:
        """Return a row of the table."""
        ratios = [one / other for one, other in zip(self.cards, self.cores, strict=True)]
        speeds = (number(median(values)) for values in (self.cards, self.states, self.cores))
        return (f"`{self.sheet}`", *speeds, number(median(ratios)), spread(ratios), seconds(self.ready))


def measure(path: Path, device: str, wanted: float, repeats: int) -> Measured:
    """Compare the counts of a sheet, and measure its speeds.

    Raises:
        AnygameError: the sheet or the card cannot be used.
        SystemExit: the counts differ.
    """
    game = anygame.load(str(path))
    began = perf_counter()
    game.simulate(1, 1, device=device)
    ready = perf_counter() - began
    _compare(path.stem, game.backends.needed_network().kernel.network, device)
    game.compile(wait=True)
    on_card = _sized(lambda count: game.simulate(count, 1, device=device), wanted)
    on_core = _sized(lambda count: game.simulate(count, 1), wanted)
    pairs = [
        (game.simulate(on_card, seed, device=device), game.simulate(on_core, seed)) for seed in range(repeats)
    ]
    return Measured(
        path.stem,
        [one.playouts_per_second for one, _ in pairs],
        [one.states_per_second for one, _ in pairs],
        [other.playouts_per_second for _, other in pairs],
        ready,
    )


def _sized(play: Callable[[int], Any], wanted: float) -> int:
    """Return the number of playouts that take about ``wanted`` seconds."""
    count = _FIRST
    while True:
        took = play(count).seconds
        if took > wanted / 2 or count >= _MOST:
            return min(_MOST, max(1, int(count * wanted / max(took, 1e-3))))
        count = min(_MOST, count * min(16, max(2, int(wanted / max(took, 1e-3)))))


def _compare(name: str, network: Network, device: str) -> None:
    request = PlayoutRequest(_COMPARED, seed=7, limit=_LIMIT, card=card_of(device) or 0)
    found = WarpSimulator(network, card(card_of(device) or 0)).run(request)
    of_blocks, simulators.Quotas = simulators.Quotas, WarpSimulator.quotas  # type: ignore[misc, assignment]
    try:
        expected = simulators.Simulator(build_kernel(network, "loop", target=WIDE)).run(request)
    finally:
        simulators.Quotas = of_blocks  # type: ignore[misc]
    for count in ("goals", "missing", "double", "options", "lengths", "playouts", "states", "cut", "stuck"):
        if getattr(found, count) != getattr(expected, count):
            raise SystemExit(f"card_speed: {name}: card and processor differ in {count}")


def card_name(device: str) -> str:
    """Return the name of a card."""
    return card(card_of(device) or 0).name


def _sheets(names: Sequence[str]) -> list[Path]:
    paths = [Path(name) for name in names]
    return [sheet for path in paths for sheet in (sorted(path.glob("*.kif")) if path.is_dir() else [path])]


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure some sheets, and print the table or write it to a file."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("sheets", nargs="+", help="rule sheets, or folders of rule sheets")
    parser.add_argument("--device", default="cuda", help="the card (cuda)")
    parser.add_argument("--seconds", type=float, default=1.0, help="seconds per measurement (1)")
    parser.add_argument("--repeats", type=int, default=3, help="number of paired runs (3)")
    parser.add_argument("--into", help="write the table between the marks in a Markdown file")
    options = parser.parse_args(arguments)
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    rows: list[tuple[str, ...]] = [_HEAD]
    for sheet in _sheets(options.sheets):
        try:
            measured = measure(sheet, options.device, options.seconds, options.repeats)
        except AnygameError as error:
            print(f"{sheet.stem}: {error}", file=sys.stderr, flush=True)
            continue
        rows.append(measured.row())
        print("  ".join(measured.row()), file=sys.stderr, flush=True)
    if len(rows) > 1:
        print("\n".join(aligned(rows)))
    if options.into and len(rows) > 1:
        where = f"{told(options.repeats, options.seconds)} Beside it: {card_name(options.device)}."
        put_into(Path(options.into), "\n".join([where, "", *as_markdown(rows)]), "card_speed")


if __name__ == "__main__":
    main()
