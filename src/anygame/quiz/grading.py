"""Grades of replies, from the right, missing and wrong terms."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from anygame.errors import AnygameError, QuizError
from anygame.game.loading import loads
from anygame.language.parser import parse_atom, parse_term
from anygame.language.terms import Compound
from anygame.quiz.instances import Instances
from anygame.quiz.replies import ItemReader, answer_in

if TYPE_CHECKING:
    from collections.abc import Iterable

    from anygame.game.game import Game
    from anygame.quiz.question import Question
    from anygame.quiz.replies import Answer

#: For each kind of question, the relations in which a reply can wrap a move or fact.
_WRAPPERS: Final = {"legal": ("legal", "does", "input"), "next": ("next", "true", "init", "base")}
#: Maximum number of terms listed in the text of a grade.
_SHOWN: Final = 5


@dataclass(frozen=True, slots=True)
class Grade:
    """The grade of a reply.

    Attributes:
        id: id of the question.
        kind: kind of the question.
        is_exact: whether the reply has exactly the terms of the answer.
        precision: proportion of the reply's terms that belong to the answer.
        recall: proportion of the answer's terms that the reply has.
        found: the terms of the reply, in KIF.
        missing: the terms of the answer that the reply lacks.
        wrong: the terms of the reply that do not belong to the answer.
    """

    id: str
    kind: str
    is_exact: bool
    precision: float
    recall: float
    found: tuple[str, ...]
    missing: tuple[str, ...] = ()
    wrong: tuple[str, ...] = ()

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall."""
        total = self.precision + self.recall
        return 2 * self.precision * self.recall / total if total else 0.0

    def to_dict(self) -> dict[str, object]:
        """Return the grade as plain data; ``says`` is the text of the grade."""
        return {
            "id": self.id,
            "kind": self.kind,
            "exact": self.is_exact,
            "precision": self.precision,
            "recall": self.recall,
            "found": list(self.found),
            "missing": list(self.missing),
            "wrong": list(self.wrong),
            "says": str(self),
        }

    def __str__(self) -> str:
        if self.is_exact:
            return "right"
        parts = []
        if not self.found:
            parts.append("no answer was found in the reply")
        elif self.kind in ("legal", "next", "why"):
            parts.append(f"recall {self.recall:.2f}, precision {self.precision:.2f}")
        if self.missing and (self.found or len(self.missing) == 1):
            parts.append(f"missing: {_listed(self.missing)}")
        if self.wrong:
            parts.append(f"wrong: {_listed(self.wrong)}")
        return "; ".join(parts)


def _listed(texts: tuple[str, ...]) -> str:
    more = f" and {len(texts) - _SHOWN} more" if len(texts) > _SHOWN else ""
    return ", ".join(text if len(text) < 80 else f"{text[:77]}..." for text in texts[:_SHOWN]) + more


def grade(question: Question, reply: str) -> Grade:
    """Return the grade of a reply in free form.

    The order and the form of terms do not matter. For ``why`` questions, a reply is right if its conditions
    are the body of any rule instance that derives the atom. A wrong reply is compared with the most similar
    rule instance.

    Raises:
        QuizError: the rules or the state of the question are invalid.
    """
    answer = answer_in(reply)
    if question.kind in ("terminal", "goal", "winner"):
        return _grade_word(question, answer)
    items = _reader(question.rules).items(answer)
    if question.kind == "why":
        return _grade_why(question, set(map(str, items)))
    wrappers = _WRAPPERS[question.kind]
    named = {
        str(item.arguments[-1] if isinstance(item, Compound) and item.functor in wrappers else item)
        for item in items
    }
    return _compared(question, named, frozenset(question.answer))


def _grade_word(question: Question, answer: Answer) -> Grade:
    if question.kind == "terminal":
        meant = {"true": "yes", "false": "no"}
        found = [meant.get(word, word) for word in answer.words(("yes", "no", "true", "false"))]
    else:
        found = answer.numbers() or answer.words(("none",))
    # In a marked answer, all words count. Without a marked answer, only the last word counts.
    named = set(found) if answer.is_marked else set(found[-1:])
    return _compared(question, named, frozenset(question.answer))


def _grade_why(question: Question, items: set[str]) -> Grade:
    game = _game(question.rules)
    try:
        state = game.state(question.facts)
        moves = [parse_term(move) for move in question.moves]
        named = items - {question.atom}
        best: Grade | None = None
        for conditions in Instances(state, moves).of(parse_atom(question.atom)):
            graded = _compared(question, named, frozenset(conditions))
            if best is None or (graded.is_exact, graded.f1) > (best.is_exact, best.f1):
                best = graded
            if graded.is_exact:
                break
    except AnygameError as error:
        raise QuizError(f"the question {question.id} does not fit its rules: {error}") from error
    return best or _compared(question, named, frozenset(question.answer))


def _compared(question: Question, named: Iterable[str], wanted: frozenset[str]) -> Grade:
    found = frozenset(named)
    right = found & wanted
    return Grade(
        id=question.id,
        kind=question.kind,
        is_exact=found == wanted,
        precision=len(right) / len(found) if found else float(not wanted),
        recall=len(right) / len(wanted) if wanted else 1.0,
        found=tuple(sorted(found)),
        missing=tuple(sorted(wanted - found)),
        wrong=tuple(sorted(found - wanted)),
    )


@lru_cache(64)
def _reader(rules: str) -> ItemReader:
    return ItemReader(rules)


@lru_cache(64)
def _game(rules: str) -> Game:
    try:
        return loads(rules, machine="reasoner")
    except AnygameError as error:
        raise QuizError(f"the rules of the question are invalid: {error}") from error
