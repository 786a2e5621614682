from __future__ import annotations

import gc
from pathlib import Path

import pytest
from tests.doctor.asking import check_rules

from anygame.doctor import check_program, read_sheet
from anygame.language import Diagnostic, Severity, Source, parse_program, read_source

ROOT = Path(__file__).parents[3]
OWN = sorted((ROOT / "gdl").glob("*.kif"))


def found_in(source: Source) -> list[Diagnostic]:
    reading = read_sheet(source)
    assert reading.complete
    return [*reading.diagnostics, *check_program(reading.program), *check_rules(reading.program)]


def codes(text: str, **options: bool) -> set[str]:
    return {found.code for found in check_program(parse_program(text), **options)}


@pytest.mark.slow
def test_no_public_sheet_that_plays_has_an_error(corpus: Path) -> None:
    for sheet in sorted((corpus / "rules").glob("*.kif")):
        errors = [found for found in found_in(read_source(sheet)) if found.severity is Severity.ERROR]
        assert not errors, (sheet.name, str(errors[0]))


@pytest.mark.parametrize("sheet", OWN, ids=lambda path: path.stem)
def test_our_own_sheets_have_not_even_a_warning(sheet: Path) -> None:
    worst = [found for found in found_in(read_source(sheet)) if found.severity > Severity.INFO]
    assert not worst, str(worst[0])


@pytest.mark.slow
def test_every_finding_has_a_place_and_findings_are_sorted(corpus: Path) -> None:
    for sheet in sorted((corpus / "rules").glob("*.kif"))[:20]:
        program = parse_program(read_source(sheet))
        found = check_program(program)
        assert found == sorted(found)
        assert all(each.span and each.span.source is program.source for each in found)


def test_rules_without_a_text_can_be_checked() -> None:
    program = parse_program("(role x) (<= (legal x go) (open)) (<= (goal x 1) (not (true (q ?y))))")
    bare = parse_program(str(program))
    assert {found.code for found in check_program(bare)} >= {"undefined-relation", "unsafe-variable"}


def test_a_keyword_without_its_arguments_is_compared_with_nothing() -> None:
    reading = read_sheet(
        Source("sheet.kif", "(role x) (<= (legal x go) input (true (at ?a)) (true (by ?a)))")
    )
    assert check_program(reading.program, complete=reading.complete)


def test_missing_relations_are_reported_only_for_complete_sheets() -> None:
    text = "(role x) (<= (legal x go) (opened)) (<= (p ?x) (q ?x ?Y))"
    assert "undefined-relation" in codes(text)
    partial = codes(text, complete=False)
    assert "undefined-relation" not in partial
    assert "single-variable" in partial


def test_faults_of_the_reasoner_do_not_hide_each_other() -> None:
    text = """
        (role x) (legal x go)
        (<= p (not q)) (<= q (not p))
        (<= terminal (does x go))
        (<= (init a) (true b))
        (<= (goal x 100) (not (true (cell ?y))))
    """
    found = check_rules(parse_program(text))
    assert [each.code for each in found] == [
        "unstratified",
        "action-dependent",
        "static-relation",
        "unsafe-variable",
    ]


def test_negation_by_name_is_left_to_the_error_where_it_is_one() -> None:
    assert "negation-by-name" not in codes("(role x) (<= p (not q)) (<= q (not p))")


def test_many_findings_of_a_kind_are_cut() -> None:
    rules = " ".join(f"(<= (p{n} ?x) (q{n} ?x ?y))" for n in range(500))
    found = [d for d in check_program(parse_program(f"(role x) {rules}")) if d.code == "single-variable"]
    assert len(found) == 200
    assert sum("and more of this kind" in note.message for d in found for note in d.notes) == 1


def test_rules_whose_alternatives_explode_leave_the_others_checked() -> None:
    explosion = "(<= (p ?a)" + " (or (q ?a) (r ?a))" * 13 + ")"
    assert {"too-many-alternatives", "undefined-relation"} <= codes(f"(role x) {explosion}")


def test_copies_are_found_among_many_rules() -> None:
    rules = " ".join(f"(<= (next (cell {n} ?x)) (true (cell {n} ?x)))" for n in range(300))
    text = f"(role x) (init (cell 1 b)) {rules} (<= (next (cell 7 ?y)) (true (cell 7 ?y)))"
    found = [d for d in check_program(parse_program(text)) if d.code == "duplicate-rule"]
    assert len(found) == 1


@pytest.mark.slow
def test_the_collector_waits_until_a_sheet_has_been_checked() -> None:
    facts = " ".join(f"(at {number} {number + 1})" for number in range(3_000))
    program = parse_program(f"(role r) (legal r go) (goal r 100) (<= terminal (at 1 ?x)) {facts}")
    collections: list[str] = []

    def count(phase: str, _info: dict[str, int]) -> None:
        collections.append(phase)

    gc.collect()
    gc.callbacks.append(count)
    try:
        check_program(program)
        during = collections.count("start")
    finally:
        gc.callbacks.remove(count)
    # One may come as soon as the collector may look again.
    assert during <= 1


def test_the_caret_marks_the_variable_with_the_other_case() -> None:
    (found,) = check_rules(parse_program("(role me) (q a) (r a)\n(<= (goal me 100) (q ?X) (not (r ?x)))"))
    assert (found.code, found.span and found.span.text) == ("unsafe-variable", "?x")
    folded = parse_program("(role me) (r a)\n(<= (goal me 100) (not (r ?X)))", case_sensitive=False)
    (found,) = check_rules(folded)
    assert found.span
    assert found.span.text == "?X"


def test_a_leading_underscore_means_unused_in_both_forms() -> None:
    for rule in ("p(Role) :- q(_Role,Role)", "p(Role) :- q(_Other,Role)", "p(R) :- q(_r,R)"):
        sheet = parse_program(Source("sheet.hrf", f"role(x)\nq(1,2)\n{rule}"))
        assert not {"case-differs", "single-variable"} & {found.code for found in check_program(sheet)}, rule
    sheet = parse_program(Source("sheet.hrf", "role(x)\nq(1,2)\np(Role) :- q(Rol,Role)"))
    (found,) = [found for found in check_program(sheet) if found.code == "single-variable"]
    assert (found.message, found.hint) == ("Rol occurs nowhere else in this rule", "Role")


@pytest.mark.parametrize(
    ("formula", "hint"),
    [
        ("~(q ?x)", "write (not ...) around the negated formula"),
        ("(q ?x), (r ?x)", "delete the operator: all formulas of a body must hold"),
        ("& (q ?x)", "delete the operator: all formulas of a body must hold"),
        ("| (q ?x)", "write (or ...) around the alternatives"),
        ("#| (q ?x) |#", "delete the mark: GDL has no block comments"),
        (
            "(exists ?y (q ?y))",
            "delete `exists` and its variable",
        ),
    ],
)
def test_hints_translate_formulas_of_other_languages_into_kif(formula: str, hint: str) -> None:
    program = parse_program(f"(role x) (q a) (r a) (<= (p ?x) (r ?x) {formula})")
    assert any(
        each.hint.startswith(hint) for each in check_program(program) if each.code == "undefined-relation"
    )
