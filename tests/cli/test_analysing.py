"""The analyse command, and `analyse` and `hint` at the prompt."""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING

import pytest
from tests.cli.transcripts import ROOT, run
from tests.search.models import saved_model

from anygame.cli.main import main
from anygame.cli.output import Screen
from anygame.cli.progress import analyse
from anygame.cli.repl.analyses import Analyses
from anygame.cli.repl.session import Session
from anygame.game.loading import load
from anygame.search import Search
from anygame.search.state_tree import StateSearcher

if TYPE_CHECKING:
    from pathlib import Path

_WON = ["--after", "(mark 1 1)", "--after", "(mark 2 1)", "--after", "(mark 1 2)", "--after", "(mark 3 3)"]
_REASONER = ["--machine", "reasoner", "--seed", "1"]


@pytest.fixture(autouse=True)
def _in_checkout(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)


def test_analyse_prints_a_proven_state_as_a_table() -> None:
    output, status = run(["analyse", "tic_tac_toe", *_WON, *_REASONER])
    lines = output.splitlines()
    assert status == 0
    assert " iterations in " in lines[0]
    assert lines[1].split() == ["x", "visits", "goal", "error", "proven", "line"]
    assert lines[2].startswith("  (mark 1 3)  ")
    assert lines[2].endswith("100  (mark 1 3)")
    assert lines[-1] == "  proven: 100"


def test_a_budget_ends_it() -> None:
    output, status = run(["analyse", "tic_tac_toe", "--iterations", "30", *_REASONER])
    assert status == 0
    assert output.startswith("30 iterations in ")
    assert len(output.splitlines()) == 11
    output, status = run(["analyse", "tic_tac_toe", "--seconds", "0.1", *_REASONER])
    assert status == 0


@pytest.mark.parametrize("model", ["yes", "some.npz"])
def test_the_reasoner_takes_no_model(model: str) -> None:
    output, status = run(["analyse", "tic_tac_toe", "--iterations", "3", "--model", model, *_REASONER])
    assert status == 2
    assert "--model needs a compiled game: leave out --machine reasoner" in output
    assert run(["analyse", "tic_tac_toe", "--iterations", "3", "--model", "no", *_REASONER])[1] == 0


@pytest.mark.slow
def test_practice_precedes_the_analysis() -> None:
    output, status = run(["analyse", "connect_four", "--practise", "0.2", "--iterations", "600"])
    assert status == 0
    assert output.startswith("self-play: ")
    output, status = run(["analyse", "lights_out", "--practise", "0.2", "--iterations", "30"])
    assert status == 0
    assert output.startswith("no practice: self-play needs a compiled game with several roles")


def test_json_is_an_object_a_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("anygame.search.searching._BETWEEN_REPORTS", 0.0)
    output, status = run(["analyse", "tic_tac_toe", "--iterations", "40", "--json", *_REASONER])
    found = [json.loads(line) for line in output.splitlines()]
    assert status == 0
    assert len(found) > 1
    last = found[-1]
    assert (last["game"], last["step"], last["terminal"], last["iterations"]) == ("tic_tac_toe", 0, False, 40)
    assert {"seconds", "nodes", "goals", "proven", "engine"} <= last.keys()
    assert sum(each["visits"] for each in last["moves"]["x"]) == 40
    best = last["moves"]["x"][0]
    assert best.keys() == {"move", "visits", "goal", "error", "proven", "bounds", "line"}
    assert best["line"][0] == [best["move"], "noop"]


def test_ends_have_their_goals() -> None:
    output, status = run(["analyse", "tic_tac_toe", *_WON, "--after", "(mark 1 3)", *_REASONER])
    assert status == 0
    assert output.startswith("0 iterations")
    assert "proven: 100" in output


@pytest.mark.parametrize("budget", [[], ["--seconds", "60"]])
def test_ctrl_c_keeps_the_results_so_far(monkeypatch: pytest.MonkeyPatch, budget: list[str]) -> None:
    advance = StateSearcher.advance

    def interrupted(self: StateSearcher, seconds: float, iterations: int | None = None) -> int:
        advance(self, 60, 20)
        raise KeyboardInterrupt

    monkeypatch.setattr(StateSearcher, "advance", interrupted)
    output, found = run(["analyse", "tic_tac_toe", *budget, *_REASONER])
    assert "(mark 2 2)" in output
    assert found == 130


def test_exact_values_may_be_given(tmp_path: Path) -> None:
    path = str(tmp_path / "values.table")
    assert run(["solve", "tic_tac_toe", "--table", path])[1] == 0
    output, status = run(
        ["analyse", "tic_tac_toe", "--iterations", "10", "--table", path, "--json", *_REASONER]
    )
    assert status == 0
    assert {each["proven"] for each in json.loads(output.splitlines()[-1])["moves"]["x"]} == {50}
    output, status = run(
        ["repl", "tic_tac_toe", "--machine", "reasoner", "--table", path], "(mark 1 1)\nhint 0.01\n"
    )
    assert status == 0
    assert output.endswith("o: (mark 2 2)   (goal 50, proven)\n")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--threads", "5000"], "expected a whole number from 1 to 4096, found '5000'"),
        (["--threads", "0"], "expected a whole number from 1 to 4096, found '0'"),
        (["--memory", "no"], "expected gigabytes above 0, such as 4, 0.5 or 512MB, found 'no'"),
        (["--seconds", "-1"], "expected seconds above 0, such as 90, 1.5, 30m or 8h, found '-1'"),
        (["--table", "/nowhere"], "cannot read /nowhere"),
    ],
)
def test_wrong_options_cause_an_error(arguments: list[str], message: str) -> None:
    output, status = run(["analyse", "tic_tac_toe", *arguments])
    assert status == 2
    assert message in output


class _Terminal(io.StringIO):
    encoding = "utf-8"

    def isatty(self) -> bool:
        return True


def test_on_a_terminal_the_table_grows(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("rich")
    monkeypatch.setattr("anygame.search.searching._BETWEEN_REPORTS", 0.0)
    monkeypatch.setenv("COLUMNS", "60")
    stream = _Terminal()
    game = load("tic_tac_toe", machine="reasoner")
    analyse(Search(game, seed=1), game.initial_state(), Screen(stream), iterations=200)
    shown = stream.getvalue()
    assert shown.count(" iterations in ") > 1
    assert "200 iterations in " in shown


def test_the_prompt_analyses_and_gives_hints() -> None:
    moves = "(mark 1 1)\n(mark 2 1)\n(mark 1 2)\n(mark 3 3)\n"
    output, status = run(
        ["repl", "tic_tac_toe", "--machine", "reasoner"], f"{moves}analyse\nhint\n(mark 1 3)\nhint\n"
    )
    assert status == 0
    assert "  proven: 100\n" in output
    assert "x: (mark 1 3)   (goal 100, proven)\n" in output
    assert output.endswith("no role has a choice here\n")


def test_the_command_searches_with_a_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("ANYGAME_MODELS", str(tmp_path))
    path = saved_model(load("tic_tac_toe"), trust=1.0)

    def said(*arguments: str) -> str:
        assert main(["analyse", "tic_tac_toe", *arguments]) == 0
        return capsys.readouterr().err

    budget = ("--iterations", "50")
    assert "model of tic_tac_toe: " in said("--seconds", "0.05")
    assert said(*budget) == said("--seconds", "0.05", "--model", "no") == ""
    assert "model of tic_tac_toe: " in said(*budget, "--model", "yes")
    kept = path.rename(tmp_path / "kept.npz")
    assert "model of tic_tac_toe: " in said(*budget, "--model", str(kept))
    path.write_bytes(b"")
    assert ": searching without a model" in said("--seconds", "0.05")
    assert main(["analyse", "tic_tac_toe", *budget, "--model", str(path)]) == 2
    assert "damaged" in capsys.readouterr().err
    assert main(["analyse", "connect_four", *budget, "--model", str(kept)]) == 2
    assert "does not fit the rules of connect_four" in capsys.readouterr().err


def test_the_prompt_searches_with_the_model_that_players_search_with(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANYGAME_MODELS", str(tmp_path))
    game = load("tic_tac_toe")
    path = saved_model(game, trust=1.0)

    def estimates() -> set[bool]:
        session = Session(game, seed=1)
        found = Analyses(session)._search_of().run(session.state, iterations=100)
        return {move.estimate is not None for move in found.moves[game.roles[0]]}

    assert estimates() == {True}
    path.write_bytes(b"")
    assert estimates() == {False}


def test_the_prompt_takes_seconds() -> None:
    output, _ = run(["repl", "tic_tac_toe", "--machine", "reasoner"], "hint 0.05\n")
    assert output.splitlines()[-1].startswith("x: (mark ")
    output, status = run(["repl", "tic_tac_toe", "--machine", "reasoner"], "analyse soon\n")
    assert status == 1
    assert (
        "expected seconds above 0, such as 90, 1.5, 30m or 8h, found 'soon'\nusage: analyse [SECONDS]"
        in output
    )
