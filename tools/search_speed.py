"""How fast searches are: leaves a second over lanes, and of the plain player, in turn on one core.

    python -m tools.search_speed connect_four tic_tac_toe PATH... [--seconds S] [--rounds N] [--json]

For each sheet: leaves evaluated a second from the initial state, the median of some rounds, for the search
over lanes and for ``uct``, which plays 512 times from every leaf; how often the one beats the other; nodes,
depth and memory at the end of a round; and what part of the time the steps of a pass take: making children,
playing, learning (from playouts and from children), descending. A game whose value is proven within the
seconds is marked.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from contextlib import suppress
from statistics import median
from time import perf_counter
from typing import TYPE_CHECKING, Any, Final

from tools.arguments import some_count, some_seconds
from tools.tables import aligned, number, spread

import anygame
from anygame.errors import AnygameError
from anygame.search.evaluation.playouts import play_out
from anygame.search.state_tree import StateSearcher
from anygame.search.tree import growing, searcher
from anygame.search.tree.backpropagation import backpropagate, record_results
from anygame.search.tree.expansion import expand, make_children
from anygame.search.tree.searcher import TreeSearcher

if TYPE_CHECKING:
    from collections.abc import Sequence

#: The steps of a pass, each with the name of its part. They take the addresses of store, worker and game.
_STEPS: Final = (
    ("making", make_children),
    ("playing", play_out),
    ("learning", record_results),
    ("learning", expand),
    ("learning", backpropagate),
    ("descending", growing.select),
)
_PARTS: Final = tuple(dict.fromkeys(name for name, _ in _STEPS))
#: The native loop over them, in the module ``searcher``.
_GROWING: Final = "grow"
_HEADING: Final = ("sheet", "leaves/s", "", "uct", "", "ratio", "nodes", "depth", "MiB", *_PARTS)


def measure(sheet: str, seconds: float, rounds: int) -> dict[str, Any]:
    """Return figures of a sheet; see the table."""
    game = anygame.load(sheet, lenient=True)
    game.compile(wait=True)
    lanes, plain = [], []
    parts = dict.fromkeys(_PARTS, 0.0)
    for seed in range(rounds):
        searcher = TreeSearcher(game, seed=seed)
        searcher.begin(game.initial_state())
        begin = perf_counter()
        leaves = searcher.advance(seconds)
        lanes.append(leaves / (perf_counter() - begin))
        told = TreeSearcher(game, seed=seed)
        told.begin(game.initial_state())
        with _Timed(parts):
            told.advance(seconds)
        plain.append(_plain_rate(game, seed, seconds))
    found = searcher.analysis(lines=False)
    return {
        "sheet": game.name,
        "leaves_per_second": lanes,
        "uct_leaves_per_second": plain,
        "ratio": median(lanes) / median(plain),
        "nodes": found.nodes,
        "depth": found.depth,
        "bytes": found.bytes,
        "solved": searcher.is_done,
        "parts": {name: spent / max(sum(parts.values()), 1e-9) for name, spent in parts.items()},
    }


class _Timed:
    """Has Python call the steps of passes while it lasts, and times them."""

    def __init__(self, parts: dict[str, float]) -> None:
        self._parts = parts
        self._native = getattr(searcher, _GROWING)

    def __enter__(self) -> None:
        setattr(searcher, _GROWING, self._grow)

    def _grow(self, game: int, store: int, worker: int, passes: int, leaves: int) -> int:
        for _ in range(passes):
            told: int = growing.look(store, leaves)
            if told != growing.GOING:
                return told
            for name, step in _STEPS:
                begin = perf_counter()
                goes_on = step(store, worker, game)
                self._parts[name] += perf_counter() - begin
            if not goes_on:
                return growing.DONE
        return growing.GOING

    def __exit__(self, *_: object) -> None:
        setattr(searcher, _GROWING, self._native)


def _plain_rate(game: anygame.Game, seed: int, seconds: float) -> float:
    """Return the leaves a second of the search of ``uct``."""
    plain = StateSearcher(game, seed=seed, in_lanes=True)
    plain.begin(game.initial_state())
    begin = perf_counter()
    leaves = plain.advance(seconds)
    return leaves / (perf_counter() - begin)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, and print a table or objects."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "sheets", nargs="+", metavar="SHEET", help="a path, or the name of an installed sheet"
    )
    parser.add_argument("--seconds", type=some_seconds, default=1.0, help="of each round (1)")
    parser.add_argument("--rounds", type=some_count, default=3, help="of each sheet (3)")
    parser.add_argument("--json", action="store_true", help="print an object a line")
    options = parser.parse_args(arguments)
    with suppress(AttributeError):  # only Linux pins
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    rows: list[Sequence[str]] = [_HEADING]
    for sheet in options.sheets:
        try:
            found = measure(sheet, options.seconds, options.rounds)
        except AnygameError as error:
            print(f"{sheet}: {error}", file=sys.stderr)
            continue
        if options.json:
            print(json.dumps(found), flush=True)
        rows.append(_row(found))
    if not options.json:
        print("\n".join(aligned(rows)))
    return 0


def _row(found: dict[str, Any]) -> tuple[str, ...]:
    return (
        found["sheet"] + (" (solved)" if found["solved"] else ""),
        number(median(found["leaves_per_second"])),
        spread(found["leaves_per_second"]),
        number(median(found["uct_leaves_per_second"])),
        spread(found["uct_leaves_per_second"]),
        number(found["ratio"]),
        number(found["nodes"]),
        str(found["depth"]),
        number(found["bytes"] / 2**20),
        *(f"{share:.0%}" for share in found["parts"].values()),
    )


if __name__ == "__main__":
    sys.exit(main())
