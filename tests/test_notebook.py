"""A board in a notebook, by its Python side; and once in a notebook that is run."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

import anygame

pytest.importorskip("anywidget")
notebook = pytest.importorskip("anygame.notebook")

if TYPE_CHECKING:
    from collections.abc import Iterator

GAME = anygame.load("tic_tac_toe")


@pytest.fixture
def boards() -> Iterator[list[Any]]:
    made: list[Any] = []
    yield made
    for board in made:
        board.close()


def test_a_person_plays_against_a_player_and_takes_back(boards: list[Any]) -> None:
    board = notebook.play(GAME, {"o": "legal"}, play_clock=30)
    boards.append(board)
    assert board.wait(60)
    assert board.view["status"] == "x to move"
    assert board.view["svg"].count('role="gridcell"') == 9
    assert len(board.view["moves"]) == 9
    assert all(len(move["cells"]) == 1 for move in board.view["moves"])
    json.dumps(board.view)
    board.choose("2 2")
    assert board.wait(60)
    assert len(board.record.moves) == 2
    assert board.view["last"] == "(mark 1 1)"
    assert "(cell 2 2 x)" in map(str, board.state.facts)
    board.take_back()
    assert board.wait(60)
    assert board.state == GAME.initial_state()


def test_clicks_make_moves_and_errors_are_shown(boards: list[Any]) -> None:
    board = notebook.play(GAME)
    boards.append(board)
    board._receive(board, {"move": "(mark 1 1)"}, [])
    assert board.view["status"] == "o to move"
    for wrong in ({"move": "(mark 9 9)"}, {"move": 7}, ["move"], {}, {"back": "yes"}):
        board._receive(board, wrong, [])
    assert len(board.record.moves) == 1
    board._receive(board, {"move": "(mark 1 1)"}, [])
    assert "is not a legal move of o here" in board.view["status"]
    board._receive(board, {"back": True}, [])
    assert board.record.moves == []


def test_a_match_can_be_played_to_its_end(boards: list[Any]) -> None:
    state = GAME.state(["(cell 1 1 x)", "(cell 1 2 x)", "(cell 1 3 b)", "(cell 2 1 o)", "(cell 2 2 o)",
        "(cell 2 3 b)", "(cell 3 1 b)", "(cell 3 2 b)", "(cell 3 3 b)", "(control x)"])  # fmt: skip
    board = notebook.play(state, ["human", "random"], seed=1, play_clock=30)
    boards.append(board)
    board.choose("1 3")
    assert board.wait(60)
    assert board.view["status"] == "The match is over: x 100, o 0"
    assert board.view["moves"] == []
    with pytest.raises(anygame.IllegalMoveError, match="no person has a move to choose"):
        board.choose("2 3")


def test_players_that_cannot_be_are_refused() -> None:
    with pytest.raises(anygame.PlayerError, match="at most 2 players, for x, o; found 3"):
        notebook.play(GAME, ["human"] * 3)
    with pytest.raises(anygame.PlayerError, match="there is no player 'nobody'"):
        notebook.play(GAME, {"o": "nobody"})
    with pytest.raises(anygame.UnknownRoleError):
        notebook.play(GAME, {"z": "human"})


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_notebook_shows_values_and_plays() -> None:
    nbclient = pytest.importorskip("nbclient")
    nbformat = pytest.importorskip("nbformat")
    pytest.importorskip("ipykernel")
    cells = [
        "import anygame, warnings; warnings.simplefilter('ignore')\nfrom anygame.notebook import play",
        "game = anygame.load('tic_tac_toe'); game.initial_state()",
        "anygame.analyse(game, iterations=300, seed=1)",
        "game.initial_state().legal_moves('x')[:2]",
        "board = play(game, {'o': 'legal'}, play_clock=30); board",
        "board.choose('2 2'); print(board.wait(60), board.record.step)",
    ]
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    nbclient.NotebookClient(book, timeout=300).execute()
    shown = [[output.get("data", {}) for output in cell.outputs] for cell in book.cells]
    assert "<svg" in shown[1][-1]["text/html"]
    assert "<table>" in shown[2][-1]["text/html"]
    assert shown[3][-1]["text/plain"] == "((mark 1 1), (mark 1 2))"
    assert "application/vnd.jupyter.widget-view+json" in shown[4][-1]
    assert book.cells[5].outputs[0]["text"] == "True 2\n"
