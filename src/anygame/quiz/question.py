"""Questions, and their form as lines of JSON."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Any, Final, Literal, get_args

from anygame.errors import QuizError
from anygame.language.diagnostics import shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import TypeAlias

QuestionKind: TypeAlias = Literal["legal", "next", "terminal", "goal", "winner", "why"]
#: The form of rules, states and moves in a question.
QuizForm: TypeAlias = Literal["kif", "infix", "prose"]

KINDS: Final[tuple[QuestionKind, ...]] = get_args(QuestionKind)
FORMS: Final[tuple[QuizForm, ...]] = get_args(QuizForm)
#: Maximum number of characters of a line.
_LONGEST_LINE: Final = 32 * 2**20
_MOST_QUESTIONS: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class Question:
    """A question about a state of a game, and its answer. Terms are strings in KIF.

    Attributes:
        id: the name of the question, which is unique in the quiz.
        kind: what the question asks for. ``legal``: the legal moves of a role; ``next``: the facts of the
            next state; ``terminal``: whether the match is over; ``goal``: the goal of a role; ``winner``: the
            goal of a role under perfect play; ``why``: the conditions of a rule that derives an atom.
        form: the form of the prompt.
        sheet: the name of the sheet.
        prompt: the text of the question.
        answer: moves (``legal``), facts (``next``), ``yes`` or ``no``, a goal or ``none``, or the literals of
            one right answer (``why``).
        rules: the sheet in KIF, with the names of the quiz.
        facts: the facts of the state.
        moves: a move for each role, in the order of the sheet; empty if the question needs no moves.
        role: the role that the question is about, or an empty string.
        atom: the derived atom of a ``why`` question, or an empty string.
        difficulty: number of ``facts`` of the state, of ``rules``, and of earlier joint moves (``depth``).
    """

    id: str
    kind: QuestionKind
    form: QuizForm
    sheet: str
    prompt: str
    answer: tuple[str, ...]
    rules: str
    facts: tuple[str, ...]
    moves: tuple[str, ...]
    role: str
    atom: str
    difficulty: dict[str, int]

    def to_json(self) -> str:
        """Return the question as one line of JSON."""
        return json.dumps(asdict(self), ensure_ascii=False)

    @classmethod
    def from_json(cls, line: str) -> Question:
        """Read a question from a line of JSON. Raises QuizError if the line is not a question."""
        data = read_object(line, "a question")
        types = {"answer": tuple, "facts": tuple, "moves": tuple, "difficulty": dict}
        values: dict[str, Any] = {}
        for name in (field.name for field in fields(cls)):
            expected = types.get(name, str)
            value = data.get(name)
            if expected is tuple and isinstance(value, list) and all(isinstance(one, str) for one in value):
                value = tuple(value)
            if not isinstance(value, expected):
                raise QuizError(f"invalid value of {name!r} in a question: {shown(repr(value), 60)}")
            values[name] = value
        if values["kind"] not in KINDS or values["form"] not in FORMS:
            raise QuizError(
                f"expected a kind among {', '.join(KINDS)} and a form among {', '.join(FORMS)}, "
                f"found {shown(values['kind'], 40)!r} and {shown(values['form'], 40)!r}"
            )
        return cls(**values)


def read_object(line: str, what: str) -> dict[str, Any]:
    """Read a JSON object. For other text, raise a QuizError that says that ``what`` is expected."""
    try:
        if len(line) > _LONGEST_LINE:
            raise ValueError(f"more than {_LONGEST_LINE:,} characters")
        value = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise QuizError(f"expected {what} as one line of JSON: {shown(str(error), 120)}") from error
    if not isinstance(value, dict):
        raise QuizError(f"expected {what} as a JSON object, found {shown(line, 60)}")
    return value


def read_quiz(lines: Iterable[str]) -> Iterator[Question]:
    """Read a quiz with one question per line; blank lines are skipped.

    Raises:
        QuizError: a line is not a question, an id occurs twice, or there are too many questions.
    """
    known: set[str] = set()
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            question = Question.from_json(line)
        except QuizError as error:
            raise QuizError(f"line {number} of the quiz: {error}") from error
        if question.id in known or len(known) == _MOST_QUESTIONS:
            reason = "occurs twice" if question.id in known else f"exceeds the limit, {_MOST_QUESTIONS:,}"
            raise QuizError(f"line {number} of the quiz: the question {shown(question.id, 80)!r} {reason}")
        known.add(question.id)
        yield question
