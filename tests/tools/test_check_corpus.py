from __future__ import annotations

import gzip
import json
import re
from typing import TYPE_CHECKING, Any

import pytest
from tools.check_corpus import check, main, read_known

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Make = Callable[[list[dict[str, Any]]], Path]

SHEET = """
(role one) (role two) (init (at 1)) (succ 1 2) (succ 2 3)
(<= (legal ?r stay) (role ?r))
(<= (legal one go) (true (at ?x)) (succ ?x ?y))
(<= (next (at ?y)) (does one go) (true (at ?x)) (succ ?x ?y))
(<= (next (at ?x)) (does one stay) (true (at ?x)))
(<= terminal (true (at 3)))
(<= (goal one 100) (true (at 3)))
(<= (goal two ?g) (true (at 3)) (or (same ?g 0) (same ?g 50)))
(same 0 0) (same 50 50)
"""


def records() -> list[dict[str, Any]]:
    moves = [["go", "stay"], ["stay", "stay"], ["go", "stay"], None]
    legal = {"one": ["go", "stay"], "two": ["stay"]}
    states: list[dict[str, Any]] = [
        {
            "playout": 0,
            "step": step,
            "terminal": False,
            "facts": [f"(at {at})"],
            "legal": legal,
            "moves": joint,
            "goals": [None, None],
        }
        for step, (at, joint) in enumerate(zip((1, 2, 2, 3), moves, strict=True))
    ]
    # Two values for `two` at the end: recorded as none.
    states[-1] |= {"terminal": True, "legal": legal | {"one": ["stay"]}, "goals": [100, None]}
    return [{"game": "walk", "roles": ["one", "two"], "init": ["(at 1)"]}, *states]


@pytest.fixture
def collection(tmp_path: Path) -> Make:
    def make(lines: list[dict[str, Any]]) -> Path:
        for folder in ("rules", "traces"):
            (tmp_path / folder).mkdir(exist_ok=True)
        (tmp_path / "rules" / "walk.kif").write_text(SHEET)
        with gzip.open(tmp_path / "traces" / "walk.jsonl.gz", "wt") as file:
            file.writelines(json.dumps(line) + "\n" for line in lines)
        return tmp_path

    return make


def test_all_agree(collection: Make, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(collection(records()))]) == 0
    first, last = capsys.readouterr().out.splitlines()
    assert first.startswith("walk")
    assert "4 states" in first
    assert first.endswith("agrees")
    assert last == "1 sheets agree, 0 do not; 4 states checked"


@pytest.mark.parametrize(
    ("line", "key", "value", "kind", "message"),
    [
        (0, "roles", ["two", "one"], "roles", "found ['one', 'two']"),
        (0, "init", ["(at 2)"], "init", "recorded (at 2), found (at 1)"),
        (1, "terminal", True, "terminal", "playout 0, step 0: recorded True, found False"),
        (2, "legal", {"one": ["go"]}, "legal", "step 1 for one: recorded nothing more, found stay"),
        (2, "legal", {"three": ["go"]}, "legal", "no role is called three"),
        (3, "facts", ["(at 1)"], "next", "step 2: recorded (at 1), found (at 2)"),  # and step 3
        (1, "moves", ["run", "stay"], "next", "run is not legal for one"),
        (4, "goals", [100, 50], "goals", "recorded [100, 50], found [100, None]"),
    ],
)
def test_each_difference_is_reported_and_fails(
    collection: Make,
    capsys: pytest.CaptureFixture[str],
    line: int,
    key: str,
    value: object,
    kind: str,
    message: str,
) -> None:
    lines = records()
    lines[line][key] = value
    folder = collection(lines)
    assert main([str(folder)]) == 1
    shown = capsys.readouterr().out
    assert re.search(rf"DIFFERS: {kind} \d; first: {kind} ", shown)
    assert message in shown
    known = folder / "known.txt"
    known.write_text(f"# differences\n\nwalk {kind}  # recorded wrongly\nother legal\n")
    assert main([str(folder), "--known", str(known)]) == 0
    assert f"differs as known: {kind}" in capsys.readouterr().out


def test_sheet_that_cannot_be_loaded_differs(collection: Make) -> None:
    folder = collection(records())
    sheet = folder / "rules" / "walk.kif"
    sheet.write_text("(role one")
    report = check(sheet, folder / "traces" / "walk.jsonl.gz")
    assert set(report.differences) == {"load"}
    assert "never closed" in report.first or "error" in report.first


def test_obsolete_known_difference_is_reported(collection: Make, capsys: pytest.CaptureFixture[str]) -> None:
    folder = collection(records())
    known = folder / "known.txt"
    known.write_text("walk goals")
    assert main([str(folder), "--known", str(known)]) == 0
    assert "known to differ in goals, but does not" in capsys.readouterr().out


def test_names_and_states_can_be_limited(collection: Make, capsys: pytest.CaptureFixture[str]) -> None:
    folder = collection(records())
    (folder / "rules" / "untold.kif").write_text(SHEET)
    assert main([str(folder), "walk", "--states", "2"]) == 0
    assert capsys.readouterr().out.endswith("1 sheets agree, 0 do not; 2 states checked\n")
    assert main([str(folder)]) == 0
    assert "untold                           no trace" in capsys.readouterr().out


def test_nothing_to_check_is_bad_input(
    collection: Make, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(tmp_path)]) == 2
    assert "has no sheets" in capsys.readouterr().err
    folder = collection(records())
    assert main([str(folder), "walk", "chess"]) == 2
    assert "no chess" in capsys.readouterr().err
    known = folder / "known.txt"
    known.write_text("walk goals\nwalk colour\n")
    assert main([str(folder), "--known", str(known)]) == 2
    assert "line 2: expected NAME and one of load, roles" in capsys.readouterr().err


def test_damaged_trace_fails(collection: Make, capsys: pytest.CaptureFixture[str]) -> None:
    folder = collection(records())
    trace = folder / "traces" / "walk.jsonl.gz"
    trace.write_bytes(trace.read_bytes()[:40])
    assert main([str(folder)]) == 1
    assert "its trace cannot be read: EOFError" in capsys.readouterr().out


def test_known_file_is_read(tmp_path: Path) -> None:
    known = tmp_path / "known.txt"
    known.write_text("chess goals # two at once\n  # nothing\nnim next\n")
    assert read_known(known) == {("chess", "goals"), ("nim", "next")}


def test_public_sheets_agree(corpus: Path) -> None:
    assert main([str(corpus), "ticTacToe", "nim1", "reversi", "--states", "15"]) == 0
