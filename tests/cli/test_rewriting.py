from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest
from tests.cli.transcripts import ROOT, run

from anygame.cli import sheets
from anygame.errors import RuleSheetError
from anygame.language import parse_program, read_source

UGLY = "(role x)(init\n(a)) ; start\n"
NEAT = "(role x)\n(init (a))  ; start\n"


@pytest.fixture
def sheet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = Path("ugly.kif")
    path.write_text(UGLY)
    return path


@pytest.fixture
def neat(sheet: Path) -> Path:
    path = Path("neat.kif")
    path.write_text(NEAT)
    return path


def test_format_prints_the_layout(sheet: Path) -> None:
    assert run(["format", "ugly.kif"]) == (NEAT, 0)
    assert run(["format", "-"], UGLY) == (NEAT, 0)
    assert sheet.read_text() == UGLY


def test_lenient_format_and_translate_write_the_readings() -> None:
    loose = "(role x) (base (at ?n)) (init (at 1)) (<= quiet (not (true (at ?any))))\n"
    assert run(["format", "-"], loose) == (loose.replace(") (<=", ")\n(<=").replace(") (", ")\n(", 3)
        .replace("quiet (not", "quiet\n    (not"), 0)  # fmt: skip
    assert run(["translate", "-", "--to", "infix", "--lenient"], loose)[0].splitlines() == [
        "role(x)",
        "base(at(N)) :-",
        "    domain1(N)",
        "domain1(1)",
        "init(at(1))",
        "quiet :-",
        "    ~some_at",
        "some_at :-",
        "    true(at(Any))",
    ]


def test_check_names_the_files_that_would_change(sheet: Path, neat: Path) -> None:
    assert run(["format", "--check", "ugly.kif", "neat.kif"]) == ("ugly.kif\n", 1)
    assert run(["format", "--check", "neat.kif"]) == ("", 0)
    assert run(["format", "--check", "-"], UGLY) == ("<stdin>\n", 1)


def test_diff_prints_the_changes(sheet: Path, neat: Path) -> None:
    changes = (
        "--- ugly.kif\n+++ ugly.kif\n@@ -1,2 +1,2 @@\n"
        "-(role x)(init\n-(a)) ; start\n+(role x)\n+(init (a))  ; start\n"
    )
    assert run(["format", "--diff", "ugly.kif", "neat.kif"]) == (changes, 0)
    assert run(["format", "--diff", "--check", "ugly.kif"]) == (f"ugly.kif\n{changes}", 1)


def test_write_changes_files_and_keeps_their_modes(sheet: Path, neat: Path) -> None:
    sheet.chmod(0o640)
    before = neat.stat()
    assert run(["format", "--write", "ugly.kif", "neat.kif"]) == ("", 0)
    assert sheet.read_bytes() == NEAT.encode()
    assert stat.S_IMODE(sheet.stat().st_mode) == 0o640
    assert (neat.stat().st_ino, neat.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    assert sorted(os.listdir()) == ["neat.kif", "ugly.kif"]


def test_a_link_stays_a_link(sheet: Path) -> None:
    Path("link.kif").symlink_to("ugly.kif")
    assert run(["format", "--write", "link.kif"]) == ("", 0)
    assert Path("link.kif").is_symlink()
    assert sheet.read_text() == NEAT


def test_line_ends_and_byte_order_mark_are_those_of_unix(sheet: Path) -> None:
    sheet.write_bytes(b"\xef\xbb\xbf" + UGLY.replace("\n", "\r\n").encode())
    assert run(["format", "--write", "ugly.kif"]) == ("", 0)
    assert sheet.read_bytes() == NEAT.encode()


def test_a_file_that_cannot_be_read_is_left_alone_and_stops_no_other(sheet: Path) -> None:
    broken = Path("broken.kif")
    broken.write_text("(role x) (<= (p ?x)")
    output, status = run(["format", "--write", "broken.kif", "missing.kif", "ugly.kif"])
    assert status == 2
    assert "broken.kif:1:10: error[unclosed-list]: this list is never closed" in output
    assert "there is no file missing.kif" in output
    assert broken.read_text() == "(role x) (<= (p ?x)"
    assert sheet.read_text() == NEAT


def test_standard_input_cannot_be_written() -> None:
    for command in (["format"], ["mend"]):
        output, status = run([*command, "-", "--write"], UGLY)
        assert (output, status) == ("anygame: standard input cannot be overwritten: leave out --write\n", 2)


def test_a_failed_write_leaves_the_old_file(sheet: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    output, status = run(["format", "--write", "ugly.kif"])
    assert (output, status) == ("anygame: cannot write ugly.kif: No space left on device\n", 2)
    assert sheet.read_text() == UGLY
    assert os.listdir() == ["ugly.kif"]


def test_translating_there_and_back(sheet: Path) -> None:
    infix = "role(x)\ninit(a)  % start\n"
    assert run(["translate", "ugly.kif", "--to", "infix"]) == (infix, 0)
    assert run(["translate", "ugly.kif", "--to", "infix", "-o", "sheet.hrf"]) == ("", 0)
    assert Path("sheet.hrf").read_text() == infix
    assert run(["translate", "sheet.hrf", "--to", "kif"]) == ("(role x)\n(init a)  ; start\n", 0)
    assert run(["translate", "-", "--to", "kif"], infix) == ("(role x)\n(init a)  ; start\n", 0)
    assert parse_program(read_source("sheet.hrf")) == parse_program(read_source(sheet))


def test_all_commands_read_infix_sheets(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(ROOT)
    infix = tmp_path / "game.hrf"
    assert run(["translate", "gdl/tic_tac_toe.kif", "--to", "infix", "-o", str(infix)]) == ("", 0)
    for command in (["legal", "{}", "x"], ["perft", "{}", "2"], ["query", "{}", "(role ?r)"]):
        answers = {run([part.format(name) for part in command]) for name in ("gdl/tic_tac_toe.kif", infix)}
        assert len(answers) == 1
    assert run(["format", "--check", str(infix)]) == ("", 0)
    assert "error" not in run(["check", str(infix)])[0]


def test_an_output_whose_name_promises_the_other_form_is_refused(sheet: Path) -> None:
    output, status = run(["translate", "ugly.kif", "--to", "infix", "-o", "other.kif"])
    assert status == 2
    assert "other.kif is a name for kif sheets; use a name that ends in .hrf" in output
    assert not Path("other.kif").exists()


def test_an_output_in_no_folder_is_refused(sheet: Path) -> None:
    output, status = run(["translate", "ugly.kif", "--to", "kif", "-o", "nowhere/other.kif"])
    assert (output, status) == ("anygame: cannot write nowhere/other.kif: No such file or directory\n", 2)


FAULTY = "(ROLE x)\n(<= terminal\n  (not (q ?n)) (p ?n))\n(base a) (input x go) (p (one))\n"


def test_mend_lists_its_mends_and_shows_the_changes(sheet: Path) -> None:
    sheet.write_text(FAULTY)
    told = (
        "ugly.kif:1:2: mended[case]: ROLE becomes role\n"
        "ugly.kif:3:16: mended[order]: (p ?n) moves before the literals that need its variables\n"
        "ugly.kif:4:26: mended[parentheses]: (one) becomes one\n"
    )
    changes = (
        "--- ugly.kif\n+++ ugly.kif\n@@ -1,4 +1,4 @@\n-(ROLE x)\n+(role x)\n (<= terminal\n"
        "-  (not (q ?n)) (p ?n))\n-(base a) (input x go) (p (one))\n"
        "+  (p ?n) (not (q ?n)))\n+(base a) (input x go) (p one)\n"
    )
    assert run(["mend", "ugly.kif"]) == (told + changes, 0)
    assert sheet.read_text() == FAULTY
    assert run(["mend", "ugly.kif", "--write"]) == (told, 0)
    assert (
        sheet.read_text() == "(role x)\n(<= terminal\n  (p ?n) (not (q ?n)))\n(base a) (input x go) (p one)\n"
    )
    assert run(["mend", "ugly.kif"]) == ("ugly.kif: there is nothing to mend\n", 0)


def test_mends_are_selected(sheet: Path) -> None:
    sheet.write_text(FAULTY)
    output, status = run(["mend", "ugly.kif", "--select", "case,order", "--select", "base"])
    assert status == 0
    assert [line for line in output.splitlines() if "mended[" in line] == [
        "ugly.kif:1:2: mended[case]: ROLE becomes role",
        "ugly.kif:3:16: mended[order]: (p ?n) moves before the literals that need its variables",
    ]
    output, status = run(["mend", "ugly.kif", "--select", "spelling"])
    assert status == 2
    assert "there is no kind of mend spelling; the kinds are order, case, parentheses" in output


def test_mend_reports_declarations_that_it_cannot_add(sheet: Path) -> None:
    sheet.write_text("(role x) (<= (next ?x) (not (true ?x)))")
    output, status = run(["mend", "ugly.kif"])
    assert status == 0
    assert "no base and no input can be added while variables are unbound" in output


def test_mend_of_a_sheet_that_cannot_be_read_is_refused(sheet: Path) -> None:
    sheet.write_text("(role x) (legal)")
    output, status = run(["mend", "ugly.kif", "--write"])
    assert status == 2
    assert "ugly.kif:1:10: error[" in output
    assert sheet.read_text() == "(role x) (legal)"


def test_a_folder_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(RuleSheetError, match="it is not a writable file"):
        sheets.replace_sheet(str(tmp_path), "")
