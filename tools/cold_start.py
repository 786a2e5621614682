"""Time to the first answer: a question on the command line, against an interpreter that only imports.

    python tools/cold_start.py
    python tools/cold_start.py gdl/hex_pie.kif --runs 21

Runs ``anygame legal SHEET`` and ``python -c "import lark"`` (the one library that it loads) in processes of
their own, in alternation, so that both see the same noise, and from compiled bytecode. Prints the median of
each and the ratio.
``--imports`` also prints which packages take how long to import (``python -X importtime``).
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
    """Return how long a command takes in a process of its own."""
    begin = perf_counter()
    done = _run(command)
    elapsed = perf_counter() - begin
    if done.returncode:
        raise SystemExit(f"cold_start: {' '.join(command)} failed:\n{done.stderr}")
    return elapsed


def _run(command: Sequence[str]) -> subprocess.CompletedProcess[str]:
    # An installed package is started from its bytecode; a checkout should be as well.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return subprocess.run(command, capture_output=True, check=False, text=True, env=environment)


def alternate(commands: Sequence[Sequence[str]], runs: int) -> list[float]:
    """Return the median time of each command, after one run that is not counted."""
    times = [[seconds(command) for command in commands] for _ in range(runs + 1)][1:]
    return [median(column) for column in zip(*times, strict=True)]


def import_times(command: Sequence[str]) -> list[tuple[str, int, float]]:
    """Return packages with the number of their modules that are imported, and the milliseconds these take."""
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
    parser.add_argument("--runs", type=int, default=11, metavar="N", help="how often each is run (11)")
    parser.add_argument("--imports", action="store_true", help="also print what the imports take")
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
