from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anygame.language.parser import parse_term
from anygame.match.judging import first_expression, judge, spaced
from anygame.match.seats import LONGEST_REPLY, Reply

LEGAL = tuple(map(parse_term, ["(mark 1 2)", "(mark 1 (at x))", "noop"]))


@pytest.mark.parametrize(
    ("reply", "move"),
    [
        ("noop", "noop"),
        ("(mark 1 2)", "(mark 1 2)"),
        ("\n ( mark\t1 2 )\r\n", "(mark 1 2)"),
        ("( mark 1 ( at x ) ) and more (", "(mark 1 (at x))"),
        ("; thinking\nnoop", "noop"),
        ("noop)", "noop"),
    ],
)
def test_moves_are_read(reply: str, move: str) -> None:
    verdict = judge(Reply(reply), LEGAL)
    assert str(verdict.move) == move
    assert verdict.error == ""


@pytest.mark.parametrize(
    ("reply", "error"),
    [
        ("", "IL null"),
        ("   \r\n", "IL null"),
        ("; nothing", "IL null"),
        ("()", "IL null"),
        ("(mark 1 2", "IL null"),
        ("((noop))", "IL null"),
        ("(mark ((1)) 2)", "IL null"),
        ("(mark () 2)", "IL null"),
        (")", "IL )"),
        ("(noop)", "IL ( noop )"),
        ("(mark (1) 2)", "IL ( mark ( 1 ) 2 )"),
        ("NOOP", "IL NOOP"),
        ("(mark ?x 2)", "IL ( mark ?x 2 )"),
        ("(?f 1)", "IL ( ?f 1 )"),
        ('(say "yes")', 'IL ( say "yes" )'),
        ("a\x00b\x1b[2J", "IL a\ufffdb\ufffd[2J"),
        ("\ud800", "IL \ufffd"),
        ("(" * 500, "IL null"),
        ("x" * 10_000, f"IL {'x' * 200}..."),
    ],
)
def test_illegal_replies_are_recorded(reply: str, error: str) -> None:
    assert judge(Reply(reply), LEGAL).error == error


@pytest.mark.parametrize("error", ["TO", "CE"])
def test_connection_errors_are_recorded(error: str) -> None:
    verdict = judge(Reply(None, error, "why"), LEGAL)
    assert (verdict.move, verdict.error, verdict.detail) == (None, error, "why")


def test_a_game_that_ignores_capitals_ignores_them_in_replies() -> None:
    assert judge(Reply("NOOP"), LEGAL, case_sensitive=False).error == ""
    assert judge(Reply("( MARK 1 2 )"), LEGAL, case_sensitive=False).move is LEGAL[0]


@given(st.text())
def test_any_text_can_be_judged_and_recorded(text: str) -> None:
    verdict = judge(Reply(text), LEGAL)
    assert (verdict.move is None) == bool(verdict.error)
    assert json.loads(json.dumps(verdict.error)) == verdict.error
    verdict.error.encode()


@given(st.sampled_from(LEGAL), st.text(alphabet="() ;ab\n"))
def test_text_after_a_move_is_ignored(move: object, junk: str) -> None:
    assert judge(Reply(f"{move} {junk}"), LEGAL).error == ""


def test_only_the_beginning_of_a_long_reply_is_read() -> None:
    assert first_expression(" " * LONGEST_REPLY + "noop") is None


def test_moves_are_spaced_as_managers_space_them() -> None:
    assert [spaced(move) for move in LEGAL] == ["( mark 1 2 )", "( mark 1 ( at x ) )", "noop"]
