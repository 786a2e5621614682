"""How many states a second random playouts visit, sheet by sheet.

    python tools/benchmark.py gdl
    python tools/benchmark.py gdl/copolymer.kif --seconds 10 --repeats 5 --json speed.json
    python tools/benchmark.py sheets/ --peers others.csv

A state counts when it is known whether it is terminal, and then its goals were computed, or else the legal
moves of every role, and a joint move drawn from them was played. Each sheet is measured in a process of its
own, on one core, after a warm-up in which the generated code is compiled. A playout too long for one repeat
goes on in the next, so that slow games are not measured by their openings alone. Speeds are by the clock on
the wall; the column ``core`` is the share of it in which the process was running: well below 100 %, others
were using the core, and the speeds are too low.

``--peers`` reads speeds of other systems, measured on the same machine, from a CSV file with the columns
engine,sheet,setup_seconds,states_per_second,playouts_per_second; SHEET is the file's name without its ending.
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
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from random import Random
from statistics import geometric_mean, median
from time import perf_counter, process_time
from typing import TYPE_CHECKING, Any, Final

import anygame
from anygame.errors import AnygameError, IllegalMoveError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

#: By engine and sheet: states per second.
Peers = dict[str, dict[str, float]]

_SETUP_SECONDS: Final = 120
_INTERRUPTED: Final = 130


@dataclass(frozen=True)
class Measurement:
    """What was measured of one sheet.

    Attributes:
        sheet: the name of the file without its ending.
        setup_seconds: reading, parsing, and the first answer, in a fresh process after the imports.
        states_per_second: of each repeat.
        playouts_per_second: over all repeats; 0 if none came to its end.
        core_share: the share of that time in which the process had the core; below 1 on a busy machine.
        error: why there are no numbers, else empty.
    """

    sheet: str
    setup_seconds: float = 0.0
    states_per_second: tuple[float, ...] = ()
    playouts_per_second: float = 0.0
    core_share: float = 0.0
    error: str = ""


# -- in the process that measures ---------------------------------------------------------------


def playing(game: anygame.Game, random: Random) -> Iterator[bool]:
    """Play random playouts without end; yield after each state whether it was the last of its playout.

    Draws the same moves as ``game.playouts``, whose loop this is, but can be stopped after every state.
    """
    reasoner, draw = game.reasoner.reasoner, game.reasoner.draw
    values = [reasoner.values.number(role) for role in reasoner.roles]
    start = reasoner.initial()
    fluents = start
    while True:
        frame = reasoner.frame(fluents)
        if reasoner.terminal(frame):
            reasoner.goals(frame)
            fluents = start
            yield True
            continue
        legal = reasoner.legal(frame)
        if not all(legal[value] for value in values):
            raise IllegalMoveError("a role has no legal move in a state that is not terminal")
        fluents = reasoner.next(frame, [draw(legal[value], random) for value in values])
        yield False


def measure(path: Path, seconds: float, repeats: int, seed: int) -> Measurement:
    """Measure one sheet in this process."""
    begin = perf_counter()
    game = anygame.load(path)
    state = game.initial_state()
    if not state.is_terminal:
        for role in game.roles:
            state.legal_moves(role)
    setup = perf_counter() - begin
    steps = playing(game, Random(seed))
    _run(steps, seconds, whole_playout=True)
    busy = process_time()
    slots = [_run(steps, seconds) for _ in range(repeats)]
    busy = process_time() - busy
    total = sum(elapsed for _, _, elapsed in slots)
    return Measurement(
        path.stem,
        setup,
        tuple(states / elapsed for states, _, elapsed in slots),
        sum(ends for _, ends, _ in slots) / total,
        busy / total,
    )


def _run(steps: Iterator[bool], seconds: float, *, whole_playout: bool = False) -> tuple[int, int, float]:
    """Play for some time; return states, playouts that ended, and the seconds it took.

    Args:
        steps: see ``playing``.
        seconds: how long.
        whole_playout: go on to the end of the first playout, for at most four times as long.
    """
    states = ends = 0
    begin = perf_counter()
    while True:
        ended = next(steps)
        states += 1
        ends += ended
        elapsed = perf_counter() - begin
        if elapsed >= seconds and (ends or not whole_playout or elapsed >= 4 * seconds):
            return states, ends, elapsed


def pin(core: int | None) -> None:
    """Keep this process on one core, where the system can do that."""
    if core is not None and hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {core})


# -- in the process that shows -------------------------------------------------------------------


def measure_apart(path: Path, options: argparse.Namespace) -> Measurement:
    """Measure one sheet in a process of its own."""
    order = [str(path), "--alone", "--seconds", str(options.seconds), "--repeats", str(options.repeats)]
    order += [
        "--seed",
        str(options.seed),
        *(["--core", str(options.core)] if options.core is not None else []),
    ]
    limit = _SETUP_SECONDS + (options.repeats + 5) * options.seconds
    process = subprocess.Popen([sys.executable, __file__, *order], stdout=subprocess.PIPE, text=True)
    try:
        output, _ = process.communicate(timeout=limit)
    except subprocess.TimeoutExpired:
        return Measurement(path.stem, error=f"no result after {limit:.0f} s")
    finally:
        process.kill()
        process.wait()
    try:
        record = json.loads(output)
    except ValueError:
        return Measurement(
            path.stem, error=f"the process that measured ended with status {process.returncode}"
        )
    return Measurement(**record | {"states_per_second": tuple(record["states_per_second"])})


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
                peers.setdefault(row["engine"], {})[row["sheet"]] = float(row["states_per_second"])
    except (OSError, ValueError) as error:
        raise SystemExit(f"benchmark: cannot read {path}: {error}") from error
    return peers


def table(measurements: Sequence[Measurement], peers: Peers) -> str:
    """Return the measurements as a table; with peers, how many times as fast as each of them."""
    ratios = {engine: _ratios(measurements, speeds) for engine, speeds in peers.items()}
    head = [
        "sheet",
        "set-up ms",
        "states/s",
        "min..max",
        "playouts/s",
        "core",
        *(f"x {name}" for name in peers),
    ]
    rows, errors = [], []
    for one in measurements:
        if one.error:
            errors.append(f"{one.sheet}: {one.error}")
            continue
        speeds = one.states_per_second
        rows.append(
            [
                one.sheet,
                f"{one.setup_seconds * 1000:.0f}",
                _number(median(speeds)),
                f"{_number(min(speeds))}..{_number(max(speeds))}",
                _number(one.playouts_per_second),
                f"{one.core_share:.0%}",
                *(_ratio(found.get(one.sheet)) for found in ratios.values()),
            ]
        )
    if any(ratios.values()):
        means = [geometric_mean(found.values()) if found else None for found in ratios.values()]
        rows.append(["geometric mean", "", "", "", "", "", *map(_ratio, means)])
        rows.append(["sheets compared", "", "", "", "", "", *(str(len(found)) for found in ratios.values())])
    return "\n".join([*_aligned([head, *rows]), *errors])


def _ratios(measurements: Sequence[Measurement], speeds: dict[str, float]) -> dict[str, float]:
    return {
        one.sheet: median(one.states_per_second) / speeds[one.sheet]
        for one in measurements
        if one.states_per_second and speeds.get(one.sheet, 0) > 0
    }


def _aligned(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for first, *rest in rows:
        cells = [cell.rjust(width) for cell, width in zip(rest, widths[1:], strict=True)]
        yield "  ".join([first.ljust(widths[0]), *cells]).rstrip()


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def _ratio(value: float | None) -> str:
    if value is None:
        return ""
    return f"{value:.0f}" if value >= 100 else f"{value:.2f}" if value >= 0.1 else f"{value:.2g}"


def _machine(options: argparse.Namespace) -> dict[str, Any]:
    return {
        "anygame": anygame.__version__,
        "python": platform.python_version(),
        "system": platform.platform(),
        "cores": os.cpu_count(),
        "seconds": options.seconds,
        "repeats": options.repeats,
        "core": options.core,
        "seed": options.seed,
    }


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description="Measure how many states a second random playouts visit.",
        epilog="A sheet takes about (repeats + 1) times seconds. Ctrl-C shows what was measured so far.",
    )
    parser.add_argument("paths", metavar="PATH", nargs="+", type=Path, help="a sheet, or a folder of *.kif")
    parser.add_argument("--seconds", type=_seconds, default=5.0, metavar="S", help="length of a repeat (5)")
    parser.add_argument("--repeats", type=_count, default=3, metavar="N", help="how many repeats (3)")
    parser.add_argument("--seed", type=int, default=1, help="of the random moves (1)")
    parser.add_argument("--peers", metavar="CSV", type=Path, help="speeds of other systems to compare with")
    parser.add_argument("--json", metavar="OUT", type=Path, help="write all numbers to a file")
    parser.add_argument("--core", metavar="N", type=int, choices=_cores(), help="the core to use (the last)")
    parser.add_argument("--alone", action="store_true", help=argparse.SUPPRESS)
    return parser


def _seconds(text: str) -> float:
    with suppress(ValueError):
        if 0 < float(text) < 100_000:
            return float(text)
    raise argparse.ArgumentTypeError(f"expected a number of seconds above 0, found {text}")


def _count(text: str) -> int:
    if not (text.isascii() and text.isdigit() and 0 < int(text[:9]) <= 10_000):
        raise argparse.ArgumentTypeError(f"expected a whole number from 1 to 10000, found {text}")
    return int(text)


def _cores() -> list[int]:
    return sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []


def _measure_alone(options: argparse.Namespace) -> int:
    """Be the process that measures: print one measurement as JSON."""
    path = options.paths[0]
    pin(options.core)
    try:
        found = measure(path, options.seconds, options.repeats, options.seed)
    except AnygameError as error:
        found = Measurement(path.stem, error=str(error).splitlines()[0])
    except KeyboardInterrupt:
        return _INTERRUPTED
    print(json.dumps(asdict(found)))
    return 0


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure what the arguments name; return the exit status."""
    options = _parser().parse_args(arguments)
    if options.alone:
        return _measure_alone(options)
    if options.core is None and _cores():
        options.core = _cores()[-1]
    peers = read_peers(options.peers) if options.peers else {}
    paths = sheets(options.paths)
    found: list[Measurement] = []
    status = 0
    try:
        for number, path in enumerate(paths, start=1):
            _progress(f"{number} of {len(paths)}: {path.stem}")
            found.append(measure_apart(path, options))
    except KeyboardInterrupt:
        status = _INTERRUPTED
    finally:
        _progress("")
    if found:
        print(table(found, peers))
    if options.json:
        record = {"machine": _machine(options), "measurements": [asdict(one) for one in found]}
        options.json.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    return status or int(any(one.error for one in found))


def _progress(text: str) -> None:
    if sys.stderr.isatty():
        print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)


if __name__ == "__main__":
    with suppress(AttributeError):
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    sys.exit(main())
