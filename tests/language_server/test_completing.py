"""What can stand where somebody types."""

from __future__ import annotations

import pytest
from tests.language_server.places import GAME, INFIX, domains, marked

from anygame.language_server.completing import Completion, complete, typing_context
from anygame.language_server.findings import DomainTable

TABLE = domains(GAME)


def _proposed(typed: str, *, snippets: bool = True, text: str = GAME) -> list[Completion]:
    sheet, offset = marked(f"{text}{typed}")
    return complete(sheet, offset, TABLE, snippets=snippets)


def _labels(typed: str) -> list[str]:
    return [each.label for each in _proposed(typed)]


@pytest.mark.parametrize(
    ("typed", "slot", "steps"),
    [
        ("¦", "item", ()),
        ("(¦", "item", ()),
        ("(ro¦", "item", ()),
        ("(<= ¦", "head", ()),
        ("(<= (¦", "head", ()),
        ("(<= (lost ?x) (¦", "formula", ()),
        ("(<= (lost ?x) (not (or (¦", "formula", ()),
        ("(<= (lost ?x) (distinct ¦", "term", ()),
        ("(<= (lost ?x) (true ¦", "term", (("true", 0),)),
        ("(<= (lost ?x) (true (cell 1 ¦", "term", (("true", 0), ("cell", 1))),
        ("(<= (lost ?x) (true (cell (f 1) ¦", "term", (("true", 0), ("cell", 1))),
        ("(<= lost ¦", "formula", ()),
        ("(role ¦)", "term", (("role", 0),)),
        ("(f (a) ; (\n b ¦", "term", (("f", 2),)),
    ],
)
def test_the_cursor_has_a_category(typed: str, slot: str, steps: tuple[tuple[str, int], ...]) -> None:
    sheet, offset = marked(typed)
    context = typing_context(sheet, offset)
    assert context
    assert (context.slot, context.steps) == (slot, steps)


@pytest.mark.parametrize(
    ("typed", "slot", "steps"),
    [
        ("¦", "item", ()),
        ("rol¦", "item", ()),
        ("lost(¦", "term", (("lost", 0),)),
        ("lost(X) :- ¦", "formula", ()),
        ("lost(X) :- ~(true(a) | ¦", "formula", ()),
        ("lost(X) :- true(cell(1,¦", "term", (("true", 0), ("cell", 1))),
        ("lost(X) :- true(cell(f(1),¦", "term", (("true", 0), ("cell", 1))),
        ("lost(X) :- distinct(X,¦", "term", ()),
    ],
)
def test_slots_of_the_infix_form(typed: str, slot: str, steps: tuple[tuple[str, int], ...]) -> None:
    sheet, offset = marked(typed, "game.hrf")
    context = typing_context(sheet, offset)
    assert context
    assert (context.slot, context.steps) == (slot, steps)


def test_nothing_is_proposed_in_comments() -> None:
    assert _labels("; (ro¦") == []
    assert _labels("(role x) ;¦") == []


def test_keywords_and_relations_are_proposed() -> None:
    assert {"legal", "next", "terminal"} <= set(_labels("(<= ¦"))
    assert "true" not in _labels("(<= (¦")
    assert {"true", "does", "not", "index", "marked"} <= set(_labels("(<= lost (¦"))
    assert "open" not in _labels("(<= lost (¦")  # it has no arguments, and needs no parentheses
    assert "open" in _labels("(<= lost ¦")
    assert _labels("(<= lost (mark¦") == ["marked"]


def test_terms_are_those_of_the_place() -> None:
    assert _labels("(<= lost (true (¦") == ["cell", "control"]
    assert _labels("(<= lost (true (cell ¦")[:4] == ["1", "2", "3"]
    assert set(_labels("(<= (lost ?q) (role ?q) (true (cell ?n ¦")) == {"?q", "?n", "b", "black", "white"}
    assert set(_labels("(<= (lost ?q) (role ?q) (true (cell ?n ?¦")) == {"?q", "?n"}
    assert set(_labels("(<= (lost ?q) (does ?q ¦")) == {"?q", "mark", "noop"}
    assert set(_labels("(<= (next (cell 1 ¦")) == {"b", "black", "white"}
    assert _labels("(init (control ¦") == ["black", "white"]


def test_proposals_are_written_with_their_arguments() -> None:
    (found,) = _proposed("(<= lost (mark¦")
    assert found.text == "marked ${1:?n}"
    assert found.is_snippet
    (found,) = _proposed("(<= lost mark¦")
    assert found.text == "(marked ${1:?n})"
    (found,) = _proposed("(<= lost (mark¦", snippets=False)
    assert (found.text, found.is_snippet) == ("marked ", False)
    sheet, offset = marked(f"{GAME}(<= lost (mark¦")
    (found,) = complete(sheet, offset, TABLE)
    assert sheet.text[found.range.start : found.range.end] == "mark"


def test_proposals_in_the_infix_form() -> None:
    table = domains(INFIX, "game.hrf")
    sheet, offset = marked(f"{INFIX}lost(X) :- oth¦", "game.hrf")
    (found,) = complete(sheet, offset, table)
    assert found.text == "other(${1:P},${2:Q})"
    sheet, offset = marked(f"{INFIX}lost(X) :- does(X,¦", "game.hrf")
    assert [each.label for each in complete(sheet, offset, table)] == ["X", "'Wait'", "go"]


def test_without_domains_written_terms_are_proposed() -> None:
    sheet, offset = marked("(init (cell 1 b))\n(<= lost (true (cell ¦")
    assert [each.label for each in complete(sheet, offset, DomainTable())] == ["1"]
    sheet, offset = marked("(<= lost (true (cell 1 b)))\n(<= won (true (cell ¦")
    assert [each.label for each in complete(sheet, offset, DomainTable())] == ["1"]


def test_nothing_is_proposed_beyond_the_bounds() -> None:
    assert _labels("(f " * 199 + "¦") != []
    assert _labels("(f " * 201 + "¦") == []
    assert _proposed("(¦", text="(p a)" * 500_000) == []


def test_proposals_are_bounded() -> None:
    text = "\n".join(f"(p{number} a)" for number in range(1_000))
    assert len(_proposed("\n(¦", text=text)) == 300
