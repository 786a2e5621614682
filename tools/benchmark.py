"""Speed of random playouts by the compiled game and by the reasoner, sheet by sheet.

    python tools/benchmark.py gdl
    python tools/benchmark.py gdl/copolymer.kif --seconds 10 --repeats 5 --threads 2 --json speed.json
    python tools/benchmark.py gdl sheets/ --peer "other=/opt/other/speed {sheet} 5 5"
    python tools/benchmark.py gdl --into docs/results/speed.md

Each machine (the network or the reasoner) plays each sheet in a separate process, pinned to one core. The
tool measures random playouts, and single states through the Python contract: whether the state is terminal,
the legal moves of all roles, and the next state. The number of states is the number of joint moves. The sign
± shows half the range of the repeats, relative to the median. The network is set up twice, in fresh
processes: first without cached machine code, then with cached code. Speeds are per second of wall-clock time.
``core`` is the fraction of this time in which the process ran. Well below 100 %, speeds are too low.

``--peer "NAME=COMMAND"`` also runs another system on the same core, in alternation with the network. In the
command, ``{sheet}`` stands for the path of the sheet. The command plays at random. Its last output line has
three numbers: playouts per second, states per second, and seconds of set-up. The table shows the median and
spread of the ratios between paired runs. ``--recorded`` reads earlier speeds of other systems from a CSV file
with the columns engine,sheet,states_per_second,playouts_per_second; ``sheet`` is a file name without suffix.

``--threads N`` compares N threads of one process with N processes of one thread, on the same cores.
``--into FILE`` replaces the text between two marks in a file by the table.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import signal
import sys
from contextlib import ExitStack, suppress
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final

sys.path.insert(0, str(Path(__file__).parents[1]))

from tools.arguments import sheet_paths, some_count, some_seconds
from tools.peers import measure_pairs, read_recorded, some_peer
from tools.processes import SETUP_SECONDS, Server, cores, enough_playouts, measure, on_cores
from tools.speed_tables import Sheet, Speed, Threads, markdown, table
from tools.tables import processor, put_into

import anygame

if TYPE_CHECKING:
    from collections.abc import Sequence

_INTERRUPTED: Final = 130


def measure_apart(path: Path, machine: str, options: argparse.Namespace) -> Speed:
    """Measure a machine on a sheet in separate processes."""
    order = [str(path), machine, "--seconds", str(options.seconds), "--repeats", str(options.repeats)]
    order += ["--seed", str(options.seed), *on_cores([options.core])]
    limit = SETUP_SECONDS + (options.repeats + 5) * 2 * options.seconds
    with TemporaryDirectory() as cache:
        cold: dict[str, Any] = {}
        if machine == "network":
            cold = measure([*order, "--setup-only"], cache, SETUP_SECONDS)
            if cold.get("error"):
                return Speed(error=cold["error"])
        found = measure(order, cache, limit)
    return Speed(**found, cold=cold.get("setup", {}))


# -- threads --------------------------------------------------------------------------------------


def measure_threads(path: Path, options: argparse.Namespace) -> Threads:
    """Measure threads and processes in alternation, on the same cores."""
    count = options.threads
    chosen = cores()[-count:]
    try:
        with ExitStack() as stack:
            shared = stack.enter_context(Server(path, chosen))
            single = [stack.enter_context(Server(path, [core])) for core in chosen]
            for server in (shared, *single):
                server.answer()
            playouts, alone = enough_playouts(single[0], options.seconds)
            together, apart = [], []
            for _ in range(options.repeats):
                shared.play(playouts * count, count)
                together.append(shared.rates()[0])
                for server in single:
                    server.play(playouts)
                apart.append(sum(server.rates()[0] for server in single))
    except OSError as error:
        return Threads(count, error=str(error))
    return Threads(count, alone, together, apart)


# -- command line -------------------------------------------------------------------------------


def _machine(options: argparse.Namespace) -> dict[str, Any]:
    return {
        "anygame": anygame.__version__,
        "python": platform.python_version(),
        "system": platform.platform(),
        "processor": processor(),
        "cores": os.cpu_count(),
        "seconds": options.seconds,
        "repeats": options.repeats,
        "core": options.core,
        "seed": options.seed,
    }


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description="Measure the speed of random playouts by the compiled game and by the reasoner.",
        epilog="A sheet takes about 3 * (repeats + 1) * seconds. Ctrl-C prints the results so far.",
    )
    parser.add_argument("paths", metavar="PATH", nargs="+", type=Path, help="a sheet, or a folder of *.kif")
    parser.add_argument(
        "--machine", choices=["both", "network", "reasoner"], default="both", help="what to measure (both)"
    )
    parser.add_argument(
        "--seconds", type=some_seconds, default=2.0, metavar="S", help="seconds per repeat (2)"
    )
    parser.add_argument("--repeats", type=some_count, default=5, metavar="N", help="number of repeats (5)")
    parser.add_argument("--seed", type=int, default=1, help="seed of the random moves (1)")
    parser.add_argument("--threads", type=_threads, metavar="N", help="compare N threads with N processes")
    parser.add_argument(
        "--peer",
        metavar="NAME=COMMAND",
        action="append",
        default=[],
        type=some_peer,
        help="also run another system; in its command, {sheet} stands for the path of the sheet",
    )
    parser.add_argument("--recorded", metavar="CSV", type=Path, help="earlier speeds of other systems")
    parser.add_argument("--json", metavar="OUT", type=Path, help="write all numbers to a file")
    parser.add_argument("--into", metavar="FILE", type=Path, help="write the table between marks in FILE")
    parser.add_argument("--core", metavar="N", type=int, choices=cores(), help="the core to use (the last)")
    return parser


def _threads(text: str) -> int:
    count, most = some_count(text), len(cores())
    if count > most:
        raise argparse.ArgumentTypeError(f"there are {most} cores to run on, found {text} threads")
    return count


def measure_sheet(path: Path, options: argparse.Namespace) -> Sheet:
    """Measure a sheet with the given options."""
    wanted = ("network", "reasoner") if options.machine == "both" else (options.machine,)
    speeds = {machine: measure_apart(path, machine, options) for machine in wanted}
    threads = measure_threads(path, options) if options.threads else None
    pairs = measure_pairs(path, options.peer, options.seconds, options.repeats, options.core)
    return Sheet(path.stem, speeds.get("network"), speeds.get("reasoner"), threads, pairs)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure the sheets that the arguments name; return the exit status."""
    options = _parser().parse_args(arguments)
    if options.core is None and hasattr(os, "sched_setaffinity"):
        options.core = cores()[-1]
    recorded = read_recorded(options.recorded) if options.recorded else {}
    for peer in options.peer:
        recorded.pop(peer.name, None)
    paths = sheet_paths(options.paths, "benchmark")
    found: list[Sheet] = []
    status = 0
    try:
        for number, path in enumerate(paths, start=1):
            _progress(f"{number} of {len(paths)}: {path.stem}")
            found.append(measure_sheet(path, options))
    except KeyboardInterrupt:
        status = _INTERRUPTED
    finally:
        _progress("")
    if found:
        print(table(found, recorded))
    if options.json:
        record = {"machine": _machine(options), "sheets": [asdict(one) for one in found]}
        options.json.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    if options.into and not status:
        try:
            block = markdown(found, recorded, options.repeats, options.seconds)
            put_into(options.into, block, "benchmark")
        except (OSError, ValueError) as error:
            raise SystemExit(f"benchmark: cannot write into {options.into}: {error}") from error
    return status or int(any(_failed(one) for one in found))


def _failed(sheet: Sheet) -> bool:
    parts = (sheet.network, sheet.reasoner, sheet.threads, *sheet.pairs.values())
    return any(part is not None and part.error for part in parts)


def _progress(text: str) -> None:
    if sys.stderr.isatty():
        print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)


if __name__ == "__main__":
    with suppress(AttributeError):
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    sys.exit(main())
