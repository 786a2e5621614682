"""Rule sheets of board games of any size, for tests and measurements of exact solutions."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

Cells = frozenset[tuple[int, int]]

_TURNS = """
(role first) (role second) (init (control first)) (other first second) (other second first)
(<= (legal ?r noop) (other ?r ?s) (true (control ?s)))
"""
_ALTERNATE = "(<= (next (control ?s)) (true (control ?r)) (other ?r ?s))"
#: `line` holds for who has made one; `room` while there is a move.
_LINES_WIN = """
(<= won (line ?r)) (<= terminal won) (<= terminal (not room))
(<= (goal ?r 100) (line ?r)) (<= (goal ?r 0) (other ?r ?s) (line ?s)) (<= (goal ?r 50) (role ?r) (not won))
"""


def connect(columns: int, rows: int, length: int = 4) -> str:
    """Return connect-k: discs fall down columns, so many in a line win. Moves are (drop COLUMN)."""
    board = set(product(range(1, columns + 1), range(1, rows + 1)))
    shapes = [
        frozenset((n * across, n * up) for n in range(length))
        for across, up in ((1, 0), (0, 1), (1, 1), (1, -1))
    ]
    return "\n".join(
        [
            _TURNS,
            _facts("column", range(1, columns + 1)),
            _successors("above", rows),
            f"(<= (legal ?r (drop ?x)) (true (control ?r)) (column ?x) (not (filled ?x {rows})))",
            "(<= (filled ?x ?y) (true (cell ?x ?y ?r)))",
            "(<= (rest ?x 1) (column ?x) (not (filled ?x 1)))",
            "(<= (rest ?x ?v) (above ?y ?v) (filled ?x ?y) (not (filled ?x ?v)))",
            "(<= (next (cell ?x ?y ?r)) (does ?r (drop ?x)) (rest ?x ?y))",
            "(<= (next (cell ?x ?y ?r)) (true (cell ?x ?y ?r)))",
            _ALTERNATE,
            f"(<= room (column ?x) (not (filled ?x {rows})))",
            *_lines(board, shapes),
            _LINES_WIN,
        ]
    )


def polyomino_game(columns: int, rows: int, shape: Iterable[tuple[int, int]]) -> str:
    """Return generalised tic-tac-toe (Harary): who first owns the cells of a shape in any position wins."""
    board = set(product(range(1, columns + 1), range(1, rows + 1)))
    turned = {frozenset(shape)}
    for _ in range(3):
        turned |= {frozenset((-y, x) for x, y in each) for each in turned}
    turned |= {frozenset((-x, y) for x, y in each) for each in turned}
    return "\n".join(
        [
            _TURNS,
            *(f"(place {x} {y})" for x, y in sorted(board)),
            "(<= (free ?x ?y) (place ?x ?y) (not (filled ?x ?y)))",
            "(<= (filled ?x ?y) (true (cell ?x ?y ?r)))",
            "(<= (legal ?r (mark ?x ?y)) (true (control ?r)) (free ?x ?y))",
            "(<= (next (cell ?x ?y ?r)) (does ?r (mark ?x ?y)))",
            "(<= (next (cell ?x ?y ?r)) (true (cell ?x ?y ?r)))",
            _ALTERNATE,
            "(<= room (free ?x ?y))",
            *_lines(board, turned),
            _LINES_WIN,
        ]
    )


def breakthrough(columns: int, rows: int) -> str:
    """Return breakthrough, two ranks of men each: who comes to the other side wins, who cannot move loses."""
    men = [
        f"(init (cell {x} {y} {role}))"
        for x in range(1, columns + 1)
        for role, ranks in (("first", (1, 2)), ("second", (rows - 1, rows)))
        for y in ranks
    ]
    return "\n".join(
        [
            _TURNS,
            *men,
            _successors("right", columns),
            _successors("up", rows),
            "(<= (ahead first ?y ?v) (up ?y ?v)) (<= (ahead second ?v ?y) (up ?y ?v))",
            "(<= (beside ?x ?u) (right ?x ?u)) (<= (beside ?u ?x) (right ?x ?u))",
            "(<= (filled ?x ?y) (true (cell ?x ?y ?r)))",
            "(<= (step ?r ?x ?y ?x ?v) (true (cell ?x ?y ?r)) (ahead ?r ?y ?v) (not (filled ?x ?v)))",
            "(<= (step ?r ?x ?y ?u ?v) (true (cell ?x ?y ?r)) (ahead ?r ?y ?v) (beside ?x ?u)"
            " (not (true (cell ?u ?v ?r))))",
            "(<= (legal ?r (move ?x ?y ?u ?v)) (true (control ?r)) (step ?r ?x ?y ?u ?v))",
            "(<= (left ?x ?y) (does ?r (move ?x ?y ?u ?v))) (<= (left ?u ?v) (does ?r (move ?x ?y ?u ?v)))",
            "(<= (next (cell ?u ?v ?r)) (does ?r (move ?x ?y ?u ?v)))",
            "(<= (next (cell ?x ?y ?r)) (true (cell ?x ?y ?r)) (not (left ?x ?y)))",
            _ALTERNATE,
            f"(<= (won first) (true (cell ?x {rows} first))) (<= (won second) (true (cell ?x 1 second)))",
            "(<= (able ?r) (step ?r ?x ?y ?u ?v))",
            "(<= (won ?s) (true (control ?r)) (other ?r ?s) (not (able ?r)) (not arrived))",
            f"(<= arrived (true (cell ?x {rows} first))) (<= arrived (true (cell ?x 1 second)))",
            "(<= terminal (won ?r))",
            "(<= (goal ?r 100) (won ?r)) (<= (goal ?r 0) (other ?r ?s) (won ?s))",
        ]
    )


def dots_and_boxes(columns: int, rows: int) -> str:
    """Return dots and boxes: who closes a box has it, and draws again; the goal counts the boxes."""
    boxes = columns * rows
    completes = []
    edges: set[str] = set()
    for x, y in product(range(columns), range(rows)):
        sides = [f"(h {x} {y})", f"(h {x} {y + 1})", f"(v {x} {y})", f"(v {x + 1} {y})"]
        edges.update(sides)
        for side in sides:
            drawn = " ".join(f"(true (drawn {other}))" for other in sides if other != side)
            completes.append(f"(<= (completes {side} (box {x} {y})) {drawn})")
    worth = [round(100 * n / boxes) for n in range(boxes + 1)]
    return "\n".join(
        [
            _TURNS,
            *(f"(edge {edge})" for edge in sorted(edges)),
            *completes,
            _successors("more", boxes, first=0),
            "(init (score 0))",
            "(<= (legal ?r (draw ?e)) (true (control ?r)) (edge ?e) (not (true (drawn ?e))))",
            "(<= (next (drawn ?e)) (does ?r (draw ?e))) (<= (next (drawn ?e)) (true (drawn ?e)))",
            "(<= (closes ?r) (does ?r (draw ?e)) (completes ?e ?b))",
            "(<= (closes_two ?r) (does ?r (draw ?e)) (completes ?e ?a) (completes ?e ?b) (distinct ?a ?b))",
            "(<= anyone (closes ?r))",
            "(<= (next (control ?r)) (closes ?r))",
            "(<= (next (control ?s)) (true (control ?r)) (other ?r ?s) (not anyone))",
            "(<= (next (score ?n)) (true (score ?n)) (not (closes first)))",
            "(<= (next (score ?m)) (true (score ?n)) (more ?n ?m) (closes first) (not (closes_two first)))",
            "(<= (next (score ?k)) (true (score ?n)) (more ?n ?m) (more ?m ?k) (closes_two first))",
            "(<= open (edge ?e) (not (true (drawn ?e)))) (<= terminal (not open))",
            *(f"(<= (goal first {worth[n]}) (true (score {n})))" for n in range(boxes + 1)),
            *(f"(<= (goal second {100 - worth[n]}) (true (score {n})))" for n in range(boxes + 1)),
        ]
    )


def nim(*heaps: int) -> str:
    """Return nim: who takes the last object wins. Moves are (leave HEAP NUMBER)."""
    return "\n".join(
        [
            _TURNS,
            *(f"(init (heap h{number} {size}))" for number, size in enumerate(heaps)),
            _successors("less", max(heaps), first=0),
            "(<= (above ?n ?m) (less ?m ?n)) (<= (above ?n ?k) (less ?m ?n) (above ?m ?k))",
            "(<= (legal ?r (leave ?h ?m)) (true (control ?r)) (true (heap ?h ?n)) (above ?n ?m))",
            "(<= (next (heap ?h ?m)) (does ?r (leave ?h ?m)))",
            "(<= (next (heap ?h ?n)) (true (heap ?h ?n)) (does ?r (leave ?g ?m)) (distinct ?g ?h))",
            _ALTERNATE,
            "(<= some_left (true (heap ?h ?n)) (above ?n 0))",
            "(<= terminal (not some_left))",
            "(<= (goal ?r 100) (other ?r ?s) (true (control ?s))) (<= (goal ?r 0) (true (control ?r)))",
        ]
    )


def _facts(name: str, values: Iterable[int]) -> str:
    return " ".join(f"({name} {value})" for value in values)


def _successors(name: str, last: int, first: int = 1) -> str:
    return " ".join(f"({name} {n} {n + 1})" for n in range(first, last))


def _lines(board: set[tuple[int, int]], shapes: Iterable[Cells]) -> list[str]:
    """Return a rule for every place of every shape on the board."""
    places = {
        frozenset((x + dx, y + dy) for dx, dy in shape)
        for shape in shapes
        for x, y in product(*(range(-9, 19) for _ in range(2)))
    }
    return [
        "(<= (line ?r) " + " ".join(f"(true (cell {x} {y} ?r))" for x, y in sorted(place)) + ")"
        for place in sorted(places, key=sorted)
        if place <= board
    ]
