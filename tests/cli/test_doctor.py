from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.cli.transcripts import ROOT, run

import anygame
from anygame.doctor import CODES, examination, read_sheet
from anygame.doctor.play.checking import PlayCheck
from anygame.game.joint_moves import play_text

if TYPE_CHECKING:
    from anygame.doctor import Reading
    from anygame.language.source import Source

CLEAN = """\
(role solo)
(init (lamp off))
(<= (legal solo press) (true (lamp off)))
(<= (next (lamp on)) (does solo press))
(<= terminal (true (lamp on)))
(<= (goal solo 100) (true (lamp on)))
"""
WARNED = CLEAN + "(<= terminal (suc 1 2))\n"
INFORMED = CLEAN + "(<= (pair ?x ?y) (true (lamp ?x)) (true (lamp ?y)) (true (lamp ?z)))\n"
BROKEN = CLEAN + "(<= (legal ?r wait) (true (lamp off)))\n"
ENDLESS = "(role r) (init on) (legal r go) (<= (next on) (true on)) (<= terminal (not (true on))) (goal r 1)"
STUCK = CLEAN.replace("(<= terminal (true (lamp on)))", "(<= terminal (true (lamp on)) (true (lamp off)))")


@pytest.fixture
def sheets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "deep" / "er").mkdir(parents=True)
    for name, text in (("clean", CLEAN), ("warned", WARNED), ("informed", INFORMED), ("broken", BROKEN)):
        (tmp_path / f"{name}.kif").write_text(text)
    (tmp_path / "deep" / "er" / "warned.kif").write_text(WARNED)
    (tmp_path / "deep" / "notes.txt").write_text("(no sheet")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def heads(output: str) -> list[str]:
    return re.findall(r"^(\S+:\d+:\d+): (?!note)", output, flags=re.MULTILINE)


def answer(*arguments: str) -> dict[str, Any]:
    output, _ = run(["check", *arguments, "--json"])
    found = json.loads(output)
    assert isinstance(found, dict)
    return found


@pytest.mark.parametrize(
    ("arguments", "status", "shown"),
    [
        (["clean.kif"], 0, []),
        (["warned.kif"], 0, ["warned.kif:7:14"]),
        (["warned.kif", "--strict"], 1, ["warned.kif:7:14"]),
        (["broken.kif"], 1, ["broken.kif:7:12"]),
        (["informed.kif"], 0, []),
        (["informed.kif", "--strict"], 0, []),
        (["informed.kif", "--select", "single-variable"], 0, ["informed.kif:7:64"]),
        (["warned.kif", "broken.kif", "--ignore", "undefined-relation"], 1, ["broken.kif:7:12"]),
        (["warned.kif", "broken.kif", "--select", "undefined-relation"], 0, ["warned.kif:7:14"]),
        (["warned.kif", "--select", "case-differs,Undefined-Relation"], 0, ["warned.kif:7:14"]),
        (["deep"], 0, ["deep/er/warned.kif:7:14"]),
        (["deep", "deep/er/warned.kif"], 0, ["deep/er/warned.kif:7:14"]),
        (["warned.kif", "missing.kif", "broken.kif"], 2, ["warned.kif:7:14", "broken.kif:7:12"]),
    ],
)
def test_check_prints_findings_and_returns_a_status(
    sheets: Path, arguments: list[str], status: int, shown: list[str]
) -> None:
    output, found = run(["check", *arguments])
    assert (heads(output), found) == (shown, status)


@pytest.mark.usefixtures("sheets")
def test_strict_shows_warnings_as_errors() -> None:
    output, _ = run(["check", "warned.kif", "--strict"])
    assert "error[undefined-relation]" in output


@pytest.mark.usefixtures("sheets")
def test_unreadable_files_are_reported_and_the_rest_is_checked() -> None:
    Path("latin.kif").write_bytes(b"(role caf\xe9)")
    Path("empty").mkdir()
    output, status = run(["check", "latin.kif", "empty", "warned.kif", "nowhere/at/all.kif"])
    assert status == 2
    assert "[bad-encoding]" in output
    assert "there is no rule sheet (.kif, .gdl, .hrf) in empty" in output
    assert "there is no file nowhere/at/all.kif" in output
    assert heads(output) == ["warned.kif:7:14"]


def test_standard_input_is_a_sheet() -> None:
    output, status = run(["check", "-"], WARNED)
    assert (heads(output), status) == (["<stdin>:7:14"], 0)


@pytest.mark.usefixtures("sheets")
def test_mistyped_code_is_refused_with_advice() -> None:
    output, status = run(["check", "clean.kif", "--select", "undefined-relations"])
    assert status == 2
    assert output.startswith("anygame: there is no code undefined-relations; did you mean undefined-relation")


def test_the_beginning_of_a_code_is_advice_enough() -> None:
    told, status = run(["explain-code", "unsafe"])
    assert (told, status) == ("anygame: there is no code unsafe; did you mean unsafe-variable?\n", 2)


@pytest.mark.usefixtures("sheets")
def test_json_has_an_object_for_each_diagnostic() -> None:
    found = answer("warned.kif", "broken.kif")
    assert (found["files"], found["errors"], found["warnings"], found["infos"]) == (2, 1, 1, 0)
    warning = found["diagnostics"][0]
    assert warning == {
        "file": "warned.kif",
        "line": 7,
        "column": 14,
        "end_line": 7,
        "end_column": 23,
        "code": "undefined-relation",
        "severity": "warning",
        "message": "no fact or rule defines suc with 2 arguments, so it is always false",
        "notes": [],
        "hint": "define the relation, or delete the literal",
    }


@pytest.mark.usefixtures("sheets")
def test_sarif_has_rules_results_and_regions() -> None:
    output, status = run(["check", "warned.kif", "broken.kif", "--sarif"])
    log = json.loads(output)
    assert (status, log["version"]) == (1, "2.1.0")
    (once,) = log["runs"]
    assert [result["ruleId"] for result in once["results"]] == ["undefined-relation", "unsafe-variable"]
    assert [result["level"] for result in once["results"]] == ["warning", "error"]
    for result in once["results"]:
        assert once["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == result["ruleId"]
    (place,) = once["results"][0]["locations"]
    assert place["physicalLocation"] == {
        "artifactLocation": {"uri": "warned.kif"},
        "region": {"startLine": 7, "startColumn": 14, "endLine": 7, "endColumn": 23},
    }
    assert run(["check", "clean.kif", "--sarif", "--json"])[1] == 2
    assert '"uri": "%3Cstdin%3E"' in run(["check", "-", "--sarif"], WARNED)[0]


def test_mends_that_are_suggested_mend(tmp_path: Path) -> None:
    sheet = tmp_path / "odd.kif"
    text = CLEAN + "(<= (legal ?r wait) (true (lamp off)))\n(init (dark))\n"
    text += "(<= (q ?x) (not (p ?x)) (true (lamp ?x)))\n"
    sheet.write_text(text)
    codes = ["zero-arity", "unsafe-variable", "literal-order"]
    found = answer(str(sheet), "--select", ",".join(codes))["diagnostics"]
    assert {each["code"] for each in found} == set(codes)
    lines = text.splitlines(keepends=True)
    for each in found:
        assert each["mend"]["command"].startswith("anygame mend --select ")
        mended = text
        for edit in reversed(each["mend"]["edits"]):
            start = sum(map(len, lines[: edit["line"] - 1])) + edit["column"] - 1
            end = sum(map(len, lines[: edit["end_line"] - 1])) + edit["end_column"] - 1
            mended = mended[:start] + edit["text"] + mended[end:]
        sheet.write_text(mended)
        assert each["code"] not in {d["code"] for d in answer(str(sheet), "--info")["diagnostics"]}
    log = json.loads(run(["check", "-", "--select", "zero-arity", "--sarif"], text)[0])
    (fix,) = log["runs"][0]["results"][0]["fixes"]
    assert [r["insertedContent"]["text"] for r in fix["artifactChanges"][0]["replacements"]] == ["", ""]
    assert "  mend: anygame mend --select order\n" in run(["check", "-", "--info"], text)[0]


def test_the_moves_of_a_finding_lead_to_its_state(tmp_path: Path) -> None:
    sheet = tmp_path / "stuck.kif"
    sheet.write_text(STUCK)
    found = answer(str(sheet), "--play", "3")
    (problem,) = [each for each in found["diagnostics"] if each["code"] == "no-move"]
    assert problem["play"] == [["press"]]
    state = anygame.load(sheet).initial_state()
    for joint in problem["play"]:
        state, _ = play_text(state, " ".join(joint))
    assert not state.is_terminal
    assert not state.legal_moves("solo")
    output, status = run(["check", str(sheet), "--play", "3"])
    assert status == 1
    assert "note: after 1 joint move:\nnote:   play press\n" in output


def test_play_waits_for_a_sheet_without_errors() -> None:
    output, status = run(["check", "-", "--play", "2"], STUCK + "(<= (legal ?r wait) (true (lamp off)))\n")
    assert status == 1
    assert "no-move" not in output


@pytest.mark.slow
def test_own_sheets_play_without_a_finding() -> None:
    output, status = run(["check", str(ROOT / "gdl"), "--play", "1", "--steps", "100", "--ignore", "endless"])
    assert (output, status) == ("", 0)


def test_infix_sheets_are_checked_too() -> None:
    sheet = "role(x). legal(x, go). goal(x, 100). terminal :- true(over) & ~opened(X)."
    output, status = run(["check", "-"], sheet)
    assert status == 1
    assert "error[unsafe-variable]" in output
    assert "warning[undefined-relation]" in output


def test_infix_sheets_get_the_command_that_binds_their_variables(tmp_path: Path) -> None:
    path = tmp_path / "loose.hrf"
    sheet = "role(x). step(X). legal(x, go). goal(x, 100). terminal :- step(1) & ~closed(Y). closed(1)."
    path.write_text(sheet)
    output, status = run(["check", str(path), "--play", "0"])
    assert status == 1
    assert "step(X) :- ..., with a body that binds X" in output
    assert "for some Y; `anygame translate --lenient` does so" in output
    assert output.count("mend: anygame translate --lenient --to infix\n") == 2
    mended, status = run(["translate", "--lenient", "--to", "infix", str(path)])
    path.write_text(mended)
    assert status == 0
    assert "error[" not in run(["check", str(path), "--play", "0"])[0]


def test_codes_are_listed_and_explained() -> None:
    output, status = run(["explain-code"])
    assert status == 0
    listed = [line.split()[0] for line in output.splitlines()]
    assert listed == sorted(CODES)
    output, status = run(["explain-code", "never-fires"])
    assert (output, status) == (CODES["never-fires"].text + "\n", 0)
    assert run(["explain-code", "nevr-fires"]) == (
        "anygame: there is no code nevr-fires; did you mean never-fires?\n",
        2,
    )


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="pexpect needs a pseudo-terminal")
@pytest.mark.usefixtures("sheets")
@pytest.mark.parametrize(
    ("file", "last"),
    [
        (
            "clean.kif",
            "nothing wrong in 1 file, 10 random games played (1 info not shown: --info shows it)",
        ),
        ("broken.kif", "1 error in 1 file"),
        (".", "1 error, 2 warnings in 5 files"),
    ],
)
def test_a_terminal_gets_a_last_line_that_counts(file: str, last: str) -> None:
    pexpect = pytest.importorskip("pexpect")
    program = "import sys; from anygame.cli.main import main; sys.exit(main())"
    output, _ = pexpect.run(
        f"{sys.executable} -c '{program}' check {file}", withexitstatus=True, env={"TERM": "dumb"}
    )
    plain = re.sub(r"\x1b\[[0-9;]*m", "", output.decode())
    assert plain.splitlines()[-1].startswith(last)


@pytest.mark.usefixtures("sheets")
@pytest.mark.parametrize("form", [[], ["--json"]])
def test_interrupted_play_prints_its_findings(form: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    Path("endless.kif").write_text(ENDLESS)
    whole = PlayCheck._play_out

    def interrupted(check: PlayCheck, *arguments: Any) -> None:
        whole(check, *arguments)
        if check.played == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr(PlayCheck, "_play_out", interrupted)
    command = ["check", "endless.kif", "warned.kif", "--play", "50", "--steps", "5", *form]
    output, status = run(command)
    assert status == 130
    first, _, rest = output.partition("\n")
    assert first.startswith("anygame: interrupted in endless.kif after 2 of 50 playouts: these are")
    assert "2 of 2 random playouts did not end within 5 joint moves" in rest
    if form:
        found = json.loads(rest)
        assert found["files"] == 1
        assert "endless" in {each["code"] for each in found["diagnostics"]}


def test_an_interrupt_before_play_keeps_findings_of_earlier_files(
    sheets: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = read_sheet

    def interrupted(source: Source, **options: Any) -> Reading:
        if source.name == "second.kif":
            raise KeyboardInterrupt
        return whole(source, **options)

    monkeypatch.setattr(examination, "read_sheet", interrupted)
    (sheets / "second.kif").write_text("(role x)")
    output, status = run(["check", "warned.kif", "second.kif", "warned.kif"])
    assert status == 130
    assert output.count("warning[") >= 1
    assert output.endswith("anygame: interrupted in second.kif: these are the findings so far\n")


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals")
def test_play_shows_how_far_it_is_on_a_terminal() -> None:
    pexpect = pytest.importorskip("pexpect")
    pytest.importorskip("rich")
    command = ["-m", "anygame", "check", "copolymer", "--play", "100000"]
    child = pexpect.spawn(sys.executable, command, timeout=60, encoding="utf-8", dimensions=(24, 120))
    child.expect(r"playing: [\d,]+ states .*/100000")
    child.sendintr()
    child.expect(r"interrupted in copolymer after [\d,]+ of 100,000 playouts")
    child.expect(pexpect.EOF)
    child.wait()
    assert child.exitstatus == 130


def test_a_rule_of_another_language_is_one_finding() -> None:
    found, status = run(["check", "-"], CLEAN + "(dark ?x) <= (true (lamp ?x))\n")
    assert (status, heads(found)) == (1, ["<stdin>:7:11"])


LOOSE = """\
(role solo) (init (lamp off)) (init (step 1)) (succ 1 2) (succ 2 3)
(<= terminal (not (true (lamp ?any))))
(<= terminal (true (step 3)))
(<= (legal solo wait) (true (step ?n)))
(<= (next (step ?n)) (true (step ?m)) (succ ?m ?n))
(<= (next (lamp off)) (true (lamp off)))
"""


@pytest.mark.parametrize("form", ["kif", "infix"])
def test_findings_in_play_of_a_leniently_read_sheet_have_places(form: str, tmp_path: Path) -> None:
    text, _ = run(["translate", "-", "--to", form], LOOSE)
    path = tmp_path / ("loose.kif" if form == "kif" else "loose.hrf")
    path.write_text(text)
    output, status = run(["check", str(path), "--lenient", "--select", "goal-missing"])
    assert status == 1
    assert heads(output) == [f"{path}:1:1"]
    assert output.count("is read leniently") == 1
