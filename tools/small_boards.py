"""Sheets of board games on small boards, for learning: made for any size."""

from __future__ import annotations

import re
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Final

import anygame

if TYPE_CHECKING:
    from anygame.game.backends import MachineName

_SHEETS: Final = Path(__file__).parents[1] / "gdl"


def connect_four(rows: int, columns: int) -> str:
    """Return the sheet of connect four on a board of another size."""
    text = (_SHEETS / "connect_four.kif").read_text(encoding="utf-8")
    names, numbers = "abcdefgh"[:rows], range(1, columns + 1)
    facts = [f"(row {name})" for name in names] + [f"(column {number})" for number in numbers]
    facts += [f"(above {upper} {lower})" for upper, lower in pairwise(names)]
    facts += [f"(leftOf {left} {right})" for left, right in pairwise(numbers)]
    text = re.sub(r"^\((row|column|above|leftOf) .*$", "", text, flags=re.MULTILINE)
    return re.sub(r"\((rest|filled) f ", rf"(\1 {names[-1]} ", text) + "\n".join(facts)


def hex_board(size: int) -> str:
    """Return a sheet of hex: red joins top and bottom, blue left and right."""
    last = size
    facts = [f"(index {number})" for number in range(1, size + 1)]
    facts += [f"(next_to {here} {there})" for here, there in pairwise(range(1, size + 1))]
    rules = f"""
        (role red) (role blue) (other red blue) (other blue red)
        (<= (base (cell ?r ?c ?p)) (index ?r) (index ?c) (role ?p)) (<= (base (control ?p)) (role ?p))
        (<= (input ?p (place ?r ?c)) (role ?p) (index ?r) (index ?c)) (<= (input ?p noop) (role ?p))
        (init (control red))
        (<= (taken ?r ?c) (true (cell ?r ?c ?p)))
        (<= (legal ?p (place ?r ?c)) (true (control ?p)) (index ?r) (index ?c) (not (taken ?r ?c)))
        (<= (legal ?p noop) (role ?p) (not (true (control ?p))))
        (<= (next (cell ?r ?c ?p)) (does ?p (place ?r ?c)))
        (<= (next (cell ?r ?c ?p)) (true (cell ?r ?c ?p)))
        (<= (next (control ?q)) (true (control ?p)) (other ?p ?q))
        (<= (step ?r ?c ?r ?d) (index ?r) (next_to ?c ?d))
        (<= (step ?r ?c ?s ?c) (index ?c) (next_to ?r ?s))
        (<= (step ?r ?c ?s ?d) (next_to ?r ?s) (next_to ?d ?c))
        (<= (joined red 1 ?c) (true (cell 1 ?c red)))
        (<= (joined blue ?r 1) (true (cell ?r 1 blue)))
        (<= (joined ?p ?r ?c) (joined ?p ?s ?d) (step ?s ?d ?r ?c) (true (cell ?r ?c ?p)))
        (<= (joined ?p ?r ?c) (joined ?p ?s ?d) (step ?r ?c ?s ?d) (true (cell ?r ?c ?p)))
        (<= (won red) (joined red {last} ?c)) (<= (won blue) (joined blue ?r {last}))
        (<= terminal (won ?p))
        (<= (goal ?p 100) (won ?p)) (<= (goal ?q 0) (other ?p ?q) (won ?p))
        (<= (goal ?p 50) (role ?p) (not (won red)) (not (won blue)))
    """
    return rules + " ".join(facts)


#: The games that are made here, by name.
SMALL: Final = {"connect_four_small": partial(connect_four, 5, 5), "hex_5x5": partial(hex_board, 5)}


def find_game(name: str, machine: MachineName = "auto") -> anygame.Game:
    """Return the game that a name or a path means."""
    if name in SMALL:
        return anygame.loads(SMALL[name](), name=name, machine=machine)
    return anygame.load(name, machine=machine, lenient=True)
