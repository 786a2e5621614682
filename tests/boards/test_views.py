from __future__ import annotations

from typing import TYPE_CHECKING
from xml.etree import ElementTree

import pytest

import anygame
from anygame.boards import animation, match_pictures

if TYPE_CHECKING:
    from pathlib import Path


def test_boards_of_a_state_show_themselves(tmp_path: Path) -> None:
    state = anygame.load("tic_tac_toe").initial_state()
    board = state.board()
    assert str(board).startswith("   1 2 3    . b\n1  . . .\n")
    assert repr(board) == str(board)
    ElementTree.fromstring(board._repr_svg_())
    assert board._repr_html_().endswith("<pre>control  x</pre>")
    board.save(tmp_path / "board.svg")
    assert "prefers-color-scheme" not in (tmp_path / "board.svg").read_text()


def test_the_last_move_is_shown() -> None:
    state = anygame.load("tic_tac_toe").initial_state()
    moves = {"x": "(mark 2 2)", "o": "noop"}
    assert ".(x)." in str(state.next(moves).board(last=moves, before=state))


def test_a_game_without_a_board_shows_its_facts() -> None:
    game = anygame.loads("(role x) (legal x go) (init (step <b>))")
    assert game.initial_state().board()._repr_html_() == "<pre>step  &lt;b&gt;</pre>"


def test_games_states_and_results_show_themselves() -> None:
    game = anygame.load("tic_tac_toe")
    assert "<svg" in game._repr_html_()
    assert "<svg" in game.initial_state()._repr_html_()
    result = game.simulate(100, seed=1)
    assert "<th>mean goal</th>" in result._repr_html_()
    assert "100 random matches" in result._repr_html_()


def test_a_match_is_animated() -> None:
    game = anygame.load("tic_tac_toe")
    playout = game.playout(1)
    states = [game.initial_state()]
    for joint in playout.moves:
        states.append(states[-1].next(joint))
    pictures = match_pictures(states, playout.moves)
    root = ElementTree.fromstring(animation(pictures))
    shown = [group.get("visibility") for group in root if group.get("visibility")]
    assert shown == ["visible"] + ["hidden"] * (len(states) - 1)
    names = [element.get("id") for element in root.iter() if element.get("id")]
    assert len(names) == len(set(names)) == 9 * len(states)
    assert "animate" not in animation(pictures[:1])
    with pytest.raises(ValueError, match="at least one picture"):
        animation([])
