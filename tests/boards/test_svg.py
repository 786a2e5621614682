from __future__ import annotations

from xml.etree import ElementTree

import pytest

import anygame
from anygame.boards import picture, svg
from anygame.language import Compound, Constant

SPACE = "{http://www.w3.org/2000/svg}"
GRID = "(n 1) (n 2) (n 3) (<= (base (cell ?x ?y ?c)) (n ?x) (n ?y) (content ?c)) (role x) (legal x go) "


def parsed(text: str) -> ElementTree.Element:
    return ElementTree.fromstring(text)


def test_every_cell_is_a_group_that_names_its_content() -> None:
    game = anygame.loads(GRID + "(content red) (content wall)")
    found = picture(game.state(["(cell 1 1 red)", "(cell 2 2 wall)"]))
    root = parsed(svg(found))
    assert root.get("role") == "img"
    cells = {g.get("data-cell"): g for g in root.iter(f"{SPACE}g") if "cell" in (g.get("class") or "")}
    assert len(cells) == 9
    assert cells["1 1"].get("id") == next(c for c in found.cells() if c.name == "1 1").id
    assert cells["1 1"].findtext(f"{SPACE}title") == "1 1: red"
    assert root.findtext(f"{SPACE}desc") == "2 2: wall; 1 1: red"


def segments(path: ElementTree.Element) -> list[str]:
    return (path.get("d") or "").split("M")[1:]


@pytest.mark.parametrize(
    ("goal", "lines", "rings"),
    [("(1 ?)", 3, 0), ("(1 1)", 2, 0), ("(2 2)", 0, 1), ("(2 ?)", 0, 3), ("(? ?)", 0, 9)],
)
def test_goals_are_lines_on_the_rim_or_rings(goal: str, lines: int, rings: int) -> None:
    game = anygame.loads(f"{GRID} (content red)\n;; board: goal white {goal}\n")
    root = parsed(svg(picture(game.state(["(cell 2 2 red)"]))))
    (aim,) = [g for g in root.iter(f"{SPACE}g") if g.get("class") == "aim"]
    # All is drawn twice: white would not be seen on white.
    assert [len(segments(path)) for path in aim.findall(f"{SPACE}path")] == [lines, lines] * bool(lines)
    assert len(aim.findall(f"{SPACE}circle")) == 2 * rings
    titles = [g.findtext(f"{SPACE}title") or "" for g in root.iter(f"{SPACE}g") if g.get("data-cell")]
    assert len([title for title in titles if title.endswith("; goal of white")]) == {
        "(1 ?)": 3,
        "(2 ?)": 3,
    }.get(goal, 9 if goal == "(? ?)" else 1)


def test_equal_games_with_different_hints_look_different() -> None:
    games = [anygame.loads(f"{GRID} (content red)\n;; board: {hint}\n") for hint in ("square", "none", "hex")]
    assert games[0] == games[1] == games[2]
    shapes = [{cell.shape for cell in picture(game.initial_state()).cells()} for game in (*games, games[0])]
    assert shapes == [{"square"}, set(), {"hexagon"}, {"square"}]


def test_goals_on_hexagons_run_along_their_sides() -> None:
    game = anygame.load("hex_pie")
    root = parsed(svg(picture(game.initial_state())))
    aims = [segments(g[0]) for g in root.iter(f"{SPACE}g") if g.get("class") == "aim"]
    assert [len(aim) for aim in aims] == [18] * 4
    ends = [segment for aim in aims for segment in aim]
    # At each of the two sharp corners one side belongs to both goals.
    assert len(set(ends)) == len(ends) - 2


def test_names_of_strangers_are_escaped() -> None:
    bad = "<img/src=x/onerror=alert`1`>"
    sheet = f"(role {bad}) (legal {bad} {bad}) (k {bad}) (k &quot&) (n 1) (n 2) (n 3) (init (at 1 2 {bad})) "
    sheet += f"(<= (base (at ?x ?y ?c)) (n ?x) (n ?y) (k ?c)) (init ({bad} {bad}))"
    game = anygame.loads(sheet)
    text = svg(picture(game.initial_state(), legal_for=bad))
    assert "<img" not in text
    assert [g.findtext(f"{SPACE}title") for g in parsed(text).iter(f"{SPACE}g")].count(f"1 2: {bad}") == 1


def test_unprintable_characters_leave_it_well_formed() -> None:
    game = anygame.loads(GRID + "(content red) (content c)")
    text = svg(
        picture(game.state([Compound("cell", (Constant("1"), Constant("1"), Constant("a\x01b\x1b")))]))
    )
    assert parsed(text) is not None


@pytest.mark.parametrize("dark", [None, True, False])
def test_light_and_dark_differ_in_paint_alone(dark: bool | None) -> None:
    game = anygame.loads(GRID + "(content red) (content wp) (content bk) (content white)")
    state = game.state(["(cell 1 1 red)", "(cell 2 1 wp)", "(cell 3 1 bk)", "(cell 1 3 white)"])
    text = svg(picture(state), dark=dark)
    parsed(text)
    assert ("prefers-color-scheme" in text) == (dark is None)
    assert ("#1b1c1f" in text) == (dark is not False)


@pytest.mark.slow
def test_thousands_of_cells_are_drawn() -> None:
    numbers = " ".join(f"(n {n})" for n in range(4, 65))
    game = anygame.loads(f"{GRID} {numbers} (content red)")
    root = parsed(svg(picture(game.state(["(cell 64 64 red)"]))))
    assert sum("cell" in (g.get("class") or "") for g in root.iter(f"{SPACE}g")) == 4096


def test_enormous_names_are_cut() -> None:
    name = "x" * 4000
    game = anygame.loads(f"{GRID} (content {name}) (content red)")
    text = svg(picture(game.state([f"(cell 1 1 {name})"])))
    assert len(text) < 12_000


def test_a_game_without_a_board_shows_its_facts() -> None:
    game = anygame.loads("(role x) (legal x go) (init (step 1)) (init lit)")
    assert [t.text for t in parsed(svg(picture(game.initial_state()))).iter(f"{SPACE}text")] == [
        "step 1",
        "lit",
    ]


def test_an_empty_state_is_an_empty_picture() -> None:
    game = anygame.loads("(role x) (legal x go)")
    parsed(svg(picture(game.initial_state())))
