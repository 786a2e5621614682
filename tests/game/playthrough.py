"""Random matches written out in full, one for each rule sheet, to be kept and compared.

``python -m tests.game.playthrough --write`` writes them anew; read the differences before keeping them.
Without ``--write`` they are only compared.
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from itertools import zip_longest
from pathlib import Path
from random import Random
from textwrap import wrap
from typing import TYPE_CHECKING, Final

from tests.game.sheets import SHEETS, texts

import anygame

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

PLAYTHROUGHS: Final = Path(__file__).parents[1] / "data" / "playthroughs"

_SEED: Final = 2024
_WIDTH: Final = 110
_LONGEST: Final = 500


def playthrough(game: anygame.Game, seed: int = _SEED) -> Iterator[str]:
    """Yield the lines of a random match: states, legal moves, the moves made, the goals at the end."""
    random = Random(seed)
    state = game.initial_state()
    for number in range(_LONGEST):
        yield from _state(state, number)
        if state.is_terminal:
            yield from (f"goal {role}: {state.goal(role)}" for role in game.roles)
            return
        joint = [random.choice(state.legal_moves(role)) for role in game.roles]
        yield from _line("move", map(str, joint))
        if game.is_gdl2:
            for role, seen in state.percepts(joint).items():
                yield from _line(f"sees {role}", map(str, seen))
        yield ""
        state = state.next(joint)
    yield f"cut after {_LONGEST} moves"


def _state(state: anygame.State, number: int) -> Iterator[str]:
    yield f"state {number}{', terminal' if state.is_terminal else ''}"
    yield from _line("facts", texts(state.facts))
    for role in state.game.roles:
        yield from _line(f"legal {role}", map(str, state.legal_moves(role)))


def _line(title: str, terms: Iterable[str]) -> Iterator[str]:
    # Terms are kept whole: their own spaces are hidden from the wrapping.
    text = " ".join(term.replace(" ", "\0") for term in terms)
    lines = wrap(text, _WIDTH, initial_indent=f"{title}: ", subsequent_indent="    ",
                 break_long_words=False, break_on_hyphens=False)  # fmt: skip
    yield from (line.replace("\0", " ") for line in lines or [f"{title}:"])


def difference(kept: Sequence[str], found: Sequence[str]) -> str:
    """Return where two playthroughs first differ, and in which state; nothing if they do not."""
    state = "at the start"
    for number, (old, new) in enumerate(zip_longest(kept, found), 1):
        if old != new:
            return f"line {number}, {state}:\n  kept:  {old}\n  found: {new}"
        if old is not None and old.startswith("state "):
            state = f"in {old}"
    return ""


def main(arguments: Sequence[str] | None = None, folder: Path = PLAYTHROUGHS) -> int:
    """Compare the playthroughs of all rule sheets with those kept, or write them; return the exit status."""
    parser = ArgumentParser(prog="python -m tests.game.playthrough", description=__doc__)
    parser.add_argument("--write", action="store_true", help="write what is found")
    write = parser.parse_args(arguments).write
    status = 0
    for sheet in sorted(SHEETS.glob("*.kif")):
        path = folder / f"{sheet.stem}.txt"
        kept = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        found = list(playthrough(anygame.load(sheet)))
        changed = difference(kept, found)
        if changed and write:
            folder.mkdir(parents=True, exist_ok=True)
            path.write_text("\n".join(found) + "\n", encoding="utf-8")
        status = status or int(bool(changed) and not write)
        print(f"{path.name}: {changed or 'the same'}")
    return status


if __name__ == "__main__":
    sys.exit(main())
