"""Find hard connect-four positions and their exact values: ``tests/data/connect_four_positions.csv``.

    python tools/connect_four_positions.py --count 400 --seed 1 > tests/data/connect_four_positions.csv

A row is ``moves,values``: the columns of the drops so far, from 1 to 7, and for each column what a drop there
is worth to who is to move: ``+`` won, ``=`` drawn, ``-`` lost, ``.`` the column is full. Nobody can win with
the next drop, so that nothing is forced; and one or two of at least four drops are right, which means that
they are worth most. The matches up to there are random, but for lines that are stopped in half of them.
Values are those of an exhaustive search (``connect_four.c``, which needs a C compiler).
"""

from __future__ import annotations

import argparse
import ctypes
import subprocess
import sys
import tempfile
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Final

sys.path.insert(0, str(Path(__file__).parents[1]))

from tools.arguments import some_count

if TYPE_CHECKING:
    from collections.abc import Sequence

COLUMNS: Final = 7
ROWS: Final = 6
_STEP: Final = ROWS + 1
#: Before, values take long to find; afterwards, they are soon seen.
_STONES: Final = range(12, 31)
#: Signs of the values -1, 0 and 1.
SIGNS: Final = "-=+"


class Solver:
    """The native search.

    Args:
        folder: where its library is put.
    """

    def __init__(self, folder: Path) -> None:
        path = folder / "connect_four.so"
        source = Path(__file__).with_name("connect_four.c")
        subprocess.run(["cc", "-O2", "-shared", "-fPIC", source, "-o", path], check=True)
        library = ctypes.CDLL(str(path))
        self._value, self._threats = library.value, library.threats
        self._value.argtypes = self._threats.argtypes = [ctypes.c_uint64, ctypes.c_uint64]
        self._threats.restype = ctypes.c_uint64

    def wins(self, mine: int, taken: int) -> list[int]:
        """Return the columns where a drop of who has the stones ``mine`` completes a line."""
        found = int(self._threats(mine, taken))
        return [column for column in free_columns(taken) if found & _cell(taken, column)]

    def values(self, mine: int, taken: int) -> str:
        """Return the value of each drop for who has the stones ``mine`` and is to move, as signs."""
        signs = ["."] * COLUMNS
        for column in free_columns(taken):
            after = taken | _cell(taken, column)
            won = column in self.wins(mine, taken)
            signs[column] = SIGNS[1 + (1 if won else -int(self._value(mine ^ taken, after)))]
        return "".join(signs)


def free_columns(taken: int) -> list[int]:
    """Return the columns that are not full."""
    return [column for column in range(COLUMNS) if not taken >> (column * _STEP + ROWS - 1) & 1]


def _cell(taken: int, column: int) -> int:
    """Return the bit where a stone in a column comes to rest."""
    full = (1 << ROWS) - 1 << column * _STEP
    return (taken + (1 << column * _STEP)) & full


def hard_position(solver: Solver, stones: int, random: Random) -> tuple[str, str] | None:
    """Play one random match up to some stones, and return its moves and values if the position is hard."""
    moves, mine, theirs = "", 0, 0
    sensible = random.random() < 0.5
    while len(moves) < stones:
        taken = mine | theirs
        if solver.wins(mine, taken):
            return None
        stops = solver.wins(theirs, taken) if sensible else []
        column = random.choice(stops or free_columns(taken))
        moves += str(column + 1)
        mine, theirs = theirs, mine | _cell(taken, column)
    taken = mine | theirs
    if len(free_columns(taken)) < 4 or solver.wins(mine, taken) or solver.wins(theirs, taken):
        return None
    values = solver.values(mine, taken)
    best = max(values, key=SIGNS.find)
    return (moves, values) if values.count(best) <= 2 else None


def main(arguments: Sequence[str] | None = None) -> int:
    """Print positions; return the exit status."""
    parser = argparse.ArgumentParser(description="Find hard connect-four positions with their exact values.")
    parser.add_argument("--count", type=some_count, default=400, metavar="N", help="of positions (400)")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="(1)")
    options = parser.parse_args(arguments)
    random = Random(options.seed)
    print("moves,values")
    with tempfile.TemporaryDirectory() as folder:
        solver = Solver(Path(folder))
        for number, stones in enumerate(_STONES):
            # As many of each number of stones, so of either role; half of them with a win to find.
            count = (options.count * (number + 1)) // len(_STONES) - (options.count * number) // len(_STONES)
            found: dict[str, str] = {}
            wins = 0
            while len(found) < count:
                position = hard_position(solver, stones, random)
                if position and ("+" in position[1]) == (2 * wins < count):
                    wins += "+" in position[1]
                    found.update([position])
            for position in sorted(found.items()):
                print(",".join(position))
    return 0


if __name__ == "__main__":
    sys.exit(main())
