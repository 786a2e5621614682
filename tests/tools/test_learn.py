from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from tools.small_boards import SMALL, connect_four, find_game, hex_board

import anygame

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("name", SMALL)
def test_small_boards_are_sound_games(name: str) -> None:
    game = find_game(name)
    assert not game.program.warnings
    for playout in game.playouts(10, seed=1):
        assert playout.is_complete
        assert sorted(goal or 0 for goal in playout.goals.values()) in ([0, 100], [50, 50])


def test_the_sizes_of_boards_are_as_asked_for() -> None:
    four = anygame.loads(connect_four(4, 6)).initial_state()
    assert list(map(str, four.legal_moves("red"))) == [f"(drop {column})" for column in range(1, 7)]
    for _ in range(4):
        four = four.next([four.legal_moves(role)[0] for role in four.game.roles])
    assert "(drop 1)" not in map(str, four.legal_moves("red"))
    assert len(anygame.loads(hex_board(4)).initial_state().legal_moves("red")) == 16


def test_stones_of_hex_are_joined_as_on_a_board() -> None:
    game = anygame.loads(hex_board(3))
    across = [f"(cell {row} {column} red)" for row, column in ((1, 3), (2, 2), (3, 1))]
    assert game.state([*across, "(control blue)"]).is_terminal
    along = [f"(cell {row} {column} red)" for row, column in ((1, 1), (2, 2), (3, 3))]
    assert not game.state([*along, "(control blue)"]).is_terminal
    assert game.state([*along, "(cell 2 1 red)", "(cell 3 2 red)", "(control blue)"]).goal("red") == 100


def _learn() -> Any:
    for library in ("jax", "mctx", "optax"):
        pytest.importorskip(library, reason="the learner needs the extra `learn`")
    from tools import learn

    return learn


def _played(learn: Any, **some: Any) -> Any:
    """Four moves of one match: the third ends it, and the fourth is the first of the next."""
    numbers = learn.jnp.array
    arrays = {
        "worth": [0.5, 0.0, 0.5, -0.5],
        "mover": [0, 1, 0, 1],
        "reward": [0.0, 0.0, 1.0, 0.0],
        "ended": [False, False, True, False],
        "drawn": [False] * 4,
    } | some
    columns = {name: numbers(values)[:, None] for name, values in arrays.items()}
    return learn.Played(seen=None, legal=None, weights=None, **columns)


def test_returns_are_those_of_each_mover() -> None:
    learn = _learn()
    *_, returns = learn.learn_from(_played(learn), trust=1.0)
    # Of the match that goes on nothing is known but what the search says.
    assert returns[:, 0].tolist() == [1.0, -1.0, 1.0, -0.5]
    *_, returns = learn.learn_from(_played(learn), trust=0.5)
    assert returns[:, 0].tolist() == [0.4375, -0.375, 0.75, -0.5]


def test_a_random_move_gives_no_return_to_earlier_positions() -> None:
    learn = _learn()
    *_, returns = learn.learn_from(_played(learn, drawn=[False, True, False, False]), trust=1.0)
    assert returns[:, 0].tolist() == [0.0, 0.0, 1.0, -0.5]


def test_the_sign_of_a_return_stays_if_a_role_moves_twice() -> None:
    learn = _learn()
    *_, returns = learn.learn_from(_played(learn, mover=[1, 0, 0, 1]), trust=1.0)
    assert returns[:, 0].tolist() == [-1.0, 1.0, 1.0, -0.5]


#: The smallest learner that still does everything.
_FEW = "--games 32 --moves 4 --simulations 4 --match-simulations 4 --batch 64 --kept 2 --width 16 --blocks 1"


@pytest.mark.long
def test_a_little_learning_draws_a_curve(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("matplotlib", reason="curves are drawn by matplotlib")
    learn = _learn()
    curve = tmp_path / "curve.svg"
    order = ["tic_tac_toe", "--minutes", "0.01", "--looks", "1", "--matches", "2", "--opponent", "random"]
    assert learn.main([*order, "--curve", str(curve), *_FEW.split()]) == 0
    told = capsys.readouterr().out.splitlines()
    assert [line.split()[3] for line in told] == ["0", "1"]
    assert curve.read_text().startswith("<?xml")


@pytest.mark.long
def test_the_ceiling_is_the_score_of_another_player(capsys: pytest.CaptureFixture[str]) -> None:
    learn = _learn()
    order = ["connect_four_small", "--ceiling", "greedy", "--opponent", "legal", "--matches", "2"]
    assert learn.main([*order, *_FEW.split()]) == 0
    (told,) = capsys.readouterr().out.splitlines()
    assert told.split() == ["0.00", "min", "iteration", "0", "points", "1.000"]


def test_the_learner_is_short() -> None:
    learn = _learn()
    with open(learn.__file__, encoding="utf-8") as file:
        assert len(file.readlines()) <= 300
