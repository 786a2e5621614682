"""Prove properties of many sheets, each sheet in a separate process, and print a table of the verdicts.

    python tools/prove_corpus.py FOLDER --seconds 10 --out verdicts.jsonl

The smallest sheets come first. Sheets whose verdicts are already in the file are skipped, so that an ended
run can be resumed. ``--budget`` limits the total processor time of the child processes in seconds.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from tools.tables import as_markdown

if TYPE_CHECKING:
    from collections.abc import Sequence

_PROPERTIES: Final = ("playable", "ends", "goals", "turn-taking", "mutex", "zero-sum", "winnable")
_OUTCOMES: Final = ("proved", "refuted", "open")
#: Maximum address space of a process in bytes, and seconds for a sheet besides its properties.
_MEMORY: Final = 12 << 30
_TO_SET_UP: Final = 120.0
#: Maximum ratio of wall-clock time to processor time, on a busy machine.
_SHARED: Final = 10
#: Program of a child process: the command, with limits on the processor time of this process and of the
#: programs that it runs, so that other load on the machine does not matter.
_CHILD: Final = """
import os, sys
from anygame.cli.main import main
from anygame.proving import patience, prover, proving, survey
patience.monotonic = prover.perf_counter = lambda: sum(os.times()[:4])
proving.perf_counter = survey.perf_counter = prover.perf_counter
sys.exit(main(sys.argv[1:]))
"""


def main(arguments: Sequence[str] | None = None) -> None:
    """Prove the chosen properties of each sheet; print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folder", type=Path, help="folder of rule sheets")
    parser.add_argument("--property", action="append", dest="properties", help=f"{', '.join(_PROPERTIES)}")
    parser.add_argument("--seconds", type=float, default=10.0, help="processor seconds per property (10)")
    parser.add_argument("--budget", type=float, default=float("inf"), help="total processor seconds")
    parser.add_argument("--out", type=Path, default=Path("verdicts.jsonl"), help="file of verdicts")
    options = parser.parse_args(arguments)
    properties = options.properties or list(_PROPERTIES)
    sheets = sorted(options.folder.glob("*.kif"), key=lambda path: path.stat().st_size)
    known = _read(options.out)
    for sheet in sheets:
        if sheet.stem in known:
            continue
        if _spent() > options.budget:
            break
        found = known[sheet.stem] = _proved(sheet, properties, options.seconds)
        with options.out.open("a", encoding="utf-8") as file:
            file.write(json.dumps({"sheet": sheet.stem, **found}) + "\n")
        print(sheet.stem, found["fault"] or _in_short(found), file=sys.stderr, flush=True)
    print(table(properties, list(known.values())))


def _read(path: Path) -> dict[str, dict[str, Any]]:
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return {found["sheet"]: found for found in map(json.loads, lines)}


def _spent() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _proved(sheet: Path, properties: Sequence[str], seconds: float) -> dict[str, Any]:
    """Return the verdicts on a sheet, or the reason why there are no verdicts."""
    asked = [part for name in properties for part in ("--property", name)]
    command = [sys.executable, "-W", "ignore", "-c", _CHILD, "prove", str(sheet), "--json", "--lenient"]
    began = _spent()
    try:
        done = subprocess.run(
            [*command, "--seconds", str(seconds), *asked],
            check=False,
            capture_output=True,
            text=True,
            timeout=_SHARED * (_TO_SET_UP + 2 * seconds * (len(properties) + 1)),
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY)),
            env={**os.environ, "OMP_NUM_THREADS": "1"},
        )
    except subprocess.TimeoutExpired:
        return {"fault": "not done in time", "verdicts": [], "cpu": _spent() - began}
    try:
        verdicts = json.loads(done.stdout)["verdicts"]
    except ValueError:
        fault = (done.stderr.strip().splitlines() or [f"exit status {done.returncode}"])[-1]
        return {"fault": fault, "verdicts": [], "cpu": _spent() - began}
    kept = ("property", "verdict", "depth", "seconds", "note", "claim")
    found = [{key: each[key] for key in kept} for each in verdicts]
    return {"fault": "", "verdicts": found, "cpu": round(_spent() - began, 1)}


def _in_short(found: dict[str, Any]) -> str:
    return " ".join(f"{each['property']}:{each['verdict']}" for each in found["verdicts"])


def table(properties: Sequence[str], sheets: Sequence[dict[str, Any]]) -> str:
    """Return the number of verdicts of each kind, with a row per property; ``winnable`` counts each role.

    >>> verdicts = [{"property": "winnable me", "verdict": "proved", "seconds": 2.0}]
    >>> print(table(["winnable"], [{"fault": "", "verdicts": verdicts}]))
    | property | proved | refuted | open | none | decided | median s |
    |---|---|---|---|---|---|---|
    | winnable | 1 | 0 | 0 | 0 | 100 % | 2.0 |
    """
    columns = ["property", *_OUTCOMES, "none", "decided", "median s"]
    rows = [columns]
    for name in properties:
        verdicts = [v for s in sheets for v in s["verdicts"] if v["property"].partition(" ")[0] == name]
        counts = [sum(v["verdict"] == outcome for v in verdicts) for outcome in _OUTCOMES]
        none = sum(not any(v["property"].partition(" ")[0] == name for v in s["verdicts"]) for s in sheets)
        decided = counts[0] + counts[1]
        times = sorted(v["seconds"] for v in verdicts if v["verdict"] != "open")
        median = f"{times[len(times) // 2]:.1f}" if times else "-"
        share = f"{100 * decided / max(1, sum(counts) + none):.0f} %"
        rows.append([name, *map(str, counts), str(none), share, median])
    return "\n".join(as_markdown(rows))


if __name__ == "__main__":
    main()
