"""What numbers stand for, kept in a file: a game takes its own file, and says why it takes no other."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

import anygame

if TYPE_CHECKING:
    from pathlib import Path

_RULES = (
    "(role me) (legal me 0) (legal me 1) (<= (next (chose ?x)) (does me ?x)) (<= terminal (true (chose ?x)))"
)


def test_a_file_is_read_again_and_fits_its_game(tmp_path: Path) -> None:
    game = anygame.loads(_RULES)
    encoding = game.encoding()
    encoding.save(tmp_path / "names.json")
    read = anygame.Encoding.load(tmp_path / "names.json")
    assert read == encoding
    assert (read.actions, read.fluents) == ((("0", "1"),), ("(chose 0)", "(chose 1)"))
    read.check(anygame.loads(f"; layout and comments do not count\n{_RULES}"))


def test_the_file_of_another_sheet_is_refused() -> None:
    encoding = anygame.loads(_RULES).encoding()
    with pytest.raises(
        anygame.EncodingError, match=r"rules of the encoding differ from .*<.*: its roles are me"
    ):
        encoding.check(anygame.loads(_RULES.replace("me", "you")))
    with pytest.raises(anygame.EncodingError, match=r"rules of the encoding differ from .*: the roles agree"):
        encoding.check(anygame.loads(_RULES.replace("chose", "took")))


@pytest.mark.parametrize(
    ("key", "value", "told"),
    [
        (
            "fluents",
            ["(chose 1)", "(chose 0)"],
            r"number 0 of the fluents is \(chose 0\); the encoding has \(chose 1\)",
        ),
        ("fluents", ["(chose 1)"], "has 1 fluents, but this version of anygame finds 2"),
        ("actions", {"me": ["0", "2"]}, "number 1 of the actions of me is 1; the encoding has 2"),
    ],
)
def test_another_order_is_refused(tmp_path: Path, key: str, value: object, told: str) -> None:
    path = tmp_path / "names.json"
    game = anygame.loads(_RULES)
    game.encoding().save(path)
    path.write_text(json.dumps(json.loads(path.read_text()) | {key: value}))
    with pytest.raises(anygame.EncodingError, match=told):
        anygame.Encoding.load(path).check(game)


def test_percepts_have_numbers_too(tmp_path: Path) -> None:
    game = anygame.load("kuhn_poker")
    game.encoding().save(tmp_path / "names.json")
    read = anygame.Encoding.load(tmp_path / "names.json")
    assert read.percepts == tuple(tuple(map(str, game.percept_terms(role))) for role in game.roles)
    read.check(game)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"format": "anygame encoding 1"}', "[" * 10_000, "\xff"])
def test_files_that_are_not_encodings_raise_errors(tmp_path: Path, text: str) -> None:
    path = tmp_path / "names.json"
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(anygame.EncodingError, match="is not an encoding of a game"):
        anygame.Encoding.load(path)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(anygame.EncodingError, match=r"cannot read .*: No such file"):
        anygame.Encoding.load(tmp_path / "none.json")
    with pytest.raises(anygame.EncodingError, match=r"cannot write .*: Is a directory"):
        anygame.loads(_RULES).encoding().save(tmp_path)
