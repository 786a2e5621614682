"""Layout: golden cases in ``layout/``, and the laws that hold for every sheet.

After a change that is meant, write the expected texts anew, and read the difference::

    python tests/sheets/test_layout.py
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.examples import some
from tests.language.test_laws import law, programs

from anygame.errors import RuleSheetError
from anygame.language import Program, Source, format_program, parse_program, read_source
from anygame.language.forms import comments_of, form_of
from anygame.language.limits import ReadingLimits
from anygame.sheets import layout as layout_module
from anygame.sheets.layout import format_sheet

if TYPE_CHECKING:
    from anygame.language.forms import Form

ROOT = Path(__file__).parents[2]
CASES = sorted(path.parent for path in Path(__file__).parent.glob("layout/*/in.kif"))


def laid_out(text: str, form: Form | None = None) -> str:
    return format_sheet(Source("sheet.kif", text), form)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_layout_of_each_case_is_as_recorded(case: Path) -> None:
    source = read_source(case / "in.kif")
    assert format_sheet(source) == (case / "expected.kif").read_text()
    assert format_sheet(source, "infix") == (case / "expected.hrf").read_text()


@pytest.mark.parametrize("sheet", sorted(ROOT.glob("gdl/*.kif")), ids=lambda path: path.stem)
def test_the_sheets_of_the_package_are_laid_out(sheet: Path) -> None:
    source = read_source(sheet)
    assert format_sheet(source) == source.text


def test_there_are_golden_cases() -> None:
    assert len(CASES) >= 8


def comment_texts(text: str, form: Form = "kif") -> Counter[str]:
    return Counter(comment.text for comment in comments_of(Source("sheet", text), form))


def check_laws(text: str) -> None:
    """Check one sheet of KIF."""
    program = parse_program(Source("sheet.kif", text))
    once = laid_out(text)
    assert parse_program(Source("sheet.kif", once)) == program
    assert laid_out(once) == once
    assert comment_texts(once) == comment_texts(text)
    infix = laid_out(text, "infix")
    assert parse_program(Source("sheet.hrf", infix)) == program
    assert format_sheet(Source("sheet.hrf", infix)) == infix
    back = format_sheet(Source("sheet.hrf", infix), "kif")
    assert parse_program(Source("sheet.kif", back)) == program
    assert laid_out(back) == back


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_layout_obeys_its_laws_on_recorded_cases(case: Path) -> None:
    check_laws((case / "in.kif").read_text())


@pytest.mark.slow
def test_laws_on_all_public_sheets(corpus: Path) -> None:
    for sheet in some(sorted((corpus / "rules").glob("*.kif")), 20):
        check_laws(read_source(sheet).text)


blanks = st.sampled_from([" ", "  ", "\n", "\r\n", "\n\n", "\n\n\n", "\t", "\r"])
comments = st.text(st.characters(codec="utf-8", categories=("L", "N", "P", "S", "Zs")), max_size=8).map(
    lambda text: f";{text}\n"
)
gaps = st.lists(blanks | comments, max_size=3).map("".join)


@st.composite
def sheets(draw: st.DrawFn) -> str:
    """A program's text with blanks and comments wherever they may stand."""
    text = str(draw(programs))
    if draw(st.booleans()):
        text = f"({text})"
    pieces = []
    for token in text.replace("(", " ( ").replace(")", " ) ").split():
        gap = draw(gaps)
        pieces += [token, gap or " "]
    return "".join(pieces)


@law
@given(sheets())
def test_the_layout_obeys_its_laws_on_any_sheet(text: str) -> None:
    check_laws(text)


@law
@given(programs)
def test_a_printed_program_is_laid_out_already(program: Program) -> None:
    printed = format_program(program)
    if max(map(len, printed.splitlines())) <= 90:
        assert laid_out(printed) == printed


def test_nesting_to_the_bound_is_laid_out() -> None:
    for opening, closing, depth in (
        ("(or (a) ", ")", 197),
        ("(not ", ")", 198),
        ("(or ; c\n", ")", 198),
        ("(not (or (a) ", "))", 98),
    ):
        check_laws(f"(role x) (<= a {opening * depth}(b){closing * depth})")
    check_laws(f"(role x) (p {'(f ' * 199}a{')' * 199})")


def test_indentation_is_bounded() -> None:
    text = "(role x) (<= a " + "(or ; c\n (b) " * 150 + ")" * 150 + ")"
    assert max(map(len, laid_out(text).splitlines())) < 400


def test_the_error_for_an_unreadable_sheet_lists_all_faults() -> None:
    with pytest.raises(RuleSheetError) as caught:
        laid_out("(role x) (<= (p ?x) (not)) (init)")
    assert len(caught.value.diagnostics) == 2


def test_a_layout_that_changed_the_rules_would_be_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(layout_module, "_kif_chunks", lambda node: iter(["(", "spoilt", ")"]))
    with pytest.raises(RuleSheetError, match=r"a new layout of sheet\.kif would change rules"):
        laid_out("(role x) (p a)")


def test_bounds_of_the_input_hold() -> None:
    with pytest.raises(RuleSheetError, match="the limit"):
        format_sheet(Source("sheet.kif", "(role x)" * 100), limits=ReadingLimits(bytes=100))


@pytest.mark.parametrize(
    ("name", "text", "form"),
    [
        ("a.kif", "role(x)", "infix"),
        ("a.kif", "; note\nrole (x)", "kif"),
        ("a.kif", "open", "kif"),
        ("a.HRF", "open", "infix"),
        ("a.HRF", "(role x)", "kif"),
        ("a", "% note\n(role x)", "kif"),
        ("a", "stray(text)\n(<= p q)", "kif"),
        ("a.infix", "; x", "infix"),
        ("a.gdl", "(role x)", "kif"),
        ("a.gdl", "; role(x)", "kif"),
        ("a.gdl", "; note\nrole(x)", "infix"),
        ("a", "role(x)", "infix"),
        ("a", "\n% note\nopen", "infix"),
        ("a", "open :- closed", "infix"),
        ("a", "'X'(a)", "infix"),
        ("a", "open (role x)", "kif"),
        ("a", "", "kif"),
    ],
)
def test_the_form_of_a_sheet_is_detected(name: str, text: str, form: Form) -> None:
    assert form_of(Source(name, text)) == form


def rewrite() -> None:
    """Write all expected texts anew."""
    for case in CASES:
        source = read_source(case / "in.kif")
        (case / "expected.kif").write_text(format_sheet(source))
        (case / "expected.hrf").write_text(format_sheet(source, "infix"))


if __name__ == "__main__":
    rewrite()
