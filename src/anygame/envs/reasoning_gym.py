"""The data set of `anygame.quiz.adapters.reasoning_gym`, under its earlier name."""

from anygame.quiz.adapters.reasoning_gym import QuizDataset as QuizDataset
