"""Commands about the compiled game: simulate, explain --network, --machine."""

from __future__ import annotations

import json
import os
import re
import signal
import sys
import threading
from typing import TYPE_CHECKING, Any

import pytest
from tests.cli.transcripts import ROOT, run

import anygame
from anygame.cli.main import main
from anygame.network.simulator import Simulator

if TYPE_CHECKING:
    from pathlib import Path

    from anygame.playouts import Tally

_SHEET = "gdl/tic_tac_toe.kif"
#: It counts with a term that grows, of which a network would need one for each number there is.
_UNBOUNDED = """
(role r) (init (n z)) (legal r go)
(<= (next (n (s ?x))) (true (n ?x)))
(<= terminal (true (n (s (s (s z)))))) (<= (goal r 70) terminal)
"""


@pytest.fixture(autouse=True)
def _in_checkout(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)


@pytest.fixture
def unbounded(tmp_path: Path) -> str:
    path = tmp_path / "unbounded.kif"
    path.write_text(_UNBOUNDED)
    return str(path)


# -- simulate ----------------------------------------------------------------------------------------------


def test_simulate_prints_its_statistics() -> None:
    output, status = run(["simulate", _SHEET, "--playouts", "2e4", "--seed", "7"])
    assert status == 0
    lines = output.splitlines()
    result = anygame.load(_SHEET).simulate(20_000, seed=7)
    assert lines[0] == f"20,000 random playouts of {_SHEET}, seed 7"
    for role, line in zip(("x", "o"), lines[1:3], strict=True):
        assert line.startswith(
            f"goal of {role}  {result.mean_goals[role]:.2f} on average, standard error 0.3"
        )
        shares = ", ".join(
            f"{value}: {count / 200:.1f} %" for value, count in result.goal_counts[role].items()
        )
        assert line.endswith(f"({shares})")
    assert lines[3] == f"moves  {result.mean_length:.1f} on average, 5 to 9"
    widths = result.branching
    assert lines[4] == f"legal moves  {widths['x']:.1f} of x, {widths['o']:.1f} of o on average"
    figures = r"[\d.]+ s with the network: [\d,]+ playouts and [\d,]+ states a second; set-up [\d.]+ s, .*"
    assert re.fullmatch(figures, lines[5])
    assert len(lines) == 6


def test_simulate_gives_json() -> None:
    command = ["simulate", _SHEET, "--playouts", "1_000", "--seed", "7", "--threads", "2", "--json"]
    output, status = run(command)
    assert status == 0
    found: dict[str, Any] = json.loads(output)
    result = anygame.load(_SHEET).simulate(1_000, seed=7)
    assert found["lengths"]["counts"] == {str(length): count for length, count in result.lengths.items()}
    assert {role: told["mean"] for role, told in found["roles"].items()} == result.mean_goals
    assert found["threads"] == 2
    assert found["asked"] == found["playouts"] == 1_000
    help_text, _ = run(["simulate", "--help"])
    told = help_text[help_text.index("With --json") :]
    for name in (*found, *found["lengths"], *found["roles"]["x"]):
        assert f'"{name}"' in told


def test_simulate_starts_after_moves() -> None:
    moves = ["(mark 1 1)", "(mark 2 1)", "(mark 1 2)", "(mark 2 2)", "(mark 1 3)"]
    after = [part for move in moves for part in ("--after", move)]
    output, status = run(["simulate", _SHEET, "--playouts", "10", "--seed", "1", *after])
    assert status == 0
    assert "goal of x  100.00 on average" in output
    assert "moves  0.0 on average, 0 to 0" in output


def test_simulate_by_the_reasoner() -> None:
    output, status = run(["simulate", _SHEET, "--playouts", "20", "--seed", "1", "--machine", "reasoner"])
    assert status == 0
    assert "with the reasoner" in output


def test_a_game_without_a_network_is_simulated_with_a_note(unbounded: str) -> None:
    output, status = run(["simulate", unbounded, "--playouts", "5", "--seed", "1"])
    assert status == 0
    assert output.startswith(f"anygame: note: {unbounded}: plays slowly here: ")
    assert output.count("note:") == 1
    assert "5 random playouts" in output
    assert "goal of r  70.00 on average" in output
    assert "with the reasoner" in output


@pytest.mark.parametrize(
    "command",
    [
        ["simulate", "--playouts", "600", "--seed", "1"],
        ["analyse", "--iterations", "20"],
        ["solve"],
        ["match", "--players", "mcts:iterations=5", "--start-clock", "60", "--play-clock", "60"],
    ],
    ids=lambda command: str(command[0]),
)
def test_json_output_explains_why_a_game_is_slow(
    unbounded: str, command: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    for sheet, is_slow in (unbounded, True), ("gdl/lights_out.kif", False):
        assert main([command[0], sheet, *command[1:], "--json"]) in (0, 1)
        told = capsys.readouterr()
        text = told.out if command[0] in ("simulate", "solve") else told.out.splitlines()[-1]
        reason = json.loads(text)["fallback"]
        assert (reason is not None) == is_slow
        assert ("plays slowly here: " in told.err) == is_slow
        assert reason is None or reason in told.err


def test_simulate_reports_games_that_reach_the_limit() -> None:
    output, status = run(["simulate", _SHEET, "--playouts", "30", "--seed", "1", "--limit", "4"])
    assert status == 0
    assert output.startswith("0 of 30 random playouts")
    assert "30 more games were abandoned at the move limit" in output
    output, _ = run(["simulate", _SHEET, "--playouts", "30", "--seed", "1", "--limit", "4", "--json"])
    found = json.loads(output)
    assert found["lengths"]["mean"] is None
    assert [told["mean"] for told in found["roles"].values()] == [None, None]


def test_an_interrupt_keeps_the_statistics_so_far(monkeypatch: pytest.MonkeyPatch) -> None:
    played = Simulator.run

    def interrupted(*arguments: Any) -> Tally[Any]:
        threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
        return played(*arguments)

    monkeypatch.setattr(Simulator, "run", interrupted)
    output, status = run(["simulate", _SHEET, "--playouts", "1e12", "--seed", "1"])
    assert status == 130
    assert re.match(r"[\d,]+ of 1,000,000,000,000 random playouts", output)
    assert "interrupted: the results cover only the games played so far" in output


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals")
def test_on_a_terminal_compiling_and_playing_show_how_far_they_are() -> None:
    pexpect = pytest.importorskip("pexpect")
    pytest.importorskip("rich")
    command = ["-m", "anygame", "simulate", "gdl/hex_pie.kif", "--playouts", "3e6", "--seed", "1"]
    child = pexpect.spawn(sys.executable, command, timeout=120, encoding="utf-8", dimensions=(24, 120))
    child.expect("compiling")
    child.expect(r"playouts.*/3000000.* [\d,]+/s")
    child.expect("3,000,000 random playouts")
    child.expect(pexpect.EOF)
    child.wait()
    assert child.exitstatus == 0


@pytest.mark.parametrize("number", ["0", "-5", "1.5", "1e-3", "many", "1e999", "nan", "1e16", "--seed"])
def test_invalid_numbers_of_playouts_cause_an_error(number: str) -> None:
    output, status = run(["simulate", _SHEET, f"--playouts={number}"])
    assert status == 2
    assert f"expected a number such as 1000000 or 1e6, found '{number}'" in output


# -- explain --network ---------------------------------------------------------------------------------------


def test_explain_network_tells_its_figures() -> None:
    output, status = run(["explain", _SHEET, "--network"])
    assert status == 0
    compiled = anygame.load(_SHEET).backends.needed_network().compiled
    assert compiled is not None
    for stage, _ in (*compiled.passes, *compiled.stages):
        assert re.search(rf"^{stage}: .* s\)$", output, re.MULTILINE)
    assert f"inputs of the network: {len(compiled.fluents)} fluents; moves: 10 of x, 10 of o" in output
    assert f"gates: {compiled.network.gates} with {len(compiled.network.inputs)} inputs on" in output
    assert "cycles: none" in output
    assert "512 lanes" in output


def test_explain_network_gives_json() -> None:
    output, status = run(["explain", _SHEET, "--network", "--json"])
    assert status == 0
    told = json.loads(output)["network"]
    assert told["actions"] == {"x": 10, "o": 10}
    assert told["code"]["lanes"] == 512
    assert told["cycles"] == []
    assert 2 < told["levels"] < told["gates"]
    assert {stage["stage"] for stage in told["stages"]} >= {"grounding", "gates"}
    assert {"inlining static relations", "decomposing bodies"} <= {entry["pass"] for entry in told["passes"]}


def test_a_picture_shows_every_gate_and_line(tmp_path: Path) -> None:
    out = tmp_path / "picture.dot"
    assert run(["explain", _SHEET, "--network", "--dot", str(out)]) == ("", 0)
    drawn = out.read_text()
    assert run(["explain", _SHEET, "--network", "--dot", "-"])[0] == drawn
    compiled = anygame.load(_SHEET).backends.needed_network().compiled
    assert compiled is not None
    network = compiled.network
    assert drawn.count('label="&"') == network.gates
    into_gates = re.findall(r"^  n(\d+) -> n(\d+)( \[arrowhead=odot\])?;$", drawn, re.MULTILINE)
    assert sorted(2 * int(source) + bool(inverted) for source, _, inverted in into_gates) == sorted(
        network.inputs.tolist()
    )
    outputs = 1 + len(network.legal) + len(network.next) + sum(map(len, network.goals))
    assert len(re.findall(r"^  o\d+ \[shape=box", drawn, re.MULTILINE)) == outputs
    assert 'label="does x (mark 1 1)"' in drawn


def test_names_in_a_picture_stay_names(tmp_path: Path) -> None:
    sheet = tmp_path / "odd.kif"
    sheet.write_text('(role r) (legal r a"]x\\) (init b"\\) (<= terminal (true b"\\))')
    drawn, status = run(["explain", str(sheet), "--network", "--dot", "-"])
    assert status == 0
    assert r'label="true b\"\\"' in drawn
    for line in drawn.splitlines()[2:-1]:
        quoted = r'"(?:[^"\\]|\\.)*"'
        assert re.fullmatch(rf"  [no]\d+( -> [no]\d+)?( \[((\w+=({quoted}|\w+))(, )?)*\])?;", line), line


def test_large_pictures_are_refused() -> None:
    output, status = run(["explain", "gdl/hex_pie.kif", "--network", "--dot", "-"])
    assert status == 2
    assert re.search(r"has [\d,]+ fluents, moves and gates; a picture shows at most 1,000", output)


def test_a_picture_needs_the_network_and_a_place(tmp_path: Path) -> None:
    output, status = run(["explain", _SHEET, "--strata", "--dot", "-"])
    assert (status, output) == (2, "anygame: --dot draws the network: it needs --network\n")
    output, status = run(["explain", _SHEET, "--network", "--dot", str(tmp_path)])
    assert status == 2
    assert output.startswith(f"anygame: cannot write {tmp_path}: ")


def test_explain_network_fails_without_a_network(unbounded: str) -> None:
    output, status = run(["explain", unbounded, "--network"])
    assert status == 2
    assert "cannot be compiled" in output


# -- --machine -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "command",
    [
        ["legal", "FILE", "--after", "(mark 1 1)"],
        ["state", "FILE", "--after", "(mark 1 1)"],
        ["goals", "FILE"],
        ["query", "FILE", "(legal x ?m)"],
        ["perft", "FILE", "4", "--divide"],
    ],
    ids=lambda command: command[0],
)
def test_answers_do_not_depend_on_the_machine(command: list[str]) -> None:
    asked = [_SHEET if part == "FILE" else part for part in command]
    printed = {run([*asked, "--machine", machine]) for machine in ("auto", "reasoner", "network")}
    assert len(printed) == 1
    assert printed.pop()[1] == 0


def test_sessions_do_not_depend_on_the_machine() -> None:
    commands = "(mark 1 1)\nlegal\nrandom 2\nwhy (legal x noop)\nundo\ngoals\nstate\n"
    printed = {
        run(["repl", _SHEET, "--seed", "3", "--echo", "--machine", machine], commands)
        for machine in ("auto", "reasoner", "network")
    }
    assert len(printed) == 1


def test_a_machine_that_cannot_be_had_is_replaced_with_a_notice(unbounded: str) -> None:
    output, status = run(["legal", unbounded, "--machine", "network"])
    assert status == 0
    assert output.startswith("anygame: note: ")
    assert output.splitlines()[-1] == "r go"


#: One of two first moves leads to where the role has no move.
_CLIFF = (
    "(role r) (init (at start)) (<= (legal r hill) (true (at start))) (<= (legal r cliff) (true (at start)))"
    "(<= (next (at ?x)) (does r ?x)) (<= terminal (true (at hill))) (goal r 70)"
)


def test_simulate_reports_games_that_are_stuck(tmp_path: Path) -> None:
    sheet = tmp_path / "cliff.kif"
    sheet.write_text(_CLIFF)
    first = "r had no legal move after 1 joint move, in a state that is not terminal: ((at cliff))"
    output, status = run(["simulate", str(sheet), "--playouts", "100", "--seed", "1"])
    assert status == 0
    assert f"more games got stuck: a role has no legal move; the first: {first}" in output
    output, status = run(["playout", str(sheet), "--count", "100", "--seed", "1"])
    assert status == 0
    assert f"more games got stuck: a role has no legal move; the first: {first}" in output
    for command in (["simulate", str(sheet), "--playouts"], ["playout", str(sheet), "--count"]):
        found = json.loads(run([*command, "100", "--seed", "1", "--json"])[0])
        assert 30 < found["stuck"] < 70
        assert found["first_stuck"] == {"role": "r", "facts": ["(at cliff)"], "moves": [["cliff"]]}


def test_goals_of_any_size_are_printed(tmp_path: Path) -> None:
    sheet = tmp_path / "huge.kif"
    for goal in ("9" * 500, "1" + "0" * 309):
        sheet.write_text(
            f"(role r) (legal r on) (<= (next over) (does r on)) (<= terminal (true over))(goal r {goal})"
        )
        for command in (["simulate", str(sheet), "--playouts"], ["playout", str(sheet), "--count"]):
            output, status = run([*command, "3", "--seed", "1"])
            assert status == 0
            assert "too large to average" in output
            told = run([*command, "3", "--json"])[0]
            json.loads(told[told.index("{") :], parse_constant=pytest.fail)


def test_games_without_one_goal_lead_to_the_check_that_shows_them(tmp_path: Path) -> None:
    sheet = tmp_path / "rare.kif"
    rules = "(role me) (init (at 0)) (<= terminal (true (at 9))) (<= (goal me 100) (true (at 9)))"
    rules += "(<= (goal me 50) (true seen))" + "".join(f"(legal me {move})" for move in range(100))
    rules += "".join(f"(succ {step} {step + 1})" for step in range(9))
    rules += "(<= (next (at ?y)) (true (at ?x)) (succ ?x ?y)) (<= (next seen) (true seen))"
    sheet.write_text(rules + "(<= (next seen) (true (at 8)) (does me 7))", encoding="utf-8")
    assert json.loads(run(["check", str(sheet), "--json"])[0])["played"] == 10
    told, _ = run(["simulate", str(sheet), "--playouts", "20000", "--seed", "1"])
    found = re.search(r"`anygame (check) (.*) (--play) (\d+)` is likely to show such a game of me", told)
    assert found is not None
    assert 400 < int(found[4]) < 600
    report = json.loads(run([*found.groups(), "--json"])[0])
    assert report["played"] == int(found[4])
    assert "goal-conflict" in {each["code"] for each in report["diagnostics"]}
    assert "anygame check" not in run(["simulate", "tic_tac_toe", "--playouts", "100"])[0]
