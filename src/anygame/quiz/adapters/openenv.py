"""Quizzes as an OpenEnv environment: `reset` asks a question, and `step` grades a reply.

These lines make a server, for clients such as `openenv.core.GenericEnvClient`::

    from anygame.quiz.adapters.openenv import quiz_app
    app = quiz_app(["tic_tac_toe"], seed=1)      # then: uvicorn MODULE:app
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from anygame.errors import needing
from anygame.game.loading import load
from anygame.quiz import Question, grade, questions

with needing("openenv", "this needs openenv, which is not installed"):
    from openenv.core.env_server import Action, Environment, Observation, State, create_app

from pydantic import Field

if TYPE_CHECKING:
    from collections.abc import Sequence


class Reply(Action):
    """A reply in free form."""

    reply: str = Field(description="the reply, with its answer between two lines of ```")


class Asked(Observation):
    """A question, and feedback on the last reply to the question."""

    question: str = Field(default="", description="the prompt")
    feedback: str = Field(default="", description="feedback on the last reply")


class QuizState(State):
    """The current question."""

    question_id: str = ""
    kind: str = ""


class QuizEnvironment(Environment[Reply, Asked, QuizState]):
    """Questions about games, one per episode.

    Args:
        sheets: rule sheets, or names of installed games.
        count: number of questions. After the last question, the quiz starts again.
        tries: maximum number of replies to a question. Each reply gets feedback; only the last reply counts.
        options: options of ``anygame.quiz.questions``.
    """

    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self, sheets: Sequence[str], count: int = 100, tries: int = 1, **options: Any) -> None:
        super().__init__()
        self._games = [load(sheet) for sheet in sheets]
        self._count, self._tries, self._options = count, tries, options
        self._start(int(options.pop("seed", 0)))
        self._state = QuizState()
        self._question: Question | None = None

    def _start(self, seed: int) -> None:
        self._seed, self._next = seed, 0
        self._coming = questions(self._games, count=self._count, seed=seed, **self._options)
        self._known: list[Question] = []

    def reset(
        self, seed: int | None = None, episode_id: str | None = None, index: int | None = None, **kwargs: Any
    ) -> Asked:
        """Ask the next question.

        Args:
            seed: random seed. A seed that differs from the current seed starts a new quiz.
            episode_id: name of the episode (default: a random name).
            index: number of the question, from 0 (default: the next question).
            kwargs: unused.

        Raises:
            IndexError: there is no question with this number.
            QuizError: the sheets do not have enough questions.
        """
        if seed is not None and seed != self._seed:
            self._start(seed)
        place = self._next % self._count if index is None else index
        if not 0 <= place < self._count:
            raise IndexError(f"expected a question from 0 to {self._count - 1}, found {place}")
        self._known += islice(self._coming, max(0, place + 1 - len(self._known)))
        self._next = place + 1
        question = self._question = self._known[place]
        self._state = QuizState(
            episode_id=episode_id or str(uuid4()), step_count=0, question_id=question.id, kind=question.kind
        )
        return Asked(question=question.prompt, metadata={"difficulty": question.difficulty})

    def step(self, action: Reply, timeout_s: float | None = None, **kwargs: Any) -> Asked:
        """Grade a reply. The last reply to a question earns its F1 score; earlier replies earn 0."""
        if self._question is None:
            self.reset()
        assert self._question is not None
        graded = grade(self._question, action.reply)
        self._state.step_count += 1
        done = graded.is_exact or self._state.step_count >= self._tries
        # Feedback before the last reply does not reveal missing terms.
        hint = f"wrong: {', '.join(graded.wrong[:5])}" if graded.wrong else "terms of the answer are missing"
        return Asked(
            question=self._question.prompt,
            feedback=str(graded) if done else hint,
            done=done,
            reward=graded.f1 if done else 0.0,
            metadata={"exact": graded.is_exact, "precision": graded.precision, "recall": graded.recall},
        )

    @property
    def state(self) -> QuizState:
        """The current question, and the number of replies to the question."""
        return self._state


def quiz_app(sheets: Sequence[str], count: int = 100, tries: int = 1, **options: Any) -> Any:
    """Return a FastAPI application that serves a `QuizEnvironment` with these arguments."""
    return create_app(
        lambda: QuizEnvironment(sheets, count, tries, **options),
        Reply,
        Asked,
        env_name="anygame_quiz",
        state_cls=QuizState,
    )
