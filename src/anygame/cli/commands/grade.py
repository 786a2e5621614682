"""The ``grade`` command: what replies to a quiz are worth."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final

from anygame.cli.options import Command, Status, argument, command_options, natural, option
from anygame.cli.output import print_json, print_lines, table_lines
from anygame.cli.progress import progress
from anygame.cli.shared_options import JsonOption, json_shape
from anygame.errors import QuizError
from anygame.files import file_faults
from anygame.language.diagnostics import shown
from anygame.quiz import KINDS, Grade, grade
from anygame.quiz.question import read_object, read_quiz

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import TextIO

    from anygame.quiz import Question

_SHAPE: Final = """\
{"questions", "replies", "exact", "kinds": {KIND: {"questions", "exact", "precision", "recall"}},
   "grades": [{"id", "kind", "exact", "precision", "recall", "found", "missing", "wrong", "says"}]}"""
_DETAILS: Final = f"""\
QUIZ is what `anygame quiz` printed. A reply is a line of JSON: {{"id": ..., "reply": TEXT}},
or TEXT alone for the questions in their order. A question without a reply is wrong.

Of a reply counts the last block between lines of ```; else the last <answer>, the last
\\boxed{{}}, what follows the last `Answer:`; else all of it. Moves and facts may be KIF,
infix or words, with bullets, numbers, commas or JSON around them; order does not matter.
Of `why` any instance of a rule is right that the rules confirm.

The exit status is 0 where every reply is right, else 1.

{json_shape(_SHAPE)}"""


@command_options
class _Options(JsonOption):
    quiz: str = argument("QUIZ", help="the questions, as lines of JSON")
    replies: str = argument("REPLIES", help="the replies, as lines of JSON; - for standard input")
    show: int = option(
        "--show", type=natural, default=10, metavar="N", help="how many wrong replies are shown (10)"
    )


def run(options: _Options) -> int:
    """Print how many replies are right, and what is wrong with others."""
    with file_faults("read", options.quiz, QuizError), open(options.quiz, encoding="utf-8") as file:
        asked = list(read_quiz(file))
    if not asked:
        raise QuizError(f"{options.quiz} has no questions: `anygame quiz` prints a quiz")
    replies = _replies(options.replies, asked)
    grades = []
    with progress("grading", len(asked), counts=True) as show:
        for number, question in enumerate(asked, start=1):
            grades.append(grade(question, replies.get(question.id, "")))
            show(completed=number)
    if options.json:
        print_json(_described(grades, len(replies)))
    else:
        print_lines(table_lines(list(_table(grades)), "<>>>>"))
        wrong = [one for one in grades if not one.is_exact]
        if wrong[: options.show]:
            print()
        print_lines(f"{one.id}: {one}" for one in wrong[: options.show])
        if options.show and len(wrong) > options.show:
            print(f"and {len(wrong) - options.show:,} more; --show N shows N")
    return Status.OK if all(one.is_exact for one in grades) else Status.ANSWER_IS_NO


def _replies(name: str, asked: Sequence[Question]) -> dict[str, str]:
    if name == "-":
        return _read(sys.stdin, asked)
    with file_faults("read", name, QuizError), open(name, encoding="utf-8") as file:
        return _read(file, asked)


def _read(file: TextIO, asked: Sequence[Question]) -> dict[str, str]:
    """Return replies by the names of their questions."""
    known = {question.id for question in asked}
    found: dict[str, str] = {}
    for number, line in enumerate(filter(str.strip, file), start=1):
        where = f"reply {number}"
        if line.lstrip().startswith('"'):
            if number > len(asked):
                raise QuizError(f"{where} is one too many: the quiz has {len(asked):,} questions")
            value = read_object(f'{{"id": null, "reply": {line}}}', where)
            name = asked[number - 1].id
        else:
            value = read_object(line, where)
            name = str(value.get("id"))
        if name not in known:
            raise QuizError(f"{where} is to {shown(name, 80)!r}, which the quiz does not ask")
        if name in found:
            raise QuizError(f"{where} is the second one to {shown(name, 80)!r}")
        if not isinstance(value.get("reply"), str):
            raise QuizError(f"{where}: expected a text as its `reply`, found {shown(line, 60)}")
        found[name] = value["reply"]
    return found


def _by_kind(grades: Sequence[Grade]) -> Iterator[tuple[str, list[Grade]]]:
    for kind in KINDS:
        if found := [one for one in grades if one.kind == kind]:
            yield kind, found


def _numbers(grades: Sequence[Grade]) -> dict[str, float]:
    count = max(1, len(grades))
    return {
        "questions": len(grades),
        "exact": sum(one.is_exact for one in grades),
        "precision": sum(one.precision for one in grades) / count,
        "recall": sum(one.recall for one in grades) / count,
    }


def _table(grades: Sequence[Grade]) -> Iterator[tuple[str, ...]]:
    yield ("", "questions", "right", "precision", "recall")
    for kind, found in [*_by_kind(grades), ("all", list(grades))]:
        numbers = _numbers(found)
        yield (
            kind,
            f"{numbers['questions']:,}",
            f"{numbers['exact']:,}",
            f"{numbers['precision']:.3f}",
            f"{numbers['recall']:.3f}",
        )


def _described(grades: Sequence[Grade], replies: int) -> dict[str, object]:
    return {
        "questions": len(grades),
        "replies": replies,
        "exact": sum(one.is_exact for one in grades),
        "kinds": {kind: _numbers(found) for kind, found in _by_kind(grades)},
        "grades": [one.to_dict() for one in grades],
    }


COMMAND = Command(_Options, run, _DETAILS)
