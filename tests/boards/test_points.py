"""Points that lines join, places on a map, pits with stores."""

from __future__ import annotations

import pytest

import anygame
from anygame.boards import Layout, find_boards, picture, svg, text
from anygame.boards.finding.hints import HintError, read_hints

MOVES = """(<= (legal ?r (place ?p)) (role ?r) (true (point ?p empty)))
(<= (next (point ?p ?r)) (does ?r (place ?p)))
(<= (next (point ?p ?c)) (true (point ?p ?c)) (not (placed ?p))) (<= (placed ?p) (does ?r (place ?p)))"""
#: Two squares in each other, joined in the middle of their sides: morris for six men.
SIX_MEN = (
    "a1a3 a3a5 b2b3 b3b4 d2d3 d3d4 e1e3 e3e5 a1c1 c1e1 b2c2 c2d2 b4c4 c4d4 a5c5 c5e5 a3b3 c1c2 c4c5 d3e3"
)


def sheet(links: str, *, split: bool = False, moves: str = MOVES, blank: str = "empty") -> str:
    """Return rules of points such as ``a1``, or ``1 1`` where they are split, and facts that name two."""
    pairs = [(link[:2], link[2:]) for link in links.split()]
    points = sorted({point for pair in pairs for point in pair})
    starts = {points[0]: "white", points[-1]: "black"}

    def named(point: str) -> str:
        return f"{ord(point[0]) - 96} {point[1]}" if split else point

    facts = [f"(init (point {named(point)} {starts.get(point, blank)}))" for point in points]
    facts += [f"(near {named(one)} {named(other)})" for one, other in pairs]
    if split:
        moves = moves.replace("?p", "?x ?y")
    return "(role white) (role black) " + "".join(facts) + moves


def layout(rules: str) -> Layout:
    (found,) = find_boards(anygame.loads(rules)).layouts
    return found


@pytest.mark.parametrize("split", [False, True])
def test_points_far_apart_that_facts_name_together_are_joined(split: bool) -> None:
    rules = sheet(SIX_MEN, split=split)
    assert len(layout(rules).links) == len(SIX_MEN.split())
    state = anygame.loads(rules).initial_state()
    found = picture(state, legal_for="white")
    assert {cell.shape for cell in found.cells()} == {"point"}
    assert all(len(touch.cells) == 1 for touch in found.touches)
    (grid,) = found.grids
    assert ((0.0, 0.0), (2.0, 0.0)) in [tuple(sorted(link)) for link in grid.links]
    assert svg(found).count("<line") == len(SIX_MEN.split())


def test_a_terminal_shows_the_lines() -> None:
    drawn = text(picture(anygame.loads(sheet(SIX_MEN)).initial_state()))
    assert (
        "\n" + drawn + "\n"
        == """
   1 2 3 4 5    b black
a  w---.---.    w white
   |   |   |    . empty
b  | .-.-. |
   | |   | |
c  .-.   .-.
   | |   | |
d  | .-.-. |
   |   |   |
e  .---.---b
"""
    )


def test_some_diagonals_are_lines_all_or_none_are_squares() -> None:
    across = "a1a2 a2a3 b1b2 b2b3 c1c2 c2c3 a1b1 b1c1 a2b2 b2c2 a3b3 b3c3"
    some = "a1b2 b2c3 a3b2 b2c1"
    rest = "a2b1 b1c2 a2b3 b3c2"
    assert not layout(sheet(across)).links
    assert not layout(sheet(f"{across} {some} {rest}")).links
    assert len(layout(sheet(f"{across} {some}")).links) == 16
    drawn = text(picture(anygame.loads(sheet(f"{across} {some}")).initial_state()))
    assert "   |\\|/|" in drawn
    assert "   |/|\\|" in drawn


def test_knights_do_not_go_along_lines() -> None:
    leaps = "a1b3 a1c2 a2c1 a2c3 a3b1 a3c2 b1c3 b3c1 b2b1"
    assert not layout(sheet(leaps)).links


MAP = """
;; board: (point ?place ?who) map
;;   p1-------p2
;;      p3
;;   |        |
;;   p4---p5--p6
"""
RING = "p1p2 p2p6 p6p5 p5p4 p4p1 p1p3"


def test_a_map_says_where_places_lie() -> None:
    found = picture(anygame.loads(MAP + sheet(RING)).initial_state(), legal_for="black")
    assert {cell.name: (cell.x, cell.y) for cell in found.cells()} == {
        "p1": (0.0, 0),
        "p2": (9 / 4, 0),
        "p3": (3 / 4, 1),
        "p4": (0.0, 2),
        "p5": (5 / 4, 2),
        "p6": (9 / 4, 2),
    }
    assert [found.cell(touch.cells[0]).name for touch in found.touches] == ["p2", "p3", "p4", "p5"]
    assert len(found.grids[0].links) == 6
    assert not found.grids[0].labels


def test_without_facts_the_places_of_a_map_are_pits() -> None:
    rules = (
        "(role me) (init (hole north 2)) (init (hole south 4)) (legal me (empty north))"
        "(<= (next (hole ?p ?n)) (true (hole ?p ?n)))"
    )
    found = picture(
        anygame.loads(f";; board: (hole ?place ?n) map\n;; north\n;; south\n\n{rules}").initial_state()
    )
    assert [(cell.shape, cell.x, cell.y) for cell in found.cells()] == [("pit", 0.0, 0), ("pit", 0.0, 1)]
    assert text(found).split() == ["2", "4"]


@pytest.mark.parametrize(
    ("hint", "fault"),
    [
        (";; board: map\n;; a b", "a map needs a pattern with ?place"),
        (";; board: (point ?place ?who)", "a map needs a pattern with ?place"),
        (";; board: (point ?place ?who) map\n(role me)", "expected a map"),
        (";; board: (point ?place ?who) map\n;; a b a", "a place stands on the map twice"),
        (";; board: (point ?place ?place) map\n;; a b", "?place stands there 2 times"),
    ],
)
def test_a_map_that_cannot_be_read_is_reported(hint: str, fault: str) -> None:
    (found,) = read_hints(hint)
    assert isinstance(found, HintError)
    assert fault in str(found)


def test_a_map_of_other_places_is_reported() -> None:
    boards = find_boards(anygame.loads(";; board: (point ?place ?who) map\n;; q1 q2\n\n" + sheet(RING)))
    assert not boards.layouts
    assert "cannot be laid out so" in boards.notes[0]


def test_a_map_ends_somewhere() -> None:
    endless = ";; board: (point ?place ?who) map\n" + "".join(f";; a{line}\n" for line in range(1000))
    (found,) = read_hints(endless)
    assert not isinstance(found, HintError)
    assert len(found.places) == 64
    (wide,) = read_hints(";; board: (point ?place ?who) map\n;; " + " ".join(f"a{n}" for n in range(1000)))
    assert not isinstance(wide, HintError)
    assert max(x for _, x, _ in wide.places) < 256


PITS = "".join(f"(init (pit {role} {n} 4))" for role in ("south", "north") for n in (1, 2, 3))
SOWING = """(role south) (role north) (seeds 0) (seeds 4) (seeds 5)
(<= (legal ?r (sow ?n)) (role ?r) (true (pit ?r ?n ?s)))
(<= (next (pit ?r ?n ?s)) (true (pit ?r ?n ?s)) (seeds ?s))"""
STORES = "(init (store south 5)) (init (store north 0)) (<= (next (store ?r ?s)) (true (store ?r ?s)))"


def test_stores_stand_at_the_ends_of_two_rows_of_pits() -> None:
    game = anygame.loads(SOWING + PITS + STORES)
    found = picture(game.initial_state(), legal_for="south")
    assert {cell.name: (cell.x, cell.y) for cell in found.cells() if "store" in cell.name} == {
        "north store": (0, 0.5),
        "south store": (4, 0.5),
    }
    assert (
        "\n" + text(found) + "\n"
        == """
north    4 4 4
       0       5
south    4 4 4
         1 2 3
"""
    )
    assert not found.others
    assert [found.cell(touch.cells[0]).name for touch in found.touches] == ["south 1", "south 2", "south 3"]


def test_a_fluent_that_is_no_store_is_listed() -> None:
    game = anygame.loads(SOWING + PITS + STORES.replace("store", "wins"))
    found = picture(game.initial_state())
    assert [listing.name for listing in found.others] == ["wins"]
    assert text(found).splitlines()[1:3] == ["north  4 4 4", "south  4 4 4"]


def test_a_store_among_the_pits_is_the_last_of_its_row() -> None:
    named = "(init (pit south kalaha 5)) (init (pit north kalaha 0))"
    found = picture(anygame.loads(SOWING + PITS + named).initial_state())
    assert [label.text for label in found.grids[0].labels if label.side in ("north", "south")] == [
        *("1", "2", "3"),
        "kalaha",
    ]
    assert not any(thing.look.empty for cell in found.cells() for thing in cell.things)


def test_who_moves_names_the_board_where_the_rules_say_so() -> None:
    rules = """(role red) (role blue) (n 1) (n 2) (n 3) (other red blue) (other blue red)
        (<= (init (cell ?r ?x ?y none)) (role ?r) (n ?x) (n ?y))
        (<= (next (cell ?r ?x ?y ?c)) (true (cell ?r ?x ?y ?c)) (distinct ?c mark))
        (<= (legal ?r (place ?x ?y)) (true (cell ?r ?x ?y none)))
        (<= (legal ?r (fire ?x ?y)) (other ?r ?o) (true (cell ?o ?x ?y none)))"""
    found = picture(anygame.loads(rules).initial_state(), legal_for="red")
    placed = [touch for touch in found.touches if str(touch.move).startswith("(place")]
    assert [found.cell(touch.cells[0]).name for touch in placed][:2] == ["red 1 1", "red 1 2"]
    # Which board that is on, the move does not say: each that it may be answers to clicks.
    fired = next(touch for touch in found.touches if str(touch.move) == "(fire 1 1)")
    assert {found.cell(cell).name for cell in (*fired.cells, *fired.area)} >= {"blue 1 1"}
