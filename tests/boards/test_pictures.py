from __future__ import annotations

import gc
import weakref

import pytest

import anygame
from anygame.boards import Painter, Picture, picture
from anygame.errors import IllegalMoveError, UnknownRoleError

GRID = """
(role white) (role black) (n 1) (n 2) (n 3) (init (control white))
(<= (base (cell ?x ?y ?c)) (n ?x) (n ?y) (content ?c)) (content wp) (content bk) (content b)
(<= (base (control ?r)) (role ?r))
(init (cell 1 1 wp)) (init (cell 3 3 bk)) (init (cell 2 2 b)) (init (cell 2 3 b))
(<= (legal ?r noop) (role ?r) (not (true (control ?r))))
(<= terminal (true (cell 1 3 wp)))
"""
SLIDE = """
(<= (legal white (move wp ?x ?y ?u ?v)) (true (cell ?x ?y wp)) (goes ?x ?y ?u ?v))
(<= (goes ?x ?y ?x ?v) (true (cell ?x ?y wp)) (true (cell ?x ?v b)))
(<= (goes 1 1 1 2) (n 1)) (<= (goes 1 1 2 1) (n 1))
(<= (next (cell ?u ?v wp)) (does white (move wp ?x ?y ?u ?v)))
(<= (next (cell ?x ?y b)) (does white (move wp ?x ?y ?u ?v)))
"""


def names(found: Picture) -> dict[str, str]:
    return {
        cell.name: " ".join(thing.look.label for thing in cell.contents)
        for cell in found.cells()
        if cell.contents
    }


def test_cells_know_their_place_their_facts_and_their_name() -> None:
    found = picture(anygame.loads(GRID + SLIDE).initial_state())
    (grid,) = found.grids
    assert len(grid.cells) == 9
    first = grid.cells[0]
    assert (first.name, first.x, first.y, first.shape) == ("1 3", 0, 0, "square")
    assert names(found) == {"1 1": "wp", "3 3": "bk"}
    pawn = next(cell for cell in grid.cells if cell.name == "1 1").contents[0]
    assert (str(pawn.fact), pawn.look.figure, pawn.look.colour) == ("(cell 1 1 wp)", "pawn", "white")
    assert [listing.name for listing in found.others] == ["control"]
    assert len({cell.id for cell in found.cells()}) == 9


def test_ids_of_cells_stay_the_same() -> None:
    game = anygame.loads(GRID + SLIDE)
    state = game.initial_state()
    one, two = picture(state), picture(game.state(["(cell 2 1 bk)"]))
    assert [cell.id for cell in one.cells()] == [cell.id for cell in two.cells()]
    with pytest.raises(KeyError):
        one.cell("nowhere")
    assert one.cell(one.grids[0].cells[3].id) is one.grids[0].cells[3]


def test_moves_name_the_cells_of_their_arguments() -> None:
    state = anygame.loads(GRID + SLIDE).initial_state()
    found = picture(state, legal_for="white")
    told = {str(t.move): [found.cell(cell).name for cell in t.cells] for t in found.touches}
    assert told == {"(move wp 1 1 1 2)": ["1 1", "1 2"], "(move wp 1 1 2 1)": ["1 1", "2 1"]}
    assert {cell.name for cell in found.cells() if "legal" in cell.marks} == {"1 1", "1 2", "2 1"}
    assert not picture(state, legal_for="black").touches[0].cells
    with pytest.raises(UnknownRoleError):
        picture(state, legal_for="green")


def test_the_last_move_is_marked_with_an_arrow() -> None:
    state = anygame.loads(GRID + SLIDE).initial_state()
    moves = ["(move wp 1 1 1 2)", "noop"]
    found = picture(state.next(moves), last=moves, before=state)
    marks = {cell.name: set(cell.marks) for cell in found.cells() if cell.marks}
    assert marks["1 1"] == {"from", "changed"}
    assert marks["1 2"] == {"to", "changed"}
    (arrow,) = found.arrows
    assert (found.cell(arrow.start).name, found.cell(arrow.end).name, arrow.colour) == ("1 1", "1 2", "white")
    with pytest.raises(IllegalMoveError):
        picture(state, last=["noop"])


def test_a_column_that_a_move_names_is_an_area() -> None:
    sheet = (
        "(<= (legal white (drop ?x)) (true (cell ?x 2 b))) (<= (legal white (drop ?x)) (true (cell ?x 3 bk)))"
    )
    found = picture(anygame.loads(GRID + sheet).initial_state(), legal_for=["white"])
    told = {str(touch.move): sorted(found.cell(cell).name for cell in touch.area) for touch in found.touches}
    assert told == {"(drop 2)": ["2 1", "2 2", "2 3"], "(drop 3)": ["3 1", "3 2", "3 3"]}


def test_values_tell_where_the_rules_do_not() -> None:
    sheet = "(legal white (take 2 3)) (legal white (wait 7))"
    found = picture(anygame.loads(GRID + sheet).initial_state(), legal_for="white")
    told = {str(t.move): [found.cell(cell).name for cell in t.cells] for t in found.touches}
    assert told == {"(take 2 3)": ["2 3"], "(wait 7)": []}


def test_moves_name_the_board_that_they_change() -> None:
    sheet = """(role a) (n 1) (n 2) (n 3) (k 1) (k 2) (content x)
        (<= (base (cell ?k ?x ?y ?c)) (k ?k) (n ?x) (n ?y) (content ?c))
        (<= (legal a (put ?k ?x ?y)) (free ?k ?x ?y)) (<= (legal a (turn ?k)) (true (cell ?k 1 1 x)))
        (<= (free ?k ?x ?y) (k ?k) (n ?x) (n ?y) (not (true (cell ?k ?x ?y x)))) (init (cell 2 1 1 x))"""
    found = picture(anygame.loads(sheet).initial_state(), legal_for="a")
    told = {str(touch.move): touch for touch in found.touches}
    assert found.cell(told["(put 2 3 1)"].cells[0]).name == "2 3 1"
    assert [found.cell(cell).name[0] for cell in told["(turn 2)"].area] == ["2"] * 9


def test_roles_have_the_colours_of_their_names_or_their_own() -> None:
    game = anygame.loads("(role red) (role xplayer) (role oplayer) (legal red go)")
    assert Painter.of(game).colours == {"red": "red", "xplayer": "blue", "oplayer": "green"}


def test_painters_live_no_longer_than_their_games() -> None:
    game = anygame.loads(GRID + SLIDE)
    assert Painter.of(game) is Painter.of(game)
    gone = weakref.ref(game)
    del game
    gc.collect()
    assert gone() is None


def test_a_picture_has_the_name_of_its_own_game() -> None:
    one, other = (anygame.loads(GRID + SLIDE, name=name) for name in ("one", "other"))
    assert [picture(game.initial_state()).title for game in (one, other)] == ["one", "other"]


def test_thousands_of_moves_that_name_columns_are_read() -> None:
    numbers = " ".join(f"(n {n})" for n in range(4, 41))
    sheet = "(<= (legal white (drop ?x ?z)) (n ?x) (n ?z) (not (true (cell ?x 1 wp))))"
    found = picture(anygame.loads(GRID + numbers + sheet).initial_state(), legal_for="white")
    assert len(found.touches) == 39 * 40
    assert {len(touch.area) for touch in found.touches} == {40}
