"""Measure random playouts with the interface of gdl-perf, the benchmark of GDL reasoners.

    python tools/gdl_perf.py GAME OUT SECONDS

Plays the sheet GAME at random for SECONDS, and writes the file OUT. The file has a line ``version=``, and
lines ``millisecondsTaken=``, ``numStateChanges=`` and ``numRollouts=`` or, after an error, ``errorMessage=``.
The time excludes reading and compiling the sheet. If the sheet can be compiled, the compiled game plays,
otherwise the reasoner; ``version`` names the machine. A state change is a joint move.
"""

from __future__ import annotations

import argparse
import os
import sys
import warnings
from pathlib import Path
from random import Random
from time import perf_counter
from typing import TYPE_CHECKING, Final

sys.path.insert(0, str(Path(__file__).parents[1]))

from tools.arguments import some_seconds
from tools.measure_sheet import playing

import anygame
from anygame.errors import AnygameError
from anygame.game.machine import FallbackWarning

if TYPE_CHECKING:
    from collections.abc import Sequence

_LANES: Final = 512
#: Target duration in seconds of a call of the network; at most a tenth of the time for playing.
_CALL_SECONDS: Final = 0.5


def run(path: Path, seconds: float, seed: int | None) -> dict[str, str | int]:
    """Play a sheet; return the values to write, by name."""
    found: dict[str, str | int] = {"version": anygame.__version__}
    try:
        game = anygame.load(path, lenient=True)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FallbackWarning)
            compiled = game.compile(wait=True)
        found["version"] = f"{anygame.__version__} {'network' if compiled else 'reasoner'}"
        play = _by_network if compiled else _by_reasoner
        states, playouts, elapsed = play(game, seconds, Random(seed))
    except (AnygameError, OSError, MemoryError) as error:
        message = " ".join(str(error).split()) or type(error).__name__
        return found | {"errorMessage": message}
    return found | {
        "millisecondsTaken": max(1, round(elapsed * 1000)),
        "numStateChanges": states,
        "numRollouts": playouts,
    }


def _by_network(game: anygame.Game, seconds: float, random: Random) -> tuple[int, int, float]:
    states = playouts = 0
    count = _LANES
    call = min(_CALL_SECONDS, seconds / 10)
    begin = perf_counter()
    while (elapsed := perf_counter() - begin) < seconds:
        result = game.simulate(count, seed=random.getrandbits(32))
        states += result.states
        playouts += result.playouts
        if result.first_stuck and not states:
            raise result.first_stuck.error()
        left = min(call, seconds - (perf_counter() - begin))
        if result.seconds > 0:
            count = max(_LANES, round(count * min(16.0, left / result.seconds)))
    return states, playouts, elapsed


def _by_reasoner(game: anygame.Game, seconds: float, random: Random) -> tuple[int, int, float]:
    states = playouts = 0
    steps = playing(game, random)
    begin = perf_counter()
    while (elapsed := perf_counter() - begin) < seconds:
        if next(steps):
            playouts += 1
        else:
            states += 1
    return states, playouts, elapsed


def main(arguments: Sequence[str] | None = None) -> int:
    """Play and write the file; return the exit status, 1 if the file has an error message."""
    parser = argparse.ArgumentParser(description="Measure random playouts with the interface of gdl-perf.")
    parser.add_argument("game", metavar="GAME", type=Path, help="the sheet")
    parser.add_argument("out", metavar="OUT", type=Path, help="the file to write")
    parser.add_argument("seconds", metavar="SECONDS", type=some_seconds, help="duration of play")
    parser.add_argument("--seed", type=int, help="seed of the random moves (random)")
    options = parser.parse_args(arguments)
    found = run(options.game, options.seconds, options.seed)
    text = "".join(f"{name}={value}\n" for name, value in found.items())
    new = options.out.with_name(f".{options.out.name}.new")
    try:
        new.write_text(text, encoding="utf-8")
        os.replace(new, options.out)
    except OSError as error:
        raise SystemExit(f"gdl_perf: cannot write {options.out}: {error.strerror}") from error
    return int("errorMessage" in found)


if __name__ == "__main__":
    sys.exit(main())
