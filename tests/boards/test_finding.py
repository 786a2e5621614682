from __future__ import annotations

import pytest

import anygame
from anygame.boards import Boards, Layout, find_boards

CELLS = """
(number 1) (number 2) (number 3) (number 4)
(<= (base (cell ?a ?b ?c)) (number ?a) (number ?b) (content ?c))
"""


def boards(sheet: str) -> Boards:
    return find_boards(anygame.loads(f"(role red) (role blue) (legal red go) (legal blue go) {sheet}"))


def board(sheet: str) -> Layout:
    found = boards(sheet)
    assert len(found.layouts) == 1, found
    return found.layouts[0]


def names(values: object) -> str:
    assert isinstance(values, tuple | frozenset)
    return " ".join(map(str, values))


def test_two_ordered_arguments_and_a_content_are_a_board() -> None:
    found = board(f"{CELLS} (content white) (content b) (init (cell 1 1 b)) (init (turn 1))")
    assert (found.functor, found.arity, found.contents, found.shape) == ("cell", 3, (2,), "square")
    assert found.size == 16
    assert [names(value) for value in found.values] == ["b", "white"]
    assert found.blank is not None
    assert names(found.blank) == "b"


def test_x_runs_to_the_right_and_y_upwards() -> None:
    found = board(f"{CELLS} (content white)")
    assert (found.column, found.row) == (0, 1)
    assert (names(found.columns), names(found.rows)) == ("1 2 3 4", "4 3 2 1")


@pytest.mark.parametrize(
    ("names_of_arguments", "row", "first"),
    [
        ("?row ?col", 0, "1"),
        ("?r ?c", 0, "1"),
        ("?column1 ?row2", 1, "1"),
        ("?x ?y", 1, "4"),
        ("?y ?x", 0, "4"),
        ("?file ?rank", 1, "4"),
        ("?m ?n", 1, "4"),
    ],
)
def test_names_of_variables_tell_rows_from_columns(names_of_arguments: str, row: int, first: str) -> None:
    one, two = names_of_arguments.split()
    rule = f"(<= (next (cell {one} {two} ?what)) (true (cell {one} {two} ?what)))"
    found = board(f"{CELLS} (content white) {rule}")
    assert found.row == row
    assert str(found.rows[0]) == first


def test_letters_name_columns_as_in_chess() -> None:
    sheet = "(letter a) (letter b) (letter c) (number 1) (number 2) (number 3) (content wk)"
    found = board(f"{sheet} (<= (base (piece ?c ?a ?b)) (content ?c) (letter ?a) (number ?b))")
    assert (names(found.columns), names(found.rows)) == ("a b c", "3 2 1")
    assert found.contents == (0,)


def test_prefixes_name_rows_and_columns() -> None:
    sheet = "(one c1) (one c2) (two r1) (two r2) (content x)"
    found = board(f"{sheet} (<= (base (cell ?a ?b ?c)) (one ?a) (two ?b) (content ?c))")
    assert (names(found.columns), names(found.rows)) == ("c1 c2", "r1 r2")


def hexagon(order: str) -> str:
    rows = {"a": 2, "b": 3, "c": 4, "d": 3, "e": 2}
    cells = [(row, n) for row, count in rows.items() for n in range(1, count + 1)]
    return "".join(f"(base (cell {order.format(row=row, n=n)} red))" for row, n in cells)


@pytest.mark.parametrize("order", ["{row} {n}", "{n} {row}"])
def test_rows_that_grow_and_shrink_by_one_are_a_hexagon(order: str) -> None:
    found = board(hexagon(order))
    assert (found.shape, names(found.rows)) == ("hexagon", "a b c d e")
    assert found.offsets == (2, 1, 0, 1, 2)
    assert found.size == 14


def test_a_hint_can_exclude_a_hexagonal_board() -> None:
    found = board(f"{hexagon('{row} {n}')}\n; board: square\n")
    assert (found.shape, set(found.offsets)) == ("square", {0})


def test_a_rhombus_of_hexagons_is_slanted() -> None:
    found = board(f"{CELLS} (content white)\n; board: hex rows=1 columns=2\n")
    assert (found.shape, found.offsets, names(found.rows)) == ("slanted", (0, 1, 2, 3), "1 2 3 4")


def test_squares_are_those_of_base() -> None:
    sheet = "(corner 1 1) (corner 1 3) (corner 3 1) (corner 3 3) (middle 2 2)"
    found = board(f"{sheet} (<= (base (cell ?x ?y white)) (or (corner ?x ?y) (middle ?x ?y)))")
    assert found.size == 5
    assert (names(found.rows), names(found.columns)) == ("3 2 1", "1 2 3")


def test_squares_without_base_are_those_of_an_initial_state_with_blanks() -> None:
    cells = "".join(f"(init (cell {x} {y} blank))" for x in range(1, 4) for y in range(1, 4) if x + y > 2)
    moving = "(<= (next (cell ?x ?y red)) (true (cell ?x ?y blank)))"
    assert board(f"{cells} {moving}").size == 8
    stones = cells.replace("blank", "blue")
    assert board(f"{stones} {moving}").size == 9


def test_the_initial_state_separates_mixed_coordinates() -> None:
    cells = "".join(f"(init (cell {x} {y} b))" for x in "abc" for y in (1, 2, 3))
    mixing = "(index a) (index b) (index c) (index 1) (index 2) (index 3)"
    mixing += "(<= (next (cell ?x ?y red)) (index ?x) (index ?y) (true (cell ?x ?y b)))"
    found = board(f"{cells} {mixing} (<= (next (cell ?u ?v b)) (index ?u) (index ?v))")
    assert (names(found.columns), names(found.rows), found.size) == ("a b c", "3 2 1", 9)


def test_a_vast_empty_board_is_rather_none() -> None:
    numbers = " ".join(f"(succ {n} {n + 1})" for n in range(60))
    moving = "(<= (next (at ?what ?x ?y)) (true (at ?what ?u ?v)) (succ ?u ?x) (succ ?v ?y))"
    assert not boards(f"{numbers} {moving} (init (at cat 1 1)) (init (at dog 1 2))").layouts
    few = numbers[: numbers.index("(succ 20 ")]
    assert board(f"{few} {moving} (init (at cat 1 1)) (init (at dog 1 2))").size == 400


def test_an_extra_argument_distinguishes_several_boards() -> None:
    sheet = "(number 1) (number 2) (number 3) (level 1) (level 2) (content x)"
    sheet += "(<= (base (cell ?a ?level ?b ?c)) (number ?a) (number ?b) (level ?level) (content ?c))"
    found = board(sheet)
    assert (found.boards, found.contents, found.size) == ((1,), (3,), 18)
    assert [names(key) for key in found.squares] == ["1", "2"]


def test_of_four_the_first_two_tell_boards_apart() -> None:
    sheet = "(n 1) (n 2) (n 3) (mark x) (mark o)"
    found = board(f"{sheet} (<= (base (put ?a ?b ?c ?d ?m)) (n ?a) (n ?b) (n ?c) (n ?d) (mark ?m))")
    assert (found.boards, len(found.squares), found.size) == ((0, 1), 9, 81)


def test_three_dimensions_alike_are_layers() -> None:
    sheet = "(n 1) (n 2) (n 3) (content x)"
    found = board(f"{sheet} (<= (base (cube ?a ?b ?c ?d)) (n ?a) (n ?b) (n ?c) (content ?d))")
    assert (found.boards, [names(key) for key in found.squares]) == ((2,), ["1", "2", "3"])


def test_an_argument_without_which_things_would_collide_tells_boards_apart() -> None:
    cells = "".join(
        f"(base (cell {lane} {x} {y} {c})) (init (cell {lane} {x} {y} b))"
        for lane in ("left", "right") for x in "abc" for y in (1, 2) for c in ("b", "car")
    )  # fmt: skip
    found = board(cells)
    assert [names(key) for key in found.squares] == ["left", "right"]
    assert found.contents == (3,)


def test_names_of_squares_are_taken_apart() -> None:
    squares = [f"{row}{n}" for row in "abc" for n in (1, 2, 3)]
    cells = "".join(f"(base (on {s} blank)) (base (on {s} red)) (init (on {s} blank))" for s in squares)
    found = board(cells)
    assert found.row == found.column == 0
    assert (names(found.rows), names(found.columns), found.size) == ("a b c", "1 2 3", 9)


@pytest.mark.parametrize(
    "sheet",
    [
        "(base (score red 1)) (base (score blue 2))",
        "(base (on a b)) (base (on b c)) (base (on c a))",
        "(base (step 1)) (base (step 2)) (base lit)",
        "(init (pair (a 1) (b 2)))",
        "",
    ],
)
def test_other_fluents_are_no_board(sheet: str) -> None:
    assert boards(sheet) == Boards()


def test_a_fluent_counts_as_a_mark_only_because_of_its_name() -> None:
    sheet = "(n 1) (n 2) (n 3) (<= (base ({} ?a ?b)) (n ?a) (n ?b))"
    assert board(sheet.format("marked")).contents == ()
    assert not boards(sheet.format("offered")).layouts
    assert board(sheet.format("lit") + "(<= (next (lit ?row ?col)) (true (lit ?row ?col)))").contents == ()


def test_small_boards_beside_a_large_one_are_left_out() -> None:
    extra = "(<= (base (seen ?a 1 ?c)) (number ?a) (content ?c)) (base (seen 1 2 x))"
    found = boards(f"{CELLS} (content x) {extra} (init (cell 1 1 x))")
    assert [layout.functor for layout in found.layouts] == ["cell"]


def test_equal_boards_are_all_found() -> None:
    sheet = CELLS + CELLS.replace("cell", "cell2") + "(content x)"
    assert [layout.functor for layout in boards(sheet).layouts] == ["cell", "cell2"]


def test_hints_choose_fluents_and_directions() -> None:
    sheet = CELLS + CELLS.replace("cell", "other") + "(content x)\n; board: (other ?column ?row ?what) up\n"
    found = board(sheet)
    assert (found.functor, found.row, found.column, names(found.rows)) == ("other", 1, 0, "4 3 2 1")
    assert names(board(sheet.replace(" up", "")).rows) == "1 2 3 4"
    assert names(board(f"{CELLS} (content x)\n; board: down\n").rows) == "1 2 3 4"


def test_a_hint_can_order_unordered_coordinates() -> None:
    sheet = "(place hall) (place attic) (time noon) (time dusk) (what ghost)"
    sheet += "(<= (base (at ?p ?t ?w)) (place ?p) (time ?t) (what ?w))"
    assert not boards(sheet).layouts
    found = board(f"{sheet}\n; board: (at ?row ?column ?content)\n")
    assert (names(found.rows), names(found.columns)) == ("attic hall", "dusk noon")


@pytest.mark.parametrize(
    ("text", "note"),
    [
        ("none", ""),
        ("(cel ?row ?column ?c)", "the game has no such fluent; did you mean cell?"),
        ("(cell ?row ?column)", "the game has no such fluent"),
        ("fluent=cell rows=1 columns=9", "cell/3 does not fit the layout"),
    ],
)
def test_hints_that_cannot_be_followed_are_noted(text: str, note: str) -> None:
    found = boards(f"{CELLS} (content x)\n; board: {text}\n")
    assert not found.layouts
    assert [note in line for line in found.notes] == ([True] if note else [])


def test_unreadable_hints_change_nothing() -> None:
    found = boards(f"{CELLS} (content x)\n; board: sideways\n")
    assert len(found.layouts) == 1
    assert "`sideways` is not understood" in found.notes[0]


@pytest.mark.parametrize(
    ("text", "wishes", "note"),
    [
        ("goal you (1 ?y) (4 4)", ["you: 1 ?y", "you: 4 4"], ""),
        ("goal red (? 1)", ["red: ? 1"], ""),
        ("goal your (1 ?y)", [], "your is neither a role nor a colour; did you mean you?"),
        ("goal you (1 ?y) (9 ?y) (1)", ["you: 1 ?y"], "no cell is called"),
    ],
)
def test_hints_on_goals_need_a_side_and_cells(text: str, wishes: list[str], note: str) -> None:
    found = boards(f"(role you) {CELLS} (content x)\n; board: {text}\n")
    assert len(found.layouts) == 1
    assert list(map(str, found.wishes)) == wishes
    assert all(note in line for line in found.notes)
    assert bool(found.notes) == bool(note)


def test_boards_are_bounded() -> None:
    numbers = " ".join(f"(number {n})" for n in range(5, 65))
    assert board(f"{CELLS} {numbers} (content x)").size == 64 * 64
    assert not boards(f"{CELLS} {numbers} (number 65) (content x)").layouts


def test_place_puts_facts_on_squares() -> None:
    game = anygame.loads(
        f"(role x) (legal x go) {CELLS} (content x) (content o) (content b) (init (cell 1 1 b))"
    )
    layout = find_boards(game).layouts[0]
    state = game.state(["(cell 1 2 x)", "(cell 3 4 o)", "(cell 3 4 x)", "(cell 9 9 x)", "(turn o)"])
    (found,) = layout.place(state.facts).values()
    stones = {
        names(square): [names(layout.content(fact)) for fact in on] for square, on in found.items() if on
    }
    assert stones == {"2 1": ["x"], "4 3": ["o", "x"]}
    assert len(found) == 16
    assert [str(fact) for fact in find_boards(game).others(state.facts)] == ["(cell 9 9 x)", "(turn o)"]


def test_b_is_an_empty_square_beside_noughts_and_crosses_however_many_there_are() -> None:
    sheet = "(init (cell 1 1 o)) (init (cell 1 2 o)) (init (cell 2 1 o)) (init (cell 2 2 b)) (role me)"
    sheet += "(<= (next (cell ?x ?y ?c)) (true (cell ?x ?y ?c))) (legal me go)"
    (layout,) = find_boards(anygame.loads(sheet)).layouts
    assert str(layout.blank[0] if layout.blank else "") == "b"
