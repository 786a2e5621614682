"""The taskset of `anygame.quiz.adapters.verifiers`, under its earlier name."""

from anygame.quiz.adapters.verifiers import QuizTaskset as QuizTaskset
