"""Training: models of sheets are learned by self-play, from the rules alone."""

from __future__ import annotations

from anygame.search.learning.training import train
from anygame.search.model import TrainingProgress

__all__ = ["TrainingProgress", "train"]
