"""ABC as a second engine, where Debian's ``berkeley-abc`` is installed: invariants that its PDR finds.

See Brayton and Mishchenko (2010, "ABC: an academic industrial-strength verification tool"). Nothing that it
says is believed: what it found becomes clauses over fluents, which are checked as all others are.
"""

from __future__ import annotations

import subprocess
from math import ceil
from pathlib import Path
from shutil import which
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final

from anygame.proving.bounded import depends_on_moves
from anygame.proving.exports.aiger import aiger_bytes

if TYPE_CHECKING:
    from anygame.proving.model import Clause, Model
    from anygame.proving.patience import Patience

_PROGRAM: Final = "berkeley-abc"
#: KiB of its memory, and seconds at most.
_MEMORY, _LONGEST = 4 << 20, 3600.0
#: Characters of an invariant that are read.
_MOST_READ: Final = 1 << 24


def invariant_of_abc(model: Model, bad: int, patience: Patience) -> list[Clause] | None:
    """Return clauses that ABC says keep bad states away; None where it is not installed, or finds none.

    Args:
        model: the game; grows.
        bad: literal.
        patience: how long it may take.
    """
    program = which(_PROGRAM)
    if program is None or depends_on_moves(model, bad):
        return None
    with TemporaryDirectory(prefix="anygame") as folder:
        Path(folder, "game.aig").write_bytes(aiger_bytes(model, bad))
        seconds = min(patience.left, _LONGEST)
        asked = f"read game.aig; pdr -T {ceil(seconds)} -d -I invariant.pla"
        bounded = ["sh", "-c", f'ulimit -v {_MEMORY}; exec "$0" "$@"', program, "-c", asked]
        try:
            subprocess.run(
                bounded,
                cwd=folder,
                timeout=seconds,
                check=False,
                stdin=subprocess.DEVNULL,
                capture_output=True,
            )
            with Path(folder, "invariant.pla").open(encoding="ascii") as file:
                return _clauses(file.read(_MOST_READ), model)
        except (OSError, ValueError, subprocess.TimeoutExpired):
            return None


def _clauses(text: str, model: Model) -> list[Clause]:
    """Return an invariant from the cubes of states that it excludes.

    ABC turns latches over that hold at first. The last latch says that no play leads here.

    Raises:
        ValueError: the text is of another form.
    """
    latches: list[int] = []
    found: list[Clause] = []
    for line in text.splitlines():
        words = line.split()
        if words[:1] == [".ilb"]:
            latches = list(map(int, words[1:]))
            if not all(0 <= latch <= len(model.fluents) for latch in latches):
                raise ValueError(f"expected numbers of latches, found {line}")
        elif words and not line.startswith((".", "#")):
            values = {
                latch: value == "1" for latch, value in zip(latches, words[0], strict=True) if value != "-"
            }
            if values.pop(len(model.fluents), False):
                continue
            clause = tuple(2 * latch + 2 + (value != model.initial[latch]) for latch, value in values.items())
            found.append(clause)
    return found
