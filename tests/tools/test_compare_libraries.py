from __future__ import annotations

import json
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from tools.compare_libraries import FORMS, GAMES, HEAD, Row, cells, find_sheet, main, markdown, table
from tools.library_playouts import DISTRIBUTIONS
from tools.library_playouts import main as play_library
from tools.tables import part

ROOT = Path(__file__).parents[2]

FAKE = """#!{python}
import json, sys
library = sys.argv[2]
lanes = int(sys.argv[sys.argv.index("--lanes") + 1]) if "--lanes" in sys.argv else 1
if library == "ludax":
    print(json.dumps({{"missing": True, "error": "ludax is not installed"}}))
elif library == "pgx" and lanes == 3:
    sys.exit("a device is missing")
else:
    speeds = {{"states": [7.0 * lanes], "playouts": [1.0 * lanes]}}
    print("a notice\\n" + json.dumps({{"version": "1.2", "setup": 0.5, **speeds}}))
"""


@pytest.fixture
def fake(tmp_path: Path) -> Path:
    """A Python that has libraries, for the tool: it prints what they would."""
    path = tmp_path / "python"
    path.write_text(FAKE.format(python=sys.executable))
    path.chmod(0o755)
    return path


def test_plays_sheets_beside_libraries(
    fake: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out.json"
    order = ["--games", "tic_tac_toe", "breakthrough", "--python", str(fake), "--lanes", "2", "5", "3"]
    assert main([*order, "--seconds", "0.01", "--repeats", "2", "--json", str(out)]) == 0
    shown = capsys.readouterr().out.splitlines()
    assert shown[-2:] == ["skipped, not installed: ludax", "skipped, no sheet: breakthrough"]
    rows = {row["player"]: Row(**row) for row in json.loads(out.read_text()) if row["game"] == "tic_tac_toe"}
    own = rows["anygame"]
    assert own.what == "tic_tac_toe"
    assert len(own.states) == len(own.playouts) == 2
    assert own.setup > 0
    assert (rows["open_spiel"].lanes, rows["open_spiel"].states) == (0, [7.0])
    assert (rows["pgx"].lanes, rows["pgx"].playouts) == (5, [5.0])
    assert rows["ludax"].missing


def test_failure_of_a_library_is_reported(fake: Path, capsys: pytest.CaptureFixture[str]) -> None:
    order = ["--games", "hex", "--libraries", "pgx", "--python", str(fake), "--lanes", "3"]
    assert main([*order, "--seconds", "0.01", "--repeats", "1"]) == 1
    last = capsys.readouterr().out.splitlines()[-1]
    assert last == "hex, pgx: the process that measured ended with status 1: a device is missing"


def test_each_library_has_its_time_limit(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    slow = tmp_path / "python"
    slow.write_text(f"#!{sys.executable}\nimport time\ntime.sleep(60)\n")
    slow.chmod(0o755)
    order = ["--games", "hex", "--libraries", "pgx", "--python", str(slow), "--lanes", "3", "--limit", "0.2"]
    assert main(order) == 1
    assert capsys.readouterr().out.splitlines()[-1] == "hex, pgx: no result after 0.2 s"


def _game(library: str) -> str:
    return GAMES["tic_tac_toe"][1].get(library, "tic_tac_toe")


@pytest.mark.parametrize("form", FORMS)
def test_a_sheet_is_played_as_an_environment(form: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert play_library([form, "tic_tac_toe", "--seconds", "0.01", "--repeats", "1", "--lanes", "16"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["setup"] > 0
    assert found["states"][0] > 0


def test_environments_are_measured_beside_libraries(fake: Path, capsys: pytest.CaptureFixture[str]) -> None:
    order = ["--games", "tic_tac_toe", "--libraries", "pettingzoo", "--forms", "batch", "--form-lanes", "8"]
    assert main([*order, "--python", str(fake), "--seconds", "0.01", "--repeats", "1"]) == 0
    rows = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert [row[1] for row in rows[1:]] == ["anygame", "anygame.envs", "pettingzoo"]
    assert rows[2][2:5] == ["tic_tac_toe", "(batch)", "8"]


def test_a_failing_form_is_reported(capsys: pytest.CaptureFixture[str]) -> None:
    assert play_library(["aec", "rock_paper_scissors", "--seconds", "0.01"]) == 0
    error = json.loads(capsys.readouterr().out)["error"]
    assert error.startswith("SimultaneousMovesError: left and right choose")


@pytest.mark.parametrize(
    "library",
    [
        pytest.param(library, marks=[pytest.mark.slow] * (library in ("pgx", "sheet in jax")))
        for library in DISTRIBUTIONS
        if library not in FORMS
    ],
)
def test_library_plays_tic_tac_toe_or_is_missing(library: str) -> None:
    command = [sys.executable, "tools/library_playouts.py", library, _game(library), "--seconds", "0.05"]
    command += ["--lanes", "16", "--repeats", "2"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=200, check=True)
    found = json.loads(done.stdout)
    needed = {"pettingzoo": "pygame", "sheet in jax": "jax"}.get(library, library)
    needed = "pyspiel" if "open_spiel" in library else needed
    if find_spec(needed) is None:
        assert found["missing"]
        assert found["error"] in (f"{DISTRIBUTIONS[library]} is not installed", f"{needed} is not installed")
        return
    for states, playouts in zip(found["states"], found["playouts"], strict=True):
        # There may have been time for a single playout, of nine moves.
        assert 4.99 * playouts < states < 9.01 * playouts


def test_table_tells_ratios_and_lengths() -> None:
    rows = [
        Row("hex", "anygame", "hex_pie", setup=0.25, states=(5e6, 7e6), playouts=(1e5, 1e5)),
        Row("hex", "pgx", "hex", 1024, 9.0, (3e5,), (2e3,), "2.6.0"),
        Row("hex", "ludax", "hex", error="out of memory"),
    ]
    head, own, other = cells(rows)
    assert head == list(HEAD)
    assert own == ["hex", "anygame", "hex_pie", "", "", "0.250", "6.00 M", "100 k", "±17%", "60.0", "", ""]
    assert other[3:] == ["2.6.0", "1024", "9.000", "300 k", "2.00 k", "±0%", "150.0", "20.0", "50.0"]
    assert table(rows).splitlines()[-1] == "hex, ludax: out of memory"
    assert markdown(rows, 5, 2.0).splitlines()[-1] == (
        "| hex | pgx | hex | 2.6.0 | 1024 | 300 k | 2.00 k | 150.0 | 20.0 | 50.0 |"
    )


def test_sheets_are_found_by_any_of_their_names(tmp_path: Path) -> None:
    for name in ("hexPie", "ticTacToe", "othello"):
        (tmp_path / f"{name}.kif").write_text("")
    assert find_sheet("hex", [tmp_path]) == tmp_path / "hexPie.kif"
    assert find_sheet("tic_tac_toe", [ROOT / "gdl", tmp_path]) == ROOT / "gdl" / "tic_tac_toe.kif"
    assert find_sheet("tic_tac_toe", [tmp_path / "ticTacToe.kif"]) == tmp_path / "ticTacToe.kif"
    assert find_sheet("breakthrough", [tmp_path]) is None


def test_the_chapter_has_the_table_that_the_tool_writes() -> None:
    _, written, _ = part(
        (ROOT / "docs" / "results" / "speed.md").read_text(encoding="utf-8"), "compare_libraries"
    )
    told, empty, head, _, *rows = written.splitlines()
    assert told.startswith("Medians of ")
    assert empty == ""
    headings = [cell.strip() for cell in head.strip("|").split("|")]
    assert headings == [name for name in HEAD if name not in ("±", "set-up s")]
    played = [[cell.strip() for cell in row.strip("|").split("|")] for row in rows]
    assert {len(row) for row in played} == {len(headings)}
    assert {row[0] for row in played} <= set(GAMES)
    for row in played:
        assert row[1] in ("anygame", *DISTRIBUTIONS)
        # Each library is compared with the sheet, which comes first.
        assert (row[1] == "anygame") == (row[-1] == row[-2] == "")
