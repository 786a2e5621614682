"""Texts that somebody is writing, and what can be made out in them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.language_server.places import GAME, INFIX

from anygame.language_server.sheet import Symbol, WrittenSheet

if TYPE_CHECKING:
    from anygame.language.source import Node


def _shape(node: Node) -> object:
    return node.text if node.children is None else [_shape(child) for child in node.children]


def _items(text: str, name: str = "game.kif") -> list[object]:
    return [_shape(item) for item in WrittenSheet(name, text).items]


def test_whole_sheets_are_read_by_the_language_stage() -> None:
    assert _items("(role x)\n(<= (legal ?r go) (role ?r))") == [
        ["role", "x"],
        ["<=", ["legal", "?r", "go"], ["role", "?r"]],
    ]


def test_a_list_that_is_never_closed_ends_where_the_next_item_starts() -> None:
    text = "(role x)\n(<= (legal ?r (go ?x\n    (role ?r)\n(init (step 1))\n(<= terminal\n"
    assert _items(text) == [
        ["role", "x"],
        ["<=", ["legal", "?r", ["go", "?x", ["role", "?r"]]]],
        ["init", ["step", "1"]],
        ["<=", "terminal"],
    ]


def test_a_parenthesis_too_many_is_passed_over() -> None:
    assert _items("(role x))\n(init a)\n)") == [["role", "x"], ["init", "a"]]


def test_parentheses_round_the_whole_sheet_are_taken_off() -> None:
    assert _items("((role x) (init a))") == [["role", "x"], ["init", "a"]]


def test_comments_hide_parentheses() -> None:
    assert _items("(role x ; ))\n") == [["role", "x"]]


def test_broken_infix_items_are_guessed_between_those_that_can_be_read() -> None:
    text = "role(x)\nlegal(R,mark(X,Y :- true(cell(X,Y,b & ~role(R)\ninit(a)\nnext(b) :- does(x,"
    assert _items(text, "game.hrf") == [
        ["role", "x"],
        ["<=", ["legal", "?r", ["mark", "?x", "?y"]], ["true", ["cell", "?x", "?y", "b", ["role", "?r"]]]],
        ["init", "a"],
        ["<=", ["next", "b"], ["does", "x"]],
    ]


def test_texts_beyond_the_bounds_have_no_items() -> None:
    assert _items("(role x)" * 300_000) == []


@pytest.mark.parametrize("text", ["(" * 5000, ")" * 5000, "(a " * 5000 + ")" * 5000, "(" * 100 + "?" * 9])
def test_deeply_nested_texts_are_read(text: str) -> None:
    sheet = WrittenSheet("game.kif", text)
    assert len(sheet.occurrences) <= len(text)


@pytest.mark.parametrize("text", ["p(" * 5000, "~" * 5000 + "p", "p :- " * 500, "'a" * 500])
def test_deep_infix_texts_end_somewhere(text: str) -> None:
    sheet = WrittenSheet("game.hrf", text)
    assert len(sheet.occurrences) <= len(text)


def test_names_stand_where_they_are_written() -> None:
    for name, text in (("game.kif", GAME), ("game.hrf", INFIX)):
        sheet = WrittenSheet(name, text)
        for each in sheet.occurrences:
            written = text[each.start : each.end]
            if each.symbol.kind != "operator":
                assert written == sheet.spelled(each.symbol)


def test_one_name_of_two_arities_is_two_symbols() -> None:
    sheet = WrittenSheet("game.kif", "(p a) (p a b) (init (p a))")
    assert Symbol("relation", "p", 1) in sheet.by_symbol
    assert Symbol("relation", "p", 2) in sheet.by_symbol
    assert Symbol("term", "p", 1) in sheet.by_symbol
