"""Mistakes that people make in a sheet that is in order, and what the doctor says first, by default."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING

import pytest
from tests.cli.transcripts import ROOT, run

if TYPE_CHECKING:
    from pathlib import Path

SHEET = """\
(role x) (role o)
(init (control x))
(<= (init (cell ?m ?n b)) (row ?m) (column ?n))
(row 1) (row 2) (row 3)
(column 1) (column 2) (column 3) (column 4)
(other x o) (other o x)
(<= (legal ?p (mark ?m ?n)) (true (control ?p)) (true (cell ?m ?n b)))
(<= (legal ?p noop) (role ?p) (not (true (control ?p))))
(<= (next (cell ?m ?n ?p)) (does ?p (mark ?m ?n)))
(<= (next (cell ?m ?n ?v)) (true (cell ?m ?n ?v)) (not (marked ?m ?n)))
(<= (marked ?m ?n) (does ?p (mark ?m ?n)))
(<= (next (control ?q)) (true (control ?p)) (other ?p ?q))
(<= (open) (true (cell ?m ?n b)))
(<= (column_of ?n ?p) (column ?n) (true (cell 1 ?n ?p)) (true (cell 2 ?n ?p)) (true (cell 3 ?n ?p)))
(<= (line ?p) (column_of ?n ?p) (role ?p))
(<= terminal (line ?p))
(<= terminal (not open))
(<= (goal ?p 100) (line ?p))
(<= (goal ?p 0) (other ?p ?q) (line ?q))
(<= (goal ?p 50) (role ?p) (not (line x)) (not (line o)))
""".replace("(open)", "open")
FRAME = "(<= (next (cell ?m ?n ?v)) (true (cell ?m ?n ?v)) (not (marked ?m ?n)))\n"
CONTROL = "(<= (next (control ?q)) (true (control ?p)) (other ?p ?q))\n"
NOOP = "(<= (legal ?p noop) (role ?p) (not (true (control ?p))))\n"
INIT = "(init (control x))\n"


def told(text: str, *options: str) -> str:
    return run(["check", "-", *options], text)[0]


def heads(output: str) -> list[str]:
    return re.findall(r"^<stdin>:(?!.*: note:)(.*)", output, flags=re.MULTILINE)


def test_the_sheet_is_in_order() -> None:
    assert told(SHEET) == ""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("wrong", "right", "expected"),
    [
        ("(init (control x))", "(init (contrl x))", "2:8: warning[likely-typo]: contrl is used"),
        ("(next (cell ?m ?n ?v))", "(next (cel ?m ?n ?v))", "10:12: warning[likely-typo]: cel is used"),
        ("(legal ?p (mark", "(leagl ?p (mark", "7:6: warning[likely-typo]: no rule reads leagl, but legal"),
        ("(<= terminal (line", "(<= terminl (line", "16:5: warning[likely-typo]: no rule reads terminl"),
        ("(<= (column_of", "(<= (colum_of", "14:6: warning[likely-typo]: no rule reads colum_of"),
        (INIT, "", "11:5: warning[never-starts]: control with 1 argument never becomes true"),
        (CONTROL, "", "2:1: warning[lost-fluent]: control with 1 argument is true at the start"),
        (NOOP, "", "1:10: error[no-move]: o has no legal move here, and the game is not over"),
        (FRAME, "", "3:1: warning[lost-fluent]: cell with 3 arguments is true at the start, but no rule"),
        (FRAME, FRAME.replace("(cell ?m ?n ?v)", "(cell ?n ?m ?v)", 1),
         "10:5: warning[swapped-arguments]: (cell ?m ?n ?v) becomes (cell ?n ?m ?v)"),
        (" (row 3)\n", " (row 3)\n(succ 1 2) (succ 2 3) (succ 4 3) (succ 4 5)\n"
         "(<= (legal ?p wait) (role ?p) (succ 7 ?p))\n", "5:23: warning[odd-fact]: (succ 4 3) does not fit"),
        ("(<= terminal (not", "(=> terminal (not", "17:2: warning[wrong-arrow]: `=>` does not"),
        ("(row 1) (row 2)", "// the board\n(row 1) (row 2)", "4:1: warning[stray-text]: `//` does not"),
        (
            "(row 1) (row 2)",
            "{index 1}\n(row 1) (row 2)",
            "4:1: warning[stray-text]: GDL lists need parentheses",
        ),
        ("(row 1) (row 2)", "{row 1} (row 2)", "4:1: warning[stray-text]: GDL lists need parentheses"),
        ("(<= open", "(=> open", "13:2: error[wrong-arrow]: `=>` does not"),
        ("(<= terminal (not open))", "(=> terminal open)", "17:2: warning[wrong-arrow]: `=>` does not"),
        ("(row 1) (row 2)", "the board\n(row 1) (row 2)", "4:1: warning[stray-text]: 'the board' between"),
        ("(not open)", "open", "17:14: warning[over-at-start]: the game is over before anybody moves;"),
        (" (not (true (control ?p)))", " (true (control ?p))",
         "8:31: error[no-move]: o has no legal move here, and the game is not over; writing (not (true"),
        ("(row 1) (row 2)", "(rwo 1) (row 2)", "4:2: warning[likely-typo]: no rule reads rwo, but row is"),
        ("(true (control ?p)) (true", "(control ?p) (true", "7:29: warning[undefined-relation]: "),
        ("(<= open", "(if open", "13:2: error[wrong-arrow]: `if` does not"),
        ("(next (control ?q))", "(next (control (+ ?p 1)))", "12:20: warning[arithmetic]: GDL has no"),
        ("(cell ?m ?n ?v)) (not (marked ?m ?n))", "(cell ?m ?n ?v)) (not (marked m ?n))",
         "10:64: warning[likely-typo]: m is used nowhere else, but ?m occurs"),
    ],
)  # fmt: skip
def test_the_cause_comes_first(wrong: str, right: str, expected: str) -> None:
    assert wrong in SHEET
    (first, *_) = heads(told(SHEET.replace(wrong, right, 1)))
    assert first.startswith(expected)


def test_consequences_are_counted_in_one_note_and_listed_on_request() -> None:
    text = SHEET.replace("(init (control x))", "(init (contrl x))")
    output = told(text)
    assert len(heads(output)) == 1
    note = re.search(r"^note: because of this fault, (.*) \(see `--all`\)$", output, flags=re.MULTILINE)
    assert note is not None
    assert len(heads(told(text, "--all"))) > 1


@pytest.mark.slow
def test_consequences_found_in_play_are_counted_with_their_cause() -> None:
    text = SHEET.replace("(<= terminal", "(<= terminl")
    (only,) = heads(told(text, "--play", "3"))
    assert "[likely-typo]: no rule reads terminl" in only
    codes = re.findall(r"\[([a-z-]+)\]", told(text, "--play", "3", "--all"))
    assert {"no-terminal", "no-move"} <= set(codes)


def test_errors_that_only_follow_count_for_the_exit_status() -> None:
    output, status = run(["check", "-", "--play", "3"], SHEET.replace("(<= terminal", "(<= terminl"))
    assert (": error[" in output, status) == (False, 1)


def test_the_reader_of_a_lost_fluent_is_shown() -> None:
    output = told(SHEET.replace(CONTROL, ""))
    assert "<stdin>:7:29: note: this literal reads the fluent\n" in output


def test_play_shows_the_line_without_being_asked() -> None:
    assert "note: in the initial state\n" in told(SHEET.replace(NOOP, ""))
    assert heads(told(SHEET.replace(NOOP, ""), "--play", "0")) == []


def test_endless_recursion_is_one_message_at_its_place() -> None:
    endless = (
        SHEET
        + "(number zero)\n(<= (number (s ?n)) (number ?n))\n"
        + "(<= (legal ?p (say ?n)) (true (control ?p)) (number ?n))\n"
    )
    for options in ([], ["--play", "2"]):
        (only,) = heads(told(endless, *options))
        assert only.startswith("22:1: error[limit-reached]: playing stopped: terms nest deeper than 150")


def test_mend_adds_no_declarations_to_doubtful_rules(tmp_path: Path) -> None:
    sheet = tmp_path / "sheet.kif"
    sheet.write_text(SHEET.replace("(init (control x))", "(init (contrl x))"))
    output, _ = run(["mend", str(sheet), "--write"])
    assert "no base and no input is added while `anygame check` reports likely-typo" in output
    assert "(base" not in sheet.read_text()
    sheet.write_text("\n".join(line for line in SHEET.splitlines() if "(next (control" not in line))
    output, _ = run(["mend", str(sheet), "--write"])
    assert "`anygame check` reports lost-fluent" in output
    assert "(base" not in sheet.read_text()
    sheet.write_text(SHEET)
    run(["mend", str(sheet), "--write"])
    assert "(base" in sheet.read_text()


def test_long_lines_of_play_are_shortened_and_written_in_full_to_a_file(tmp_path: Path) -> None:
    counter = "".join(f"(succ {n} {n + 1})" for n in range(30))
    text = f"""
        (role r) (init (at 0)) {counter} (legal r {"go" * 100})
        (<= (next (at ?y)) (true (at ?x)) (succ ?x ?y))
        (<= terminal (true (at 25)))
        (<= (goal r 100) (true (at 24)))
    """
    lines = tmp_path / "lines.txt"
    output = told(text, "--lines", str(lines))
    assert "note: after 25 joint moves:" in output
    assert "... and 13 more (`--lines FILE` writes all of them)" in output
    assert max(map(len, output.splitlines())) < 300
    written = lines.read_text().splitlines()
    assert written[0].startswith("# <stdin>: goal-missing: ")
    assert written[1:] == [f"play {'go' * 100}"] * 25


def test_hidden_infos_are_counted_with_the_option_that_shows_them() -> None:
    pexpect = pytest.importorskip("pexpect")
    program = "import sys; from anygame.cli.main import main; sys.exit(main())"
    shown = pexpect.run(f"{sys.executable} -c '{program}' check tic_tac_toe", env={"TERM": "dumb"}).decode()
    assert re.search(
        r"nothing wrong in 1 file, \d+ random games played( \(\d+ infos? not shown: --info shows .+\))?",
        shown,
    )


def test_every_command_that_plays_reads_leniently_where_asked() -> None:
    market = str(ROOT / "tests" / "data" / "lenient" / "market.kif")
    assert run(["legal", market])[1] == 2
    output, status = run(["legal", market, "--lenient"])
    assert status == 0
    assert "anygame: note: " in output
    assert "negations read as 'for no value': 4" in output


def test_with_lenient_unbound_variables_are_not_errors() -> None:
    market = str(ROOT / "tests" / "data" / "lenient" / "market.kif")
    assert run(["check", market, "--play", "0"])[1] == 1
    output, status = run(["check", market, "--play", "0", "--lenient"])
    assert status == 0
    assert "warning[unsafe-variable]: nothing binds ?any" in output
    assert run(["check", market, "--play", "1", "--lenient"])[1] == 0


def test_check_explains_a_negation_with_an_unbound_variable() -> None:
    output = told(SHEET + "(<= quiet (not (true (cell 1 ?n ?v))))\n")
    assert "try: negate a new relation that holds if (true (cell 1 ?n ?v)) holds for some ?n; " in output
    assert "mend: anygame mend --select negation" in output
