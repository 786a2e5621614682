from __future__ import annotations

import re
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

from tests.doctor.asking import check_play, check_rules

import anygame
from anygame import doctor
from anygame.doctor import work
from anygame.doctor.examination import examine
from anygame.doctor.play.checking import Bounds
from anygame.language import Severity, Source, parse_program

if TYPE_CHECKING:
    import pytest

    from anygame.doctor.finding import Finding

#: Two ways through a row of doors, a short one and a long one, to a place without a way out.
DOORS = """
    (role solo) (role idle)
    (init (at 0))
    (succ 0 1) (succ 1 2) (succ 2 3) (succ 3 4) (succ 4 5)
    (<= (legal solo step) (true (at ?x)) (succ ?x ?_y))
    (<= (legal solo leap) (true (at 2)))
    (<= (legal idle noop) (role idle))
    (<= (next (at ?y)) (does solo step) (true (at ?x)) (succ ?x ?y))
    (<= (next (at 5)) (does solo leap))
    (<= terminal (true (at 9)))
    (<= (goal ?r 0) (role ?r))
"""
FOREVER = """
    (role solo) (legal solo go) (init (at 0))
    (<= (next (at 0)) (does solo go))
    (<= terminal (true (at 1))) (goal solo 0)
"""


def found(text: str, **bounds: float) -> dict[str, Finding]:
    findings = check_play(anygame.loads(text), Bounds(**bounds))  # type: ignore[arg-type]
    assert findings == sorted(findings, key=lambda finding: finding.diagnostic)
    return {finding.diagnostic.code: finding for finding in findings}


def line_of(finding: Finding) -> list[str]:
    assert finding.line is not None
    return [str(joint[0]) for joint in finding.line]


def test_the_line_is_the_shortest() -> None:
    assert line_of(found(DOORS)["no-move"]) == ["step", "step", "leap"]


def test_the_line_of_a_playout_will_do_where_the_search_ends_early() -> None:
    line = line_of(found(DOORS, states=1, playouts=20)["no-move"])
    assert line in (["step", "step", "leap"], ["step"] * 5)


def test_the_same_seed_gives_the_same_findings() -> None:
    assert found(DOORS, states=1, playouts=1, seed=4) == found(DOORS, states=1, playouts=1, seed=4)


def test_playouts_that_do_not_end_are_counted() -> None:
    finding = found(FOREVER, playouts=3, steps=25)["endless"]
    assert finding.diagnostic.message == "3 of 3 random playouts did not end within 25 joint moves"
    assert line_of(finding) == ["go"] * 25
    assert any("and 19 more" in note.message for note in finding.diagnostic.notes)


def test_playing_stops_when_time_is_up() -> None:
    finding = found(FOREVER, playouts=5, seconds=0)["play-cut"]
    assert finding.diagnostic.message == "only 0 of 5 playouts were played: the time limit was reached"
    assert (finding.diagnostic.severity, finding.line) == (Severity.INFO, None)


def test_the_clock_is_read_in_one_place_alone() -> None:
    """All else is bounded by counts, so that a busy machine finds what a quiet one finds; but for proofs."""
    sources = Path(doctor.__file__).parent.rglob("*.py")
    reading = re.compile(r"^\s*(import|from) time\b", re.MULTILINE)
    assert sorted(path.name for path in sources if reading.search(path.read_text("utf-8"))) == [
        "proofs.py",
        "work.py",
    ]


def said_of(text: str) -> list[str]:
    return [str(each.diagnostic) for each in examine(Source("sheet", text)).findings]


def test_a_slow_clock_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    slip = DOORS.replace("(init (at 0))", "(init (att 0))")
    found = said_of(DOORS), said_of(slip)
    clock = count()
    monkeypatch.setattr(work, "monotonic", lambda: next(clock) / 100)
    assert (said_of(DOORS), said_of(slip)) == found


def test_playing_stops_at_the_work_budget() -> None:
    finding = found(FOREVER, playouts=5, work=0)["play-cut"]
    assert finding.diagnostic.message == "only 0 of 5 playouts were played: the work budget was used up"
    some = found(FOREVER, playouts=50, work=200_000)["play-cut"]
    assert some == found(FOREVER, playouts=50, work=200_000)["play-cut"]
    assert "after 0 of" not in some.diagnostic.message


def test_brief_play_reports_only_a_timeout() -> None:
    assert found(FOREVER, playouts=5, work=0, brief=True) == {}
    assert list(found(FOREVER, playouts=5, seconds=0, brief=True)) == ["play-cut"]


def test_playing_stops_at_the_limits_of_the_reasoner() -> None:
    growing = FOREVER + "(n zero) (<= (n (s ?x)) (n ?x)) (<= (legal solo (say ?x)) (n ?x))"
    finding = found(growing)["limit-reached"]
    assert finding.diagnostic.severity is Severity.ERROR
    assert finding.diagnostic.message.startswith("playing stopped: ")


def test_recursion_down_a_list_that_is_known_ends() -> None:
    lists = "(list nil) (<= (list (c ?x ?l)) (mark ?x) (list ?l)) (mark a) (init (hand (c a nil)))"
    last = "(<= (last ?x (c ?x ?l)) (mark ?x) (list ?l)) (<= (last ?x (c ?y ?l)) (mark ?y) (last ?x ?l))"
    asked = "(<= (legal solo (say ?x)) (true (hand ?l)) (last ?x ?l))"
    assert "growing-recursion" not in found(FOREVER + lists + last + asked)
    endless = found(FOREVER + lists + last + "(<= (legal solo (say ?x)) (last ?x ?l))")
    assert not {"growing-recursion", "limit-reached"}.isdisjoint(endless)


def test_a_role_that_is_chance_needs_no_goal() -> None:
    moves = "(legal random roll) (legal solo go)"
    ends = f"(init start) (<= (next over) (does solo go)) (<= terminal (true over)) {moves}"
    assert found(f"(role random) (role solo) {ends} (goal solo 50)") == {}
    assert list(found(f"(role dice) (role solo) (legal dice roll) {ends} (goal solo 50)")) == ["goal-missing"]


def test_a_terminal_state_needs_no_move() -> None:
    text = "(role x) (init on) (<= terminal (true over)) (goal x 100) (<= (next over) (does x go))"
    assert found(f"{text} (<= (legal x go) (true on))") == {}


def test_a_game_over_at_the_start_is_reported_at_the_rule_that_ends_it() -> None:
    finding = found("(role x) (init over) (<= terminal (true on)) (<= terminal (true over)) (goal x 100)")
    (told,) = finding.values()
    assert told.diagnostic.code == "over-at-start"
    assert told.diagnostic.span is not None
    assert told.diagnostic.span.text == "(<= terminal (true over))"


def test_a_sheet_beyond_the_limits_is_refused_with_a_place() -> None:
    (fault,) = check_rules(parse_program(f"(role x) (init {'(s ' * 160}zero{')' * 161}"))
    assert (fault.code, fault.severity) == ("limit-reached", Severity.ERROR)
    assert fault.span is not None


def test_rules_that_can_be_played_have_no_fault() -> None:
    assert check_rules(parse_program(DOORS)) == []


def test_goals_out_of_range_are_reported_with_their_line() -> None:
    ends = "(init on) (legal x go) (<= (next off) (does x go)) (<= terminal (true off))"
    for goal in ("101", "-1"):
        finding = found(f"(role x) {ends} (goal x {goal})")["goal-in-play"]
        assert finding.diagnostic.message == f"a goal is an integer from 0 to 100, but x has {goal}"
        assert line_of(finding) == ["go"]
    finding = found(f"(role x) {ends} (goal x (high 1))")["goal-in-play"]
    assert finding.diagnostic.message == "a goal is an integer from 0 to 100, but x has (high 1)"


def test_conflicting_goals_are_reported_at_the_first_rule() -> None:
    ends = "(init on) (<= terminal (true on)) (legal x go)\n"
    finding = found(f"(role x) {ends}(goal x 0)\n(<= (goal x ?n) (n ?n)) (n 7)")["goal-conflict"]
    assert finding.diagnostic.message == "the game is over here, and x has the goals 0, 7"
    assert finding.diagnostic.span is not None
    assert finding.diagnostic.span.place.endswith(":2:1")


def test_every_fault_is_found_though_one_hides_the_next() -> None:
    faults = check_rules(
        parse_program(
            "(role x)\n(<= (p ?x) (not (q ?x)))\n(<= a (not b))\n(<= b (not a))\n(<= (base ?f) (true ?f))"
        )
    )
    assert [fault.code for fault in faults] == ["unsafe-variable", "unstratified", "static-relation"]


def test_a_board_whose_marks_move_beyond_it_is_none() -> None:
    """Pieces that stand in a block at the start leave empty places behind: that is no fault."""
    text = """
        (role x) (row 1) (row 2) (row 3) (init (step 1)) (succ 1 2) (succ 2 3)
        (<= (init (piece ?r ?c man)) (row ?r) (row ?c))
        (<= (legal x (push ?c)) (row ?c))
        (<= (next (piece far ?c king)) (does x (push ?c)))
        (<= (next (piece ?r ?c ?w)) (true (piece ?r ?c ?w)) (not (does x (push ?c))))
        (<= (next (step ?n)) (true (step ?m)) (succ ?m ?n))
        (<= terminal (true (step 3))) (goal x 100)
    """
    assert "lost-value" not in found(text)
    stays = text.replace("(piece far ?c king)", "(piece 1 ?c king)")
    assert "lost-value" in found(stays)


def test_a_cell_has_one_mark() -> None:
    text = """
        (role x) (index 1) (index 2) (init (step 1)) (succ 1 2) (succ 2 3)
        (<= (init (cell ?r ?c b)) (index ?r) (index ?c))
        (<= (legal x (mark ?r ?c)) (true (cell ?r ?c b)))
        (<= (next (cell ?r ?c x)) (does x (mark ?r ?c)))
        (<= (next (cell ?r ?c ?m)) (true (cell ?r ?c ?m)) (does x (mark ?s ?d)) (differ ?r ?c ?s ?d))
        (<= (differ ?r ?c ?s ?d)
            (index ?r) (index ?c) (index ?s) (index ?d) (or (distinct ?r ?s) (distinct ?c ?d)))
        (<= (next (step ?n)) (true (step ?m)) (succ ?m ?n))
        (<= terminal (true (step 3))) (goal x 100)
    """
    assert not found(text)
    told = found(text.replace("(differ ?r ?c ?s ?d))\n", ")\n"))["double-value"].diagnostic
    assert told.message == "(cell 1 1 b) and (cell 1 1 x) are true at the same time"


def test_a_game_over_at_the_start_is_reported_at_its_cause() -> None:
    text = """
        (role x) (init (at 1)) (legal x go) (<= (next (at 2)) (does x go)) (goal x 100)
        (<= terminal over)
        (<= over (true (at 2)))
        (<= over (not (true (at 3))))
    """
    told = found(text)["over-at-start"].diagnostic
    assert told.span is not None
    assert told.span.text == "(<= over (not (true (at 3))))"


def test_two_pieces_on_one_square_are_a_double_value() -> None:
    text = """
        (role x) (file a) (file b) (file c) (init (step 1)) (succ 1 2) (succ 2 3)
        (init (cell a 1 rook)) (init (cell b 1 king)) (init (cell c 1 rook)) (init (cell a 3 pawn))
        (<= (legal x (move a ?r)) (true (cell b ?r king)) (not (true (cell a ?r rook))))
        (<= (legal x (move ?f 2)) (file ?f))
        (<= (next (cell ?f ?r king)) (does x (move ?f ?r)))
        (<= (next (cell ?f ?r ?p)) (true (cell ?f ?r ?p)) (distinct ?p king))
        (<= (next (step ?n)) (true (step ?m)) (succ ?m ?n))
        (<= terminal (true (step 3))) (goal x 100)
    """
    assert not found(text)
    told = found(text.replace(" (not (true (cell a ?r rook)))", ""))["double-value"].diagnostic
    assert told.message == "(cell a 1 king) and (cell a 1 rook) are true at the same time"
