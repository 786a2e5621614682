"""Quizzes as a taskset of Verifiers, version 1.

Verifiers finds a taskset by the name of a top-level module. A module of two lines is enough::

    from anygame.quiz.adapters.verifiers import QuizTaskset
    __all__ = ["QuizTaskset"]
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from anygame.errors import needing
from anygame.game.loading import load
from anygame.quiz import KINDS, Question, grade, questions
from anygame.quiz.asking import DEFAULT_STATES
from anygame.quiz.question import QuestionKind, QuizForm
from anygame.quiz.wording import reply_of
from anygame.sheets.scrambling import Style

with needing("verifiers", "this needs verifiers, which is not installed"):
    import verifiers.v1 as vf

if TYPE_CHECKING:
    from collections.abc import Iterator

    from anygame.quiz import Grade


class QuizTaskConfig(vf.TaskConfig):
    """Options of a task. ``tools`` has the ``url`` of an MCP server (default: no tools)."""

    tools: vf.ToolsetConfig = vf.ToolsetConfig()


class QuizTasksetConfig(vf.TasksetConfig):
    """Options of a quiz; see ``anygame.quiz.questions``."""

    sheets: list[str] = ["tic_tac_toe"]
    kinds: list[QuestionKind] = list(KINDS)
    count: int = 100
    seed: int = 0
    depth: int = 10
    scramble: Style | None = None
    form: QuizForm = "kif"
    states: int = DEFAULT_STATES
    task: QuizTaskConfig = QuizTaskConfig()


class QuizData(vf.TaskData):
    """A question, as a line of JSON."""

    question: str


class QuizTask(vf.Task[QuizData, vf.State, QuizTaskConfig]):
    """A question. The reward is 1 for a right reply, and 0 for a wrong reply."""

    @property
    def question(self) -> Question:
        """The question."""
        return Question.from_json(self.data.question)

    def _grade(self, trace: vf.Trace) -> Grade:
        return grade(self.question, trace.last_reply or "")

    @vf.reward
    async def exact(self, trace: vf.Trace) -> float:
        """Return whether the reply is right."""
        return float(self._grade(trace).is_exact)

    @vf.metric
    async def precision(self, trace: vf.Trace) -> float:
        """Return the proportion of the terms of the reply that belong to the answer."""
        return self._grade(trace).precision

    @vf.metric
    async def recall(self, trace: vf.Trace) -> float:
        """Return the proportion of the terms of the answer that the reply has."""
        return self._grade(trace).recall

    async def validate(self, runtime: vf.Runtime) -> bool:
        """Return whether the expected answer is graded as right, and an empty reply as wrong."""
        question = self.question
        return grade(question, reply_of(question)).is_exact and not grade(question, "").is_exact

    @classmethod
    def toolsets(cls, config: QuizTaskConfig) -> list[vf.Toolset[Any, Any]]:
        """Return the MCP tools for a task."""
        return [vf.Toolset(config.tools)] if config.tools.url else []


class QuizTaskset(vf.Taskset[QuizTask, QuizTasksetConfig]):
    """Questions about games."""

    def load(self) -> Iterator[QuizTask]:
        """Yield a task for each question."""
        config = self.config
        for question in questions(
            [load(sheet) for sheet in config.sheets],
            kinds=config.kinds,
            count=config.count,
            seed=config.seed,
            depth=config.depth,
            scramble=config.scramble,
            form=config.form,
            states=config.states,
        ):
            data = QuizData(name=question.id, prompt=question.prompt, question=question.to_json())
            yield QuizTask(data, config.task)
