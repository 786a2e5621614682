"""The commands ``train`` and ``models``."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from anygame.cli.main import main
from anygame.cli.options import seconds as read_seconds

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("text", "seconds"), [("90", 90), ("90s", 90), ("1.5m", 90), ("8h", 28800), ("2d", 172800)]
)
def test_times_have_units(text: str, seconds: float) -> None:
    assert read_seconds(text) == seconds


@pytest.mark.parametrize("text", ["", "0", "-1", "h", "1y", "1h30m", "9" * 400])
def test_other_times_are_refused(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["train", "tic_tac_toe", f"--seconds={text}"])
    assert "expected seconds above 0, such as 90, 1.5, 30m or 8h, found" in capsys.readouterr().err


@pytest.mark.parametrize("text", ["0", "257", "many"])
def test_other_numbers_of_threads_are_refused(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["train", "tic_tac_toe", f"--threads={text}"])
    assert "argument --threads: expected" in capsys.readouterr().err


def test_models_prints_a_note_if_models_are_disabled(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("ANYGAME_MODELS", "")
    assert main(["models"]) == 0
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err == "anygame: note: ANYGAME_MODELS is empty, so searches use no models\n"


def test_a_model_is_trained_and_listed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("ANYGAME_MODELS", str(tmp_path))
    assert main(["train", "connect_four", "--games", "1100", "--seed", "1", "--json"]) == 0
    *reports, last = map(json.loads, capsys.readouterr().out.splitlines())
    assert [each["matches"] for each in reports if each["matches"]] == [12]
    assert [each["games"] for each in last["history"]] == [
        each["games"] for each in reports if each["matches"]
    ]
    assert last["game"] == "connect_four"
    assert last["games"] >= 1100
    (tmp_path / "damaged.npz").write_bytes(b"")
    assert main(["models", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["models"]
    assert [each.get("games") for each in found].count(last["games"]) == 1
    assert sum("error" in each for each in found) == 1
    assert main(["models"]) == 0
    told = capsys.readouterr().out
    assert f"connect_four: training after {last['games']:,} games in " in told
    assert f"connect_four: {last['games']:,} games" in told
    (checkpoint,) = tmp_path.glob("*.learning")
    checkpoint.with_name("damaged.1.learning").write_bytes(b"")
    assert main(["models", "--json"]) == 0
    first, second = json.loads(capsys.readouterr().out)["trainings"]
    assert (first["file"], first["games"]) == (str(checkpoint), last["games"])
    assert "damaged.1.learning" in second["error"]
    assert main(["train", "connect_four", "--games", "1200", "--resume"]) == 0
    assert "trial matches" in capsys.readouterr().out
    assert main(["train", "connect_four", "--games", "1300", "--resume", "--threads", "2"]) == 2
    assert "the thread count is 1, expected 2" in capsys.readouterr().err


def test_the_curve_of_a_training_is_drawn(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    into, image = tmp_path / "model.npz", tmp_path / "curve.svg"
    assert main(["train", "tic_tac_toe", "--games", "300", "--into", str(into), "--plot", str(image)]) == 0
    assert image.read_text().count("<svg") == 1


def test_games_that_cannot_be_trained_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["train", "lights_out", "--games", "300", "--into", "unused.npz"]) == 2
    said = capsys.readouterr().err
    assert "lights_out cannot be trained: the game has one role; expected a game of two to 16 roles" in said
