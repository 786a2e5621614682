"""Training: models of sheets, learned from the rules alone by self-play, that searches find and use."""

from __future__ import annotations

from anygame.search.model import TrainingProgress
from anygame.training.training import train

__all__ = ["TrainingProgress", "train"]
