from __future__ import annotations

import copy
import pickle
from dataclasses import replace
from pathlib import Path

import pytest

import anygame
from anygame.errors import RuleSheetError, SheetSyntaxError
from anygame.language import Diagnostic, ReadingLimits, parse_program, read_source


def codes(error: RuleSheetError) -> list[str]:
    return [found.code for found in error.diagnostics if isinstance(found, Diagnostic)]


def test_reads_utf_8_with_and_without_byte_order_mark(tmp_path: Path) -> None:
    sheet = tmp_path / "sheet.kif"
    for data in ("(role wei\u00df)".encode(), b"\xef\xbb\xbf(role wei\xc3\x9f)"):
        sheet.write_bytes(data)
        source = read_source(sheet)
        assert source.text == "(role wei\u00df)"
        assert source.name == str(sheet)
    assert parse_program("\ufeff(role a)") == parse_program("(role a)")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"(role a)\n(init \xff)", "byte 0xff at offset 15 (line 2)"),
        (b"\xef\xbb\xbf(role \xe9)", "byte 0xe9 at offset 9 (line 1)"),
        (b"(role a)\0", "byte 0x00 at offset 8 (line 1)"),
        ("(role a)".encode("utf-16"), "it looks like UTF-16"),
        (b"\x7fELF\x02\x01\x01\0\0", "give the path of a rule sheet"),
    ],
)
def test_bytes_that_are_not_text_are_refused(tmp_path: Path, data: bytes, message: str) -> None:
    sheet = tmp_path / "sheet.kif"
    sheet.write_bytes(data)
    with pytest.raises(SheetSyntaxError) as caught:
        read_source(sheet)
    assert message in str(caught.value)
    assert str(sheet) in str(caught.value)
    assert codes(caught.value) == ["bad-encoding"]


def test_reading_is_bounded(tmp_path: Path) -> None:
    sheet = tmp_path / "sheet.kif"
    sheet.write_bytes(b"(role abc)")
    assert read_source(sheet, ReadingLimits(bytes=10)).text == "(role abc)"
    with pytest.raises(SheetSyntaxError, match="more than 9 bytes") as caught:
        read_source(sheet, ReadingLimits(bytes=9))
    assert codes(caught.value) == ["too-large"]


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="no endless file on this system")
def test_an_endless_file_is_read_up_to_the_bound() -> None:
    with pytest.raises(SheetSyntaxError, match="more than 4,096 bytes"):
        read_source("/dev/zero", ReadingLimits(bytes=4096))


def test_files_that_cannot_be_opened(tmp_path: Path) -> None:
    cases: list[tuple[Path | str, str]] = [
        (tmp_path, "directory"),
        (tmp_path / "missing.kif", "No such file"),
        (tmp_path / "sheet.kif" / "x", "No such file"),
        ("a\0b", "null"),
        ("x" * 5000, "too long"),
    ]
    for path, reason in cases:
        with pytest.raises(RuleSheetError, match=reason) as caught:
            read_source(path)
        assert len(str(caught.value)) < 400


def test_bounds_are_exact() -> None:
    limits = ReadingLimits(bytes=100, depth=3, tokens=13, token_length=5, arity=2)
    good = "(role abcde) (init (a (b c)))"  # 4 + 10 tokens
    with pytest.raises(SheetSyntaxError, match="more than 13 tokens"):
        parse_program(good, limits=limits)
    limits = replace(limits, tokens=14)
    assert parse_program(good, limits=limits).rules
    for text, code in [
        ("(role abcdef)", "token-too-long"),
        ("(role a) (((())))", "too-deep"),
        ("(role a)" + " " * 93, "too-large"),
    ]:
        with pytest.raises(SheetSyntaxError) as caught:
            parse_program(text, limits=limits)
        assert codes(caught.value) == [code]
    with pytest.raises(RuleSheetError) as structure:
        parse_program("(role a) (p 1 2 3)", limits=limits)
    assert codes(structure.value) == ["too-many-arguments"]


@pytest.mark.parametrize(
    "text", ["(init " + "(s " * 199 + "0" + ")" * 200, "(<= p " + "(not " * 199 + "q" + ")" * 200]
)
def test_the_deepest_sheet_can_be_used(text: str) -> None:
    program = parse_program("(role a)" + text)
    assert parse_program(str(program)) == program
    assert copy.deepcopy(program) == pickle.loads(pickle.dumps(program)) == program
    with pytest.raises(SheetSyntaxError, match="nested more than 200 deep"):
        parse_program(text.replace("0", "(s 0)").replace("q", "(q a)"))
    with pytest.raises(ValueError, match="at most 200"):
        ReadingLimits(depth=201)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("character", "count"), [("(", 10**8), ("(", 2**24), (")", 2**24), ("a", 2**24), ("\0", 2**24)]
)
def test_floods_are_refused_without_recursion(character: str, count: int) -> None:
    with pytest.raises(SheetSyntaxError):
        parse_program(character * count)


def test_many_comments_are_read() -> None:
    assert len(parse_program("(role a)" + ";(\n" * 100_000 + "(role b)").rules) == 2


def test_parentheses_in_comments_do_not_count() -> None:
    program = parse_program("(role a) ; ((( an aside\n(init b);)\n;)\n")
    assert len(program.rules) == 2


def test_all_faults_of_the_parentheses_are_reported_and_the_rest_is_read() -> None:
    sheet = "(role a))\n(init ?x)\n(<= (next b)\n(true c)\n(<= terminal (true d e))\n(init f)\n"
    with pytest.raises(SheetSyntaxError) as caught:
        parse_program(sheet)
    assert codes(caught.value) == ["unexpected-close", "variable-in-fact", "unclosed-list", "keyword-arity"]


def test_a_hint_names_the_next_item() -> None:
    with pytest.raises(SheetSyntaxError) as caught:
        parse_program("(role a)\n(<= p\n    (q a)\n(<= r\n    (s a))\n", name="sheet")
    (found,) = caught.value.diagnostics
    assert isinstance(found, Diagnostic)
    assert found.span is not None
    assert found.span.place == "sheet:2:1"
    assert [note.span.place for note in found.notes if note.span] == ["sheet:4:1"]


def test_a_game_is_read_within_the_limits_that_it_is_given(tmp_path: Path) -> None:
    sheet = tmp_path / "sheet.kif"
    sheet.write_text("(role a) (init (p 1)) (<= terminal (true (p 1)))")
    limits = anygame.Limits(reading=ReadingLimits(tokens=12))
    with pytest.raises(SheetSyntaxError, match="more than 12 tokens"):
        anygame.load(sheet, limits=limits)
    with pytest.raises(SheetSyntaxError, match="more than 12 tokens"):
        anygame.loads(sheet.read_text(), limits=limits)


@pytest.mark.parametrize("text", ["(role a) (p a b)", "role(a). p(a,b)."])
def test_reading_has_an_end(text: str) -> None:
    with pytest.raises(SheetSyntaxError, match="<text>: reading takes more than -1 seconds") as caught:
        parse_program(text, limits=ReadingLimits(seconds=-1))
    assert codes(caught.value) == ["too-large"]
