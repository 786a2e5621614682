"""Every code is described, and its examples and mends do what they say."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest
from tests.doctor.asking import check_play, check_rules
from tests.sources import parsed

import anygame
from anygame.cli.commands.listing import known_code
from anygame.doctor import ALIASES, CHECKS, CODES, Code, check_program, read_sheet
from anygame.doctor.codes import PLAY, READING, REASONING
from anygame.doctor.examination import ExaminationSettings, examine
from anygame.doctor.mending import EVERY_MEND, mend_sheet
from anygame.doctor.play.checking import Bounds
from anygame.game.game import Game
from anygame.language import Diagnostic, Severity, Source

PACKAGE = Path(anygame.__file__).parent
IN_PLAY = {code.name for code in PLAY}
#: Those whose examples would be too large, or wait for a clock.
WITHOUT_EXAMPLES = {"bad-encoding", "too-large", "too-many-problems", "play-cut"}
WITH_EXAMPLES = sorted(CODES.keys() - WITHOUT_EXAMPLES)
#: Raised as an error or as a warning, by what else there is.
VARYING = {"keyword-arity", "keyword-in-term"}


def found_in(code: Code, text: str) -> set[Diagnostic]:
    """Return what all stages find in an example."""
    sheet = read_sheet(Source("example", text))
    found = {*sheet.diagnostics, *check_program(sheet.program, complete=sheet.complete)}
    found |= set(check_rules(sheet.program))
    if code.name in IN_PLAY:
        assert all(each.severity < Severity.ERROR for each in found), found
        found |= {finding.diagnostic for finding in check_play(Game(sheet.program), Bounds(3, steps=20))}
    if code.name == "dead-rule":
        examination = examine(Source("example", text), ExaminationSettings(play=None, prove=30))
        found |= {finding.diagnostic for finding in examination.findings}
    return {each for each in found if each.code == code.name}


def test_the_list_is_complete_without_other_stages() -> None:
    script = (
        "import sys, anygame.doctor as doctor;"
        "later = ('anygame.doctor.play.checking', 'anygame.cli');"
        "assert not [name for name in sys.modules if name.startswith(later)];"
        "print(*sorted(doctor.CODES))"
    )
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert ran.stdout.split() == sorted(CODES)


def test_every_code_is_described_once() -> None:
    owned = [code.name for check in CHECKS for code in check.codes]
    others = [code.name for code in (*READING, *REASONING, *PLAY)]
    assert sorted(owned + others) == sorted(CODES)


def test_every_check_runs() -> None:
    folder = PACKAGE / "doctor" / "codes"
    texts = [path.read_text(encoding="utf-8") for path in folder.rglob("*.py")]
    assert sum(len(re.findall(r"^@check\(", text, re.MULTILINE)) for text in texts) == len(CHECKS)
    assert len({check.function for check in CHECKS}) == len(CHECKS)


@pytest.mark.parametrize("code", CODES.values(), ids=list(CODES))
def test_every_code_has_all_parts(code: Code) -> None:
    assert re.fullmatch(r"[a-z]+(-[a-z]+)*", code.name)
    assert CODES[code.name] is code
    assert code.title
    assert all(text.endswith((".", "!")) for text in (code.demand, code.why))
    assert code.source
    assert (bool(code.bad), bool(code.good)) == ((code.name not in WITHOUT_EXAMPLES),) * 2
    assert set(code.mends) <= set(EVERY_MEND)


@pytest.mark.parametrize("name", WITH_EXAMPLES)
def test_examples_of_codes_have_the_described_findings(name: str) -> None:
    code = CODES[name]
    found = found_in(code, code.bad)
    assert max(each.severity for each in found) == code.severity
    assert name in VARYING or {each.severity for each in found} == {code.severity}
    assert not found_in(code, code.good)


@pytest.mark.parametrize("name", [name for name in WITH_EXAMPLES if CODES[name].mends])
def test_mends_mend(name: str) -> None:
    code = CODES[name]
    text = f"(role white)\n(legal white wait)\n{code.bad}"
    mended = mend_sheet(Source("example", text), code.mends).text
    assert found_in(code, text)
    assert not found_in(code, mended)


def test_every_code_that_is_raised_is_described() -> None:
    raised = {
        argument.value
        for stage in ("language", "analysis", "datalog", "game", "doctor")
        for path in (PACKAGE / stage).rglob("*.py")
        for call in ast.walk(parsed(path))
        if isinstance(call, ast.Call) and _is_report(call.func)
        for argument in call.args
        if isinstance(argument, ast.Constant)
        and isinstance(argument.value, str)
        and re.fullmatch(r"[a-z]+(-[a-z]+)+", argument.value)
    }
    assert raised >= {"unsafe-variable", "no-move", "unclosed-list", "infix-syntax", "zero-arity"}
    assert raised <= CODES.keys()


def _is_report(function: ast.expr) -> bool:
    name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    return name in {"Diagnostic", "Fault"} or name.strip("_") in {"error", "warn", "report", "fault", "note"}


def test_names_of_earlier_versions_are_explained() -> None:
    assert ALIASES
    assert not ALIASES.keys() & CODES.keys()
    for alias, name in ALIASES.items():
        assert known_code(alias) == name
        assert alias in CODES[name].text


def test_texts_fit_a_terminal() -> None:
    for name, code in CODES.items():
        prose = code.text.split("\nBad:\n")[0]
        assert prose.startswith(f"{name}: ")
        assert max(map(len, prose.splitlines())) <= 88
        assert "Source: " in prose
