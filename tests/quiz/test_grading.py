"""Replies in free form: what is read of them, and what they are worth."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

import anygame
from anygame.errors import QuizError
from anygame.quiz import FORMS, grade, questions
from anygame.quiz.replies import LONGEST_REPLY, MOST_ITEMS
from anygame.quiz.wording import reply_of

if TYPE_CHECKING:
    from anygame.quiz import Question

SHEET = """
(role x) (role o) (succ 1 2) (succ 2 3) (init (at 1)) (init (control x))
(<= (legal ?r (go ?n ?m)) (true (control ?r)) (true (at ?n)) (succ ?n ?m))
(<= (legal ?r (jump ?n (to 3))) (true (control ?r)) (true (at ?n)) (distinct ?n 3))
(<= (legal ?r noop) (role ?r) (not (true (control ?r))))
(<= (next (at ?m)) (does ?r (go ?n ?m))) (<= (next (at 3)) (does ?r (jump ?n (to 3))))
(<= (next (control o)) (true (control x))) (<= (next (control x)) (true (control o)))
(<= terminal (true (at 3))) (<= (goal ?r 100) (true (at 3)) (true (control ?r)))
(<= (goal ?r 0) (role ?r) (not (true (control ?r))))
"""


def asked(kind: str) -> Question:
    return next(
        one
        for one in questions([anygame.loads(SHEET, name="steps")], kinds=[kind], count=1, depth=0)  # type: ignore[list-item]
    )


LEGAL = "(go 1 2)", "(jump 1 (to 3))"


@pytest.mark.parametrize(
    "reply",
    [
        "```\n(go 1 2)\n(jump 1 (to 3))\n```",
        "```\n(jump 1 (to 3))\n(go 1 2)\n(go 1 2)\n```\n",
        "First:\n```\nnoop\n```\nNo:\n```kif\n- (GO 1 2)\n- ( jump 1\n (to 3) )\n```",
        "<answer>go(1,2), jump(1, to(3))</answer>",
        "Thinking ... noop? No.\nAnswer: (go 1 2) and (jump 1 (to 3)).",
        "**Final answer:**\n1. `(go 1 2)`\n2. `(jump 1 (to 3))`",
        '```json\n{"moves": ["(go 1 2)", "jump(1,to(3))"]}\n```',
        "The legal moves are (go 1 2) and jump(1, to(3)).",
        "```\nx: go 1 2\n(legal x (jump 1 (to 3)))\n```",
        "$\\boxed{(go 1 2), (jump 1 (to 3))}$",
        "```\n(go 1 2), (jump 1 (to 3))",
    ],
)
def test_moves_are_read_however_they_are_written(reply: str) -> None:
    question = asked("legal")
    assert question.answer == LEGAL
    found = grade(question, reply)
    assert (found.is_exact, found.precision, found.recall, found.wrong) == (True, 1.0, 1.0, ())


def test_a_grade_describes_its_faults() -> None:
    found = grade(asked("legal"), "```\n(go 1 2)\n(go 2 3)\n```")
    assert (found.is_exact, found.precision, found.recall, found.f1) == (False, 0.5, 0.5, 0.5)
    assert str(found) == "recall 0.50, precision 0.50; missing: (jump 1 (to 3)); wrong: (go 2 3)"
    assert "no answer was found" in str(grade(asked("legal"), "I cannot say."))
    assert grade(asked("legal"), "```\nI cannot say\n```").precision == 0


@pytest.mark.parametrize(
    ("kind", "right", "wrong"),
    [
        (
            "terminal",
            ["no", "It is not over. Answer: No.", "yes? Let me see: no"],
            ["yes", "```\nyes no\n```", ""],
        ),
        ("goal", ["```\nnone\n```", "None"], ["```\n0\n```", "I think 100"]),
    ],
)
def test_replies_of_words_and_numbers_are_graded(kind: str, right: list[str], wrong: list[str]) -> None:
    question = asked(kind)
    if kind == "goal":
        question = replace(question, answer=("none",))
    assert [grade(question, reply).is_exact for reply in right] == [True] * len(right)
    assert [grade(question, reply).is_exact for reply in wrong] == [False] * len(wrong)


def why(atom: str) -> Question:
    return replace(asked("legal"), kind="why", atom=atom, role="", answer=("(never used)",))


@pytest.mark.parametrize(
    "reply",
    [
        "```\n(true (control x))\n(true (at 1))\n(succ 1 2)\n```",
        "```\n(<= (legal x (go 1 2))\n    (true (control x))\n    (true (at 1))\n    (succ 1 2))\n```",
        "```\nlegal(x,go(1,2)) :- true(control(x)) & true(at(1)) & succ(1,2)\n```",
        "```\ncontrol(x) is true.\nat(1) is true.\nsucc(1,2) holds.\n```",
    ],
)
def test_a_reason_is_checked_by_the_rules(reply: str) -> None:
    assert grade(why("(legal x (go 1 2))"), reply).is_exact


def test_a_reason_that_does_not_hold_is_wrong() -> None:
    question = why("(legal x (go 1 2))")
    found = grade(question, "```\n(true (control o))\n(true (at 1))\n(succ 1 2)\n```")
    assert not found.is_exact
    assert (found.missing, found.wrong) == (("(true (control x))",), ("(true (control o))",))
    negation = why("(legal o noop)")
    for reply in ("(not (true (control o)))", "~true(control(o))", "it is not so that control(o) is true"):
        assert grade(negation, f"```\n(role o)\n{reply}\n```").is_exact, reply
    assert grade(
        why("(legal x (jump 1 (to 3)))"), "```\ncontrol(x) is true\ntrue(at(1))\n1 differs from 3\n```"
    ).is_exact


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("scramble", [None, "words", "symbols"])
def test_every_answer_is_right(form: str, scramble: str | None) -> None:
    games = [anygame.load(name) for name in ("tic_tac_toe", "copolymer", "leduc_poker", "line_chess")]
    for question in questions(games, count=40, seed=5, depth=12, form=form, scramble=scramble):  # type: ignore[arg-type]
        assert grade(question, reply_of(question)).is_exact, question.id
        assert not grade(question, "").is_exact


@pytest.mark.parametrize(
    "reply",
    [
        "(" * 200_000,
        "```\n" + "(a " * 50_000 + "\n```",
        "x" * 10_000_000,
        "[" * 100_000,
        "~" * 5_000,
        "```\n)))((\n```",
        '```\n{"a": ' * 500,
        "```\n" + "(go 1 2)\n" * 20_000 + "```",
        "\0\ud800 ```\n'\n```",
        "```\n()\nf()\n(())\n```",
    ],
)
def test_replies_of_strangers_are_bounded(reply: str) -> None:
    for kind in ("legal", "terminal"):
        assert not grade(asked(kind), reply).is_exact
    assert not grade(why("(legal x (go 1 2))"), reply).is_exact


def test_only_the_end_of_a_long_reply_counts() -> None:
    reply = "(go 2 3) " * LONGEST_REPLY + "\n```\n(go 1 2)\n(jump 1 (to 3))\n```"
    assert grade(asked("legal"), reply).is_exact


def test_rules_that_cannot_be_used_are_an_error() -> None:
    with pytest.raises(QuizError, match="the rules of the question are invalid"):
        grade(replace(why("(legal x (go 1 2))"), rules="(role x"), "```\n(succ 1 2)\n```")
    with pytest.raises(QuizError, match="does not fit its rules"):
        grade(replace(why("(legal x (go 1 2))"), facts=("(at",)), "```\n(succ 1 2)\n```")


def test_terms_beyond_the_bound_make_a_reply_wrong() -> None:
    reply = "```\n" + "(go 1 2)\n(jump 1 (to 3))\n" * (MOST_ITEMS // 2) + "(go 2 3)\n```"
    assert len(reply) < LONGEST_REPLY
    assert not grade(asked("legal"), reply).is_exact


_WIDE = """
(role me) (init start) {numbers} (<= (legal me off) (at ?n) (at ?m) {condition})
(<= (dark ?n ?m) (at ?n) (at ?m) (distinct ?m 80)) (<= terminal (true over))
"""


@pytest.mark.parametrize(
    ("condition", "message"),
    [
        ("(not (dark ?n ?m)) (distinct ?m 80)", "more than 200,000 look-ups of literals"),
        ("(dark ?n ?m)", "more than 500 instances of rules derive"),
    ],
)
def test_a_reason_beyond_the_bounds_is_an_error_and_not_confirmed(condition: str, message: str) -> None:
    sheet = _WIDE.format(numbers=" ".join(f"(at {n})" for n in range(81)), condition=condition)
    question = replace(why("(legal me off)"), rules=sheet, facts=("start",))
    with pytest.raises(QuizError, match=message):
        grade(question, "```\n(at 79)\n(at 78)\n(not (dark 79 78))\n(distinct 78 80)\n```")
    game = anygame.loads(sheet)
    with pytest.raises(QuizError, match="found only 0 different questions"):
        list(questions([game], kinds=["why"], count=1))
