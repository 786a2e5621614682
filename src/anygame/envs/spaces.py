"""The spaces of Gymnasium in which observations, masks and actions of a game lie."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from anygame.envs.sources import missing

try:
    from gymnasium import spaces
except ImportError:
    raise missing("gymnasium", "gymnasium") from None

if TYPE_CHECKING:
    from anygame.envs.episode import Observer
    from anygame.game.game import Game


def action_space(game: Game, role: int) -> spaces.Discrete:
    """Return the numbers of the moves of a role."""
    return spaces.Discrete(max(1, len(game.actions(game.roles[role]))))


def observation_space(observer: Observer, role: int) -> spaces.Box:
    """Return where the observations of a role lie: int8, 0 or 1."""
    return spaces.Box(0, 1, observer.shapes[role], np.int8)


def masked_space(game: Game, observer: Observer, role: int) -> spaces.Dict:
    """Return observations with masks: ``{"observation": ..., "action_mask": int8 [actions]}``."""
    mask = spaces.Box(0, 1, (int(action_space(game, role).n),), np.int8)
    return spaces.Dict({"observation": observation_space(observer, role), "action_mask": mask})
