from __future__ import annotations

import json
import os
import re
from typing import TYPE_CHECKING, Any

import pytest
from tests.cli.transcripts import ROOT

import anygame
from anygame.cli.repl.session import Session
from anygame.errors import IllegalMoveError, PositionError
from anygame.game.encoding import rules_digest as digest
from anygame.game.joint_moves import format_joint

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def session() -> Session:
    return Session(anygame.load(ROOT / "gdl" / "tic_tac_toe.kif"), seed=1)


def test_moves_are_taken_back_and_played_again(session: Session) -> None:
    start = session.state
    session.play("(mark 1 1)")
    session.play("(mark 2 2)")
    last = session.state
    assert session.undo(5) == 2
    assert (session.state, session.step) == (start, 0)
    assert session.redo(5) == 2
    assert session.state == last
    session.undo()
    session.play("(mark 3 3)")
    assert session.redo() == 0
    assert [format_joint(joint) for joint in session.moves] == ["(mark 1 1) noop", "noop (mark 3 3)"]


def test_an_illegal_move_changes_nothing(session: Session) -> None:
    session.play("(mark 1 1)")
    session.undo()
    with pytest.raises(IllegalMoveError, match=r"nearest legal moves are \(mark 3 1\)"):
        session.play("(mark 4 1)")
    assert session.step == 0
    assert session.redo() == 1


def test_random_moves_are_legal_and_repeat_with_their_seed(session: Session) -> None:
    other = Session(session.game, seed=1)
    while not session.state.is_terminal:
        assert session.play_random() == other.play_random()
    with pytest.raises(IllegalMoveError, match="the game is over"):
        session.play_random()


def test_saved_sessions_continue_in_the_same_state(session: Session, tmp_path: Path) -> None:
    session.play("(mark 1 1)")
    session.play("(mark 2 2)")
    path = tmp_path / "game.json"
    session.save(str(path))
    other = Session(session.game)
    other.play("(mark 3 3)")
    other.load(str(path))
    assert (other.state, other.moves, len(other.states)) == (session.state, session.moves, 3)
    assert other.undo(2) == 2
    other.save(str(path))
    assert json.loads(path.read_text())["moves"] == []
    assert [entry.name for entry in tmp_path.iterdir()] == ["game.json"]


def test_the_digest_is_of_the_rules_not_of_their_layout(session: Session) -> None:
    text = (ROOT / "gdl" / "tic_tac_toe.kif").read_text()
    assert digest(anygame.loads(re.sub(r"\s+", " ", re.sub(";.*", "", text)))) == digest(session.game)
    assert digest(anygame.loads(text.replace("(goal ?player 50)", "(goal ?player 51)"))) != digest(
        session.game
    )


def test_a_position_of_another_game_is_refused(session: Session, tmp_path: Path) -> None:
    path = str(tmp_path / "game.json")
    other = Session(anygame.load(ROOT / "gdl" / "pig.kif"))
    other.save(path)
    with pytest.raises(
        PositionError, match=r"is a position of .*pig\.kif.*whose rules differ from .*tic_tac_toe\.kif"
    ):
        session.load(path)


DAMAGES: dict[str, tuple[Any, str]] = {
    "format": ("anygame game", 'expected "format": "anygame position"'),
    "version": (2, "has version 2 of the format, expected version 1"),
    "rules": (None, "whose rules differ from the rules of"),
    "moves": ("none", 'expected "moves", lists of strings'),
    "facts": ([1], '"facts", a list of strings'),
}


@pytest.mark.parametrize("key", DAMAGES)
def test_a_damaged_position_is_refused_and_loses_nothing(session: Session, tmp_path: Path, key: str) -> None:
    path = tmp_path / "game.json"
    session.play("(mark 1 1)")
    session.save(str(path))
    value, message = DAMAGES[key]
    path.write_text(json.dumps(json.loads(path.read_text()) | {key: value}))
    session.play("(mark 2 2)")
    moves = list(session.moves)
    with pytest.raises(PositionError, match=re.escape(message)):
        session.load(str(path))
    assert session.moves == moves


@pytest.mark.parametrize(
    ("moves", "message"),
    [
        ([["(mark 1 1)", "noop"], ["(mark 1 2)", "noop"]], "move 2 cannot be played"),
        ([["(mark 1 1)"]], "move 1 cannot be played"),
        ([["(mark 1 1"]], "move 1 cannot be played"),
        ([["1", "1"]], "move 1 cannot be played"),
        ([["(mark 2 2)", "noop"]], "its moves do not lead to its state"),
        ([[]] * 100_001, "100,001 moves; the limit is 100,000"),
    ],
)
def test_saved_moves_are_checked(
    session: Session, tmp_path: Path, moves: list[list[str]], message: str
) -> None:
    path = tmp_path / "game.json"
    session.play("(mark 1 1)")
    session.save(str(path))
    path.write_text(json.dumps(json.loads(path.read_text()) | {"moves": moves}))
    with pytest.raises(PositionError, match=message):
        session.load(str(path))


@pytest.mark.parametrize("text", ["", "[]", "{", '{"format": 1}', "[" * 100_000, "\xff"])
def test_other_files_are_no_positions_and_are_not_overwritten(
    session: Session, tmp_path: Path, text: str
) -> None:
    path = tmp_path / "notes.txt"
    path.write_text(text, encoding="latin-1")
    with pytest.raises(PositionError, match="is not a saved position"):
        session.load(str(path))
    with pytest.raises(PositionError, match="exists and is not a saved position; choose another name"):
        session.save(str(path))
    assert path.read_text(encoding="latin-1") == text


def test_unwritable_and_unreadable_files_raise_errors(session: Session, tmp_path: Path) -> None:
    with pytest.raises(PositionError, match=r"cannot write .*: No such file or directory"):
        session.save(str(tmp_path / "no" / "folder.json"))
    with pytest.raises(PositionError, match="choose another name"):
        session.save(str(tmp_path))
    with pytest.raises(PositionError, match="cannot read"):
        session.load(str(tmp_path))
    with pytest.raises(PositionError, match="cannot write"):
        session.save("a\0b")


def test_a_saved_game_with_moves_after_its_end_is_refused(tmp_path: Path) -> None:
    game = anygame.loads("(role x) (legal x go) (<= (next over) (does x go)) (<= terminal (true over))")
    session, path = Session(game), tmp_path / "game.json"
    session.play("go")
    session.save(str(path))
    path.write_text(json.dumps(json.loads(path.read_text()) | {"moves": [["go"], ["go"]]}))
    with pytest.raises(PositionError, match=r"is damaged: the game is over before move 2"):
        session.load(str(path))


def test_a_file_too_large_for_a_position_is_not_read(
    session: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "game.json"
    session.save(str(path))
    monkeypatch.setattr("anygame.cli.repl.session._FILE_LIMIT", 10)
    with pytest.raises(PositionError, match="has more than 10 bytes: not a saved position"):
        session.load(str(path))


def test_a_position_that_cannot_be_written_whole_leaves_the_old_one(
    session: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "game.json"
    session.save(str(path))
    before = path.read_text()
    session.play("(mark 1 1)")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    monkeypatch.setattr(type(path), "replace", full)
    with pytest.raises(PositionError, match="No space left on device"):
        session.save(str(path))
    assert path.read_text() == before
    assert [entry.name for entry in tmp_path.iterdir()] == ["game.json"]
