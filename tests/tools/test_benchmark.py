from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from itertools import islice
from pathlib import Path
from random import Random

import pytest
from tools.arguments import sheet_paths
from tools.benchmark import main
from tools.measure_sheet import measure, peak_memory, playing
from tools.peers import Pairs, Peer, PeerSpeed, read_recorded, some_peer
from tools.speed_tables import Sheet, Speed, Threads, markdown, markdown_columns, table
from tools.tables import marks, number, part, put_into

import anygame
from anygame.errors import IllegalMoveError

ROOT = Path(__file__).parents[2]
SHEETS = ROOT / "gdl"
STEPS = {"read": 0.1, "ground": 0.05, "build": 0.02, "code": 0.5, "first": 0.001}

# -- measuring ----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["copolymer", "rock_paper_scissors", "pig"])
def test_reasoner_visits_the_states_of_playouts(name: str) -> None:
    game = anygame.load(SHEETS / f"{name}.kif", machine="reasoner")
    lengths = [playout.length for playout in game.playouts(3, seed=5)]
    ended = [False] * (sum(lengths) + 3)
    for index in range(3):
        ended[sum(lengths[: index + 1]) + index] = True
    assert list(islice(playing(game, Random(5)), len(ended))) == ended


def test_a_role_that_cannot_move_is_an_error() -> None:
    game = anygame.loads("(role a) (role b) (legal a x)", name="stuck")
    with pytest.raises(IllegalMoveError, match="a role has no legal move"):
        next(playing(game, Random(1)))


@pytest.mark.parametrize("machine", ["network", "reasoner"])
def test_measures_every_repeat(machine: str) -> None:
    found = Speed(**measure(SHEETS / "tic_tac_toe.kif", machine, seconds=0.02, repeats=4, seed=1))
    assert len(found.states) == len(found.playouts) == 4
    # A match takes five to nine moves.
    for states, playouts in zip(found.states, found.playouts, strict=True):
        assert states > 0
        assert machine == "reasoner" or 5 * playouts < states < 9 * playouts
    assert min(found.one_state, found.peak, *found.setup.values()) > 0
    assert found.peak > found.growth >= 0
    steps = {"read", "first"} if machine == "reasoner" else {"imports", "waiting", *STEPS}
    assert set(found.setup) == steps
    assert (found.gates > 0) == (found.inputs > 0) == (found.bytes > 0) == (machine == "network")


def test_peak_memory_is_in_mebibytes() -> None:
    held = bytearray(200 << 20)
    held[::4096] = b"\1" * len(held[::4096])
    assert 200 < peak_memory() < 24_000


@pytest.mark.slow
def test_command_measures_each_sheet_in_processes_of_its_own(tmp_path: Path) -> None:
    bad = tmp_path / "bad.kif"
    bad.write_text("(role a) (<= (legal a ?x) (not (foo ?x)))")
    recorded = tmp_path / "recorded.csv"
    recorded.write_text("engine,sheet,states_per_second,playouts_per_second\nold,pig,0.001,0.001\n")
    readme = tmp_path / "README.md"
    readme.write_text("before\n" + "\n\n".join(marks("benchmark")) + "\nafter\n")
    out = tmp_path / "speed.json"
    command = [sys.executable, "tools/benchmark.py", "gdl/pig.kif", str(bad), "--seconds", "0.01"]
    command += ["--repeats", "2", "--threads", "1", "--recorded", str(recorded), "--json", str(out)]
    command += ["--into", str(readme), "--peer", "other=sh -c 'echo 0.1 0.2 0.3 # {sheet}'"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 1
    assert done.stderr == ""
    lines = done.stdout.splitlines()
    assert re.split(r"\s{2,}", lines[0])[-4:] == ["x reasoner", "x other", "±", "x old (recorded)"]
    assert lines[1].startswith("pig ")
    errors = lines[-4:]
    assert [line.partition(": ")[0] for line in errors] == (
        ["bad, network", "bad, reasoner", "bad, threads", "bad, other"]
    )
    assert all("nothing binds ?x" in line for line in errors)
    record = json.loads(out.read_text())
    assert record["machine"]["repeats"] == 2
    pig, broken = record["sheets"]
    assert pig["name"] == "pig"
    for machine in ("network", "reasoner"):
        assert len(pig[machine]["states"]) == len(pig[machine]["playouts"]) == 2
        assert broken[machine]["states"] == []
    assert set(STEPS) < set(pig["network"]["cold"])
    assert len(pig["threads"]["together"]) == len(pig["threads"]["apart"]) == 2
    assert len(pig["pairs"]["other"]["own"]) == 2
    assert pig["pairs"]["other"]["other"] == [[0.2, 0.1], [0.2, 0.1]]
    text = readme.read_text()
    assert text.startswith("before\n")
    assert text.endswith("\nafter\n")
    assert "| `pig` |" in part(text, "benchmark")[1]


def test_machine_code_is_made_once_and_found_again(tmp_path: Path) -> None:
    command = [sys.executable, "tools/measure_sheet.py", "gdl/pig.kif", "network", "--setup-only"]
    environment = os.environ | {"ANYGAME_CACHE": str(tmp_path)}
    found = []
    for _ in range(2):
        subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, timeout=100, check=True)
        found.append({path.name: path.stat().st_ino for path in tmp_path.iterdir()})
    before, after = found
    assert before
    assert {name: after[name] for name in before} == before


def test_interrupt_keeps_the_measurements_so_far(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted_at_pig(path: Path, *_: object) -> Speed:
        if path.stem == "pig":
            raise KeyboardInterrupt
        return Speed(states=[1000.0], playouts=[10.0])

    monkeypatch.setattr("tools.benchmark.measure_apart", interrupted_at_pig)
    assert main([str(SHEETS / "copolymer.kif"), str(SHEETS / "pig.kif"), str(SHEETS / "hex_pie.kif")]) == 130
    shown = capsys.readouterr().out
    assert "copolymer" in shown
    assert "hex_pie" not in shown


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="this system has no processor affinity")
def test_process_that_measures_stays_on_its_core() -> None:
    core = max(os.sched_getaffinity(0))
    code = f"import os; from tools.measure_sheet import pin; pin([{core}]); print(os.sched_getaffinity(0))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == f"{{{core}}}"


# -- tables -------------------------------------------------------------------------------------


def test_table_compares_with_those_who_have_the_sheet() -> None:
    network = Speed(STEPS, {**STEPS, "code": 2.0}, (9e5, 1e6, 1.2e6), (100.0, 100.0, 110.0), 0.996, 12.34)
    reasoner = Speed({"read": 0.1, "first": 0.02}, states=(400.0,), playouts=(0.0,), core=1.0, one_state=1e3)
    one, two = PeerSpeed(90.0, 9.0), PeerSpeed(110.0, 11.0)
    pairs = {"beside": Pairs([one, two, one], [PeerSpeed(9.0, 3.0)] * 3)}
    found = [
        Sheet("long_name", network, reasoner, Threads(2, 50.0, (90.0, 100.0), (100.0, 100.0)), pairs),
        Sheet("fast", Speed(states=(4000.0,), playouts=(2.0,), core=0.5), Speed(error="it is too slow")),
        Sheet("broken", Speed(error="a role is missing"), pairs={"beside": Pairs(error="it is late")}),
    ]
    recorded = {
        "first": {"long_name": PeerSpeed(5.0, 10.0), "fast": PeerSpeed(16_000.0, 0.0)},
        "second": {"fast": PeerSpeed(1.0, 4.0), "unknown": PeerSpeed(1.0, 1.0)},
    }
    speeds, threads, setup, errors = table(found, recorded).split("\n\n")
    assert [re.split(r"\s{2,}", line) for line in speeds.splitlines()] == [
        [
            *("sheet", "playouts/s", "±", "states/s", "core", "us/state"),
            *("| reasoner states/s", "±", "core", "us/state", "x reasoner", "x beside", "±"),
            *("x first (recorded)", "x second (recorded)"),
        ],
        [
            "long_name",
            "100",
            "±5%",
            "1.00 M",
            "100%",
            "12.3",
            "400",
            "±0%",
            "100%",
            "1,000",
            "2.50 k",
            "3.00",
            "±11%",
            "10.0",
        ],
        ["fast", "2.00", "±0%", "4.00 k", "50%", "0.25", "0.50"],
        ["broken"],
        ["geometric mean", "2.50 k", "3.00", "1.58", "0.50"],
        ["minimum", "2.50 k", "3.00", "0.25", "0.50"],
        ["sheets compared", "1", "1", "2", "1"],
    ]
    assert threads.splitlines()[1].split() == ["long_name", "2", "50.0", "95.0", "100", "0.950"]
    assert setup.splitlines()[1].split()[:9] == (
        ["long_name", "2.171", "0.671", "0.100", "0.050", "0.020", "0.500", "0.001", "2.000"]
    )
    assert errors.splitlines() == [
        *("fast, reasoner: it is too slow", "broken, network: a role is missing"),
        "broken, beside: it is late",
    ]


def test_columns_of_a_machine_that_was_not_measured_are_left_out() -> None:
    reasoner = Sheet("one", reasoner=Speed({"read": 0.1}, states=(400.0,), playouts=(2.0,), core=1.0))
    shown = table([reasoner], {"other": {"one": PeerSpeed(100.0, 1.0)}})
    assert shown.splitlines()[0].split() == (
        ["sheet", "|", "reasoner", "states/s", "±", "core", "x", "other", "(recorded)"]
    )
    assert shown.splitlines()[1].split() == ["one", "400", "±0%", "100%", "4.00"]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, ""),
        (0.0123, "0.012"),
        (1.0, "1.00"),
        (9.996, "10.0"),
        (99.96, "100"),
        (999.4, "999"),
        (999.6, "1.00 k"),
        (12_345.0, "12.3 k"),
        (999_600.0, "1.00 M"),
        (2.5e9, "2.50 G"),
    ],
)
def test_numbers_have_three_digits_that_count(value: float, text: str) -> None:
    assert number(value) == text


def test_the_chapter_has_the_table_that_the_tool_writes() -> None:
    _, written, _ = part((ROOT / "docs" / "results" / "speed.md").read_text(encoding="utf-8"), "benchmark")
    told, empty, head, line, *rows = written.splitlines()
    assert re.match(r"Medians of \d+ runs of [\d.]+ s each, on one core: .+, Python 3\.\d+\.\d+\.", told)
    assert empty == ""
    headings = ["sheet", *(heading for heading, _ in markdown_columns([], {}))]
    cells = [[cell.strip() for cell in row.strip("|").split("|")] for row in (head, *rows)]
    assert cells[0][: len(headings)] == headings
    assert all(heading.startswith("x ") or heading == "±" for heading in cells[0][len(headings) :])
    assert line == f"| --- |{' ---: |' * (len(cells[0]) - 1)}"
    assert {len(row) for row in cells} == {len(cells[0])}
    assert [row[0] for row in cells[-2:]] == ["geometric mean", "minimum"]
    names = [row[0].strip("`") for row in cells[1:-2]]
    assert {"capture_chess", "copolymer", "hex_pie", "line_chess", "six_in_a_row"} <= set(names)
    for row in cells[1:-2]:
        assert all(re.fullmatch(r"[\d.,]+( [kMG])?", cell) for cell in row[1 : len(headings)]), row


def test_the_table_is_written_between_its_marks(tmp_path: Path) -> None:
    path = tmp_path / "notes.md"
    first, last = marks("benchmark")
    path.write_text(f"a\n{first}\n\n{last}\nz\n")
    network = Speed(STEPS, STEPS, (2e6,), (1e3,), 1.0, 12.0)
    sheet = Sheet("pig", network, Speed({"read": 1.0}, states=(1e3,), playouts=(1.0,), one_state=120.0))
    for _ in range(2):
        put_into(path, markdown([sheet], {}, 5, 2.0), "benchmark")
    before, written, after = part(path.read_text(), "benchmark")
    assert (before, after) == (f"a\n{first}\n", f"\n{last}\nz\n")
    assert (
        written.splitlines()[4] == "| `pig` | 1.00 k | 2.00 M | 0.67 | 0.67 | 12.0 | 1.00 k | 120 | 2.00 k |"
    )
    assert [entry.name for entry in tmp_path.iterdir()] == ["notes.md"]


@pytest.mark.parametrize("text", ["", "{0}\n", "{1}\n{0}\n", "{0}\n\n{1}\n{0}\n\n{1}\n", "{0}\n{0}\n{1}\n"])
def test_missing_or_repeated_marks_raise_errors(tmp_path: Path, text: str) -> None:
    path = tmp_path / "notes.md"
    path.write_text(text.format(*marks("benchmark")))
    with pytest.raises(ValueError, match="expected one line"):
        put_into(path, "table", "benchmark")
    assert path.read_text() == text.format(*marks("benchmark"))


def test_the_table_describes_how_pairs_were_measured() -> None:
    pairs = Pairs([PeerSpeed(30.0, 3.0)], [PeerSpeed(10.0, 1.0)])
    written = markdown([Sheet("pig", pairs={"other": pairs})], {"old": {}}, 5, 2.0)
    sentences, _, head, _, row, *_ = written.splitlines()
    assert "`x other` is the median of 5 ratios: each time other ran in turn with the network" in sentences
    assert "at another time" in sentences
    assert head.split("|")[-3:-1] == [" x other ", " ± "]
    assert row == "| `pig` | 3.00 | ±0% |"


# -- peers ----------------------------------------------------------------------------------------


def test_states_are_compared_where_a_peer_ended_no_playout() -> None:
    pairs = Pairs([PeerSpeed(30.0, 3.0)] * 2, [PeerSpeed(10.0, 1.0), PeerSpeed(15.0, 0.0)])
    assert pairs.ratios == [3.0, 2.0]
    assert Pairs([PeerSpeed(30.0, 4.0)], [PeerSpeed(10.0, 1.0)]).ratios == [4.0]


def test_a_peer_is_run_on_its_core(tmp_path: Path) -> None:
    script = tmp_path / "a peer"
    script.write_text(
        f"#!{sys.executable}\nimport os, sys\nassert sys.argv[1].endswith('pig.kif')\n"
        "print('loading')\nprint(100 + max(os.sched_getaffinity(0)), 2e3, 0.5)\n"
    )
    script.chmod(0o755)
    core = max(os.sched_getaffinity(0))
    peer = some_peer(f"other='{script}' {{sheet}}")
    assert peer == Peer("other", (str(script), "{sheet}"))
    assert peer.speed(SHEETS / "pig.kif", core) == PeerSpeed(2000.0, 100.0 + core)


@pytest.mark.parametrize(
    ("script", "message"),
    [
        ("echo 1 2", "found status 0: 1 2"),
        ("echo 1 nan 2", "found status 0: 1 nan 2"),
        ("echo 1 2 3; echo no memory >&2; exit 4", "found status 4: no memory"),
        ("true", "found status 0: "),
    ],
)
def test_unexpected_output_of_a_peer_raises_an_error(script: str, message: str) -> None:
    with pytest.raises(OSError, match=re.escape(message)):
        Peer("other", ("sh", "-c", script)).speed(SHEETS / "pig.kif", None)


def test_a_missing_peer_raises_an_error() -> None:
    with pytest.raises(OSError, match="No such file"):
        Peer("other", ("/no/such/peer",)).speed(SHEETS / "pig.kif", None)


# -- arguments ----------------------------------------------------------------------------------


def test_folders_stand_for_their_sheets(tmp_path: Path) -> None:
    for name in ("b.kif", "a.kif", "notes.txt"):
        (tmp_path / name).write_text("")
    names = [path.name for path in sheet_paths([tmp_path / "b.kif", tmp_path], "tool")]
    assert names == ["b.kif", "a.kif"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nowhere.kif"], "there is no file or folder nowhere.kif"),
        (["tests"], "no sheets"),
        (["gdl", "--seconds", "0"], "expected a number of seconds above 0, found 0"),
        (["gdl", "--seconds", "nan"], "found nan"),
        (["gdl", "--repeats", "0"], "expected a whole number from 1 to 10000, found 0"),
        (["gdl", "--threads", "9999"], "cores to run on, found 9999 threads"),
        (["gdl", "--machine", "abacus"], "invalid choice: 'abacus'"),
        (["gdl", "--peer", "java -jar x"], "expected NAME=COMMAND, found java -jar x"),
        (["gdl", "--peer", "x=run 'it"], "No closing quotation"),
        (["gdl", "--peer", "x=run it"], "the command has no {sheet}: run it"),
        (["gdl", "--recorded", "README.md"], "lacks the columns engine, sheet, states_per_second"),
    ],
)
def test_bad_arguments_cause_an_error(
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
    path = tmp_path / "recorded.csv"
    path.write_text("engine,sheet,states_per_second\nother,pig,many\n")
    with pytest.raises(SystemExit, match="could not convert string to float: 'many'"):
        read_recorded(path)


def test_speeds_of_others_may_lack_playouts(tmp_path: Path) -> None:
    path = tmp_path / "recorded.csv"
    path.write_text("engine,sheet,states_per_second,playouts_per_second\none,pig,3,\none,hex,4,5\n")
    assert read_recorded(path) == {"one": {"pig": PeerSpeed(3.0, 0.0), "hex": PeerSpeed(4.0, 5.0)}}
