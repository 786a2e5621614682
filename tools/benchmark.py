"""How fast the compiled game and the reasoner play at random, sheet by sheet.

    python tools/benchmark.py gdl
    python tools/benchmark.py gdl/copolymer.kif --seconds 10 --repeats 5 --threads 2 --json speed.json
    python tools/benchmark.py sheets/ --peers others.csv --readme README.md

Each machine is measured on each sheet in a process of its own, pinned to one core: random playouts (states
are joint moves made; ± is half of what lies between the slowest and the fastest repeat, by the median), and
single states through the Python contract: is it terminal, the legal moves of all roles, the next state. The
network is set up twice, in fresh processes: with no machine code kept from before, and with it. Speeds are
by the clock on the wall; ``core`` is the share of it in which the process was running: well below 100 %,
others were using the core, and the speeds are too low.

``--peers`` reads speeds of other systems, measured on the same machine, from a CSV file with the columns
engine,sheet,setup_seconds,states_per_second,playouts_per_second; SHEET is the file's name without its ending.
``--threads N`` also measures N threads of one process in turn with N processes of one thread, on the same
cores. ``--readme FILE`` writes the table into a file, between two marks.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import platform
import signal
import subprocess
import sys
from contextlib import ExitStack, suppress
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final

sys.path.insert(0, str(Path(__file__).parents[1]))

from tools.arguments import some_seconds
from tools.speed_tables import Peers, PeerSpeed, Sheet, Speed, Threads, markdown, table
from tools.tables import processor, put_into

import anygame

if TYPE_CHECKING:
    from collections.abc import Sequence

_SETUP_SECONDS: Final = 180
_INTERRUPTED: Final = 130
_MEASURE: Final = [sys.executable, str(Path(__file__).with_name("measure_sheet.py"))]


def measure_apart(path: Path, machine: str, options: argparse.Namespace) -> Speed:
    """Measure a machine on a sheet in processes of their own."""
    order = [str(path), machine, "--seconds", str(options.seconds), "--repeats", str(options.repeats)]
    order += ["--seed", str(options.seed), *_on([options.core] if options.core is not None else [])]
    limit = _SETUP_SECONDS + (options.repeats + 5) * 2 * options.seconds
    with TemporaryDirectory() as kept:
        cold: dict[str, Any] = {}
        if machine == "network":
            cold = _run([*order, "--setup-only"], kept, _SETUP_SECONDS)
            if cold.get("error"):
                return Speed(error=cold["error"])
        found = _run(order, kept, limit)
    return Speed(**found, cold=cold.get("setup", {}))


def _on(cores: Sequence[int]) -> list[str]:
    return ["--cores", *map(str, cores)] if cores else []


def _run(order: Sequence[str], kept: str, limit: float) -> dict[str, Any]:
    """Run the process that measures; return what it printed, or an error."""
    environment = os.environ | {"ANYGAME_CACHE": kept}
    process = subprocess.Popen([*_MEASURE, *order], stdout=subprocess.PIPE, text=True, env=environment)
    with process:
        try:
            output, _ = process.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            return {"error": f"no result after {limit:.0f} s"}
        finally:
            process.kill()
    try:
        found: dict[str, Any] = json.loads(output)
    except ValueError:
        return {"error": f"the process that measured ended with status {process.returncode}"}
    return found


# -- threads --------------------------------------------------------------------------------------


class Server:
    """A process that plays on command."""

    def __init__(self, path: Path, cores: Sequence[int]) -> None:
        order = [*_MEASURE, str(path), "network", "--serve", *_on(cores)]
        self._process = subprocess.Popen(order, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def __enter__(self) -> Server:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.communicate()

    def say(self, playouts: int, threads: int) -> None:
        """Start playing."""
        assert self._process.stdin
        with suppress(BrokenPipeError):
            print(playouts, threads, file=self._process.stdin, flush=True)

    def answer(self) -> dict[str, Any]:
        """Wait for what the process prints next.

        Raises:
            OSError: it had something else to say, or ended.
        """
        assert self._process.stdout
        line = self._process.stdout.readline()
        found: dict[str, Any] = json.loads(line) if line else {"error": "a process that played has ended"}
        if found.get("error"):
            raise OSError(found["error"])
        return found

    def rate(self) -> float:
        """Wait for the end of playing; return playouts a second."""
        found = self.answer()
        return float(found["playouts"] / found["seconds"])


def measure_threads(path: Path, options: argparse.Namespace) -> Threads:
    """Measure threads beside processes, in turn, on the same cores."""
    count = options.threads
    cores = _cores()[-count:]
    try:
        with ExitStack() as stack:
            shared = stack.enter_context(Server(path, cores))
            single = [stack.enter_context(Server(path, cores[n : n + 1])) for n in range(count)]
            for server in (shared, *single):
                server.answer()
            playouts, alone = _enough(single[0], options.seconds)
            together, apart = [], []
            for _ in range(options.repeats):
                shared.say(playouts * count, count)
                together.append(shared.rate())
                for server in single:
                    server.say(playouts, 1)
                apart.append(sum(server.rate() for server in single))
    except OSError as error:
        return Threads(count, error=str(error))
    return Threads(count, alone, together, apart)


def _enough(server: Server, seconds: float) -> tuple[int, float]:
    """Return how many playouts take about so long, and the playouts a second."""
    playouts, best = 4096, 0.0
    while True:
        # The faster of two: a pause of the machine should not pass for a slow game.
        for _ in range(2):
            server.say(playouts, 1)
            best = max(best, server.rate())
        wanted = round(best * seconds)
        if playouts >= wanted / 4:
            return max(4096, wanted), best
        playouts = min(16 * playouts, max(2 * playouts, wanted // 2))


# -- what is given ----------------------------------------------------------------------------------


def sheets(paths: Sequence[Path]) -> list[Path]:
    """Return the sheets that are named, and those in folders that are named."""
    found = []
    for path in paths:
        if path.is_dir():
            inside = sorted(path.glob("*.kif"))
            if not inside:
                raise SystemExit(f"benchmark: there are no sheets (*.kif) in the folder {path}")
            found += inside
        elif path.is_file():
            found.append(path)
        else:
            raise SystemExit(f"benchmark: there is no file or folder {path}")
    return list(dict.fromkeys(found))


def read_peers(path: Path) -> Peers:
    """Read the speeds of other systems."""
    wanted = {"engine", "sheet", "states_per_second"}
    peers: Peers = {}
    try:
        with path.open(newline="", encoding="utf-8") as file:
            rows = csv.DictReader(file)
            missing = wanted - set(rows.fieldnames or ())
            if missing:
                raise SystemExit(f"benchmark: {path} lacks the columns {', '.join(sorted(missing))}")
            for row in rows:
                speed = PeerSpeed(float(row["states_per_second"]), float(row.get("playouts_per_second") or 0))
                peers.setdefault(row["engine"], {})[row["sheet"]] = speed
    except (OSError, ValueError) as error:
        raise SystemExit(f"benchmark: cannot read {path}: {error}") from error
    return peers


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
        description="Measure how fast the compiled game and the reasoner play at random.",
        epilog="A sheet takes about 3 * (repeats + 1) * seconds. Ctrl-C shows what was measured so far.",
    )
    parser.add_argument("paths", metavar="PATH", nargs="+", type=Path, help="a sheet, or a folder of *.kif")
    parser.add_argument(
        "--machine", choices=["both", "network", "reasoner"], default="both", help="what to measure (both)"
    )
    parser.add_argument(
        "--seconds", type=some_seconds, default=2.0, metavar="S", help="length of a repeat (2)"
    )
    parser.add_argument("--repeats", type=_count, default=5, metavar="N", help="how many repeats (5)")
    parser.add_argument("--seed", type=int, default=1, help="of the random moves (1)")
    parser.add_argument("--threads", type=_threads, metavar="N", help="also N threads beside N processes")
    parser.add_argument("--peers", metavar="CSV", type=Path, help="speeds of other systems to compare with")
    parser.add_argument("--json", metavar="OUT", type=Path, help="write all numbers to a file")
    parser.add_argument("--readme", metavar="FILE", type=Path, help="write the table into a file")
    parser.add_argument("--core", metavar="N", type=int, choices=_cores(), help="the core to use (the last)")
    return parser


def _count(text: str) -> int:
    if not (text.isascii() and text.isdigit() and 0 < int(text[:9]) <= 10_000):
        raise argparse.ArgumentTypeError(f"expected a whole number from 1 to 10000, found {text}")
    return int(text)


def _threads(text: str) -> int:
    count, most = _count(text), len(_cores())
    if count > most:
        raise argparse.ArgumentTypeError(f"there are {most} cores to run on, found {text} threads")
    return count


def _cores() -> list[int]:
    if hasattr(os, "sched_getaffinity"):
        return sorted(os.sched_getaffinity(0))
    return list(range(os.cpu_count() or 1))


# -- all of it --------------------------------------------------------------------------------------


def measure_sheet(path: Path, options: argparse.Namespace) -> Sheet:
    """Measure a sheet as the options say."""
    wanted = ("network", "reasoner") if options.machine == "both" else (options.machine,)
    speeds = {machine: measure_apart(path, machine, options) for machine in wanted}
    threads = measure_threads(path, options) if options.threads else None
    return Sheet(path.stem, speeds.get("network"), speeds.get("reasoner"), threads)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure what the arguments name; return the exit status."""
    options = _parser().parse_args(arguments)
    if options.core is None and hasattr(os, "sched_setaffinity"):
        options.core = _cores()[-1]
    peers = read_peers(options.peers) if options.peers else {}
    paths = sheets(options.paths)
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
        print(table(found, peers))
    if options.json:
        record = {"machine": _machine(options), "sheets": [asdict(one) for one in found]}
        options.json.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    if options.readme and not status:
        try:
            block = markdown(found, peers, options.repeats, options.seconds)
            put_into(options.readme, block, "benchmark")
        except (OSError, ValueError) as error:
            raise SystemExit(f"benchmark: cannot write into {options.readme}: {error}") from error
    return status or int(any(_failed(one) for one in found))


def _failed(sheet: Sheet) -> bool:
    parts = (sheet.network, sheet.reasoner, sheet.threads)
    return any(part is not None and part.error for part in parts)


def _progress(text: str) -> None:
    if sys.stderr.isatty():
        print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)


if __name__ == "__main__":
    with suppress(AttributeError):
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    sys.exit(main())
