"""Speed of searches on one core: leaves per second of the search over lanes, and of the search of ``uct``.

    python -m tools.search_speed connect_four tic_tac_toe PATH... [--seconds S] [--rounds N] [--json]

The two searches run in alternation from the initial state. ``uct`` plays 512 playouts from each leaf. For
each sheet, the table shows the median leaves per second of each search, and the ratio of the two medians. It
also shows nodes, depth and memory at the end of a round, and the time for each step of a pass as a fraction:
making children, playing, learning (from playouts and from children), descending. Games whose value is proven
within a round are marked.
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

#: The steps of a pass, each with its name in the table. Arguments: addresses of store, worker and game.
_STEPS: Final = (
    ("making", make_children),
    ("playing", play_out),
    ("learning", record_results),
    ("learning", expand),
    ("learning", backpropagate),
    ("descending", growing.select),
)
_PARTS: Final = tuple(dict.fromkeys(name for name, _ in _STEPS))
#: Name of the native loop over the steps, in the module ``searcher``.
_GROWING: Final = "grow"
_HEADING: Final = ("sheet", "leaves/s", "", "uct", "", "ratio", "nodes", "depth", "MiB", *_PARTS)


def measure(sheet: str, seconds: float, rounds: int) -> dict[str, Any]:
    """Return the figures of a sheet, by name."""
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
    """Context in which Python calls the steps of passes, and measures the time of each step."""

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
    """Return the leaves per second of the search of ``uct``."""
    plain = StateSearcher(game, seed=seed, in_lanes=True)
    plain.begin(game.initial_state())
    begin = perf_counter()
    leaves = plain.advance(seconds)
    return leaves / (perf_counter() - begin)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure sheets, and print a table or JSON objects."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "sheets", nargs="+", metavar="SHEET", help="a path, or the name of an installed sheet"
    )
    parser.add_argument("--seconds", type=some_seconds, default=1.0, help="seconds per round (1)")
    parser.add_argument("--rounds", type=some_count, default=3, help="rounds per sheet (3)")
    parser.add_argument("--json", action="store_true", help="print a JSON object per line")
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
