from __future__ import annotations

import pytest

import anygame
from anygame.boards import Piece, draw, picture, text
from anygame.boards.drawing.pictures import abbreviate
from anygame.boards.drawing.terminal import draw_boards, plain_text

GRID = "(n 1) (n 2) (n 3) (<= (base (cell ?x ?y ?c)) (n ?x) (n ?y) (content ?c)) (role x) (legal x go)"


def drawing(sheet: str, *facts: str, width: int = 80) -> str:
    game = anygame.loads(sheet)
    return "\n" + plain_text(draw_boards(picture(game.state(facts)), width=width)) + "\n"


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        ("x o", "x o"),
        ("red blue", "r b"),
        ("wk wq", "wk wq"),
        ("black blue", "ba bu"),
        ("on off", "on off"),
        ("blackKing blackKnight whiteKing whiteKnight", "bKi bKn wKi wKn"),
        ("b black", "b bl"),
        ("p001 p010 p100", "p001 p010 p100"),
        ("prisoner1 prisoner2 prisoner3", "p1 p2 p3"),
        ("a_very_long_name", "a"),
        ("mov_up mov_down", "mu md"),
    ],
)
def test_abbreviations_are_short_and_tell_names_apart(names: str, expected: str) -> None:
    assert abbreviate(names.split()) == expected.split()


def test_abbreviations_of_many_names_are_unique() -> None:
    names = [f"{one}{two}thing{three}" for one in "abc" for two in "abc" for three in "xyz"] + ["a1", "b2"]
    found = abbreviate(names)
    assert len(set(found)) == len(names)
    assert max(map(len, found)) <= 3


def test_things_stand_where_they_are() -> None:
    sheet = GRID + "(content red) (content blue)"
    drawn = drawing(sheet, "(cell 1 1 red)", "(cell 3 1 blue)", "(cell 2 3 red)")
    assert (
        drawn
        == """
3  . r .    b blue
2  . . .    r red
1  r . b
   1 2 3
"""
    )


def test_several_things_on_one_square_are_all_shown() -> None:
    sheet = GRID + "(content red) (content blue)"
    drawn = drawing(sheet, "(cell 2 2 red)", "(cell 2 2 blue)")
    assert (
        drawn
        == """
3  .   .   .    b blue
2  .   b+r .    r red
1  .   .   .
   1   2   3
"""
    )


def test_unexpected_contents_of_cells_are_shown() -> None:
    drawn = drawing(GRID + "(content red)", "(cell 1 1 gold)", "(cell 1 2 (pile 3))")
    assert (
        drawn
        == """
3  .  .  .    r red
2  p3 .  .    p3 (pile 3)
1  g  .  .    g gold
   1  2  3
"""
    )


def test_squares_without_their_blank_are_left_open() -> None:
    sheet = GRID + "(content red) (content b) (init (cell 1 1 b))"
    drawn = drawing(sheet, "(cell 1 1 b)", "(cell 1 2 b)", "(cell 2 2 red)")
    assert (
        drawn
        == """
3           r red
2  . r      . b
1  .
   1 2 3
"""
    )


def test_marks_need_no_content() -> None:
    sheet = "(n 1) (n 2) (<= (base (marked ?x ?y)) (n ?x) (n ?y)) (role x) (legal x go)"
    drawn = drawing(sheet, "(marked 1 2)")
    assert (
        drawn
        == """
2  x .
1  . .
   1 2
"""
    )


def test_boards_stand_side_by_side_as_far_as_they_fit() -> None:
    sheet = "(n 1) (n 2) (n 3) (k 1) (k 2) (content red) (role x) (legal x go)"
    sheet += "(<= (base (cell ?k ?x ?y ?c)) (k ?k) (n ?x) (n ?y) (content ?c))"
    drawn = drawing(sheet, "(cell 2 1 1 red)")
    assert (
        drawn
        == """
1           2           r red
3  . . .    3  . . .
2  . . .    2  . . .
1  . . .    1  r . .
   1 2 3       1 2 3
"""
    )
    drawn = drawing(sheet, "(cell 2 1 1 red)", width=19)
    assert (
        drawn
        == """
1
3  . . .
2  . . .
1  . . .
   1 2 3

2           r red
3  . . .
2  . . .
1  r . .
   1 2 3
"""
    )


def test_legend_of_many_things_tells_only_of_those_that_are_there() -> None:
    contents = " ".join(f"(content creature{n})" for n in range(20))
    drawn = drawing(GRID + contents, "(cell 1 1 creature7)")
    assert (
        drawn
        == """
3  .   .   .    c7 creature7
2  .   .   .
1  c7  .   .
   1   2   3
"""
    )


def test_stones_differ_in_form_and_colour() -> None:
    game = anygame.loads(GRID + "(content red) (content white) (content kite)")
    state = game.state(["(cell 1 1 red)", "(cell 2 1 white)", "(cell 3 1 kite)"])
    lines = draw(picture(state), colours=True)
    line = [piece for piece in lines[2] if piece.text.strip()]
    assert line[:4] == [Piece("1", "dim"), Piece("●", "bright_red"), Piece("○", "bold"), Piece("k")]


def listed(*facts: str, width: int = 80) -> list[str]:
    game = anygame.loads("(role red) (legal red go)")
    return text(picture(game.state(facts)), width=width).splitlines()


def test_facts_are_listed_by_fluent() -> None:
    assert listed("(step 3)", "(score x 1)", "(score o 2)", "lit", "(at (pos 1 2))") == [
        "at     (pos 1 2)",
        "score  (o 2)  (x 1)",
        "step   3",
        "lit",
    ]


def test_long_lists_of_facts_are_cut_with_a_count() -> None:
    lines = listed(*(f"(near {n} {n + 1})" for n in range(100)), width=40)
    assert len(lines) == 4
    shown = sum(line.count("(") for line in lines[:3])
    assert lines[3].strip() == f"... and {100 - shown} more"
    assert all(len(line) <= 40 for line in lines)


def test_facts_that_name_a_role_have_its_colour() -> None:
    game = anygame.loads("(role red) (role x) (legal red go) (legal x go)")
    (line,) = draw(picture(game.state(["(control red)"])), colours=True)
    assert line[-1] == Piece("red", "bright_red")


def test_picture_without_a_board_is_the_list() -> None:
    game = anygame.loads("(role x) (legal x go) (init (step 1))")
    assert text(picture(game.initial_state())) == "step  1"


def test_a_content_that_fills_a_cell_is_a_block_under_other_contents() -> None:
    game = anygame.loads(GRID + "(content wall) (content red)")
    state = game.state(["(cell 1 1 wall)", "(cell 2 1 wall)", "(cell 2 1 red)"])
    line = [piece.text for piece in draw(picture(state), colours=True)[2] if piece.text.strip()]
    assert line[:4] == ["1", "▒", "●", "."]


def test_pieces_of_chess_stand_on_light_and_dark_squares() -> None:
    game = anygame.loads(GRID + "(content wk) (content bk) (content wn) (content bn)")
    state = game.state(["(cell 1 1 wk)", "(cell 2 1 bn)"])
    line = [piece for piece in draw(picture(state), colours=True)[2] if piece.text.strip()]
    assert [piece.text.strip() for piece in line[:3]] == ["1", "♚", "♞"]
    assert line[1].style == "bold #ffffff on #8a6546"
    assert line[2].style == "bold #000000 on #c2a47c"
    assert "wk bn" in text(picture(state))
