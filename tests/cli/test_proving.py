"""The commands ``prove`` and ``equal``."""

from __future__ import annotations

import json
import sys
from itertools import islice
from typing import TYPE_CHECKING, Any

import pytest
from tests.cli.transcripts import run

from anygame.cli.commands import proving
from anygame.proving import each_verdict

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from anygame.proving import Verdict

_ENDLESS = """
    (role a) (init (n (s z))) (<= (legal a go) (true (n ?x)))
    (<= (next (n (s ?x))) (true (n ?x))) (<= terminal (true (n z))) (goal a 100)
"""


def test_verdicts_are_printed_with_their_evidence() -> None:
    printed, status = run(["prove", "monty_hall", "--property", "playable", "--property", "winnable"])
    assert "proved   playable: every role has a legal move" in printed
    assert "shown by a shortest match of 4 joint moves:" in printed
    assert status == 0


def test_a_property_without_instances_prints_none() -> None:
    printed, status = run(["prove", "monty_hall", "--property", "constant-players"])
    assert printed.endswith("         none\n")
    assert status == 0


def test_ctrl_c_keeps_the_verdicts_so_far_and_counts_them(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*asked: Any, **options: Any) -> Iterator[Verdict]:
        yield from islice(each_verdict(*asked, **options), 1)
        raise KeyboardInterrupt

    monkeypatch.setattr(proving, "each_verdict", interrupted)
    printed, status = run(["prove", "monty_hall"])
    assert "proved   playable: every role has a legal move" in printed
    assert printed.endswith("anygame: interrupted: 1 verdict so far\n")
    assert status == 130


def test_json_has_the_invariant_and_the_match() -> None:
    asked = ["--property", "(never terminal)", "--property", "goals"]
    printed, status = run(["prove", "leduc_poker", "--json", *asked])
    goals, never = json.loads(printed)["verdicts"]
    assert (goals["verdict"], never["verdict"]) == ("proved", "refuted")
    assert len(never["match"]) > 1
    assert goals["invariant"]
    assert goals["invariant"][0].startswith("(")
    assert status == 1


def test_doubts_about_formulas_follow_their_verdicts() -> None:
    printed, _ = run(["prove", "monty_hall", "--property", "(reachable (does candidate (choose 9)))"])
    assert (
        printed
        == """\
refuted  (reachable (does candidate (choose 9)))
         (does candidate (choose 9)) never holds: no rule or fact has 9 here; possible terms: 1 2 3
           (reachable (does candidate (choose 9)))
                                              ^
         no joint move makes the property true: the proof needs no further invariant
"""
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--property", "winabel"], "did you mean winnable?"),
        (["--property", "(never (nothing))"], "the rules have no relation nothing/0"),
        (["--property", "(never (and"], "this list is never closed"),
        (["--seconds", "0"], "expected seconds above 0"),
    ],
)
def test_bad_properties_cause_an_error(arguments: list[str], message: str) -> None:
    printed, status = run(["prove", "monty_hall", *arguments])
    assert message in printed
    assert status == 2
    assert "Traceback" not in printed


def test_properties_of_a_game_without_a_network_stay_open(tmp_path: Path) -> None:
    sheet = tmp_path / "endless.kif"
    sheet.write_text(_ENDLESS)
    other = tmp_path / "other.kif"
    other.write_text(f"{_ENDLESS} (other rule)")
    for command in (["prove", str(sheet), "--property", "ends"], ["equal", str(sheet), str(other)]):
        printed, status = run([*command, "--seconds", "1"])
        assert "no proof was attempted: " in printed
        assert "grows without end" in printed
        assert status == 1
        assert "\nopen " in f"\n{printed}"


def test_a_missing_solver_is_named_with_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pysat.solvers", None)
    printed, status = run(["prove", "monty_hall"])
    assert "pip install 'anygame[prove]'" in printed
    assert status == 2


def test_two_sheets_are_compared(tmp_path: Path) -> None:
    printed, status = run(["equal", "monty_hall", "monty_hall"])
    assert printed.startswith("proved   equal: both sheets describe the same game")
    assert status == 0
    printed, status = run(["equal", "monty_hall", "kuhn_poker"])
    assert "the sheets have different roles" in printed
    assert status == 2
    printed, status = run(["equal", "monty_hall", "monty_hall", "--map", str(tmp_path / "none")])
    assert "cannot read" in printed
    assert status == 2


def test_mending_reports_whether_the_game_changes(tmp_path: Path) -> None:
    sheet = tmp_path / "sheet.kif"
    rules = "(<= (next over) (does a go)) (<= terminal (true over)) (goal a 100)"
    sheet.write_text(f"(role a) (legal a go) {rules}")
    printed, status = run(["mend", str(sheet), "--select", "base,input", "--prove"])
    assert "sheet.kif: proved   equal: both sheets describe the same game" in printed
    assert status == 0
    sheet.write_text(f"(role a) (<= (legal ?r go) (not (true over))) {rules}")
    printed, status = run(["mend", str(sheet), "--select", "role,binding", "--prove"])
    assert "mended[" in printed
    assert "not compared: the original sheet cannot be played" in printed
    assert status == 1


def test_layouts_and_translations_are_proved_equal(tmp_path: Path) -> None:
    sheet, infix = tmp_path / "sheet.kif", tmp_path / "sheet.hrf"
    sheet.write_text("(role a)(legal a Go)(<= terminal(true over))(goal a 100)(<= (next over)(does a ?Any))")
    told = "proved   equal: both sheets describe the same game\n         both sheets have the same rules"
    for command in (
        ["format", str(sheet), "--check"],
        ["format", str(sheet)],
        ["translate", str(sheet), "--to", "infix", "-o", str(infix)],
        ["translate", str(infix), "--to", "kif"],
        ["format", str(sheet), "--write"],
    ):
        printed, status = run([*command, "--prove"])
        assert told in printed
        assert status == ("--check" in command)


def test_a_sheet_that_cannot_be_played_is_laid_out_and_not_compared(tmp_path: Path) -> None:
    sheet, loose = tmp_path / "sheet.kif", tmp_path / "loose.kif"
    sheet.write_text("(role a) (init ?what)")
    loose.write_text("(role a) (legal a go) (goal a 100) (base (at 1)) (<= terminal (not (true (at ?any))))")
    printed, status = run(["format", str(sheet), str(loose), "--prove"])
    assert printed.count("not compared: the original sheet cannot be played") == 2
    assert status == 1
    # Read leniently, it can be played, and what comes out says what was meant.
    printed, status = run(["translate", str(loose), "--to", "infix", "--lenient", "--prove"])
    assert "loose.kif: proved   equal" in printed
    assert status == 0
