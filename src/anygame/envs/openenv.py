"""The environment of `anygame.quiz.adapters.openenv`, under its earlier name."""

from anygame.quiz.adapters.openenv import QuizEnvironment as QuizEnvironment
from anygame.quiz.adapters.openenv import Reply as Reply
from anygame.quiz.adapters.openenv import quiz_app as quiz_app
