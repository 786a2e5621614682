"""Goals as rewards, as operations of JAX; see ``anygame.envs.rewards`` for what they are."""

from __future__ import annotations

from typing import TYPE_CHECKING

import jax.numpy as jnp
import numpy as np

if TYPE_CHECKING:
    from anygame.envs.jax.evaluation import Array
    from anygame.envs.rewards import RewardName


def rewards_of_goals(name: RewardName, goals: Array) -> Array:
    """Return the rewards at the end: float32 [players] for goals [players], of which open ones are nan."""
    if name == "goals":
        return jnp.nan_to_num(goals)
    scaled = goals / np.float32(100)
    if name == "zero-sum":
        scaled -= (scaled.sum() - scaled) / (len(goals) - 1)
    return jnp.nan_to_num(scaled)


def rewards_for_illegal(name: RewardName, offenders: Array) -> Array:
    """Return the rewards for illegal actions: float32 [players] for bool [players], who took one.

    The penalty is -1, or -100 where goals count as they are. In zero-sum it goes to the others.
    """
    lost = offenders.astype(jnp.float32)
    if name == "zero-sum":
        return (lost.sum() - lost) / (len(offenders) - 1) - lost
    return -lost * (100 if name == "goals" else 1)
