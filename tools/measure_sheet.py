"""Measure one machine on one sheet, in this process; print one line of JSON.

    python tools/measure_sheet.py gdl/copolymer.kif network --seconds 2 --repeats 5 --cores 1

``benchmark.py`` runs this tool and makes tables of its output: the seconds of each step of set-up, the speed
of random playouts in each repeat, the microseconds per state through the Python contract, and the memory use.
The number of states is the number of joint moves. With ``--serve``, the tool prints a line after set-up. Then
it reads lines PLAYOUTS THREADS, plays that many playouts for each line, and prints the result as JSON.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import sys
import warnings
from pathlib import Path
from random import Random
from time import perf_counter, process_time
from typing import TYPE_CHECKING, Any, Final

import anygame
from anygame.cli.commands.explain import describe
from anygame.errors import AnygameError, IllegalMoveError
from anygame.game.machine import FallbackWarning

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

_LANES: Final = 512
#: Time for single states, as a fraction of the time for playouts.
_SHARE_OF_SINGLE_STATES: Final = 0.2
_INTERRUPTED: Final = 130


def playing(game: anygame.Game, random: Random) -> Iterator[bool]:
    """Play random playouts endlessly with the reasoner; yield after each state whether it was terminal.

    Uses the loop and the random moves of ``game.playouts``, but callers can stop after every state.
    """
    reasoner, draw = game.backends.reasoner.reasoner, game.backends.reasoner.draw
    values = [reasoner.terms.number(role) for role in reasoner.roles]
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


# -- set-up -------------------------------------------------------------------------------------


def set_up_reasoner(path: Path) -> tuple[anygame.Game, dict[str, float]]:
    """Load a sheet and compute the first answers; return the game and the seconds of each step."""
    begin = perf_counter()
    game = anygame.load(path, machine="reasoner", lenient=True)
    read = perf_counter()
    state = game.initial_state()
    if not state.is_terminal:
        for role in game.roles:
            state.legal_moves(role)
    return game, {"read": read - begin, "first": perf_counter() - read}


def set_up_network(path: Path) -> tuple[anygame.Game, dict[str, float]]:
    """Load and compile a sheet, and play once; return the game and the seconds of each step.

    Imports and waiting for the fastest code are separate steps, which do not count as set-up of the game: the
    fastest code can replace slower code during play.
    """
    begin = perf_counter()
    import llvmlite.binding  # noqa: F401

    import anygame.game.machines.network

    imported = perf_counter()
    game = anygame.load(path, lenient=True)
    read = perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FallbackWarning)
        compiled = game.compile()
    if not compiled:
        reason = str(game.fallback).splitlines()[0]
        raise AnygameError(f"no network: {reason}")
    ready = perf_counter()
    game.simulate(1, seed=1)
    first = perf_counter() - ready
    waiting = perf_counter()
    game.compile(wait=True)
    waited = perf_counter() - waiting
    stages = {stage["stage"]: stage.get("seconds", 0.0) for stage in describe(game, "network")["stages"]}
    ground = stages.pop("grounding", 0.0)
    build = sum(stages.values())
    return game, {
        "imports": imported - begin,
        "read": read - imported,
        "ground": ground,
        "build": build,
        "code": ready - read - ground - build,
        "first": first,
        "waiting": waited,
    }


# -- playing ------------------------------------------------------------------------------------


def play_network(
    game: anygame.Game, seconds: float, repeats: int, seed: int
) -> Iterator[tuple[int, int, float]]:
    """Yield states, playouts and seconds of each repeat; all playouts are finished."""
    count = _enough(game, seconds, seed)
    for number in range(repeats):
        result = game.simulate(count, seed=seed + number)
        yield result.states, result.playouts, result.seconds


def _enough(game: anygame.Game, seconds: float, seed: int) -> int:
    """Return the number of playouts that take about ``seconds``, at least one for each lane."""
    count, best = _LANES, 0.0
    while True:
        # Take the faster of two runs, in case the machine pauses.
        for _ in range(2):
            result = game.simulate(count, seed=seed)
            best = max(best, count / max(result.seconds, 1e-6))
        wanted = round(best * seconds)
        if count >= wanted / 4:
            return max(_LANES, wanted)
        count = min(16 * count, max(2 * count, wanted // 2))


def play_reasoner(
    game: anygame.Game, seconds: float, repeats: int, seed: int
) -> Iterator[tuple[int, int, float]]:
    """Yield states, playouts and seconds of each repeat.

    If a playout does not end in a repeat, the next repeat continues it, so that slow games are not measured
    only by their openings. A run before the first repeat compiles the generated code. This run ends with the
    first playout, or after four times the length of a repeat.
    """
    steps = playing(game, Random(seed))
    begin = perf_counter()
    while not next(steps) and perf_counter() - begin < 4 * seconds:
        pass
    for _ in range(repeats):
        states = ends = 0
        begin = perf_counter()
        while (elapsed := perf_counter() - begin) < seconds or not states:
            if next(steps):
                ends += 1
            else:
                states += 1
        yield states, ends, elapsed


def one_state(game: anygame.Game, seconds: float, random: Random) -> float:
    """Return microseconds per state: for whether it is terminal, all legal moves, and the next state."""
    roles = game.roles
    draw = random.random
    states = 0
    state = game.initial_state()
    begin = perf_counter()
    while (elapsed := perf_counter() - begin) < seconds or not states:
        if state.is_terminal:
            state = game.initial_state()
            if state.is_terminal:
                return 0.0
            continue
        legal = [state.legal_moves(role) for role in roles]
        state = state.next([moves[int(draw() * len(moves))] for moves in legal])
        states += 1
    return 1e6 * elapsed / states


# -- command line -------------------------------------------------------------------------------


def measure(path: Path, machine: str, seconds: float, repeats: int, seed: int) -> dict[str, Any]:
    """Measure a machine (``network`` or ``reasoner``) on a sheet; return the figures as plain data."""
    network = machine == "network"
    game, setup = (set_up_network if network else set_up_reasoner)(path)
    play: Callable[..., Iterator[tuple[int, int, float]]] = play_network if network else play_reasoner
    single = [one_state(game, seconds * _SHARE_OF_SINGLE_STATES, Random(seed + n)) for n in range(repeats)]
    runs, shares, memory = [], [], 0.0
    busy, begin = process_time(), perf_counter()
    for run in play(game, seconds, repeats, seed):
        runs.append(run)
        shares.append((process_time() - busy) / (perf_counter() - begin))
        memory = memory or peak_memory()
        busy, begin = process_time(), perf_counter()
    return {
        "setup": setup,
        "states": [states / elapsed for states, _, elapsed in runs],
        "playouts": [ends / elapsed for _, ends, elapsed in runs],
        "core": min(shares),
        "one_state": sorted(single)[len(single) // 2],
        "peak": peak_memory(),
        "growth": peak_memory() - memory,
        **(_size(game) if network else {}),
    }


def _size(game: anygame.Game) -> dict[str, int]:
    described = describe(game, "network")
    names = {"gates": "gates", "inputs": "inputs"}
    return {name: described[key] for name, key in names.items()} | {"bytes": described["code"]["bytes"]}


def peak_memory() -> float:
    """Return the peak memory use of this process in MiB."""
    try:
        # The result of getrusage can include the parent process.
        for line in Path("/proc/self/status").read_text(encoding="ascii", errors="replace").splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) / 1024
    except OSError:
        pass
    unit = 1024 * 1024 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit


def serve(game: anygame.Game) -> None:
    """Play as each line of input requests, until the input ends."""
    print(json.dumps({"ready": True}), flush=True)
    for number, line in enumerate(sys.stdin):
        playouts, threads = map(int, line.split())
        result = game.simulate(playouts, seed=number, threads=threads)
        figures = {"playouts": result.playouts, "states": result.states, "seconds": result.seconds}
        print(json.dumps(figures), flush=True)


def pin(cores: Sequence[int]) -> None:
    """Pin this process to some cores, if the system supports that."""
    if cores and hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, cores)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure the sheet that the arguments name; return the exit status."""
    parser = argparse.ArgumentParser(description="Measure one machine on one sheet.")
    parser.add_argument("path", type=Path, help="the sheet")
    parser.add_argument("machine", choices=["network", "reasoner"])
    parser.add_argument("--seconds", type=float, default=2.0, help="seconds per repeat (2)")
    parser.add_argument("--repeats", type=int, default=5, help="number of repeats (5)")
    parser.add_argument("--seed", type=int, default=1, help="seed of the random moves (1)")
    parser.add_argument("--cores", type=int, nargs="+", default=[], help="cores to use (all)")
    parser.add_argument("--setup-only", action="store_true", help="do not play")
    parser.add_argument("--serve", action="store_true", help="play on request with the network")
    options = parser.parse_args(arguments)
    pin(options.cores)
    try:
        if options.serve:
            serve(set_up_network(options.path)[0])
            return 0
        if options.setup_only:
            set_up = set_up_network if options.machine == "network" else set_up_reasoner
            found: dict[str, Any] = {"setup": set_up(options.path)[1]}
        else:
            found = measure(options.path, options.machine, options.seconds, options.repeats, options.seed)
    except AnygameError as error:
        found = {"error": str(error).splitlines()[0]}
    except KeyboardInterrupt:
        return _INTERRUPTED
    print(json.dumps(found))
    return 0


if __name__ == "__main__":
    sys.exit(main())
