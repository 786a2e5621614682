"""Sheets of board games on small boards of any size, for learning."""

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
    """Return the sheet of Connect Four on a board of the given size."""
    text = (_SHEETS / "connect_four.kif").read_text(encoding="utf-8")
    names, numbers = "abcdefgh"[:rows], range(1, columns + 1)
    facts = [f"(row {name})" for name in names] + [f"(column {number})" for number in numbers]
    facts += [f"(above {upper} {lower})" for upper, lower in pairwise(names)]
    facts += [f"(leftOf {left} {right})" for left, right in pairwise(numbers)]
    text = re.sub(r"^\((row|column|above|leftOf) .*$", "", text, flags=re.MULTILINE)
    return re.sub(r"\((rest|filled) f ", rf"(\1 {names[-1]} ", text) + "\n".join(facts)


def hex_board(size: int) -> str:
    """Return a sheet of Hex: red connects top and bottom, blue connects left and right."""
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


def breakthrough(columns: int, rows: int) -> str:
    """Return a sheet of Breakthrough, with two rows of pawns for each side."""
    whites, blacks = (1, 2), (rows - 1, rows)
    facts = [f"(column {x})" for x in range(1, columns + 1)]
    facts += [f"(forward white {y} {y + 1}) (forward black {y + 1} {y})" for y in range(1, rows)]
    facts += [f"(beside {x} {x + 1}) (beside {x + 1} {x})" for x in range(1, columns)]
    for role, (first, second) in (("white", whites), ("black", blacks)):
        facts += [f"(init (cell {x} {y} {role}))" for x in range(1, columns + 1) for y in (first, second)]
    rules = f"""
        (role white) (role black) (other white black) (other black white) (init (control white))
        (last white {rows}) (last black 1)
        (<= (legal ?p (move ?x ?y ?x ?z)) (true (control ?p)) (true (cell ?x ?y ?p)) (forward ?p ?y ?z)
            (not (true (cell ?x ?z white))) (not (true (cell ?x ?z black))))
        (<= (legal ?p (move ?x ?y ?w ?z)) (true (control ?p)) (true (cell ?x ?y ?p)) (forward ?p ?y ?z)
            (beside ?x ?w) (not (true (cell ?w ?z ?p))))
        (<= (legal ?p noop) (role ?p) (not (true (control ?p))))
        (<= (changed ?x ?y) (does ?p (move ?x ?y ?w ?z))) (<= (changed ?w ?z) (does ?p (move ?x ?y ?w ?z)))
        (<= (next (cell ?w ?z ?p)) (does ?p (move ?x ?y ?w ?z)))
        (<= (next (cell ?x ?y ?p)) (true (cell ?x ?y ?p)) (not (changed ?x ?y)))
        (<= (next (control ?q)) (true (control ?p)) (other ?p ?q))
        (<= (has ?p) (true (cell ?x ?y ?p)))
        (<= (won ?p) (last ?p ?y) (column ?x) (true (cell ?x ?y ?p)))
        (<= (won ?p) (other ?p ?q) (not (has ?q)))
        (<= terminal (won ?p)) (<= (goal ?p 100) (won ?p)) (<= (goal ?q 0) (other ?p ?q) (won ?p))
    """
    return rules + " ".join(facts)


def dots_and_boxes(rows: int, columns: int) -> str:
    """Return a sheet of Dots and Boxes; the role with more boxes wins."""
    boxes = [(row, column) for row in range(rows) for column in range(columns)]
    facts = []
    for row, column in boxes:
        sides = (
            f"(h {row} {column})",
            f"(h {row + 1} {column})",
            f"(v {row} {column})",
            f"(v {row} {column + 1})",
        )
        facts += [f"(side (box {row} {column}) {side})" for side in sides]
    facts += [f"(succ {n} {n + 1})" for n in range(len(boxes))]
    for n in range(len(boxes) + 1):
        goals = (100, 0) if 2 * n > len(boxes) else (0, 100) if 2 * n < len(boxes) else (50, 50)
        facts += [f"(worth {role} {n} {goal})" for role, goal in zip(("x", "o"), goals, strict=True)]
    rules = """
        (role x) (role o) (other x o) (other o x) (init (control x)) (init (score 0))
        (<= (edge ?e) (side ?b ?e))
        (<= (legal ?p (draw ?e)) (true (control ?p)) (edge ?e) (not (true (line ?e))))
        (<= (legal ?p noop) (role ?p) (not (true (control ?p))))
        (<= (drawn ?e) (true (line ?e))) (<= (drawn ?e) (does ?p (draw ?e)))
        (<= (open ?b) (side ?b ?e) (not (drawn ?e)))
        (<= (closed ?b) (does ?p (draw ?e)) (side ?b ?e) (not (open ?b)))
        (<= one (closed ?b)) (<= two (closed ?b) (closed ?c) (distinct ?b ?c))
        (<= (next (line ?e)) (drawn ?e))
        (<= (next (control ?p)) (true (control ?p)) one)
        (<= (next (control ?q)) (true (control ?p)) (other ?p ?q) (not one))
        (<= gained (true (control x)) one)
        (<= (next (score ?n)) (true (score ?n)) (not gained))
        (<= (next (score ?m)) (true (score ?n)) gained (not two) (succ ?n ?m))
        (<= (next (score ?k)) (true (score ?n)) gained two (succ ?n ?m) (succ ?m ?k))
        (<= free (edge ?e) (not (true (line ?e)))) (<= terminal (not free))
        (<= (goal ?p ?g) (true (score ?n)) (worth ?p ?n ?g) (not free))
    """
    return rules + " ".join(facts)


#: Shapes of four cells, as rows and columns; Harary named the shapes for generalised tic-tac-toe.
TETROMINOES: Final = {
    "skinny": ((0, 0), (0, 1), (0, 2), (0, 3)),
    "knobby": ((0, 0), (0, 1), (0, 2), (1, 1)),
    "elly": ((0, 0), (0, 1), (0, 2), (1, 0)),
    "tippy": ((0, 0), (0, 1), (1, 1), (1, 2)),
    "fatty": ((0, 0), (0, 1), (1, 0), (1, 1)),
}


def tic_tac_toe(size: int, shape: str, first: int, later: int) -> str:
    """Return a sheet of generalised tic-tac-toe: the first role with the shape, in any orientation, wins.

    Args:
        size: number of rows, and of columns.
        shape: one of ``TETROMINOES``.
        first: number of stones in the first turn.
        later: number of stones in each later turn.
    """
    cells: tuple[tuple[int, int], ...] = TETROMINOES[shape]
    turned: set[tuple[tuple[int, int], ...]] = set()
    for _ in range(4):
        cells = tuple((column, -row) for row, column in cells)
        for lying in (cells, tuple((row, -column) for row, column in cells)):
            top, left = min(row for row, _ in lying), min(column for _, column in lying)
            turned.add(tuple(sorted((row - top, column - left) for row, column in lying)))
    lines = []
    for lying in sorted(turned):
        for down in range(size - max(row for row, _ in lying)):
            for right in range(size - max(column for _, column in lying)):
                held = " ".join(f"(true (cell {r + down} {c + right} ?p))" for r, c in lying)
                lines.append(f"(<= (won ?p) {held})")
    numbers = " ".join(f"(index {n})" for n in range(size))
    fewer = " ".join(f"(fewer {n + 1} {n})" for n in range(1, max(first, later)))
    return f"""
        (role x) (role o) (other x o) (other o x) (init (control x {first})) (stones {later})
        {numbers} {fewer}
        (<= (taken ?r ?c) (true (cell ?r ?c ?p)))
        (<= (legal ?p (mark ?r ?c)) (true (control ?p ?n)) (index ?r) (index ?c) (not (taken ?r ?c)))
        (<= (waits ?q) (true (control ?p ?n)) (other ?p ?q)) (<= (legal ?q noop) (waits ?q))
        (<= (next (cell ?r ?c ?p)) (does ?p (mark ?r ?c))) (<= (next (cell ?r ?c ?p)) (true (cell ?r ?c ?p)))
        (<= (next (control ?p ?m)) (true (control ?p ?n)) (fewer ?n ?m))
        (<= (next (control ?q ?n)) (true (control ?p 1)) (other ?p ?q) (stones ?n))
        (<= free (index ?r) (index ?c) (not (taken ?r ?c)))
        {" ".join(lines)}
        (<= decided (won ?p)) (<= terminal decided) (<= terminal (not free))
        (<= (goal ?p 100) (won ?p)) (<= (goal ?q 0) (other ?p ?q) (won ?p))
        (<= (goal ?p 50) (role ?p) (not decided) (not free))
    """


#: The functions that return sheets, by the name of the game.
SMALL: Final = {
    "connect_four_small": partial(connect_four, 5, 5),
    "hex_5x5": partial(hex_board, 5),
    "connect_four_4x4": partial(connect_four, 4, 4),
    "breakthrough_3x4": partial(breakthrough, 3, 4),
    "breakthrough_3x5": partial(breakthrough, 3, 5),
    "breakthrough_4x4": partial(breakthrough, 4, 4),
    "dots_and_boxes_2x2": partial(dots_and_boxes, 2, 2),
    "dots_and_boxes_2x3": partial(dots_and_boxes, 2, 3),
    "knobby_4x4_1_1": partial(tic_tac_toe, 4, "knobby", 1, 1),
    "skinny_4x4_2_2": partial(tic_tac_toe, 4, "skinny", 2, 2),
}


def find_game(name: str, machine: MachineName = "auto") -> anygame.Game:
    """Return the game with a name or a path."""
    if name in SMALL:
        return anygame.loads(SMALL[name](), name=name, machine=machine)
    return anygame.load(name, machine=machine, lenient=True)
