from __future__ import annotations

import anygame
from anygame.boards import picture, text

NUMBERS = "(n 1) (n 2) (n 3) (role red) (role blue) (legal red go) (legal blue go) "


def drawing(sheet: str, *facts: str) -> str:
    game = anygame.loads(NUMBERS + sheet)
    state = game.state(facts) if facts else game.initial_state()
    return "\n" + text(picture(state)) + "\n"


TRAILS = """
(<= (base (cell ?x ?y wall)) (n ?x) (n ?y)) (<= (base (at ?p ?x ?y)) (role ?p) (n ?x) (n ?y))
(init (cell 1 1 wall)) (init (cell 2 1 wall)) (init (cell 3 1 wall)) (init (at red 1 2)) (init (at blue 3 3))
(<= (next (cell ?x ?y wall)) (true (at ?p ?x ?y))) (<= (next (at ?p ?x ?y)) (true (at ?p ?x ?y)))
"""


def test_two_fluents_of_one_board_lie_over_each_other() -> None:
    assert (
        drawing(TRAILS)
        == """
3  . . b    w wall
2  r . .    b blue
1  w w w    r red
   1 2 3
"""
    )


def test_boards_that_no_rule_joins_stay_apart() -> None:
    cells = "(<= (base ({0} ?x ?y ?c)) (n ?x) (n ?y) (c ?c)) "
    rule = "(<= (next ({0} ?x ?y ?c)) (true ({0} ?x ?y ?c)) (does red (mark ?x ?y)))"
    sheet = (cells + rule).format("one") + (cells + rule).format("two") + "(c x) (c b)"
    sheet += "".join(f"(init ({f} {x} {y} b))" for f in ("one", "two") for x in (1, 2, 3) for y in (1, 2, 3))
    found = picture(anygame.loads(NUMBERS + sheet).initial_state())
    assert [grid.title for grid in found.grids] == ["one", "two"]


def test_walls_stand_between_cells() -> None:
    sheet = TRAILS.replace("wall", "seen") + "(init (blockedEast 1 2)) (init (blockedNorth 2 2))"
    sheet += "(<= (next (at ?p ?x ?y)) (true (at ?p ?x ?y)) (true (blockedEast ?x ?y)))"
    sheet += "(<= (next (at ?p ?x ?y)) (true (at ?p ?x ?y)) (not (true (blockedNorth ?x ?y))))"
    assert (
        drawing(sheet, "(at red 1 2)", "(at blue 3 3)", "(blockedEast 1 2)", "(blockedNorth 2 2)")
        == """
3  . . b    s seen
     -      b blue
2  r|. .    r red

1  . . .
   1 2 3
"""
    )


def test_contents_that_name_sides_are_walls() -> None:
    sheet = "(<= (base (wall ?x ?y east)) (n ?x) (n ?y)) (<= (base (wall ?x ?y north)) (n ?x) (n ?y))"
    sheet += (
        "(<= (base (at ?p ?x ?y)) (role ?p) (n ?x) (n ?y)) (init (wall 1 1 east)) (init (wall 3 2 north))"
    )
    sheet += "(init (wall 3 2 north))"
    sheet += "(<= (next (at ?p ?x ?y)) (true (at ?p ?x ?y)) (not (true (wall ?x ?y east))))"
    assert (
        drawing(sheet, "(wall 1 1 east)", "(wall 3 2 north)", "(at red 1 1)")
        == """
3  . . .    b blue
       -    r red
2  . . .

1  r|. .
   1 2 3
"""
    )


def test_signs_between_cells_compare_them() -> None:
    sheet = "(<= (base (cell ?x ?y ?c)) (n ?x) (n ?y) (n ?c)) (init (gt_right 1 2)) (init (lt_below 3 3))"
    sheet += "(init (cell 1 1 1)) (<= (next (cell ?r ?c 3)) (true (cell ?r ?c ?v)) (true (gt_right ?r ?c)))"
    sheet += "(<= (next (cell ?r ?c 3)) (true (cell ?r ?c ?v)) (not (true (lt_below ?r ?c))))"
    found = picture(anygame.loads(NUMBERS + sheet).initial_state())
    walls = {(wall.side, wall.sign): found.cell(wall.cell).name for wall in found.grids[0].walls}
    assert walls == {("east", ">"): "1 2", ("south", "\u2227"): "3 3"}


def test_relations_that_always_hold_are_shown_if_their_name_suggests_it() -> None:
    sheet = TRAILS.replace("wall", "seen") + "(hole 2 2) (odd 1 1) (odd 3 3)"
    sheet += "(<= (next (at ?p ?x ?y)) (true (at ?p ?x ?y)) (not (hole ?x ?y)) (odd ?x ?y))"
    assert "2  r h ." in drawing(sheet)


def test_facts_off_the_board_are_listed() -> None:
    assert "at  (red 9 9)" in drawing(TRAILS, "(at red 9 9)", "(cell 1 1 wall)")


SMALL = """(role a) (legal a go) (n 1) (n 2) (k 1) (k 2) (c x)
(<= (base (mark ?i ?j ?x ?y ?c)) (k ?i) (k ?j) (n ?x) (n ?y) (c ?c)) (init (mark 2 1 1 2 x))"""


def test_boards_in_rows_and_columns_are_parts_of_one() -> None:
    assert (
        "\n" + text(picture(anygame.loads(SMALL).initial_state())) + "\n"
        == """
2 2  . .  . .
2 1  . .  . .

1 2  . .  x .
1 1  . .  . .
     1 2  1 2
      1    2
"""
    )


WHOLE = """(role a) (legal a go) (n 1) (n 2) (q 1) (q 2) (q 3) (q 4) (c x)
(<= (base (mark ?q ?x ?y ?c)) (q ?q) (n ?x) (n ?y) (c ?c)) (init (mark 1 1 1 x))
(<= (line ?c) (true (mark ?q ?x ?y ?c)) (global ?q ?x ?y ?gx ?gy) (n ?gx))
(<= (global 3 ?x ?y ?x ?y) (n ?x) (n ?y))
(<= (global 4 ?x ?y ?gx ?y) (plus ?x ?gx) (n ?y)) (plus 1 3) (plus 2 4)
(<= (global 1 ?x ?y ?x ?gy) (n ?x) (plus ?y ?gy)) (<= (global 2 ?x ?y ?gx ?gy) (plus ?x ?gx) (plus ?y ?gy))"""


def test_a_relation_tells_where_parts_of_a_board_lie() -> None:
    assert (
        "\n" + text(picture(anygame.loads(WHOLE).initial_state())) + "\n"
        == """
2  . .|. .
1  x .|. .
   - - - -
2  . .|. .
1  . .|. .
   1 2 1 2
"""
    )
