from __future__ import annotations

import json
from typing import TYPE_CHECKING
from xml.etree import ElementTree

import pytest
from tests.cli.transcripts import run

if TYPE_CHECKING:
    from pathlib import Path

SPACE = "{http://www.w3.org/2000/svg}"


def test_the_last_move_is_marked() -> None:
    output, status = run(["draw", "tic_tac_toe", "--after", "(mark 2 2)"])
    assert status == 0
    assert "2  .(x)." in output


def test_a_picture_is_written(tmp_path: Path) -> None:
    path = tmp_path / "board.svg"
    assert run(["draw", "copolymer", "--svg", str(path), "--dark"]) == ("", 0)
    assert ElementTree.parse(path).getroot().get("role") == "img"
    output, _ = run(["draw", "copolymer", "--svg", "-", "--legal", "player1"])
    assert output.count('class="cell legal"') == 37


def test_a_picture_as_data() -> None:
    output, status = run(["draw", "tic_tac_toe", "--legal", "x", "--json"])
    found = json.loads(output)
    assert status == 0
    assert [cell["name"] for cell in found["boards"][0]["cells"]][:2] == ["1 1", "1 2"]
    assert found["moves"]["x"]["(mark 1 1)"] == [found["boards"][0]["cells"][0]["id"]]
    assert found["others"] == {"control": ["x"]}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["draw", "tic_tac_toe", "--svg", "nowhere/at/all.svg"], "cannot write nowhere/at/all.svg"),
        (["draw", "tic_tac_toe", "--legal", "nobody"], "no role is called nobody"),
        (["draw", "tic_tac_toe", "--after", "(mark 9 9)"], "is not a legal move of x"),
    ],
)
def test_arguments_that_cannot_be_drawn_cause_an_error(arguments: list[str], message: str) -> None:
    output, status = run(arguments)
    assert status == 2
    assert message in output


def test_a_match_becomes_pictures(tmp_path: Path) -> None:
    assert run(["match", "tic_tac_toe", "--players", "random", "random", "--record", str(tmp_path)])[1] == 0
    (record,) = tmp_path.glob("*.json")
    folder = tmp_path / "pictures"
    assert run(["replay", str(record), "--check", "--svg", str(folder)]) == ("", 0)
    steps = sorted(folder.glob("step-*.svg"))
    assert len(steps) == json.loads(record.read_text())["moves"].__len__() + 1
    assert steps[0].name == "step-000.svg"
    animated = ElementTree.parse(folder / "match.svg").getroot()
    assert len(list(animated.iter(f"{SPACE}animate"))) == len(steps)
    output, status = run(["replay", str(record), "--svg", str(record)])
    assert status == 2
    assert "cannot make the folder" in output
