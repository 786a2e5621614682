"""What `check --prove` makes of doubts: faults with a match that shows them, or nothing any more."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from tests.cli.transcripts import run

import anygame
from anygame.doctor.examination import Examination, ExaminationSettings, examine
from anygame.doctor.play.checking import BRIEF
from anygame.language.diagnostics import Severity
from anygame.language.source import Source

if TYPE_CHECKING:
    from pathlib import Path

    from anygame.doctor.finding import Finding

#: A lock: who turns it right eleven times comes to what random play and a short search never see.
_LOCK = """
(role a) (init (at 1)) (after 1 2) (after 2 3) (after 3 4) (after 4 5) (after 5 6) (after 6 7) (after 7 8)
(after 8 9) (after 9 10) (after 10 11) (after 11 12) (side 1) (side 2) (side 3) (side 4) (side 5) (side 6)
(code 1 3) (code 2 1) (code 3 4) (code 4 2) (code 5 6) (code 6 5) (code 7 1) (code 8 2) (code 9 6) (code 10 1)
(code 11 4) (init right)
(<= (legal a (turn ?s)) (true (at ?x)) (after ?x ?y) (side ?s))
(<= (next (at ?y)) (true (at ?x)) (after ?x ?y))
(<= turned (does a (turn ?s)) (true (at ?x)) (code ?x ?s))
(<= (next right) turned (true right)) (<= (next lost) (not turned)) (<= (next lost) (true lost))
(<= (next (last ?s)) (does a (turn ?s))) (<= (next (before ?s)) (true (last ?s)))
(<= terminal (true (at 12)) (true lost))
(<= (goal a 50) (true lost)) (<= (goal a 100) (true right))
"""
_END = "(<= terminal (true (at 12)))"
_TRAP, _SOUND = _LOCK, _LOCK + _END
_DOUBLE = f"{_SOUND} (<= (goal a 0) (true right))"
_LEFT_OVER = f"{_SOUND} (<= (goal a 0) (true right) (true lost))"
_CIRCLE = """
(role a) (init (at 1)) (after 1 2) (after 2 1) (legal a on) (legal a stop)
(<= (next (at ?y)) (does a on) (true (at ?x)) (after ?x ?y)) (<= (next over) (does a stop))
(<= terminal (true over)) (goal a 100)
"""


def _examined(text: str, **wanted: object) -> Examination:
    return examine(Source("sheet.kif", text), ExaminationSettings(prove=60, **wanted))  # type: ignore[arg-type]


def _of(examination: Examination, code: str) -> list[Finding]:
    return [each for each in examination.findings if each.diagnostic.code == code]


def _outcomes(examination: Examination) -> dict[str, str]:
    return {verdict.name: verdict.outcome for verdict in examination.verdicts}


@pytest.mark.parametrize(
    ("text", "code", "moves"),
    [(_TRAP, "no-move", 11), (_DOUBLE, "goal-conflict", 11), (_CIRCLE, "endless", 2)],
)
def test_a_fault_that_play_does_not_meet_is_found_with_a_match(text: str, code: str, moves: int) -> None:
    assert not _of(examine(Source("sheet.kif", text)), code)
    (found,) = _of(_examined(text), code)
    assert found.diagnostic.severity is Severity.ERROR
    assert found.verdict is not None
    assert found.verdict.outcome == "refuted"
    assert found.diagnostic.notes[0].message.startswith("refuted by a")
    assert found.line is not None
    assert len(found.line) == moves
    state = anygame.loads(text, machine="reasoner").initial_state()
    states = [state]
    for joint in found.line:
        state = state.next(list(joint))
        states.append(state)
    match code:
        case "no-move":
            assert state.stuck_role is not None
        case "goal-conflict":
            assert len(list(state.query("(goal a ?n)"))) == 2
        case _:
            assert state in states[:-1]


def test_a_doubt_that_is_refuted_by_a_proof_is_withdrawn() -> None:
    assert _of(examine(Source("sheet.kif", _SOUND)), "overlapping-goals")
    examination = _examined(_SOUND)
    assert set(_outcomes(examination).values()) == {"proved"}
    assert not _of(examination, "overlapping-goals")
    (goals,) = [verdict for verdict in examination.verdicts if verdict.name == "goals"]
    assert "1 overlapping-goals finding dropped" in goals.note


def test_long_matches_are_no_doubt_where_a_bound_is_proved() -> None:
    bounds = type(BRIEF)(playouts=2, steps=3)
    text = """
        (role a) (init (at 1)) (after 1 2) (after 2 3) (after 3 4) (after 4 5) (after 5 6) (legal a on)
        (<= (next (at ?y)) (true (at ?x)) (after ?x ?y)) (<= terminal (true (at 6))) (goal a 100)
    """
    assert _of(examine(Source("sheet.kif", text), ExaminationSettings(play=bounds)), "endless")
    examination = _examined(text, play=bounds)
    assert _outcomes(examination)["ends"] == "proved"
    assert not _of(examination, "endless")


def test_a_rule_that_fires_in_no_match_is_found_and_all_others_are_not() -> None:
    examination = _examined(_LEFT_OVER)
    (found,) = _of(examination, "dead-rule")
    assert found.diagnostic.span is not None
    assert found.diagnostic.span.text == "(<= (goal a 0) (true right) (true lost))"
    assert _outcomes(examination)["dead-rules"] == "refuted"


def test_a_fault_found_in_play_and_by_proof_has_the_shorter_match() -> None:
    text = "(role a) (init (at 1)) (<= (legal a go) (true (at 1))) (<= (next (at 2)) (does a go))"
    text += "(<= terminal (true (at 3))) (goal a 100)"
    (found,) = _of(_examined(text), "no-move")
    assert found.verdict is not None
    assert len(found.line or ()) == 1


@pytest.mark.filterwarnings("ignore::anygame.FallbackWarning")
def test_without_a_network_proofs_stay_open_with_a_reason() -> None:
    text = """
        (role a) (init (n (s z))) (<= (legal a go) (true (n ?x)))
        (<= (next (n (s ?x))) (true (n ?x))) (<= terminal (true (n z))) (goal a 100)
    """
    examination = _examined(text, play=None)
    assert set(_outcomes(examination).values()) == {"open"}
    assert all("cannot be compiled" in verdict.note for verdict in examination.verdicts)


def test_the_command_line_prints_verdicts_and_writes_matches(tmp_path: Path) -> None:
    (tmp_path / "trap.kif").write_text(_TRAP)
    printed, status = run(["check", "--prove", str(tmp_path / "trap.kif"), "--record", str(tmp_path / "r")])
    assert "error[no-move]: a has no legal move here" in printed
    assert "refuted by a shortest match: every role has a legal move" in printed
    assert "trap.kif: proved: every match ends within 12 moves" in printed
    assert status == 1
    (record,) = (tmp_path / "r").iterdir()
    printed, status = run(["replay", str(record)])
    assert "the record agrees with the rules" in printed
    assert status == 0


def test_json_has_the_verdict_of_a_finding_and_all_others(tmp_path: Path) -> None:
    (tmp_path / "circle.kif").write_text(_CIRCLE)
    printed, _ = run(["check", "--prove", str(tmp_path / "circle.kif"), "--json"])
    found = json.loads(printed)
    (endless,) = [each for each in found["diagnostics"] if each["code"] == "endless"]
    assert endless["proof"] == {"property": "ends", "verdict": "refuted"}
    assert endless["play"] == [["on"], ["on"]]
    assert {each["property"]: each["verdict"] for each in found["proofs"]} == {
        "playable": "proved",
        "ends": "refuted",
        "goals": "proved",
        "dead-rules": "proved",
    }
