"""Quizzes: different questions, the same for the same seed, and what they look like."""

from __future__ import annotations

import json
from itertools import islice
from typing import TYPE_CHECKING

import pytest

import anygame
from anygame.errors import QuizError
from anygame.language.parser import parse_program
from anygame.language.rules import Atom, Literal, map_atoms
from anygame.quiz import KINDS, STYLES, Question, Sheet, questions
from anygame.quiz.question import read_quiz
from anygame.quiz.wording import prose_rule
from anygame.sheets.scrambling import Scrambling

if TYPE_CHECKING:
    from collections.abc import Iterator


def quiz(*names: str, **options: object) -> Iterator[Question]:
    return questions([anygame.load(name) for name in names], **options)  # type: ignore[arg-type]


def test_the_same_seed_gives_the_same_quiz_and_another_one_another() -> None:
    first = list(quiz("tic_tac_toe", "pig", count=40, seed=7, scramble="symbols"))
    assert first == list(quiz("tic_tac_toe", "pig", count=40, seed=7, scramble="symbols"))
    assert first[:15] == list(quiz("tic_tac_toe", "pig", count=15, seed=7, scramble="symbols"))
    assert not {one.prompt for one in first} & {
        one.prompt for one in quiz("tic_tac_toe", "pig", count=40, seed=8)
    }


def test_no_two_questions_are_alike() -> None:
    found = list(quiz("tic_tac_toe", "lights_out", "rock_paper_scissors", count=150, seed=1))
    assert len({one.prompt for one in found}) == len({one.id for one in found}) == 150
    assert {one.kind for one in found} == set(KINDS)


def test_a_sheet_runs_out_of_questions() -> None:
    found = quiz("rock_paper_scissors", kinds=["legal"], count=10_000, depth=0)
    assert len(list(islice(found, 2))) == 2
    with pytest.raises(QuizError, match="found only 2 different questions, expected 10,000"):
        next(found)
    with pytest.raises(QuizError, match="and pig have the same rules: omit one"):
        next(quiz("pig", "pig"))
    with pytest.raises(QuizError, match="at least one rule sheet"):
        next(quiz())


def test_the_depth_of_questions_is_limited_and_their_difficulty_is_described() -> None:
    for question in quiz("tic_tac_toe", count=60, seed=2, depth=4):
        assert question.difficulty["depth"] <= 4
        assert question.difficulty["facts"] == len(question.facts) == 10
        assert question.difficulty["rules"] == len(parse_program(question.rules).rules)


def test_values_are_of_counted_states_only() -> None:
    found = list(quiz("tic_tac_toe", kinds=["winner"], count=10, seed=1, depth=9, states=30))
    for question in found:
        game = anygame.loads(question.rules)
        solution = anygame.solve(game, game.state(question.facts))
        assert solution.states <= 30
        assert question.answer == (f"{solution.goals[question.role]:g}",)
    with pytest.raises(QuizError, match="0 different questions"):
        list(quiz("monty_hall", kinds=["winner"], count=1))  # hidden information


def test_states_are_counted_up_to_a_bound() -> None:
    game = anygame.load("tic_tac_toe")
    assert anygame.solve(game, states=5478).solved
    found = anygame.solve(game, states=5477)
    assert not found.solved
    assert "more than 5,477" in found.reason
    assert found.leaves == 0


@pytest.mark.parametrize("style", STYLES)
def test_scrambled_sheets_are_the_same_under_other_names(style: str) -> None:
    for name in anygame.games():
        game = anygame.load(name)
        sheet = Sheet(game, scramble=style, seed=3)  # type: ignore[arg-type]
        words = Scrambling(map(str, game.program.rules), f"3/{sheet.digest}", style).words  # type: ignore[arg-type]
        assert len(set(words.values())) == len(words)
        assert not set(words) & set(words.values())
        back = Scrambling.restore
        rules = Scrambling(map(str, game.program.rules), f"3/{sheet.digest}", style)  # type: ignore[arg-type]
        assert [back(rules, str(rule)) for rule in sheet.program.rules] == list(map(str, game.program.rules))


def test_a_proof_that_a_scrambled_sheet_is_the_same() -> None:
    pytest.importorskip("pysat")
    game = anygame.load("rock_paper_scissors")
    sheet = Sheet(game, scramble="words", seed=1)
    other = anygame.loads(sheet.rules)
    assert set(other.roles).isdisjoint(game.roles)
    assert anygame.equal(game, other, moves=sheet.map_text(game))
    with pytest.raises(anygame.QueryError, match="different roles"):
        anygame.equal(game, other)


def test_questions_are_lines_of_json() -> None:
    found = list(quiz("kuhn_poker", count=12))
    lines = [one.to_json() for one in found]
    assert list(read_quiz(["", *lines])) == found
    assert json.loads(lines[0])["difficulty"]["depth"] == found[0].difficulty["depth"]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("{", "line 1 of the quiz: expected a question as one line of JSON"),
        ("[1]", "as a JSON object"),
        ("{}", "invalid value of 'id' in a question: None"),
        ("[" * 100_000, "as one line of JSON"),
    ],
)
def test_lines_that_are_not_questions_raise_errors(line: str, said: str) -> None:
    with pytest.raises(QuizError, match=said.replace("[", r"\[")):
        list(read_quiz([line]))


def test_questions_that_are_there_twice_are_named() -> None:
    (question,) = quiz("pig", count=1)
    line = question.to_json()
    with pytest.raises(QuizError, match=r"line 2 .* occurs twice"):
        list(read_quiz([line, line]))
    with pytest.raises(QuizError, match="expected a kind among legal"):
        Question.from_json(line.replace(f'"{question.kind}"', '"odd"'))


def test_prose_tells_rules_apart() -> None:
    """No two rules of the sheets have one sentence, and no more than the name of a relation changes it."""
    rules = {str(rule): rule for name in anygame.games() for rule in anygame.load(name).program.rules}
    told = {prose_rule(rule): text for text, rule in rules.items()}
    assert len(told) == len(rules)
    for rule in rules.values():
        for part in rule.body:
            other = map_atoms(part, lambda atom: Atom(f"{atom.predicate}_", atom.arguments))
            if isinstance(part, Literal):
                assert other != part
                changed = type(rule)(rule.head, tuple(other if each is part else each for each in rule.body))
                assert prose_rule(changed) not in told
