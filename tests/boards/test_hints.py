from __future__ import annotations

import pytest

from anygame.boards.finding.hints import Hint, HintError, read_hints


def hint(text: str) -> Hint:
    (found,) = read_hints(f"(role x)\n;; board: {text}\n(role y)\n")
    assert isinstance(found, Hint), found
    return found


def test_hints_are_comment_lines_of_their_own() -> None:
    text = ";board:hex\n  ;;;  Board:  none  \n(role x) ; board: up\nboard: down\n; a board: hex\n"
    assert list(read_hints(text)) == [Hint("hex", shape="hex"), Hint("none", none=True)]


def test_words_say_how_the_board_lies() -> None:
    assert hint("hex up") == Hint("hex up", shape="hex", upwards=True)
    assert hint("square down") == Hint("square down", shape="square", upwards=False)
    assert hint("rows=2 columns=1") == Hint("rows=2 columns=1", row=1, column=0)
    found = hint("fluent=holds row=1 column=2 hex")
    assert (found.functor, found.row, found.column, found.shape) == ("holds", 0, 1, "hex")


def test_a_pattern_names_the_arguments() -> None:
    found = hint("(mark ?board ?board ?Row ?column ?content)")
    assert (found.functor, found.arity) == ("mark", 5)
    assert (found.row, found.column, found.boards) == (2, 3, (0, 1))


def test_a_hint_can_define_the_goal_of_a_side() -> None:
    found = hint("goal red (a ?column)(i ?column) (e1)")
    assert (found.side, found.goals) == ("red", (("a", "?column"), ("i", "?column"), ("e1",)))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "empty board hint"),
        ("hexagonal", "`hexagonal` is not understood; expected none, hex, square, up, down"),
        ("up down", "two different values for upwards"),
        ("rows=1", "expected both rows and columns"),
        ("rows=1 columns=1", "one argument cannot be both row and column"),
        ("rows=0 columns=1", "`rows=0` is not understood"),
        ("(cell ?row ?row)", "?row occurs 2 times, expected once"),
        ("(cell ?row", "expected a pattern such as"),
        ("(cell (at ?row ?column))", "expected a pattern such as"),
        ("(cell row column)", "expected a pattern such as"),
        ("goal", "expected a side and cells, as in goal red"),
        ("goal (a 1)", "expected a side and cells, as in goal red"),
        ("goal red a 1", "expected a side and cells, as in goal red"),
        ("goal red (a 1) hex", "expected a side and cells, as in goal red"),
    ],
)
def test_unreadable_hints_give_errors_with_reasons(text: str, message: str) -> None:
    (found,) = read_hints(f"; board: {text}")
    assert isinstance(found, HintError)
    assert message in str(found)


def test_hints_are_bounded() -> None:
    found = list(read_hints("; board: hex\n" * 1000))
    assert len(found) == 17
    assert "more than 16 board hints" in str(found[-1])
