"""Compare the speed of this checkout of the project with the speed of another checkout, sheet by sheet.

    python tools/compare_checkouts.py ../before gdl
    python tools/compare_checkouts.py ../before gdl sheets/ --rounds 7 --seconds 0.5 --json compared.json

In each round, the tool measures each sheet in both checkouts, in fresh processes on the same core. The order
of the checkouts changes from round to round. The tool measures the set-up of the network without and with
cached machine code, and random playouts and single states by the network and by the reasoner. Each checkout's
own ``tools/measure_sheet.py`` measures its speeds. The table shows the median over the rounds of the ratio of
speeds. Above 1, this checkout is faster. The sign ± shows half the range of the ratios, relative to the
median. The tool lists all figures that are slower by more than ``--allow`` percent, with their medians. It
also warns if other processes used the core. Exit status: 1 if a figure is slower by more than ``--allow``
percent, or could not be measured.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from statistics import geometric_mean, median
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final

sys.path.insert(0, str(Path(__file__).parents[1]))

from tools.arguments import sheet_paths, some_count, some_seconds
from tools.processes import ROOT, SETUP_SECONDS, cores, measure, on_cores
from tools.speed_tables import STEPS
from tools.tables import aligned, number, plain, seconds, spread

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

_INTERRUPTED: Final = 130
#: Minimum fraction of a core for a process; with less, differences of a few percent are not reliable.
_QUIET: Final = 0.97
#: Number of repeats in a round. Their median counts, because code may still be compiled in the first.
_REPEATS: Final = 3


@dataclass(frozen=True)
class Figure:
    """A quantity that is measured.

    Attributes:
        heading: the heading of its column.
        run: the process that measures the quantity; see ``measure_round``.
        value: returns the figure, given the output of the process.
        more_is_faster: True for a speed, False for a time.
        show: formats the figure.
    """

    heading: str
    run: str
    value: Callable[[Mapping[str, Any]], float]
    more_is_faster: bool
    show: Callable[[float], str]

    def ratio(self, here: float, there: float) -> float:
        """Return the ratio of the speed of ``here`` to the speed of ``there``."""
        return here / there if self.more_is_faster else there / here


def _setup(printed: Mapping[str, Any]) -> float:
    """Return the seconds of set-up, without imports."""
    return float(sum(printed["setup"].get(step, 0.0) for step in STEPS))


FIGURES: Final = (
    Figure("playouts/s", "network", lambda printed: median(printed["playouts"]), True, number),
    Figure("us/state", "network", lambda printed: printed["one_state"], False, plain),
    Figure("cold s", "cold", _setup, False, seconds),
    Figure("cached s", "network", _setup, False, seconds),
    Figure("reasoner states/s", "reasoner", lambda printed: median(printed["states"]), True, number),
    Figure("reasoner us/state", "reasoner", lambda printed: printed["one_state"], False, plain),
    Figure("reasoner s", "reasoner", _setup, False, seconds),
)


@dataclass
class Comparison:
    """The measurements of two checkouts on one sheet.

    Attributes:
        sheet: the name of the sheet.
        here: by heading, the figures of this checkout in each round.
        there: by heading, the figures of the other checkout in each round.
        errors: failed measurements, each with its reason.
        core: minimum fraction of its core that a process had while it played.
    """

    sheet: str
    here: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    there: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    errors: list[str] = field(default_factory=list)
    core: float = 1.0

    def ratios(self, figure: Figure) -> list[float]:
        """Return the speed of this checkout relative to the other checkout, round by round."""
        pairs = zip(self.here.get(figure.heading, []), self.there.get(figure.heading, []), strict=False)
        return [figure.ratio(here, there) for here, there in pairs if here > 0 and there > 0]


def compare(sheet: Path, other: Path, options: argparse.Namespace) -> Comparison:
    """Measure both checkouts on a sheet, round by round; later rounds omit processes that failed."""
    compared = Comparison(sheet.stem)
    failed: set[str] = set()
    for turn in range(options.rounds):
        left_out = frozenset(failed)
        for checkout in (ROOT, other) if turn % 2 == 0 else (other, ROOT):
            printed = measure_round(sheet, checkout, left_out, options)
            _take_down(compared, "here" if checkout == ROOT else "there", printed)
            failed |= {run for run, found in printed.items() if "error" in found}
    return compared


def measure_round(
    sheet: Path, checkout: Path, left_out: frozenset[str], options: argparse.Namespace
) -> dict[str, dict[str, Any]]:
    """Measure a checkout on a sheet once, except in the runs ``left_out``; return the output of each run."""
    repeat = options.seconds / _REPEATS
    order = ["--seconds", str(repeat), "--repeats", str(_REPEATS), *on_cores([options.core])]
    runs = {"cold": ["network", "--setup-only"], "network": ["network"], "reasoner": ["reasoner"]}
    limit = SETUP_SECONDS + 20 * options.seconds
    with TemporaryDirectory() as cache:
        return {
            run: measure([str(sheet), *arguments, *order], cache, limit, checkout)
            for run, arguments in runs.items()
            if run not in left_out
        }


def _take_down(compared: Comparison, where: str, printed: Mapping[str, Mapping[str, Any]]) -> None:
    values = compared.here if where == "here" else compared.there
    for figure in FIGURES:
        if "error" not in printed.get(figure.run, {"error": ""}):
            values[figure.heading].append(figure.value(printed[figure.run]))
    for run, found in printed.items():
        compared.core = min(compared.core, found.get("core", 1.0))
        if "error" in found:
            compared.errors.append(f"{run}, {where}: {found['error']}")


# -- showing ------------------------------------------------------------------------------------


def table(found: Sequence[Comparison]) -> str:
    """Return a table of ratios, a row for each sheet, then their geometric mean and minimum."""
    rows = [["times as fast", *(figure.heading for figure in FIGURES)]]
    rows += [[one.sheet, *(_cell(one.ratios(figure)) for figure in FIGURES)] for one in found]
    medians = [[median(ratios) for one in found if (ratios := one.ratios(figure))] for figure in FIGURES]
    for name, summary in (("geometric mean", geometric_mean), ("minimum", min)):
        rows.append([name, *(f"{summary(each):.3f}     " if each else "" for each in medians)])
    return "\n".join(aligned(rows))


def _cell(ratios: Sequence[float]) -> str:
    return f"{median(ratios):.3f} {spread(ratios):>4}" if ratios else ""


def slower(found: Sequence[Comparison], allowed: float) -> Iterator[str]:
    """Yield a line for each figure that is slower here by more than ``allowed`` percent."""
    for one in found:
        for figure in FIGURES:
            ratios = one.ratios(figure)
            if ratios and median(ratios) < 1 - allowed / 100:
                here, there = (figure.show(median(side[figure.heading])) for side in (one.here, one.there))
                yield f"slower: {one.sheet}, {figure.heading}: {here} here, {there} there ({_cell(ratios)})"


def _shared(found: Sequence[Comparison]) -> Iterator[str]:
    """Yield a warning if other processes used the core."""
    least = min(one.core for one in found)
    if least < _QUIET:
        yield f"others used the core too (a process had {least:.0%} of it): do not trust these ratios"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description="Compare the speed of this checkout with the speed of another checkout.",
        epilog="A sheet takes about rounds * (6 + 10 * seconds). Ctrl-C prints the results so far.",
    )
    parser.add_argument("other", metavar="CHECKOUT", type=Path, help="the other checkout")
    parser.add_argument("paths", metavar="PATH", nargs="+", type=Path, help="a sheet, or a folder of *.kif")
    parser.add_argument("--rounds", type=some_count, default=5, metavar="N", help="number of rounds (5)")
    parser.add_argument(
        "--seconds", type=some_seconds, default=0.5, metavar="S", help="seconds of play per round (0.5)"
    )
    parser.add_argument(
        "--allow", type=float, default=5.0, metavar="PERCENT", help="maximum slowdown in percent (5)"
    )
    parser.add_argument("--core", metavar="N", type=int, choices=cores(), help="the core to use (the last)")
    parser.add_argument("--json", metavar="OUT", type=Path, help="write all numbers to a file")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Compare the checkouts; return the exit status."""
    options = _parser().parse_args(arguments)
    if options.core is None:
        options.core = cores()[-1]
    other = options.other.resolve()
    if not (other / "tools" / "measure_sheet.py").is_file():
        raise SystemExit(f"compare_checkouts: there is no tools/measure_sheet.py in {options.other}")
    paths = sheet_paths(options.paths, "compare_checkouts")
    found: list[Comparison] = []
    status = 0
    try:
        for count, path in enumerate(paths, start=1):
            _progress(f"{count} of {len(paths)}: {path.stem}")
            found.append(compare(path.resolve(), other, options))
    except KeyboardInterrupt:
        status = _INTERRUPTED
    finally:
        _progress("")
    told = list(slower(found, options.allow))
    told += [f"{one.sheet}, {error}" for one in found for error in one.errors]
    if found:
        print("\n".join([table(found), *told, *_shared(found)]))
    if options.json:
        record = [
            {"sheet": one.sheet, "here": one.here, "there": one.there, "errors": one.errors} for one in found
        ]
        options.json.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    return status or int(bool(told))


def _progress(text: str) -> None:
    if sys.stderr.isatty():
        print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
