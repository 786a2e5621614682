from __future__ import annotations

import json
import os
import subprocess
import sys
from itertools import islice
from pathlib import Path
from random import Random

import pytest
from tools.benchmark import Measurement, main, measure, playing, read_peers, sheets, table

import anygame
from anygame.errors import IllegalMoveError

ROOT = Path(__file__).parents[2]
SHEETS = ROOT / "gdl"


@pytest.mark.parametrize("name", ["copolymer", "rock_paper_scissors", "pig"])
def test_visits_the_states_of_playouts(name: str) -> None:
    game = anygame.load(SHEETS / f"{name}.kif")
    lengths = [playout.length for playout in game.playouts(3, seed=5)]
    ended = [False] * (sum(lengths) + 3)
    for number in range(3):
        ended[sum(lengths[: number + 1]) + number] = True
    assert list(islice(playing(game, Random(5)), len(ended))) == ended


def test_a_role_that_cannot_move_is_an_error() -> None:
    game = anygame.loads("(role a) (role b) (legal a x)", name="stuck")
    with pytest.raises(IllegalMoveError, match="a role has no legal move"):
        next(playing(game, Random(1)))


def test_measures_every_repeat() -> None:
    found = measure(SHEETS / "tic_tac_toe.kif", seconds=0.05, repeats=4, seed=1)
    assert found.sheet == "tic_tac_toe"
    assert len(found.states_per_second) == 4
    assert min(*found.states_per_second, found.setup_seconds) > 0
    assert max(found.states_per_second) >= 5 * found.playouts_per_second > 0
    assert 0 < found.core_share < 1.1
    assert not found.error


def test_table_compares_medians_with_those_who_have_the_sheet() -> None:
    found = [
        Measurement("long_name", 0.01234, (90.0, 100.0, 1200.0), 0.5, 0.996),
        Measurement("fast", 0.002, (4000.0,), 300.0, 0.5),
        Measurement("slow", 1.5, (2.0, 4.0), 0.0, 1.0),
        Measurement("broken", error="a role is missing"),
    ]
    peers = {"first": {"long_name": 50.0, "fast": 500.0}, "second": {"fast": 80_000.0, "unknown": 1.0}}
    assert table(found, peers).splitlines() == [
        "sheet            set-up ms  states/s      min..max  playouts/s  core  x first  x second",
        "long_name               12       100     90..1,200         0.5  100%     2.00",
        "fast                     2     4,000  4,000..4,000         300   50%     8.00      0.05",
        "slow                  1500         3          2..4           0  100%",
        "geometric mean                                                           4.00      0.05",
        "sheets compared                                                             2         1",
        "broken: a role is missing",
    ]


def test_command_measures_each_sheet_in_a_process_of_its_own(tmp_path: Path) -> None:
    bad = tmp_path / "bad.kif"
    bad.write_text("(role a) (<= (legal a ?x) (not (foo ?x)))")
    peers = tmp_path / "peers.csv"
    peers.write_text(
        "engine,sheet,setup_seconds,states_per_second,playouts_per_second\nother,pig,1,0.001,1\n"
    )
    out = tmp_path / "speed.json"
    command = [sys.executable, "tools/benchmark.py", "gdl/pig.kif", str(bad), "--seconds", "0.01"]
    command += ["--repeats", "2", "--peers", str(peers), "--json", str(out)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=100, check=False)
    assert done.returncode == 1
    assert done.stderr == ""
    lines = done.stdout.splitlines()
    assert lines[0].endswith("x other")
    assert lines[1].startswith("pig ")
    assert lines[-1].startswith("bad: ")
    assert "nothing binds ?x" in lines[-1]
    record = json.loads(out.read_text())
    assert record["machine"]["repeats"] == 2
    pig, broken = record["measurements"]
    assert pig["sheet"] == "pig"
    assert len(pig["states_per_second"]) == 2
    assert broken["states_per_second"] == []


def test_interrupt_shows_what_was_measured(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted_at_pig(path: Path, options: object) -> Measurement:
        if path.stem == "pig":
            raise KeyboardInterrupt
        return Measurement(path.stem, 0.001, (1000.0,), 10.0)

    monkeypatch.setattr("tools.benchmark.measure_apart", interrupted_at_pig)
    assert main([str(SHEETS / "copolymer.kif"), str(SHEETS / "pig.kif"), str(SHEETS / "hex_pie.kif")]) == 130
    shown = capsys.readouterr().out
    assert "copolymer" in shown
    assert "hex_pie" not in shown


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="this system has no processor affinity")
def test_process_that_measures_stays_on_its_core() -> None:
    core = max(os.sched_getaffinity(0))
    code = f"import os; from tools.benchmark import pin; pin({core}); print(os.sched_getaffinity(0))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == f"{{{core}}}"


def test_folders_stand_for_their_sheets(tmp_path: Path) -> None:
    for name in ("b.kif", "a.kif", "notes.txt"):
        (tmp_path / name).write_text("")
    names = [path.name for path in sheets([tmp_path / "b.kif", tmp_path])]
    assert names == ["b.kif", "a.kif"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nowhere.kif"], "there is no file or folder nowhere.kif"),
        (["tests"], "no sheets"),
        (["gdl", "--seconds", "0"], "expected a number of seconds above 0, found 0"),
        (["gdl", "--seconds", "nan"], "found nan"),
        (["gdl", "--repeats", "0"], "expected a whole number from 1 to 10000, found 0"),
        (["gdl", "--peers", "README.md"], "lacks the columns engine, sheet, states_per_second"),
    ],
)
def test_bad_arguments_are_told(
    arguments: list[str],
    message: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(ROOT)
    with pytest.raises(SystemExit) as end:
        main(arguments)
    assert end.value.code
    assert message in f"{end.value.code} {capsys.readouterr().err}"


def test_speeds_of_others_must_be_numbers(tmp_path: Path) -> None:
    path = tmp_path / "peers.csv"
    path.write_text("engine,sheet,states_per_second\nother,pig,many\n")
    with pytest.raises(SystemExit, match="could not convert string to float: 'many'"):
        read_peers(path)
