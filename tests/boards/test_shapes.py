from __future__ import annotations

import anygame
from anygame.boards import Layout, Picture, find_boards, picture, text


def board(sheet: str) -> Layout:
    (found,) = find_boards(anygame.loads(f"(role red) (role blue) {sheet}")).layouts
    return found


def drawn(sheet: str, *facts: str, legal_for: str = "") -> Picture:
    game = anygame.loads(f"(role red) (role blue) {sheet}")
    state = game.state(facts) if facts else game.initial_state()
    return picture(state, legal_for=legal_for or ())


def test_heaps_are_a_row_of_numbered_pits() -> None:
    sheet = "(init (heap a 3)) (init (heap b 1)) (init (heap c 2)) (legal blue pass)"
    sheet += "(<= (legal red (take ?h ?n)) (true (heap ?h ?m)) (n ?n)) (n 1) (n 2)"
    sheet += "(<= (next (heap ?h ?n)) (true (heap ?h ?n)))"
    found = drawn(sheet, legal_for="red")
    assert text(found) == "a b c\n3 1 2"
    assert {cell.shape for cell in found.cells()} == {"pit"}
    assert [found.cell(touch.cells[0]).name for touch in found.touches] == ["a", "a", "b", "b", "c", "c"]


def test_rows_of_pits_belong_to_players() -> None:
    pits = "".join(f"(init (pit {role} {n} 4))" for role in ("red", "blue") for n in (1, 2, 3))
    sheet = f"{pits} (seeds 4) (seeds 5) (legal red pass) (legal blue pass)"
    sheet += "(<= (next (pit ?r ?n ?s)) (true (pit ?r ?n ?s)) (seeds ?s))"
    assert text(drawn(sheet)) == "      1 2 3\nblue  4 4 4\n red  4 4 4"


STAR = {"a": 1, "b": 2, "c": 7, "d": 6, "e": 5, "f": 6, "g": 7, "h": 2, "i": 1}


def star(*, facts: bool) -> str:
    cells = [f"{row}{n}" for row, count in STAR.items() for n in range(1, count + 1)]
    sheet = "".join(f"(init (cell {cell} {'red' if cell == 'a1' else 'blank'}))" for cell in cells)
    near = [("a1", "b1"), ("a1", "b2"), ("b1", "b2"), ("b1", "c3"), ("b1", "c4"), ("b2", "c4"), ("b2", "c5")]
    near += [("d1", "e1"), ("e1", "f1"), ("e1", "f2"), ("h1", "i1"), ("h2", "i1")]
    return sheet + "".join(f"(near {one} {other})" for one, other in near if facts)


def test_rows_are_centred_where_neighbours_then_touch() -> None:
    found = board(star(facts=True))
    assert (found.shape, found.offsets) == ("hexagon", (6, 5, 0, 1, 2, 1, 0, 5, 6))
    assert board(star(facts=False)).shape == "square"


DOTS = """(n 1) (n 2) (n 3) (succ 1 2) (succ 2 3) (legal blue pass) (owner x) (owner o)
(<= (free ?x ?y ?x ?v) (n ?x) (succ ?y ?v) (not (true (edge ?x ?y ?x ?v))))
(<= (free ?x ?y ?u ?y) (succ ?x ?u) (n ?y) (not (true (edge ?x ?y ?u ?y))))
(<= (legal red (draw ?x ?y ?u ?v)) (free ?x ?y ?u ?v))
(<= (next (edge ?x ?y ?u ?v)) (does red (draw ?x ?y ?u ?v)))
(<= (next (edge ?x ?y ?u ?v)) (true (edge ?x ?y ?u ?v)))
(<= (next (box ?x ?y ?o)) (owner ?o) (succ ?x ?u) (succ ?y ?v)
    (true (edge ?x ?y ?x ?v)) (true (edge ?u ?y ?u ?v)))
"""


def test_lines_join_dots_beside_the_board_of_boxes() -> None:
    found = drawn(DOTS, "(edge 1 1 2 1)", "(edge 1 1 1 2)", "(box 2 2 x)", "(edge 1 1 3 3)")
    assert (
        "\n" + text(found) + "\n"
        == """
box       edge
2  . x    3  +   +   +
1  . .
   1 2    2  +   +   +
             |
          1  +---+   +
             1   2   3

edge  (1 1 3 3)
"""
    )
    assert sum(cell.shape == "line" for cell in found.cells()) == 12
    assert sum(cell.shape == "square" for cell in found.cells()) == 4


def test_moves_name_lines() -> None:
    found = drawn(DOTS, legal_for="red")
    assert len(found.touches) == 12
    assert {len(touch.cells) for touch in found.touches} == {1}
    first = found.touches[0]
    assert found.cell(first.cells[0]).name == str(first.move)[6:-1]


def test_a_trail_fills_its_cells() -> None:
    sheet = "(n 1) (n 2) (n 3) (<= (base (trail ?x ?y seen)) (n ?x) (n ?y)) (init (trail 1 1 seen))"
    (cell,) = (cell for cell in drawn(sheet).cells() if cell.things)
    assert cell.things[0].look.form == "block"


def test_a_larger_board_that_fills_in_play_is_shown_too() -> None:
    sheet = """(n 1) (n 2) (n 3) (<= (base (small ?x ?y ?c)) (n ?x) (n ?y) (mark ?c)) (mark x) (mark b)
        (<= (base (large ?i ?j ?x ?y x)) (n ?i) (n ?j) (n ?x) (n ?y)) (legal red go)"""
    sheet += "".join(f"(init (small {x} {y} b))" for x in (1, 2, 3) for y in (1, 2, 3))
    assert [grid.title for grid in drawn(sheet).grids] == ["small", "large"]
