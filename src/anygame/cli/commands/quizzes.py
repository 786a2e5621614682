"""The commands ``quiz``, which generates questions about rule sheets, and ``grade``, which grades replies."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final

from anygame.cli.options import Command, Status, argument, command_options, natural, option, positive
from anygame.cli.output import complain, print_json, print_lines, table_lines
from anygame.cli.progress import compile_needed, progress
from anygame.cli.shared_options import SHEET_HELP, JsonOption, ReadingOptions, json_shape, seed_option
from anygame.cli.sheets import make_folder, read_game, write_text
from anygame.errors import QuizError
from anygame.files import file_faults
from anygame.language.diagnostics import shown
from anygame.quiz import FORMS, KINDS, STYLES, Grade, Sheet, grade, questions
from anygame.quiz.asking import DEFAULT_STATES
from anygame.quiz.question import read_object, read_quiz

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import TextIO

    from anygame.game.game import Game
    from anygame.quiz import Question
    from anygame.quiz.question import QuestionKind, QuizForm
    from anygame.sheets.scrambling import Style

# -- quiz ----------------------------------------------------------------------------------------------

_QUIZ_DETAILS: Final = """\
Kinds of questions:
legal     Which moves of a role are legal?
next      Which facts are true after a joint move?
terminal  Is the match over?
goal      What is the goal of a role?
winner    If all roles play perfectly, what is the goal of a role at the end? Only for games with
          at most --states states, and without chance, hidden information or mixed strategies
why       Which instance of a rule derives an atom? The answer is the literals of its body

Each question is a line of JSON: id, kind, form, sheet, prompt, answer, rules, facts, moves,
role, atom, difficulty {"facts", "rules", "depth"}. The prompt is for the language model. The
other fields are for `anygame grade`. All questions are different. The same options give the
same quiz. A smaller --count gives the first questions of this quiz. If there are fewer questions
than --count, all questions are printed, and the exit status is 1.

A scrambled sheet is the same game with other names, except for keywords, the role `random` and
integers. --sheets FOLDER writes the scrambled sheets and maps of their names. Afterwards,
`anygame equal SHEET FOLDER/NAME.kif --map FOLDER/NAME.map` proves that the game is the same.
"""


@command_options
class _QuizOptions(ReadingOptions):
    files: list[str] = argument("SHEET", nargs="+", help=f"{SHEET_HELP}; - for standard input")
    kinds: list[QuestionKind] = option(
        "--kind",
        None,
        "kind of question, as listed below; can be repeated (default: all)",
        choices=KINDS,
        action="append",
        default=[],
    )
    count: int = option("--count", "N", "number of questions", positive, default=10)
    seed: int = seed_option(0)
    depth: int = option(
        "--depth",
        "D",
        "maximum number of joint moves from the initial state to the state of a question",
        natural,
        default=10,
    )
    scramble: Style | None = option(
        "--scramble",
        None,
        "replace all names by pronounceable words or by symbols (default: keep the names)",
        choices=STYLES,
    )
    form: QuizForm = option("--form", None, "notation of the prompts", choices=FORMS, default="kif")
    states: int = option(
        "--states",
        "N",
        "ask `winner` questions only if the game has at most N reachable states",
        positive,
        default=DEFAULT_STATES,
    )
    sheets: str | None = option(
        "--sheets", "FOLDER", "folder for the scrambled sheets, and for maps from old names to new names"
    )


def _quiz(options: _QuizOptions) -> int:
    games = [read_game(name, options) for name in options.files]
    if options.sheets is not None:
        for game in games:
            _write(game, options, options.sheets)
    quiz = questions(
        games,
        kinds=options.kinds or KINDS,
        count=options.count,
        seed=options.seed,
        depth=options.depth,
        scramble=options.scramble,
        form=options.form,
        states=options.states,
    )
    with progress("asking", options.count, counts=True) as show:
        try:
            for number, question in enumerate(quiz, start=1):
                sys.stdout.write(f"{question.to_json()}\n")
                show(completed=number)
        except QuizError as error:
            complain(error)
            return Status.ANSWER_IS_NO
    return Status.OK


def _write(game: Game, options: _QuizOptions, name: str) -> None:
    sheet = Sheet(game, "kif", options.scramble, options.seed)
    folder = make_folder(name)
    compile_needed(game)
    for suffix, text in (("kif", sheet.rules), ("map", sheet.map_text(game))):
        write_text(folder / f"{sheet.name}.{suffix}", text)


# -- grade ---------------------------------------------------------------------------------------------

_GRADE_SHAPE: Final = """\
{"questions", "replies", "exact", "kinds": {KIND: {"questions", "exact", "precision", "recall"}},
   "grades": [{"id", "kind", "exact", "precision", "recall", "found", "missing", "wrong", "says"}]}"""
_GRADE_DETAILS: Final = f"""\
QUIZ is the output of `anygame quiz`. Each reply is a line of JSON: {{"id": ..., "reply": TEXT}},
or only TEXT if the replies are in the order of the questions. A missing reply counts as wrong.

Only the answer in a reply is graded: the last block between lines of ```, else the last
<answer>, else the last \\boxed{{}}, else the text after the last `Answer:`, else the whole reply.
The answer lists moves or facts in any order, in KIF, infix or words, and with or without
bullets, numbers, commas or JSON around them. For `why`, every instance of a rule that derives
the atom is right.

The exit status is 0 if every reply is right, else 1.

{json_shape(_GRADE_SHAPE)}"""


@command_options
class _GradeOptions(JsonOption):
    quiz: str = argument("QUIZ", help="file of questions, written by `anygame quiz`")
    replies: str = argument("REPLIES", help="file of replies, as lines of JSON; - for standard input")
    show: int = option("--show", "N", "maximum number of wrong replies to show", natural, default=10)


def _grade(options: _GradeOptions) -> int:
    with file_faults("read", options.quiz, QuizError), open(options.quiz, encoding="utf-8") as file:
        asked = list(read_quiz(file))
    if not asked:
        raise QuizError(f"{options.quiz} has no questions: expected the output of `anygame quiz`")
    if options.replies == "-":
        replies = _read(sys.stdin, asked)
    else:
        with file_faults("read", options.replies, QuizError), open(options.replies, encoding="utf-8") as file:
            replies = _read(file, asked)
    grades = []
    with progress("grading", len(asked), counts=True) as show:
        for number, question in enumerate(asked, start=1):
            grades.append(grade(question, replies.get(question.id, "")))
            show(completed=number)
    if options.json:
        print_json(
            {
                "questions": len(grades),
                "replies": len(replies),
                "exact": sum(one.is_exact for one in grades),
                "kinds": _numbers_by_kind(grades),
                "grades": [one.to_dict() for one in grades],
            }
        )
    else:
        print_lines(table_lines(list(_table(grades)), "<>>>>"))
        wrong = [one for one in grades if not one.is_exact]
        if wrong[: options.show]:
            print()
        print_lines(f"{one.id}: {one}" for one in wrong[: options.show])
        if options.show and len(wrong) > options.show:
            print(f"and {len(wrong) - options.show:,} more wrong replies; --show N shows N of them")
    return Status.OK if all(one.is_exact for one in grades) else Status.ANSWER_IS_NO


def _read(file: TextIO, asked: Sequence[Question]) -> dict[str, str]:
    """Return the replies, by question id."""
    known = {question.id for question in asked}
    replies: dict[str, str] = {}
    for number, line in enumerate(filter(str.strip, file), start=1):
        where = f"reply {number}"
        if line.lstrip().startswith('"'):
            if number > len(asked):
                raise QuizError(f"{where} belongs to no question: the quiz has only {len(asked):,} questions")
            value = read_object(f'{{"id": null, "reply": {line}}}', where)
            name = asked[number - 1].id
        else:
            value = read_object(line, where)
            name = str(value.get("id"))
        if name not in known:
            raise QuizError(f"{where} answers {shown(name, 80)!r}, which is not a question of the quiz")
        if name in replies:
            raise QuizError(f"{where} answers {shown(name, 80)!r}, which has a reply already")
        if not isinstance(value.get("reply"), str):
            raise QuizError(f"{where}: expected a string as its `reply`, found {shown(line, 60)}")
        replies[name] = value["reply"]
    return replies


def _numbers_by_kind(grades: Sequence[Grade]) -> dict[str, dict[str, float]]:
    by_kind = {kind: [one for one in grades if one.kind == kind] for kind in KINDS}
    return {kind: _numbers(of_kind) for kind, of_kind in by_kind.items() if of_kind}


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
    for kind, numbers in (_numbers_by_kind(grades) | {"all": _numbers(grades)}).items():
        yield (
            kind,
            f"{numbers['questions']:,}",
            f"{numbers['exact']:,}",
            f"{numbers['precision']:.3f}",
            f"{numbers['recall']:.3f}",
        )


COMMANDS: Final = {
    "quiz": Command(_QuizOptions, _quiz, _QUIZ_DETAILS),
    "grade": Command(_GradeOptions, _grade, _GRADE_DETAILS),
}
