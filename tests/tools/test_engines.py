from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest
from tools.engines import Board, FairyStockfish, Rhino, UciEngine, main, mapping_of

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
#: Two squares of a game of drops, in the words of the public sheet `reversi`.
DROPS = """
(role black) (role red) (init (control black)) (init (cell 4 4 black)) (init (cell 5 4 red))
(other black red) (other red black) (square 3 4) (square 6 4)
(<= (empty ?x ?y) (square ?x ?y) (not (true (cell ?x ?y black))) (not (true (cell ?x ?y red))))
(<= (legal ?r (move ?x ?y)) (true (control ?r)) (empty ?x ?y))
(<= (legal ?r noop) (role ?r) (not (true (control ?r))))
(<= (next (cell ?x ?y ?r)) (does ?r (move ?x ?y)))
(<= (next (cell ?x ?y ?r)) (true (cell ?x ?y ?r)))
(<= (next (control ?s)) (true (control ?r)) (other ?r ?s))
(<= (full) (not (empty 3 4)) (not (empty 6 4))) (<= terminal (full)) (<= (goal ?r 50) (role ?r))
"""
#: A move and its shot, in the words of the public sheet `amazons_10x10`.
SHOTS = """
(role white) (role black) (init (cell 1 1 white)) (init (cell 10 10 black)) (init (turn white move))
(<= (legal white (move 1 1 1 2)) (true (turn white move)))
(<= (legal white (move 1 1 2 1)) (true (turn white move)))
(<= (legal white (fire ?x 9)) (true (turn white fire)) (column ?x)) (column 1) (column 2)
(legal black noop) (<= (next (turn white fire)) (true (turn white move)))
(<= (next (cell ?x 9 arrow)) (does white (fire ?x 9))) (<= terminal (true (cell ?x 9 arrow)))
(<= (goal ?r 50) (role ?r))
"""
#: A program that speaks UCI: it says how many lines there are, and what it plays is put in.
PROGRAM = """\
import sys
fen = ""
for line in sys.stdin:
    words = line.split()
    if words[0] == "uci":
        print("uciok")
    elif words[0] == "isready":
        print("readyok")
    elif words == ["go", "perft", "1"] and fen:
        pawn, step = ("P", 1) if side == "w" else ("p", -1)
        for y, rank in zip(range(8, 0, -1), fen.split("/")):
            rank = "".join("." * int(c) if c.isdigit() else c for c in rank)
            for x, letter in zip("abcdefgh", rank):
                if letter == pawn and 1 <= y + step <= 8:
                    print(f"{x}{y}{x}{y + step}: 1")
        print("a1a1: 1")
        print("Nodes searched: 0")
    elif words[:2] == ["go", "perft"]:
        print("Nodes searched:", {"1": 2, "2": 2, "3": 4}[words[2]])
    elif words[0] == "position":
        fen, side = (words + ["", ""])[2:4]
    elif words[0] == "go":
        print("info depth 1")
        print("bestmove", ANSWER)
    elif words[0] == "quit":
        break
    sys.stdout.flush()
"""
#: A program that speaks GTP: two squares of the fourth row are legal if they are empty.
GTP_PROGRAM = """\
import sys
assert sys.argv[1] == "--level=2"
for line in sys.stdin:
    words = line.split()
    if words[0] == "grhino-setup_board":
        row = words[1][24:32]
    legal = {f"{'abcdefgh'[x]}4" for x in (2, 5) if row[x] == "-"} if words[0] in {"play", "genmove"} else ()
    if words[0] == "play" and words[2] not in legal:
        print("? illegal move")
    else:
        print("= " + (max(legal).upper() if words[0] == "genmove" else ""))
    print(flush=True)
    if words[0] == "quit":
        break
"""


def _program(folder: Path, answer: str, source: str = PROGRAM) -> str:
    path = folder / "engine"
    path.write_text(f"#!{sys.executable}\n" + source.replace("ANSWER", answer))
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


def test_an_illegal_move_of_an_engine_raises_an_error(game: anygame.Game, tmp_path: Path) -> None:
    player = FairyStockfish(command=_program(tmp_path, '"h2h4"'))
    player.begin(game, game.roles[0], Clock.of(60))
    with pytest.raises(PlayerError, match="plays h2h4, which is no legal move"):
        player.move(game.initial_state(), Clock.of(60))
    player.abort()


def test_other_sheets_are_refused(game: anygame.Game, tmp_path: Path) -> None:
    board = mapping_of(game)
    other = anygame.loads("(role a) (init (cellHolds 1 1 white)) (legal a b) (<= terminal (true c))")
    with pytest.raises(PlayerError, match="no engine is known to play"):
        mapping_of(other)
    with pytest.raises(PlayerError, match="there is no program no-such-engine"):
        UciEngine("no-such-engine", board)
    with pytest.raises(PlayerError, match="nodes must be at least 1, not 0"):
        FairyStockfish(nodes=0)
    silent = tmp_path / "silent"
    silent.write_text(f"#!{sys.executable}\n")
    silent.chmod(0o755)
    with pytest.raises(PlayerError, match="ended before it sent 'uciok'"):
        UciEngine(str(silent), board)


def test_rules_are_compared(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sheet = tmp_path / "pawns.kif"
    sheet.write_text(SHEET)
    command = _program(tmp_path, '"-"')
    assert main([str(sheet), "--command", command, "--depth", "2"]) == 0
    *counts, followed = capsys.readouterr().out.splitlines()
    assert " ".join(counts).split()[3:] == ["1", "2", "2", "2", "2", "2"]
    assert followed.startswith("the same moves in ")
    # Here the sheet and the program differ.
    sheet.write_text(SHEET.replace("(init (cellHolds 2 2 white))", ""))
    assert main([str(sheet), "--command", command, "--depth", "1"]) == 1
    assert capsys.readouterr().out.split()[3:] == ["1", "1", "2"]
    assert main([str(sheet), "--command", "no-such-engine"]) == 2
    # Here they have as many moves, but others.
    sheet.write_text(SHEET.replace("?y1 white)) (succ ?y1 ?y2)", "?y1 white)) (succ ?y2 ?y1)"))
    assert main([str(sheet), "--command", command, "--depth", "1"]) == 1
    assert "engine alone: {'" in capsys.readouterr().out


def test_an_engine_that_speaks_gtp_plays(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    game = anygame.loads(DROPS)
    assert mapping_of(game).position(game.initial_state()).startswith("8/8/8/8/3Pp3/8/8/8[PPPP")
    command = _program(tmp_path, "", GTP_PROGRAM)
    player = Rhino(level=2, command=command)
    player.begin(game, game.roles[0], Clock.of(60))
    assert str(player.move(game.initial_state(), Clock.of(60))) == "(move 6 4)"
    player.abort()
    sheet = tmp_path / "drops.kif"
    sheet.write_text(DROPS)
    given = [str(sheet), "--protocol", "gtp", "--command", f"{command} --level=2", "--matches", "2"]
    assert main(given) == 0
    assert capsys.readouterr().out == "the same moves in 4 states of random matches\n"
    sheet.write_text(DROPS.replace("(square 3 4) (square 6 4)", "(square 3 4) (square 6 4) (square 1 4)"))
    assert main(given) == 1
    assert "sheet alone: {'P@a4'}" in capsys.readouterr().out
    with pytest.raises(PlayerError, match="level must be from 1 to 5, not 6"):
        Rhino(level=6)


def test_a_move_of_an_engine_can_be_two_of_the_sheet(tmp_path: Path) -> None:
    game = anygame.loads(SHOTS)
    state = game.initial_state()
    assert mapping_of(game).position(state) == "9q/10/10/10/10/10/10/10/10/Q9 w - - 0 1"
    player = FairyStockfish(command=_program(tmp_path, '"a1a2,a2b9"'))
    player.begin(game, game.roles[0], Clock.of(60))
    assert str(player.move(state, Clock.of(60))) == "(move 1 1 1 2)"
    assert str(player.move(state.next(["(move 1 1 1 2)", "noop"]), Clock.of(60))) == "(fire 2 9)"
    player.abort()


def test_a_late_engine_is_restarted(game: anygame.Game, tmp_path: Path) -> None:
    """Its late answer is no answer to the next state."""
    begun = str(tmp_path / "begun")
    wait = f"import os, time; time.sleep(0 if os.path.exists({begun!r}) else not open({begun!r}, 'w') or 60)"
    source = PROGRAM.replace('print("info depth 1")', wait)
    player = FairyStockfish(command=_program(tmp_path, '"a2a3"', source))
    player.begin(game, game.roles[0], Clock.of(60))
    with pytest.raises(PlayerError, match="sent no 'bestmove' within"):
        player.move(game.initial_state(), Clock.of(0.5, margin=0))
    assert player._engine is not None, "the clock of the next move would pay for the start"
    assert str(player.move(game.initial_state(), Clock.of(60))) == "(move 1 2 1 3)"
    player.abort()


def test_boards_tell_pieces_and_turns(game: anygame.Game) -> None:
    assert isinstance(mapping_of(game), Board)
    assert not mapping_of(game).knows(anygame.loads("(role a) (legal a b) (<= terminal (true c))"))
