from __future__ import annotations

import pytest

from anygame.analysis.axes import AXIS_LIMIT, chains, ordered, prefix
from anygame.language import Compound, Constant, parse_program


def names(values: str, sheet: str = "") -> str:
    """Return the values in their order, as text."""
    rules = parse_program(f"(role x) {sheet}").rules
    return " ".join(map(str, ordered(map(Constant, values.split()), chains(rules))))


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ("3 1 2", "1 2 3"),
        ("10 9 11", "9 10 11"),
        ("-1 1 0", "-1 0 1"),
        ("c10 c09 c08", "c08 c09 c10"),
        ("b a c", "a b c"),
        ("H G F", "F G H"),
        ("1 3", "1 3"),
    ],
)
def test_numbers_and_letters_have_an_order(values: str, expected: str) -> None:
    assert names(values) == expected


@pytest.mark.parametrize(
    "values",
    [
        "b o x",  # letters far apart are contents
        "0 5 100",  # so are numbers
        "1 2 b",
        "1 01",
        "a B",
        "r1 c1",
        "red green",
        "7",
        "",
    ],
)
def test_other_values_have_none(values: str) -> None:
    assert names(values) == ""


def test_a_chain_of_the_rules_gives_an_order() -> None:
    sheet = "(after one two) (after two three) (after three four)"
    assert names("three one two", sheet) == "one two three"


@pytest.mark.parametrize(
    "sheet",
    [
        "(next one two)",  # too short to be an order
        "(after one two) (after two three) (after three one)",
        "(after one two) (after one three)",
        "(after one two) (after two three) (<= (after ?x ?y) (after ?y ?x))(after three two)",
    ],
)
def test_other_relations_give_none(sheet: str) -> None:
    if not sheet.startswith("(next"):
        assert names("three one two", sheet) == ""
    assert names("two one", sheet.replace("next", "after")) == ""


def test_terms_and_very_many_values_are_no_axis() -> None:
    assert ordered([Constant("1"), Compound("s", (Constant("1"),))]) == ()
    assert len(ordered(Constant(str(n)) for n in range(AXIS_LIMIT))) == AXIS_LIMIT
    assert ordered(Constant(str(n)) for n in range(AXIS_LIMIT + 1)) == ()


def test_prefix_is_the_common_text_before_numbers() -> None:
    assert prefix(ordered(map(Constant, ["row1", "row2"]))) == "row"
    assert prefix(ordered(map(Constant, ["1", "2"]))) == ""
    assert prefix(ordered(map(Constant, ["a", "b"]))) == ""
