from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from tools.compare_checkouts import FIGURES, Comparison, main, slower, table

ROOT = Path(__file__).parents[2]

FAKE = """
import json, sys
network = "network" in sys.argv
printed = {{"setup": {{"imports": 9.0, "read": 1.0, "first": 1.0}}, "states": [1.0], "playouts": [1e-9]}}
printed |= {{"one_state": 1e9, "core": 1.0}}
print(json.dumps({{"error": "too large"}} if network and {fails} else printed))
"""


def a_checkout(folder: Path, *, fails: bool) -> Path:
    """Return a checkout whose tool prints what it is told to."""
    (folder / "tools").mkdir()
    (folder / "tools" / "measure_sheet.py").write_text(FAKE.format(fails=fails))
    return folder


@pytest.mark.slow
def test_checkouts_are_measured_in_turn_by_tools_of_their_own(tmp_path: Path) -> None:
    other = a_checkout(tmp_path, fails=False)
    out = tmp_path / "out.json"
    command = [sys.executable, "tools/compare_checkouts.py", str(other), "gdl/pig.kif", "--rounds", "1"]
    command += ["--seconds", "0.01", "--allow", "99.9", "--json", str(out)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[1].startswith("pig ")
    (found,) = json.loads(out.read_text())
    assert set(found["here"]) == set(found["there"]) == {figure.heading for figure in FIGURES}
    assert found["there"]["cold s"] == [2.0]
    assert found["here"]["playouts/s"][0] > 1000


def test_unmeasurable_sheets_are_reported_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = a_checkout(tmp_path, fails=True)
    sheet = tmp_path / "bad.kif"
    sheet.write_text("(role")
    assert main([str(other), str(sheet), "--rounds", "2", "--seconds", "0.01"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert [line.partition(": ")[0] for line in lines[4:]] == [
        *("bad, cold, here", "bad, network, here", "bad, reasoner, here"),
        *("bad, cold, there", "bad, network, there"),
    ]


def test_ratios_above_one_are_faster_for_speeds_and_times() -> None:
    here = {"playouts/s": [300.0, 200.0, 200.0], "cold s": [1.0, 1.0, 1.0], "us/state": [10.0]}
    there = {"playouts/s": [100.0, 100.0, 100.0], "cold s": [0.5, 0.9, 0.4], "us/state": [9.6]}
    compared = Comparison("pig", here, there)
    ratios = {figure.heading: compared.ratios(figure) for figure in FIGURES}
    assert ratios["playouts/s"] == [3.0, 2.0, 2.0]
    assert ratios["cold s"] == [0.5, 0.9, 0.4]
    assert ratios["reasoner s"] == []
    lines = table([compared]).splitlines()
    assert lines[1].split() == ["pig", "2.000", "±25%", "0.960", "±0%", "0.500", "±50%"]
    assert lines[3].split() == ["minimum", "2.000", "0.960", "0.500"]
    assert list(slower([compared], 5)) == ["slower: pig, cold s: 1.000 here, 0.500 there (0.500 ±50%)"]
    assert [line.split()[2] for line in slower([compared], 3)] == ["us/state:", "cold"]


def test_a_folder_that_is_not_a_checkout_raises_an_error(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match=r"there is no tools/measure_sheet\.py in "):
        main([str(tmp_path), "gdl"])
