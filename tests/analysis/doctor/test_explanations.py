from __future__ import annotations

import pytest

import anygame.cli.commands.check  # noqa: F401  (it knows every stage, so that all codes are registered)
from anygame.analysis.doctor import check_program, read_sheet
from anygame.analysis.doctor.explanations import EXPLANATIONS
from anygame.errors import RuleSheetError
from anygame.game.checking import PLAY_SEVERITIES, Bounds, check_play, check_rules
from anygame.game.game import Game
from anygame.language import CODES, Diagnostic, Severity, Source
from anygame.language.layout import format_sheet

IN_PLAY = PLAY_SEVERITIES.keys() - {"limit-reached"}
WITH_EXAMPLES = [code for code, explanation in EXPLANATIONS.items() if explanation.bad]
#: Those whose examples would be too large, or wait for a clock.
WITHOUT_EXAMPLES = {"bad-encoding", "too-large", "too-many-problems", "play-cut"}


def codes_of(code: str, text: str) -> set[str]:
    source = Source("example", text)
    reading = read_sheet(source)
    found = {*reading.diagnostics, *check_program(reading.program, complete=reading.complete)}
    found |= set(check_rules(reading.program))
    if code in IN_PLAY:
        assert all(each.severity < Severity.ERROR for each in found), found
        found |= {finding.diagnostic for finding in check_play(Game(reading.program), Bounds(3, steps=20))}
    if code.startswith("layout-"):
        try:
            format_sheet(source)
        except RuleSheetError as error:
            found |= {each for each in error.diagnostics if isinstance(each, Diagnostic)}
    return {each.code for each in found}


def test_every_code_is_explained() -> None:
    assert EXPLANATIONS.keys() == CODES.keys()
    assert set(WITH_EXAMPLES) | WITHOUT_EXAMPLES == CODES.keys()


@pytest.mark.parametrize("code", WITH_EXAMPLES)
def test_examples_are_what_they_say(code: str) -> None:
    explanation = EXPLANATIONS[code]
    assert code in codes_of(code, explanation.bad)
    assert code not in codes_of(code, explanation.good)


def test_texts_fit_a_terminal() -> None:
    for code, explanation in EXPLANATIONS.items():
        prose = explanation.text.split("\nBad:\n")[0]
        assert prose.startswith(f"{code}: ")
        assert max(map(len, prose.splitlines())) <= 88
        assert "Source: " in prose
