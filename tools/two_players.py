"""Let two players on this machine play each other over the network, as a script that you can adapt.

    python tools/two_players.py gdl/tic_tac_toe.kif legal random --seed 1
    python tools/two_players.py gdl/rock_paper_scissors.kif mcts greedy --games 5 --play-clock 2

Starts a process ``anygame player --strategy PLAYER --port 0`` for each player. ``anygame match`` runs the
match, and then the script ends the players. The system chooses free ports, and each player prints its port
in the first line of its output. To use another program as a player, change the command in ``start_player``.
"""

from __future__ import annotations

import argparse
import json
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

_ANYGAME = [sys.executable, "-m", "anygame"]


def start_player(strategy: str, seed: int | None) -> tuple[subprocess.Popen[str], str]:
    """Start a player; return its process and its address."""
    command = [*_ANYGAME, "player", "--strategy", strategy, "--port", "0", "--json"]
    command += [] if seed is None else ["--seed", str(seed)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    first = process.stdout.readline()
    if not first:
        raise SystemExit(process.wait())
    told = json.loads(first)
    return process, f"{told['host']}:{told['port']}"


def end_player(process: subprocess.Popen[str]) -> None:
    """End a player as Ctrl-C does, and read the rest of its output."""
    process.send_signal(signal.SIGINT if sys.platform != "win32" else signal.SIGTERM)
    process.communicate(timeout=30)


def main(arguments: Sequence[str] | None = None) -> int:
    """Play a match; return the exit status of ``anygame match``."""
    parser = argparse.ArgumentParser(description="Let players on this machine play each other.")
    parser.add_argument("sheet", metavar="SHEET", help="the rule sheet")
    parser.add_argument("players", metavar="PLAYER", nargs="+", help="a strategy for each role")
    parser.add_argument("--seed", type=int, metavar="S", help="seed of the players and of the match")
    options, more = parser.parse_known_args(arguments)
    started = []
    try:
        for index, strategy in enumerate(options.players):
            started.append(start_player(strategy, None if options.seed is None else options.seed + index))
        command = [*_ANYGAME, "match", options.sheet, "--players"]
        command += [
            f"{strategy}-{number}={address}"
            for number, (strategy, (_, address)) in enumerate(zip(options.players, started, strict=True), 1)
        ]
        command += [] if options.seed is None else ["--seed", str(options.seed)]
        return subprocess.run([*command, *more], check=False).returncode
    finally:
        for process, _ in started:
            end_player(process)


if __name__ == "__main__":
    sys.exit(main())
