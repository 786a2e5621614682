from __future__ import annotations

from pathlib import Path

import pytest

from anygame.doctor.codes import READING
from anygame.errors import RuleSheetError, SheetSyntaxError
from anygame.language import (
    Diagnostic,
    Note,
    Severity,
    Source,
    Span,
    format_diagnostic,
    format_diagnostics,
    parse_program,
    raise_if_errors,
)

CASES = sorted(path.parent for path in Path(__file__).parent.glob("diagnostics/*/in.kif"))


def diagnose(case: Path) -> tuple[Diagnostic, ...]:
    return diagnose_text((case / "in.kif").read_bytes().decode())


def diagnose_text(text: str) -> tuple[Diagnostic, ...]:
    source = Source("in.kif", text)
    try:
        return parse_program(source).warnings
    except RuleSheetError as error:
        return tuple(found for found in error.diagnostics if isinstance(found, Diagnostic))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_diagnostics_of_each_case_are_as_recorded(case: Path) -> None:
    assert format_diagnostics(diagnose(case)) + "\n" == (case / "expected.txt").read_text(encoding="utf-8")


def test_the_text_of_an_error_is_its_diagnostics() -> None:
    with pytest.raises(RuleSheetError) as caught:
        parse_program(Source("in.kif", "(f) ()"))
    assert str(caught.value) == format_diagnostics(diagnose_text("(f) ()"))


def test_golden_cases_show_every_code_of_the_stage() -> None:
    shown = {diagnostic.code for case in CASES for diagnostic in diagnose(case)}
    elsewhere = {"bad-encoding", "too-large", "too-many-problems"}  # see test_text and below
    stage = {code.name for code in READING if not code.name.startswith("infix-")}
    assert stage - elsewhere == shown


def at(text: str, start: int, end: int, **more: object) -> Diagnostic:
    return Diagnostic("zero-arity", Severity.WARNING, "odd", Span(Source("s", text), start, end), **more)  # type: ignore[arg-type]


def test_rendering_is_whole() -> None:
    source = Source("sheet.kif", "(a)\n\n  (b c)\n")
    diagnostic = Diagnostic(
        "zero-arity",
        Severity.ERROR,
        "no good",
        Span(source, 7, 12),
        (Note("seen here", Span(source, 0, 3)), Note("and nowhere")),
        "something else",
    )
    assert str(diagnostic) == (
        "sheet.kif:3:3: error[zero-arity]: no good\n"
        "    3 |   (b c)\n"
        "      |   ^~~~~\n"
        "sheet.kif:1:1: note: seen here\n"
        "    1 | (a)\n"
        "      | ^~~\n"
        "note: and nowhere\n"
        "  try: something else"
    )


def test_gutter_grows_with_the_line_number() -> None:
    lines = format_diagnostic(at("\n" * 123_455 + "(a)", 123_455, 123_458)).splitlines()
    assert lines == ["s:123456:1: warning[zero-arity]: odd", "  123456 | (a)", "         | ^~~"]


@pytest.mark.parametrize(
    ("text", "start", "end", "line", "mark"),
    [
        ("\t\t(a)", 2, 5, "        (a)", "        ^~~"),
        ("x\ty (a)", 4, 7, "x   y (a)", "      ^~~"),
        ("(a\n b)", 0, 6, "(a", "^~"),
        ("東 (a)", 2, 5, "東 (a)", "   ^~~"),
        ("e\u0301 (a)", 3, 6, "e\u0301 (a)", "  ^~~"),
        ("\x1b[0m (a)", 5, 8, "\ufffd[0m (a)", "     ^~~"),
        ("(a)\r\n", 0, 3, "(a)", "^~~"),
        ("", 0, 0, "", "^"),
    ],
)
def test_caret_lines_up(text: str, start: int, end: int, line: str, mark: str) -> None:
    _, shown, marked = format_diagnostic(at(text, start, end)).split("\n")
    assert shown == f"    1 | {line}".rstrip()
    assert marked == f"      | {mark}"


@pytest.mark.parametrize("offset", [0, 1, 60, 500, 7000, 7998])
def test_a_long_line_is_shown_round_the_caret(offset: int) -> None:
    text = "ab" * 4000
    text = text[:offset] + "()" + text[offset + 2 :]
    _, shown, marked = format_diagnostic(at(text, offset, offset + 2)).splitlines()
    assert len(shown) < 120
    assert shown[marked.index("^") :].startswith("()")
    assert marked.endswith(" ^~")


def test_order_is_by_place_then_severity() -> None:
    early, late = at("(a) (b)", 0, 3), at("(a) (b)", 4, 7)
    error = Diagnostic("empty-list", Severity.ERROR, "bad", early.span)
    placeless = Diagnostic("too-large", Severity.ERROR, "much")
    assert sorted([late, early, error, placeless]) == [placeless, error, early, late]
    assert Severity.ERROR > Severity.WARNING > Severity.INFO


def test_raise_if_errors_returns_warnings_sorted_and_raises_errors_with_them() -> None:
    first, second = at("(a) (b)", 0, 3), at("(a) (b)", 4, 7)
    assert raise_if_errors([second, first]) == (first, second)
    error = Diagnostic("empty-list", Severity.ERROR, "bad", first.span)
    with pytest.raises(SheetSyntaxError) as caught:
        raise_if_errors([second, error], SheetSyntaxError)
    assert caught.value.diagnostics == (error, second)


def test_text_of_many_is_bounded_and_keeps_the_errors() -> None:
    text = "(a)" * 70
    warnings = [at(text, 3 * index, 3 * index + 3) for index in range(70)]
    error = Diagnostic("empty-list", Severity.ERROR, "the error", Span(Source("s", text), 207, 210))
    rendered = format_diagnostics([*warnings, error])
    assert rendered.count("warning[") == 49
    assert "the error" in rendered
    assert rendered.endswith("\n... and 21 more")


def test_thousands_of_errors_stop_the_reading() -> None:
    with pytest.raises(RuleSheetError, match="and 951 more") as caught:
        parse_program("()" * 5000)
    assert len(caught.value.diagnostics) == 1001
    last = caught.value.diagnostics[-1]
    assert isinstance(last, Diagnostic)
    assert last.code == "too-many-problems"


def test_thousands_of_warnings_do_not() -> None:
    program = parse_program("(role a)" + "(f)" * 5000)
    assert len(program.rules) == 5001
    assert len(program.warnings) == 1000
