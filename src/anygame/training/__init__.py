"""Training: models of sheets, learned from the rules alone by self-play, that searches find and use."""

from __future__ import annotations

from anygame.training.training import TrainingProgress, train

__all__ = ["TrainingProgress", "train"]
