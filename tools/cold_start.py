"""Time to the first answer of ``anygame``, compared with an interpreter that only imports a library.

    python tools/cold_start.py
    python tools/cold_start.py gdl/hex_pie.kif --runs 21

Runs ``anygame legal SHEET`` and ``python -c "import lark"`` in separate processes. The library lark is the
only library that ``anygame legal`` imports. The runs alternate, so that noise affects both commands equally,
and use compiled bytecode. Prints the median time of each command, and their ratio. ``--imports`` also prints
the import times of packages (``python -X importtime``).
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

_ROOT: Final = Path(__file__).resolve().parents[1]
_BASE: Final = "import lark"
_ANSWER: Final = "import sys; from anygame.cli.main import main; sys.exit(main())"
_IMPORT: Final = re.compile(r"import time:\s+(\d+) \|\s+\d+ \|\s+(\S+)")


def seconds(command: Sequence[str]) -> float:
    """Return the seconds that a command takes in a separate process."""
    begin = perf_counter()
    done = _run(command)
    elapsed = perf_counter() - begin
    if done.returncode:
        raise SystemExit(f"cold_start: {' '.join(command)} failed:\n{done.stderr}")
    return elapsed


def _run(command: Sequence[str]) -> subprocess.CompletedProcess[str]:
    # Write bytecode, since an installed package has bytecode, too.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return subprocess.run(command, capture_output=True, check=False, text=True, env=environment)


def alternate(commands: Sequence[Sequence[str]], runs: int) -> list[float]:
    """Return the median time of each command; the first run of each command does not count."""
    times = [[seconds(command) for command in commands] for _ in range(runs + 1)][1:]
    return [median(column) for column in zip(*times, strict=True)]


def import_times(command: Sequence[str]) -> list[tuple[str, int, float]]:
    """Return per package its name, its number of imported modules, and their import time in milliseconds."""
    done = _run([command[0], "-X", "importtime", *command[1:]])
    times: dict[str, list[int]] = {}
    for own, name in _IMPORT.findall(done.stderr):
        times.setdefault(name.partition(".")[0], []).append(int(own))
    found = [(package, len(each), sum(each) / 1000) for package, each in times.items()]
    return sorted(found, key=lambda entry: -entry[2])


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print; return the exit status."""
    parser = argparse.ArgumentParser(description="Measure the time to the first answer.")
    sheet = str(_ROOT / "gdl" / "copolymer.kif")
    parser.add_argument("sheet", metavar="SHEET", nargs="?", default=sheet, help="(gdl/copolymer.kif)")
    parser.add_argument("--runs", type=int, default=11, metavar="N", help="runs per command (11)")
    parser.add_argument("--imports", action="store_true", help="also print import times")
    options = parser.parse_args(arguments)
    answer = [sys.executable, "-c", _ANSWER, "legal", options.sheet]
    bare, base, first = alternate(
        [[sys.executable, "-c", ""], [sys.executable, "-c", _BASE], answer], max(1, options.runs)
    )
    names = ["python alone", _BASE, f"anygame legal {Path(options.sheet).name}"]
    width = max(map(len, names))
    for name, elapsed in zip(names, (bare, base, first), strict=True):
        print(f"{name:<{width}} {elapsed * 1000:7.0f} ms")
    print(f"{'ratio':<{width}} {first / base:7.2f}")
    if options.imports:
        print("imports by package (the measuring itself makes them slower):")
        for package, count, elapsed in import_times(answer)[:10]:
            print(f"  {package:<20} {count:>4} modules {elapsed:7.1f} ms")
    return 0


if __name__ == "__main__":
    sys.exit(main())
