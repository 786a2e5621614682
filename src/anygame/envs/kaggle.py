"""The harness of `anygame.quiz.adapters.kaggle`, under its earlier name."""

from anygame.quiz.adapters.kaggle import GameHarness as GameHarness
