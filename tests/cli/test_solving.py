"""The solve command."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from tests.cli.transcripts import ROOT, run

from anygame import load, load_table

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(autouse=True)
def _in_checkout(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)


def test_solve_prints_values_and_a_line() -> None:
    output, status = run(["solve", "gdl/tic_tac_toe.kif", "--after", "(mark 1 1)", "--after", "(mark 1 2)"])
    lines = output.splitlines()
    assert status == 0
    assert lines[:4] == ["x  100", "o  0", "under best play (minimax)", "a line of best play:"]
    assert lines[-2] == "  5  (mark 2 3)  noop"
    assert ", 7 deep; " in lines[-1]


def test_solve_as_json() -> None:
    output, status = run(["solve", "lights_out", "--json"])
    found = json.loads(output)
    assert status == 0
    assert (found["solved"], found["method"], found["goals"]) == (True, "best goal", {"player": 100})
    assert found["bounds"] == {"player": [100, 100]}
    assert (found["states"], found["expanded"]) == (1536, 1536)
    assert len(found["line"]) == 5


def test_an_unsolved_game_has_a_reason_and_a_status() -> None:
    output, status = run(["solve", "connect_four", "--memory", "0.01"])
    assert status == 1
    assert output.startswith(
        "not solved: not all states were found: 0.01 GiB are too little memory for all states\n"
    )
    assert " of them expanded, " in output


def test_solve_reports_terminal_states_without_a_goal(tmp_path: Path) -> None:
    sheet = tmp_path / "choice.kif"
    sheet.write_text(
        "(role left) (role right) (legal left a) (legal left b) (legal right noop)"
        "(<= (next (chosen ?m)) (does left ?m)) (<= terminal (true (chosen ?m)))"
        "(<= (goal right 98) (true (chosen a)))"
        "(<= (goal left 0) (true (chosen b))) (<= (goal right 100) (true (chosen b)))"
    )
    output, status = run(["solve", str(sheet)])
    assert status == 1
    assert output.splitlines()[:3] == [
        "not solved: best play may never end, or end without a goal: "
        "1 final state gives left no goal, or several",
        "left   between 0 and 100",
        "final states without a goal for left: 1; each may be worth 0 to 100",
    ]
    found = json.loads(run(["solve", str(sheet), "--json"])[0])
    assert (found["solved"], found["goals"]["right"]) == (False, None)
    assert found["missing"] == {"left": 1, "right": 0}


def test_solve_keeps_the_values_of_all_states(tmp_path: Path) -> None:
    path = str(tmp_path / "values.table")
    output, status = run(["solve", "tic_tac_toe", "--table", path])
    assert status == 0
    assert output.splitlines()[-1] == f"wrote the values of 5,478 states to {path}"
    assert len(load_table(path, load("tic_tac_toe"))) == 5478
    output, status = run(["solve", "three_player_chomp", "--table", str(tmp_path / "none")])
    assert status == 1
    assert output.splitlines()[-1].endswith(" was not written: there are no values to write")
    (tmp_path / "other").write_text("mine")
    output, status = run(["solve", "tic_tac_toe", "--table", str(tmp_path / "other")])
    assert status == 2
    assert "exists and is not a table" in output


@pytest.mark.parametrize("memory", ["0", "-1", "much", "nan", "inf"])
def test_memory_is_a_number_of_gigabytes(memory: str) -> None:
    output, status = run(["solve", "pig", f"--memory={memory}"])
    assert status == 2
    assert "expected gigabytes above 0" in output


def test_solve_prints_the_best_line_of_a_puzzle_with_too_many_states() -> None:
    output, _ = run(["solve", "knights_tour", "--memory", "0.001", "--json"])
    found = json.loads(output)
    assert found["states"] > found["expanded"]
    least, most = found["bounds"]["knight"] or (0, 100)
    assert 0 <= least <= most == 100
    assert found["solved"] == (least == 100)


def test_the_prompt_tells_exact_values(tmp_path: Path) -> None:
    moves = "(mark 1 1)\n(mark 1 2)\n"
    output, status = run(
        ["repl", "tic_tac_toe", "--machine", "reasoner"], f"{moves}solve\n(mark 2 1)\nsolve\nhint 0.1\n"
    )
    assert status == 0
    lines = output.splitlines()
    first = lines.index("x: 100   (the end after 5 joint moves)")
    assert lines[first : first + 3] == [
        lines[first],
        "o: 0   (the end after 5 joint moves)",
        "  (mark 2 1)   100",
    ]
    assert "x: 100   (the end after 4 joint moves)" in lines
    assert "o: (mark 3 1)   (goal 0, proven)" in lines
    path = str(tmp_path / "values.table")
    run(["solve", "tic_tac_toe", "--table", path])
    output, status = run(["repl", "tic_tac_toe"], f"solve {path}\n")
    assert "x: 50   (the end after 9 joint moves)" in output
    output, status = run(["repl", "pig"], f"solve {path}\n")
    assert status == 1
    assert "the rules of" in output
    output, _ = run(["repl", "three_player_chomp"], "solve\n")
    assert "not solved: 3 roles have choices" in output


def test_results_are_printed_even_if_the_table_cannot_be_written(tmp_path: Path) -> None:
    output, status = run(["solve", "rock_paper_scissors", "--table", str(tmp_path)])
    assert status == 2
    assert "under best play" in output
    assert f"{tmp_path} exists and is not a table of values; choose another name" in output
