"""Every answer of a quiz is the one that an independent reasoner gives."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

import anygame
from anygame.quiz import KINDS, questions

pytest.importorskip("clingo")

from tests.quiz.oracle import Oracle

if TYPE_CHECKING:
    from anygame.quiz import Question

#: Twelve sheets: of one, two and three roles, with moves at once, chance and hidden information.
SHEETS = (
    "tic_tac_toe",
    "connect_four",
    "capture_chess",
    "copolymer",
    "hex_pie",
    "kuhn_poker",
    "lights_out",
    "line_chess",
    "monty_hall",
    "pig",
    "rock_paper_scissors",
    "three_player_chomp",
)


def disagreements(sheets: tuple[str, ...], **options: Any) -> tuple[list[Question], list[str]]:
    """Return the questions of a quiz under other names, and those whose answer is another for clingo."""
    oracles: dict[str, Oracle] = {}
    asked = []
    wrong = []
    for question in questions([anygame.load(name) for name in sheets], scramble="words", **options):
        oracle = oracles.setdefault(question.rules, Oracle(question.rules))
        asked.append(question)
        if question.kind == "why":
            right = oracle.confirms(question)
        else:
            right = oracle.answer(question) == set(question.answer)
        if not right:
            wrong.append(question.id)
    return asked, wrong


def test_clingo_gives_the_same_answers() -> None:
    asked, wrong = disagreements(("tic_tac_toe", "kuhn_poker"), count=36, seed=2, depth=8, states=40)
    assert {question.kind for question in asked} == set(KINDS)
    assert wrong == []


@pytest.mark.slow
def test_clingo_gives_the_same_thousand_answers_of_twelve_sheets() -> None:
    asked, wrong = disagreements(SHEETS, count=1000, seed=1, depth=40, states=60)
    assert len({question.prompt for question in asked}) == 1000
    assert {question.sheet for question in asked} == set(SHEETS)
    assert {question.kind for question in asked} == set(KINDS)
    assert wrong == []


def test_a_wrong_answer_is_found() -> None:
    (question,) = questions([anygame.load("tic_tac_toe")], kinds=["why"], count=1, seed=1, scramble="words")
    oracle = Oracle(question.rules)
    assert oracle.confirms(question)
    conditions = [text for text in question.answer if not text.startswith(("(not ", "(distinct "))]
    assert conditions
    for left_out in conditions:
        rest = tuple(text for text in question.answer if text != left_out)
        assert not oracle.confirms(replace(question, answer=rest))
    (question,) = questions([anygame.load("tic_tac_toe")], kinds=["legal"], count=1, seed=1, scramble="words")
    assert oracle.answer(question) == set(question.answer) != set(question.answer[1:])
