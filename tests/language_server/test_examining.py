"""Diagnostics, mends and domains of a sheet, as the process that examines it tells them."""

from __future__ import annotations

import json

from tests.language_server.places import GAME

from anygame.language_server.findings import Finding, Findings, Settings
from anygame.language_server.worker import examine, mended

LOOSE = """\
(role white)
(init (cell 1))
(<= (legal white go) (true (cell 1)))
(<= (next (cell 2)) (true (cell 1)))
(<= terminal (not (true (cell ?x))))
(goal white 100)
"""


#: After one move there is none.
STUCK = """\
(role x)
(init a)
(<= (legal x go) (true a))
(<= (next b) (does x go))
(<= (next c) (true b))
(<= terminal (true c))
(goal x 0)
"""


def _examined(text: str, **settings: bool) -> dict[str, Finding]:
    return {each.code: each for each in examine("game.kif", text, Settings(**settings)).findings}


def _with(text: str, found: Finding, number: int = 0) -> str:
    for edit in sorted(found.fixes[number].edits, key=lambda edit: -edit.start):
        text = text[: edit.start] + edit.text + text[edit.end :]
    return text


def test_severities_are_those_of_the_doctor() -> None:
    found = _examined(f"{GAME}(<= (won ?p) (lost ?p))\n(<= (drawn ?p) (not open))")
    assert found["undefined-relation"].severity == 2
    assert found["unsafe-variable"].severity == 3
    assert found["unused-relation"].severity == 1
    assert "try: " in found["undefined-relation"].message


def test_infos_can_be_left_out() -> None:
    text = f"{GAME}(<= (won ?p) (role ?p))\n"
    assert "unused-relation" in _examined(text)
    assert "unused-relation" not in _examined(text, infos=False)


def test_findings_have_related_places() -> None:
    text = "(role x)\n(<= (legal x (go ?n)) (not (p ?n)))\n"
    found = _examined(text)["unsafe-variable"]
    (related,) = found.related
    assert text[found.start : found.end] == text[related.start : related.end] == "?n"
    assert found.start < related.start


def test_mends_of_the_doctor_are_fixes() -> None:
    text = f"{GAME}(<= (late ?p) (not (true (cell 1 ?p))) (role ?p))\n"
    found = _examined(text)["literal-order"]
    assert _with(text, found).endswith("(<= (late ?p) (role ?p) (not (true (cell 1 ?p))))\n")
    assert found.fixes[0].sure


def test_the_fix_of_a_typo_restores_the_name() -> None:
    text = GAME.replace("(next (control black))", "(next (contrl black))")
    found = _examined(text)["likely-typo"]
    assert _with(text, found) == GAME
    assert not found.fixes[0].sure


def test_parentheses_are_mended() -> None:
    text = "(role x)\n(init (a 1)\n(init b)\n"
    assert _with(text, _examined(text)["unclosed-list"]) == "(role x)\n(init (a 1))\n(init b)\n"
    text = "(role x))\n"
    assert _with(text, _examined(text)["unexpected-close"]) == "(role x)\n"


def test_declarations_are_added_when_asked_for() -> None:
    found = _examined(GAME)["no-declarations"]
    assert found.fixes[0].edits == ()
    assert found.fixes[0].title == "Declare base and input"
    assert "(base (control white))" in mended("game.kif", GAME, found.fixes[0].kinds)
    assert mended("game.kif", "(role", ["base"]) == "(role"


def test_lenient_reading_makes_errors_warnings() -> None:
    assert _examined(LOOSE)["unsafe-variable"].severity == 3
    found = _examined(LOOSE, lenient=True)["unsafe-variable"]
    assert found.severity == 2
    assert found.message.startswith("read leniently: ")


def test_lenient_reading_of_facts_with_variables_makes_warnings_of_errors_and_plays() -> None:
    text = f"{LOOSE}(base (cell ?n))\n"
    assert _examined(text)["variable-in-fact"].severity == 3
    assert _examined(text, lenient=True)["variable-in-fact"].severity == 2
    stuck = STUCK + "(<= odd (not (true (step ?any))))\n"
    assert "no-move" not in _examined(stuck, play=True)
    assert "no-move" in _examined(stuck, play=True, lenient=True)


def test_variables_that_lenient_reading_cannot_bind_remain_errors() -> None:
    text = f"{LOOSE}(<= (legal white (put ?n)) (true (cell 1)))\n"
    assert _examined(text, lenient=True)["unsafe-variable"].severity == 3


def test_play_shows_more_if_it_is_asked_for() -> None:
    assert "no-move" not in _examined(STUCK)
    assert "no-move" in _examined(STUCK, play=True)


def test_bad_texts_have_findings_too() -> None:
    for text in ("", "(", ")", "(" * 100_000, "\0", "\ud800", "(role x)" * 300_000, "((((role x))))", "(<=)"):
        found = examine("game.kif", text, Settings()).findings
        assert found
        assert all(0 <= each.start <= each.end <= len(text) for each in found)


def test_findings_go_from_one_process_to_another() -> None:
    found = examine("game.kif", f"{GAME}(<= (won ?p) (not open))\n(init", Settings())
    again = Findings.from_json(json.loads(json.dumps(found.as_json())))
    assert again.findings == found.findings


def test_settings_that_make_no_sense_change_nothing() -> None:
    senseless: tuple[object, ...] = (None, 3, "lenient", [], {"lenient": "yes"}, {"anygame": None})
    for said in senseless:
        assert Settings().changed(said) == Settings()
    assert Settings().changed({"lenient": True}).lenient
