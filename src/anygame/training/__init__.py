"""Training: models of sheets, learned from the rules alone by self-play, that searches find and use."""

from __future__ import annotations

from anygame.search.learning.training import train
from anygame.search.model import TrainingProgress

__all__ = ["TrainingProgress", "train"]
