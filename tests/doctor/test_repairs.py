"""What only play shows is told where one change makes it right."""

from __future__ import annotations

import pytest

from anygame.doctor.examination import ExaminationSettings, examine
from anygame.language import Severity, Source

LAMP = """
    (role ann) (role bob)
    (init (lamp off)) (init (turn ann)) (other ann bob) (other bob ann)
    (<= (legal ?r press) (true (turn ?r)))
    (<= (legal ?r wait) (role ?r) (not (true (turn ?r))))
    (<= (next (lamp on)) (does ann press))
    (<= (next (lamp ?s)) (true (lamp ?s)) (true (turn bob)))
    (<= (next (turn ?q)) (true (turn ?r)) (other ?r ?q))
    (<= lit (true (lamp on)))
    (<= terminal lit (not (true (turn bob))))
    (<= (goal ?r 100) (role ?r) lit)
    (<= (goal ?r 0) (role ?r) (not lit))
"""


def causes_in(text: str) -> list[tuple[str, str]]:
    """Return the code and the place of each finding of play that has a cause elsewhere."""
    found = [each.diagnostic for each in examine(Source("sheet", text)).findings if each.line is not None]
    named = [each for each in found if each.span and "here avoids this fault" in each.message]
    assert all(each.follows for each in found if named and each not in named)
    return [(each.code, each.span.text) for each in named if each.span]


def test_a_correct_sheet_has_no_causes() -> None:
    assert causes_in(LAMP) == []


@pytest.mark.parametrize(
    ("right", "wrong", "expected"),
    [
        ("(not (true (turn ?r)))", "(true (turn ?r))", ("no-move", "(true (turn ?r))")),
        ("(role ?r) (not lit)", "(role ?r) lit", ("goal-conflict", "lit")),
    ],
)
def test_the_change_that_makes_it_right_is_the_place(
    right: str, wrong: str, expected: tuple[str, str]
) -> None:
    assert right in LAMP
    assert causes_in(LAMP.replace(right, wrong)) == [expected]


def test_a_not_that_is_missing_is_the_first_hint() -> None:
    sheet = LAMP.replace("(not (true (turn ?r)))", "(true (turn ?r))")
    first = examine(Source("sheet", sheet)).findings[0].diagnostic
    assert first.code == "no-move"
    assert first.hint.startswith("(not (true (turn ?r))), or add a move such")
    assert "here avoids this fault" in first.message


def test_a_finding_without_a_repair_keeps_its_place() -> None:
    text = "(role r) (legal r go) (init a) (<= terminal (true a)) (<= (goal r 100) (true b))"
    assert any(each.line is not None for each in examine(Source("sheet", text)).findings)
    assert causes_in(text) == []


def test_the_same_is_found_twice() -> None:
    wrong = LAMP.replace("(not (true (turn ?r)))", "(true (turn ?r))")
    assert causes_in(wrong) == causes_in(wrong)


BOARD = """
    (role x) (index 1) (index 2) (init (step 1)) (succ 1 2) (succ 2 3) (other on off) (other off on)
    (<= (init (lamp ?r ?c on)) (index ?r) (index ?c))
    (<= (legal x (press ?r ?c)) (index ?r) (index ?c))
    (<= (switched ?r ?c) (does x (press ?r ?c)))
    (<= (next (lamp ?r ?c ?new)) (switched ?r ?c) (true (lamp ?r ?c ?old)) (other ?old ?new))
    (<= (next (lamp ?r ?c ?s)) (true (lamp ?r ?c ?s)) (not (switched ?r ?c)))
    (<= (next (step ?n)) (true (step ?m)) (succ ?m ?n))
    (<= terminal (true (step 3))) (goal x 100)
"""


def test_a_frame_axiom_must_negate_the_change() -> None:
    assert causes_in(BOARD) == []
    wrong = BOARD.replace("(not (switched ?r ?c))", "(switched ?r ?c)")
    assert causes_in(wrong) == [("double-value", "(switched ?r ?c)")]
    place = wrong.rindex("(switched ?r ?c)")
    first = examine(Source("sheet", wrong)).findings[0].diagnostic
    assert first.span is not None
    assert first.span.start == place


def test_marks_elsewhere_do_not_make_a_lost_board_right() -> None:
    """With the arguments of the head exchanged, marks stand beside the board, and nothing is lost on it."""
    wrong = BOARD.replace("(not (switched ?r ?c))", "(distinct ?r ?c)")
    assert wrong != BOARD
    assert causes_in(wrong) == []


WALK = """
    (role ann) (role bob) (other ann bob) (other bob ann) (succ 1 2) (succ 2 3) (succ 3 4) (succ 4 5)
    (init (at ann 1)) (init (at bob 5)) (init (coin 2)) (init (coin 3)) (init (hour 1)) (init (turn ann))
    (<= (legal ?p (go ?to)) (true (turn ?p)) (true (at ?p ?from)) (or (succ ?from ?to) (succ ?to ?from)))
    (<= (legal ?p take) (true (turn ?p)) (true (at ?p ?n)) (true (coin ?n)))
    (<= (legal ?p noop) (role ?p) (not (true (turn ?p))))
    (<= (next (at ?p ?to)) (does ?p (go ?to)))
    (<= (next (at ?p ?n)) (true (at ?p ?n)) (not (walks ?p)))
    (<= (walks ?p) (does ?p (go ?to)))
    (<= (next (coin ?n)) (true (coin ?n)) (not (taken ?n)))
    (<= (taken ?n) (does ?p take) (true (at ?p ?n)))
    (<= (next (hour ?n)) (true (hour ?m)) (succ ?m ?n))
    (<= (next (turn ?q)) (true (turn ?p)) (other ?p ?q))
    (<= anyCoin (true (coin ?n)))
    (<= terminal (not anyCoin))
    (<= terminal (true (hour 5)))
    (<= (goal ?p 50) (role ?p))
"""


def test_a_game_that_is_over_before_values_are_lost_is_not_put_right() -> None:
    """Where coins go at once, the game is over before anybody is nowhere."""
    assert causes_in(WALK) == []
    kept = "(<= (next (at ?p ?n)) (true (at ?p ?n)) (not (walks ?p)))"
    assert kept in WALK
    assert causes_in(WALK.replace(kept, "")) == []


RACE = """\
(role white) (role black) (init (at white start)) (init (at black start))
(<= whiteWins (true (at white gaol)))
(<= blackWins (true (at black goal)))
(<= terminal whiteWins)
(<= terminal blackWins)
(<= (goal white 100) whiteWins)
(<= (goal black 100) blackWins)
(<= (goal white 0) blackWins)
(<= (goal black 0) whiteWins)
(<= (legal ?r go) (role ?r))
(<= (next (at ?r goal)) (does ?r go))
"""


def test_a_consequence_shown_at_another_rule_remains_a_consequence() -> None:
    examination = examine(Source("race", RACE), ExaminationSettings(play=None))
    worst = examination.worst(9, Severity.WARNING)
    assert [(each.diagnostic.code, each.diagnostic.follows) for each in worst] == [
        ("likely-typo", False),
        ("never-fires", True),
        ("odd-counterpart", True),
    ]
    assert worst[0].echoes == "because of this fault, 1 rule never fires and 1 more finding follows"
