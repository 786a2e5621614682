"""Quizzes as a Reasoning Gym dataset with the name ``anygame_quiz``.

Import this module, then call ``reasoning_gym.create_dataset("anygame_quiz", sheets=["tic_tac_toe"])``. See
Stojanovski et al. 2025, "Reasoning Gym: reasoning environments for reinforcement learning with verifiable
rewards".
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from anygame.errors import needing
from anygame.game.loading import load
from anygame.quiz import FORMS, KINDS, STYLES, Question, grade, questions
from anygame.quiz.asking import DEFAULT_STATES
from anygame.quiz.wording import reply_of

with needing("reasoning-gym", "this needs reasoning-gym, which is not installed"):
    from reasoning_gym.coaching import BaseCurriculum, ScalarAttributeDefinition
    from reasoning_gym.factory import ProceduralDataset, register_dataset

if TYPE_CHECKING:
    from anygame.quiz.question import QuestionKind, QuizForm
    from anygame.sheets.scrambling import Style

NAME: Final = "anygame_quiz"


@dataclass
class QuizConfig:
    """Options of a quiz; see ``anygame.quiz.questions``.

    Attributes:
        sheets: rule sheets, or names of installed games.
        size: number of questions.
        seed: random seed of the quiz; with None, each dataset has a new seed.
    """

    sheets: list[str] = field(default_factory=lambda: ["tic_tac_toe"])
    kinds: list[QuestionKind] = field(default_factory=lambda: list(KINDS))
    depth: int = 10
    scramble: Style | None = None
    form: QuizForm = "kif"
    states: int = DEFAULT_STATES
    size: int = 500
    seed: int | None = None

    def validate(self) -> None:
        """Raise AssertionError for invalid options, as the library requires."""
        assert self.sheets, "the list `sheets` must contain at least one rule sheet"
        assert self.kinds, "kinds must name at least one kind of question"
        assert set(self.kinds) <= set(KINDS), f"kinds must be of {', '.join(KINDS)}"
        assert self.depth >= 0, "depth must be 0 or more"
        assert self.scramble in (None, *STYLES), f"scramble must be one of {', '.join(STYLES)}, or None"
        assert self.form in FORMS, f"form must be one of {', '.join(FORMS)}"
        assert self.states > 0, "states must be above 0"
        assert self.size > 0, "size must be above 0"


class QuizDataset(ProceduralDataset):
    """Questions about games. The score of a reply is its F1 score."""

    def __init__(self, config: QuizConfig) -> None:
        super().__init__(config=config, seed=config.seed, size=config.size)
        self._coming = questions(
            [load(sheet) for sheet in config.sheets],
            kinds=config.kinds,
            count=config.size,
            seed=self.seed,
            depth=config.depth,
            scramble=config.scramble,
            form=config.form,
            states=config.states,
        )
        self._asked: list[Question] = []

    def __getitem__(self, idx: int) -> dict[str, Any]:
        """Return a question. Raises QuizError if the sheets do not have enough questions."""
        if not 0 <= idx < self.size:
            raise IndexError(f"expected a number from 0 to {self.size - 1}, found {idx}")
        self._asked += islice(self._coming, max(0, idx + 1 - len(self._asked)))
        question = self._asked[idx]
        metadata = {"source_dataset": NAME, "source_index": idx, "difficulty": question.difficulty}
        return {
            "question": question.prompt,
            "answer": reply_of(question),
            "metadata": metadata | {"question": question.to_json()},
        }

    def score_answer(self, answer: str | None, entry: dict[str, Any]) -> float:
        """Return the F1 score of a reply, which is 1 if the reply is right."""
        if not isinstance(answer, str):
            return 0.0
        return grade(Question.from_json(entry["metadata"]["question"]), answer).f1


class QuizCurriculum(BaseCurriculum):
    """Levels of depth."""

    def __init__(self) -> None:
        super().__init__(QuizCurriculum.__name__, QuizConfig)
        self._define_attributes(
            ScalarAttributeDefinition(
                name="depth",
                field_name="depth",
                levels=[2, 5, 10, 20, 50],
                description="Maximum number of joint moves from the initial state to the state of a question",
            )
        )


register_dataset(NAME, QuizDataset, QuizConfig, QuizCurriculum)
