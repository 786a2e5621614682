"""Time to set up a compiled game without cached code: processor seconds, sheet by sheet.

    python tools/set_up.py gdl SHEETS

``ready`` is the time for reading, grounding, building and the first thousand playouts. If straight-line code
takes long to compile, a loop plays these playouts. ``straight`` is the time if the first playouts wait for
straight-line code; large networks never get such code. The times exclude imports, and compilation in other
processes. The last line has the medians.
"""

from __future__ import annotations

import argparse
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from time import process_time
from typing import TYPE_CHECKING, Final

sys.path.insert(0, str(Path(__file__).parents[1]))

from tools.arguments import sheet_paths

import anygame
from anygame.network.compiled import compile_game
from anygame.network.grounding.grounder import GroundingLimits
from anygame.network.kernels.kernel import STRAIGHT_INPUTS, build_kernel
from anygame.network.simulator import Simulator
from anygame.playouts import PlayoutRequest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from anygame.network.kernels.kernel import Style
    from anygame.network.network import Network

_PLAYOUTS: Final = 1000


@dataclass(frozen=True)
class SetUp:
    """The measurements of a sheet: its size in gate inputs, and processor seconds."""

    name: str
    inputs: int
    ready: float
    straight: float


def measure(path: Path) -> SetUp:
    """Measure a sheet.

    Args:
        path: the sheet.

    Raises:
        AnygameError: the sheet has no network.
    """
    begin = process_time()
    network = _network(path)
    common = process_time() - begin
    ready = _first_playouts(network, "auto")
    is_small = len(network.inputs) <= STRAIGHT_INPUTS
    straight = _first_playouts(network, "straight") if is_small else ready
    return SetUp(path.stem, len(network.inputs), common + ready, common + straight)


def _network(path: Path) -> Network:
    reasoner = anygame.load(path, lenient=True).backends.reasoner
    return compile_game(reasoner.another(GroundingLimits())).network


def _first_playouts(network: Network, style: Style) -> float:
    begin = process_time()
    Simulator(build_kernel(network, style)).run(PlayoutRequest(_PLAYOUTS))
    return process_time() - begin


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure sheets and print the table; return the exit status."""
    parser = argparse.ArgumentParser(description="Measure the time to set up a compiled game.")
    parser.add_argument("sources", metavar="SHEET", nargs="+", type=Path, help="sheets, or folders of sheets")
    options = parser.parse_args(arguments)
    os.environ["ANYGAME_CACHE"] = ""
    measure(Path(__file__).parents[1] / "gdl" / "tic_tac_toe.kif")  # warms up
    print("| sheet | gate inputs | ready, s | straight, s |\n| --- | ---: | ---: | ---: |")
    found = []
    for path in sheet_paths(options.sources, "set_up"):
        try:
            one = measure(path)
        except anygame.AnygameError as error:
            print(f"set_up: {path.name}: {error}", file=sys.stderr)
            continue
        found.append(one)
        print(f"| `{one.name}` | {one.inputs:,} | {one.ready:.2f} | {one.straight:.2f} |", flush=True)
    if not found:
        return 1
    ready, straight = median(each.ready for each in found), median(each.straight for each in found)
    print(f"| median of {len(found)} | | {ready:.2f} | {straight:.2f} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
