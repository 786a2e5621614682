"""Measure how often a player finds a best move in connect-four positions with exact values.

    python tools/solved_positions.py uct mcts --seconds 1
    python tools/solved_positions.py mcts --seconds 0.2 --every 4 --jobs 2 --wrong

The positions are in ``tests/data/connect_four_positions.csv``, for the sheet ``connect_four``. A row of the
file is ``moves,values``: the columns of the drops so far, and the value of a drop in each column for the role
to move: ``+`` won, ``=`` drawn, ``-`` lost, ``.`` full. No drop wins at once. Of at least four possible
drops, one or two are best. An exhaustive search computed the values.

Each position is a match: a new player gets the compiled game, a start clock and a play clock, and makes one
move. The output has a row per player: the number of positions, the percentage of best moves with its 95 %
interval, and the same percentages among won and among drawn positions. A late move counts as wrong.
"""

from __future__ import annotations

import argparse
import csv
import sys
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from itertools import repeat
from math import sqrt
from multiprocessing import get_context
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Final

sys.path.insert(0, str(Path(__file__).parents[1]))

from tools.arguments import some_count, some_seconds

import anygame
from anygame.game.machine import FallbackWarning
from anygame.players import Clock, make_player

if TYPE_CHECKING:
    from collections.abc import Sequence

POSITIONS: Final = Path(__file__).parents[1] / "tests" / "data" / "connect_four_positions.csv"
_SHEET: Final = Path(__file__).parents[1] / "gdl" / "connect_four.kif"
#: Tolerated delay of an answer in seconds, on a busy machine.
_GRACE: Final = 0.5


@dataclass(frozen=True, slots=True)
class Position:
    """A position: the drops so far, and the value of each possible drop.

    Attributes:
        moves: the columns of the drops, a digit from 1 to 7 each.
        values: ``+``, ``=`` or ``-`` for each column; ``.`` for a full column.
    """

    moves: str
    values: str

    @property
    def right(self) -> frozenset[str]:
        """The columns in which a drop has the highest value."""
        best = next(sign for sign in "+=-" if sign in self.values)
        return frozenset(str(column) for column, sign in enumerate(self.values, start=1) if sign == best)

    def state(self, game: anygame.Game) -> anygame.State:
        """Return the state after the drops."""
        state = game.initial_state()
        for number, column in enumerate(self.moves):
            drop = f"(drop {column})"
            state = state.next(["noop", drop] if number % 2 else [drop, "noop"])
        return state


def read_positions(path: Path = POSITIONS) -> list[Position]:
    """Return the positions in a file."""
    with path.open(newline="", encoding="utf-8") as file:
        return [Position(row["moves"], row["values"]) for row in csv.DictReader(file)]


@cache
def _game() -> anygame.Game:
    """Load and compile the sheet once in each process, so that clocks exclude the time for this."""
    game = anygame.load(_SHEET)
    with suppress(FallbackWarning):
        game.compile()
    return game


def answer(position: Position, spec: str, seconds: float, start: float) -> str:
    """Return the column that a player chooses; empty if the player is late."""
    game = _game()
    state = position.state(game)
    player = make_player(spec, seed=len(position.moves))
    player.prepare()
    player.begin(game, game.roles[len(position.moves) % 2], Clock.of(start))
    began = monotonic()
    move = str(player.move(state, Clock.of(seconds, margin=0)))
    player.abort()
    return move.strip("()").split()[-1] if monotonic() - began < seconds + _GRACE else ""


def share(right: Sequence[bool]) -> str:
    """Return the percentage of right answers, and half of its 95 % interval.

    >>> share([True, True, True, False])
    '75.0 ± 42.4'
    >>> share([])
    '-'
    """
    if not right:
        return "-"
    mean = sum(right) / len(right)
    return f"{100 * mean:.1f} ± {196 * sqrt(mean * (1 - mean) / len(right)):.1f}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Ask the players and print the table; return the exit status."""
    parser = argparse.ArgumentParser(description="Measure how often a player finds a best move.")
    parser.add_argument("players", metavar="PLAYER", nargs="+", help="as for `anygame match`")
    parser.add_argument("--seconds", type=some_seconds, default=1.0, metavar="S", help="seconds per move (1)")
    parser.add_argument("--start", type=some_seconds, default=1.0, metavar="S", help="the start clock (1)")
    parser.add_argument(
        "--every", type=some_count, default=1, metavar="N", help="use only every Nth position (1)"
    )
    parser.add_argument("--jobs", type=some_count, default=1, metavar="N", help="simultaneous positions (1)")
    parser.add_argument("--wrong", action="store_true", help="list positions with wrong answers")
    options = parser.parse_args(arguments)
    positions = read_positions()[:: options.every]
    width = max(24, *map(len, options.players))
    print(f"{'player'.ljust(width)}  positions  {'right, %':>13}  {'winning':>13}  {'holding':>13}")
    with ProcessPoolExecutor(options.jobs, get_context("spawn")) as pool:
        for spec in options.players:
            limits = repeat(spec), repeat(options.seconds), repeat(options.start)
            chosen = list(pool.map(answer, positions, *limits))
            right = [column in position.right for column, position in zip(chosen, positions, strict=True)]
            winning = ["+" in position.values for position in positions]
            shares = (
                right,
                [found for found, wins in zip(right, winning, strict=True) if wins],
                [found for found, wins in zip(right, winning, strict=True) if not wins],
            )
            cells = "  ".join(share(kind).rjust(13) for kind in shares)
            print(f"{spec.ljust(width)}  {len(positions):>9}  {cells}", flush=True)
            for position, column, found in zip(positions, chosen, right, strict=True):
                if options.wrong and not found:
                    print(f"  {position.moves},{position.values}  {column or 'late'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
