from __future__ import annotations

import sys
from random import Random
from typing import TYPE_CHECKING

import pytest
from tools.ludax_player import LudaxAgent, actions, check_game, main, position

import anygame
from anygame.errors import PlayerError
from anygame.players import Clock
from tools import ludax_player

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

#: The words and first stones of the public sheet; a stone may be put beside a corner, and turns nothing.
SHEET = """
(role black) (role red) (other black red) (other red black)
(init (cell 4 4 black)) (init (cell 5 5 black)) (init (cell 4 5 red)) (init (cell 5 4 red))
(init (control black))
(<= (legal ?r (move 1 2)) (true (control ?r)))
(<= (legal ?r (move 8 1)) (true (control ?r)))
(<= (legal ?r noop) (other ?r ?o) (true (control ?o)))
(<= (next (cell ?x ?y ?r)) (true (cell ?x ?y ?r)))
(<= (next (cell ?x ?y ?r)) (does ?r (move ?x ?y)))
(<= (next (control ?r)) (other ?r ?o) (true (control ?o)))
(<= terminal (true (cell 1 2 red)))
(<= (goal ?r 50) (role ?r))
"""


@pytest.fixture
def game() -> anygame.Game:
    return anygame.loads(SHEET)


@pytest.fixture
def forgotten() -> Iterator[None]:
    """What is installed is looked for anew, before and after."""
    ludax_player.ludax.cache_clear()
    yield
    ludax_player.ludax.cache_clear()


@pytest.fixture
def ludax() -> None:
    for name in ("ludax", "ludax_agents"):
        pytest.importorskip(name, reason=f"{name} is not installed: {ludax_player.INSTALL}")


def test_states_and_moves_are_those_of_ludax(game: anygame.Game) -> None:
    check_game(game)
    state = game.initial_state()
    board, player = position(state)
    assert {square: board[0, square] for square in range(64) if board[0, square] >= 0} == {
        **dict.fromkeys((28, 35), 0),
        **dict.fromkeys((27, 36), 1),
    }
    assert player == 0
    black, red = (state.legal_moves(role) for role in game.roles)
    assert {action: str(move) for action, move in actions(black).items()} == {
        15: "(move 1 2)",
        0: "(move 8 1)",
    }
    assert {action: str(move) for action, move in actions(red).items()} == {64: "noop"}
    board, player = position(state.next(["(move 1 2)", "noop"]))
    assert (board[0, 15], player) == (0, 1)


def test_other_sheets_are_refused() -> None:
    for text in (SHEET.replace("(cell 5 5 black)", "(cell 5 6 black)"), SHEET + "(role third)"):
        with pytest.raises(PlayerError, match="plays reversi as the public sheet has it"):
            check_game(anygame.loads(text))


def test_missing_packages_raise_errors(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    forgotten: None,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setitem(sys.modules, "ludax_agents", None)
    with pytest.raises(
        PlayerError, match=r"ludax-agents is not installed; try: pip install ludax-agents 'jax<0.10'"
    ):
        LudaxAgent(simulations=3)
    sheet = tmp_path / "reversi.kif"
    sheet.write_text(SHEET)
    assert main([str(sheet), "--games", "1"]) == 2
    assert "pip install ludax-agents" in capsys.readouterr().err
    with pytest.raises(PlayerError, match="simulations must be at least 1, not 0"):
        LudaxAgent(simulations=0)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # libraries of others
def test_sheets_that_differ_are_found(
    ludax: None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sheet = tmp_path / "reversi.kif"
    sheet.write_text(SHEET)
    assert main([str(sheet), "--games", "1"]) == 1
    assert "after 0 moves the legal moves of the sheet and of Ludax differ" in capsys.readouterr().out


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # libraries of others
def test_the_public_sheet_has_the_same_rules(
    ludax: None, corpus: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    # Roles pass in some of these games, where Ludax by itself turns stones.
    assert main([str(corpus / "rules" / "reversi.kif"), "--games", "7"]) == 0
    assert "7 games" in capsys.readouterr().out


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # libraries of others
def test_the_trained_player_wins_against_chance(ludax: None, corpus: Path) -> None:
    game, random = anygame.load(corpus / "rules" / "reversi.kif"), Random(1)
    black, red = game.roles
    player = LudaxAgent(1, simulations=4)
    player.begin(game, red, Clock.of(60))
    state = game.initial_state()
    while not state.is_terminal:
        state = state.next([random.choice(state.legal_moves(black)), player.move(state, Clock.of(60))])
    assert state.goal(red) == 100
