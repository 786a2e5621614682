from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import pytest
from tests.cli.transcripts import run
from tests.match.recordings import ROOT
from tests.tools.chapters import told

if TYPE_CHECKING:
    from pathlib import Path

_SHEETS = ["gdl/rock_paper_scissors.kif", "gdl/lights_out.kif"]
_PLAYERS = ["--players", "random", "greedy", "legal"]


@pytest.fixture(autouse=True)
def _in_checkout(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)


def _json(store: Path, *more: str) -> dict[str, Any]:
    output, status = run(["tournament", *_SHEETS, *_PLAYERS, "--store", str(store), "--json", *more])
    assert status == 0, output
    found = json.loads(output)
    assert isinstance(found, dict)
    return found


def test_a_table_is_printed(tmp_path: Path) -> None:
    command = ["tournament", *_SHEETS, *_PLAYERS, "--store", str(tmp_path / "t.sqlite")]
    output, status = run(command)
    assert status == 0
    lines = output.splitlines()
    assert lines[0].startswith("1 of 9  gdl/rock_paper_scissors.kif  random ")
    assert lines[9] == "9 of 9 matches"
    assert re.split(" {2,}", lines[10]) == ["player", "rating (mu - 3 sigma)", "goals", "games", "replaced"]
    assert {line.split()[0] for line in lines[11:]} == {"random", "greedy", "legal"}
    again, _ = run(command)
    assert again.splitlines() == lines[9:]


@pytest.mark.slow
def test_such_a_table_is_shown(tmp_path: Path) -> None:
    text = told()
    shown = re.search(
        r"^anygame (tournament [^\n]*) DB\n```\n\n```text\n\.\.\.\n(.*?)^```", text, re.MULTILINE | re.DOTALL
    )
    assert shown
    output, status = run([*shown[1].split(), str(tmp_path / "t.sqlite")])
    assert status == 0
    assert output.endswith(shown[2])


def test_json_has_players_and_sheets(tmp_path: Path) -> None:
    found = _json(tmp_path / "t.sqlite")
    assert found["matches"] == {"played": 9, "planned": 9, "failed": 0}
    assert [player["games"] for player in found["players"]] == [5, 5, 5]
    assert found["sheets"].keys() == set(_SHEETS)
    assert _json(tmp_path / "t.sqlite", "--report") == found
    alone, status = run(["tournament", "--store", str(tmp_path / "t.sqlite"), "--report", "--json"])
    assert (json.loads(alone), status) == (found | {"matches": found["matches"] | {"planned": None}}, 0)
    more = _json(tmp_path / "t.sqlite", "--report", "--rounds", "2")
    assert more["matches"] == {"played": 9, "planned": 18, "failed": 0}


def test_a_plot_is_drawn(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    _json(tmp_path / "t.sqlite", "--plot", str(tmp_path / "p.svg"))
    assert "<svg" in (tmp_path / "p.svg").read_text()


def test_other_clocks_need_another_store(tmp_path: Path) -> None:
    command = ["tournament", *_SHEETS, *_PLAYERS, "--store", str(tmp_path / "t.sqlite")]
    run(command)
    output, status = run([*command, "--play-clock", "3"])
    assert status == 2
    assert "clocks is '30 and 10 s', not '30 and 3 s'; choose another store" in output


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["gdl/tic_tac_toe.kif", "--players", "random"], "for each of 2 roles, but there is 1 player"),
        (["-", "--players", "random", "legal"], "give each sheet as a file, not as -"),
        (["gdl/none.kif", "--players", "random", "legal"], "there is no file gdl/none.kif"),
        (["gdl/pig.kif", "--players", "random", "nobody"], "there is no player 'nobody'"),
    ],
)
def test_bad_arguments_fail(tmp_path: Path, arguments: list[str], message: str) -> None:
    output, status = run(["tournament", *arguments, "--store", str(tmp_path / "t.sqlite")])
    assert status == 2
    assert message in output


def test_a_killed_tournament_can_be_resumed(tmp_path: Path) -> None:
    store = tmp_path / "t.sqlite"
    command = [sys.executable, "-m", "anygame", "tournament", *_SHEETS, *_PLAYERS, "--store", str(store)]
    for moment in (0.0, 0.05, 0.1):
        process = subprocess.Popen([*command, "--json"], stdout=subprocess.DEVNULL, cwd=ROOT)
        while not store.exists() and process.poll() is None:
            time.sleep(0.005)
        time.sleep(moment)
        process.kill()
        process.wait()
    assert _json(store)["matches"] == {"played": 9, "planned": 9, "failed": 0}


def test_a_report_makes_no_store(tmp_path: Path) -> None:
    store = tmp_path / "none.sqlite"
    message = f"anygame: there is no store {store}; a tournament without --report creates it\n"
    assert run(["tournament", "--store", str(store), "--report"]) == (message, 2)
    output, status = run(["tournament", "--store", str(store)])
    assert (status, "expected rule sheets and --players" in output) == (2, True)
    assert not store.exists()
