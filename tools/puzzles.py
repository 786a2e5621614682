"""How good the lines are that the search for one player finds, and how soon.

    python tools/puzzles.py gdl --seconds 10 60
    python tools/puzzles.py SHEET ... --seconds 10 --player uct --json puzzles.json

Sheets with several roles are left out. A row per sheet: the best goal found within each time, the greatest
that is possible as far as that is known, whether it is proven that there is none better, and what found the
line. Times are those of the processor, compiling aside, so that a busy machine changes little. With
``--player`` the player plays a match instead, on clocks that take as long together; it has the time of the
wall, half of it before the first move.
"""

from __future__ import annotations

import argparse
import json
import sys
import warnings
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from time import process_time
from typing import TYPE_CHECKING, Final

sys.path.insert(0, str(Path(__file__).parents[1]))

from tools.arguments import sheet_paths, some_seconds
from tools.tables import aligned

import anygame
from anygame.errors import AnygameError
from anygame.game.machine import FallbackWarning
from anygame.match import run
from anygame.players import make_player
from anygame.search.one_player import LineSearch, sole_chooser

if TYPE_CHECKING:
    from collections.abc import Sequence

    from anygame import Game
    from anygame.search.one_player import Line

#: Seconds for compiling a sheet: the measurement is of searching.
_COMPILING: Final = 120
#: Playouts that tell how long a match of a player will be, and moves of one at most.
_PLAYOUTS: Final = 64
_LONGEST: Final = 1_000


@dataclass(frozen=True, slots=True)
class Row:
    """What was found on a sheet.

    Attributes:
        sheet: its name.
        goals: the best goal within each of the times; None where there was none.
        most: no line has a greater goal; None where that is not known.
        proven: within which of the times it was proven that there is no better line.
        moves: of the line.
        seconds: of the processor, to the best line.
        states: how many were looked at.
        method: what found the line.
    """

    sheet: str
    goals: tuple[int | None, ...]
    most: int | None
    proven: tuple[bool, ...]
    moves: int
    seconds: float
    states: int
    method: str


class _Watch:
    """Notes when which goal was found."""

    def __init__(self, times: Sequence[float]) -> None:
        self._times = times
        self._began = process_time()
        self._found: list[tuple[float, int]] = []

    @property
    def seconds(self) -> float:
        """Seconds of the processor so far."""
        return process_time() - self._began

    @property
    def is_up(self) -> bool:
        """Whether the longest time is over."""
        return self.seconds >= max(self._times)

    def note(self, line: Line) -> None:
        """Look at what is known now."""
        if line.goal is not None and (not self._found or line.goal > self._found[-1][1]):
            self._found.append((self.seconds, line.goal))

    def row(self, sheet: str, line: Line) -> Row:
        """Return what was found."""
        goals = [[goal for at, goal in self._found if at <= time] for time in self._times]
        ended = self.seconds
        return Row(
            sheet=sheet,
            goals=tuple(found[-1] if found else None for found in goals),
            most=line.most,
            proven=tuple(line.proven and ended <= time for time in self._times),
            moves=len(line.moves),
            seconds=self._found[-1][0] if self._found else 0.0,
            states=line.states,
            method=line.method,
        )


def search(game: Game, name: str, times: Sequence[float], seed: int, memory: int) -> Row:
    """Search for the longest of the times."""
    watch = _Watch(times)
    line = LineSearch(game, seed=seed, memory=memory).run(stop=lambda: watch.is_up, progress=watch.note)
    watch.note(line)
    return watch.row(name, line)


def play(game: Game, name: str, times: Sequence[float], seed: int, player: str) -> Row:
    """Let a player play a match for each of the times."""
    playouts = game.simulate(_PLAYOUTS, seed, limit=_LONGEST).lengths
    moves = max(playouts, default=_LONGEST)
    goals: list[int | None] = []
    lengths = 0
    for time in times:
        record = run(
            game,
            [make_player(player, seed=seed)],
            start_clock=time / 2,
            play_clock=time / 2 / moves,
            seed=seed,
        )
        goals.append(record.goals[0] if record.goals else None)
        lengths = record.step
    return Row(name, tuple(goals), None, (False,) * len(times), lengths, max(times), 0, player)


def load(path: Path) -> Game | None:
    """Return the game of a sheet, compiled; None unless it is one for one role."""
    try:
        game = anygame.load(path, lenient=True)
    except AnygameError:
        return None
    if len(game.roles) != 1 or sole_chooser(game) is None:
        return None
    with suppress(FallbackWarning):
        game.compile(seconds=_COMPILING)
    return game


def cells(row: Row) -> tuple[str, ...]:
    """Return the cells of a row."""
    goals = ["-" if goal is None else str(goal) for goal in row.goals]
    proven = ["proven" if is_proven else "" for is_proven in row.proven]
    found = [cell for pair in zip(goals, proven, strict=True) for cell in pair]
    most = "" if row.most is None else str(row.most)
    return (row.sheet, *found, most, str(row.moves), f"{row.seconds:.2f}", f"{row.states:,}", row.method)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print; return the exit status."""
    parser = argparse.ArgumentParser(description="Measure the search for the best line of one player.")
    parser.add_argument("sheets", metavar="SHEET", nargs="+", type=Path, help="sheets, or folders of them")
    parser.add_argument("--seconds", type=some_seconds, nargs="+", default=[10.0], metavar="S", help="(10)")
    parser.add_argument("--memory", type=float, default=1.0, metavar="GB", help="(1)")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="(1)")
    parser.add_argument("--player", metavar="P", help="let a player play instead, as for `anygame match`")
    parser.add_argument("--json", metavar="FILE", type=Path, help="write the rows to a file too")
    options = parser.parse_args(arguments)
    # A sheet without a network is searched by the reasoner, and its row says how far that came.
    warnings.simplefilter("ignore", FallbackWarning)
    times = sorted(options.seconds)
    heads = [head for time in times for head in (f"{time:g} s", "")]
    rows: list[Row] = []
    for path in sheet_paths(options.sheets, "puzzles"):
        game = load(path)
        if game is None:
            continue
        if options.player:
            rows.append(play(game, path.stem, times, options.seed, options.player))
        else:
            rows.append(search(game, path.stem, times, options.seed, round(options.memory * 2**30)))
        print("  ".join(cells(rows[-1])), file=sys.stderr, flush=True)
    print(
        "\n".join(
            aligned([("sheet", *heads, "most", "moves", "seconds", "states", "found by"), *map(cells, rows)])
        )
    )
    if options.json:
        options.json.write_text(json.dumps([asdict(row) for row in rows], indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
