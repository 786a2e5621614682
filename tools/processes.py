"""Processes that run ``measure_sheet.py``, once or as a server."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

ROOT: Final = Path(__file__).resolve().parents[1]
#: Timeout of set-up in seconds. The largest public sheets with a network take about 20 s.
SETUP_SECONDS: Final = 180
#: Minimum number of playouts: several blocks of 512 lanes.
_FEWEST_PLAYOUTS: Final = 4096


def cores() -> list[int]:
    """Return the numbers of the cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return sorted(os.sched_getaffinity(0))
    return list(range(os.cpu_count() or 1))


def on_cores(chosen: Sequence[int | None]) -> list[str]:
    """Return the arguments that pin ``measure_sheet.py`` to some cores; None means any core."""
    numbers = [str(core) for core in chosen if core is not None]
    return ["--cores", *numbers] if numbers else []


def measure(arguments: Sequence[str], cache: str, limit: float, checkout: Path = ROOT) -> dict[str, Any]:
    """Run ``measure_sheet.py``; return its output, or ``{"error": why}``.

    Args:
        arguments: the arguments of ``measure_sheet.py``.
        cache: the folder for cached machine code.
        limit: timeout in seconds.
        checkout: the checkout to measure, with its own ``measure_sheet.py``.
    """
    command = [sys.executable, str(checkout / "tools" / "measure_sheet.py"), *arguments]
    environment = _environment(checkout) | {"ANYGAME_CACHE": cache}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
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


def _environment(checkout: Path) -> dict[str, str]:
    """Return an environment in which Python imports the package of a checkout, not an installed package."""
    paths = [str(checkout / "src"), *filter(None, [os.environ.get("PYTHONPATH")])]
    # Write bytecode, since an installed package has bytecode, too.
    others = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return others | {"PYTHONPATH": os.pathsep.join(paths)}


class Server:
    """A process that has compiled a sheet and plays on request."""

    def __init__(self, path: Path, chosen: Sequence[int | None]) -> None:
        command = [sys.executable, str(ROOT / "tools" / "measure_sheet.py"), str(path), "network", "--serve"]
        self._process = subprocess.Popen(
            [*command, *on_cores(chosen)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=_environment(ROOT),
        )

    def __enter__(self) -> Server:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.communicate()

    def play(self, playouts: int, threads: int = 1) -> None:
        """Start playing."""
        assert self._process.stdin
        with suppress(BrokenPipeError):
            print(playouts, threads, file=self._process.stdin, flush=True)

    def answer(self) -> dict[str, Any]:
        """Wait for the next output of the process.

        Raises:
            OSError: the process reported an error, or ended.
        """
        assert self._process.stdout
        line = self._process.stdout.readline()
        found: dict[str, Any] = json.loads(line) if line else {"error": "a process that played has ended"}
        if found.get("error"):
            raise OSError(found["error"])
        return found

    def rates(self) -> tuple[float, float]:
        """Wait for the end of play; return playouts and states per second."""
        found = self.answer()
        return found["playouts"] / found["seconds"], found["states"] / found["seconds"]


def enough_playouts(server: Server, seconds: float) -> tuple[int, float]:
    """Return the number of playouts that take about ``seconds``, and the playouts per second."""
    playouts, best = _FEWEST_PLAYOUTS, 0.0
    while True:
        # Take the faster of two runs, in case the machine pauses.
        for _ in range(2):
            server.play(playouts)
            best = max(best, server.rates()[0])
        wanted = round(best * seconds)
        if playouts >= wanted / 4:
            return max(_FEWEST_PLAYOUTS, wanted), best
        playouts = min(16 * playouts, max(2 * playouts, wanted // 2))
