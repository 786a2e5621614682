from __future__ import annotations

from pathlib import Path

import pytest
from tools.gdl_perf import main

import anygame

ROOT = Path(__file__).parents[2]


def perf(path: Path, out: Path, seconds: str = "0.05") -> tuple[int, dict[str, str]]:
    status = main([str(path), str(out), seconds, "--seed", "1"])
    lines = out.read_text().splitlines()
    return status, dict(line.split("=", 1) for line in lines)


def test_writes_the_keys_of_the_contract(tmp_path: Path) -> None:
    status, found = perf(ROOT / "gdl" / "tic_tac_toe.kif", tmp_path / "out.txt")
    assert status == 0
    assert list(found) == ["version", "millisecondsTaken", "numStateChanges", "numRollouts"]
    assert found["version"] == f"{anygame.__version__} network"
    rollouts = int(found["numRollouts"])
    assert 5 * rollouts < int(found["numStateChanges"]) < 9 * rollouts
    assert int(found["millisecondsTaken"]) >= 50
    assert [path.name for path in tmp_path.iterdir()] == ["out.txt"]


def test_reasoner_plays_a_game_without_a_network(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(anygame.Game, "compile", lambda self, **_: False)
    status, found = perf(ROOT / "gdl" / "rock_paper_scissors.kif", tmp_path / "out.txt")
    assert status == 0
    assert found["version"] == f"{anygame.__version__} reasoner"
    assert 0 <= int(found["numStateChanges"]) - 3 * int(found["numRollouts"]) <= 3
    assert int(found["numStateChanges"]) > 0


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        ("(role a) (<= (legal a ?x)\n (not (foo ?x)))", "nothing binds ?x"),
        (
            "(role a) (init (at 1)) (<= (legal a x) (true (at 2))) (<= terminal (true z))",
            "no legal move",
        ),
    ],
)
def test_errors_are_written_on_one_line(tmp_path: Path, rules: str, message: str) -> None:
    (tmp_path / "bad.kif").write_text(rules)
    status, found = perf(tmp_path / "bad.kif", tmp_path / "out.txt")
    assert status == 1
    assert list(found) == ["version", "errorMessage"]
    assert message in found["errorMessage"]


def test_missing_sheet_is_reported_in_the_file(tmp_path: Path) -> None:
    status, found = perf(tmp_path / "nowhere.kif", tmp_path / "out.txt")
    assert status == 1
    assert "nowhere.kif" in found["errorMessage"]


@pytest.mark.parametrize("seconds", ["0", "-1", "soon", "nan"])
def test_seconds_must_be_a_number_above_0(
    tmp_path: Path, seconds: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as end:
        main(["gdl/pig.kif", str(tmp_path / "out.txt"), "--", seconds])
    assert end.value.code == 2
    assert f"expected a number of seconds above 0, found {seconds}" in capsys.readouterr().err


def test_unwritable_file_causes_an_error(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match=r"cannot write .*No such file or directory"):
        main([str(ROOT / "gdl" / "tic_tac_toe.kif"), str(tmp_path / "no" / "out.txt"), "0.01"])
