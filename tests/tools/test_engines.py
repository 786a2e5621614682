from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest
from tools.engines import Board, Engine, FairyStockfish, main, mapping_of

import anygame
from anygame.errors import PlayerError
from anygame.players import Clock

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

#: Two pawns against one, which go straight on, in the words of the public sheet.
SHEET = """
(role white) (role black)
(succ 1 2) (succ 2 3) (succ 3 4) (succ 4 5) (succ 5 6) (succ 6 7) (succ 7 8)
(init (cellHolds 1 2 white)) (init (cellHolds 2 2 white)) (init (cellHolds 8 7 black)) (init (control white))
(<= (legal white (move ?x ?y1 ?x ?y2)) (true (control white)) (true (cellHolds ?x ?y1 white)) (succ ?y1 ?y2))
(<= (legal black (move ?x ?y1 ?x ?y2)) (true (control black)) (true (cellHolds ?x ?y1 black)) (succ ?y2 ?y1))
(<= (legal white noop) (true (control black)))
(<= (legal black noop) (true (control white)))
(<= (next (cellHolds ?x ?y ?r)) (does ?r (move ?u ?v ?x ?y)))
(<= (next (cellHolds ?x ?y ?p)) (true (cellHolds ?x ?y ?p)) (does ?r (move ?u ?v ?w ?z)) (distinct ?x ?u))
(<= (next (control white)) (true (control black)))
(<= (next (control black)) (true (control white)))
(<= terminal (true (cellHolds ?x 8 white)))
(<= (goal ?r 50) (role ?r))
"""
#: A program that speaks UCI: it says how many lines there are, and what it plays is put in.
PROGRAM = """\
import sys
for line in sys.stdin:
    words = line.split()
    if words[0] == "uci":
        print("uciok")
    elif words[0] == "isready":
        print("readyok")
    elif words[:2] == ["go", "perft"]:
        print("Nodes searched:", {"1": 2, "2": 2, "3": 4}[words[2]])
    elif words[0] == "position":
        fen = (words + [""])[2]
    elif words[0] == "go":
        print("info depth 1")
        print("bestmove", ANSWER)
    elif words[0] == "quit":
        break
    sys.stdout.flush()
"""


def _program(folder: Path, answer: str) -> str:
    path = folder / "engine"
    path.write_text(f"#!{sys.executable}\n" + PROGRAM.replace("ANSWER", answer))
    path.chmod(0o755)
    return str(path)


@pytest.fixture
def game() -> anygame.Game:
    return anygame.loads(SHEET)


@pytest.fixture
def player(tmp_path: Path) -> Iterator[FairyStockfish]:
    made = FairyStockfish(nodes=10, command=_program(tmp_path, '"a2a3" if fen.startswith("8/7p") else "-"'))
    yield made
    made.abort()


def test_states_are_written_as_engines_read_them(game: anygame.Game) -> None:
    board = mapping_of(game)
    state = game.initial_state()
    assert board.position(state) == "8/7p/8/8/8/8/PP6/8 w - - 0 1"
    state = state.next(["(move 2 2 2 3)", "noop"])
    assert board.position(state) == "8/7p/8/8/8/1P6/P7/8 b - - 0 1"


def test_moves_are_known_by_the_names_of_engines(game: anygame.Game) -> None:
    moves = mapping_of(game).moves(game.initial_state().legal_moves(game.roles[0]))
    assert {name: str(move) for name, move in moves.items()} == {
        "a2a3": "(move 1 2 1 3)",
        "b2b3": "(move 2 2 2 3)",
    }


def test_an_engine_plays(game: anygame.Game, player: FairyStockfish) -> None:
    player.begin(game, game.roles[0], Clock.of(60))
    assert str(player.move(game.initial_state(), Clock.of(60))) == "(move 1 2 1 3)"
    player.stop({})


def test_a_move_that_is_not_legal_is_said(game: anygame.Game, tmp_path: Path) -> None:
    player = FairyStockfish(command=_program(tmp_path, '"h2h4"'))
    player.begin(game, game.roles[0], Clock.of(60))
    with pytest.raises(PlayerError, match="plays h2h4, which is no legal move"):
        player.move(game.initial_state(), Clock.of(60))
    player.abort()


def test_other_sheets_are_refused(tmp_path: Path) -> None:
    other = anygame.loads("(role a) (init (cellHolds 1 1 white)) (legal a b) (<= terminal (true c))")
    with pytest.raises(PlayerError, match="no engine is known to play"):
        mapping_of(other)
    with pytest.raises(PlayerError, match="there is no program no-such-engine"):
        Engine("no-such-engine")
    with pytest.raises(PlayerError, match="nodes is a number from 1, not 0"):
        FairyStockfish(nodes=0)
    silent = tmp_path / "silent"
    silent.write_text(f"#!{sys.executable}\n")
    silent.chmod(0o755)
    with pytest.raises(PlayerError, match="ended before it sent 'uciok'"):
        Engine(str(silent))


def test_rules_are_compared(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sheet = tmp_path / "pawns.kif"
    sheet.write_text(SHEET)
    command = _program(tmp_path, '"-"')
    assert main([str(sheet), "--command", command, "--depth", "2"]) == 0
    assert capsys.readouterr().out.split()[3:] == ["1", "2", "2", "2", "2", "2"]
    # Here the sheet and the program differ.
    sheet.write_text(SHEET.replace("(init (cellHolds 2 2 white))", ""))
    assert main([str(sheet), "--command", command, "--depth", "1"]) == 1
    assert capsys.readouterr().out.split()[3:] == ["1", "1", "2"]
    assert main([str(sheet), "--command", "no-such-engine"]) == 2


def test_boards_tell_pieces_and_turns(game: anygame.Game) -> None:
    assert isinstance(mapping_of(game), Board)
    assert not mapping_of(game).knows(anygame.loads("(role a) (legal a b) (<= terminal (true c))"))
