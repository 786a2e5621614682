"""Matches that begin anew when they have ended, so that every game of a batch keeps going."""

from __future__ import annotations

from typing import TYPE_CHECKING

import jax
import jax.numpy as jnp

if TYPE_CHECKING:
    from collections.abc import Callable

    from anygame.envs.jax.environment import Environment
    from anygame.envs.jax.evaluation import Array
    from anygame.envs.jax.state import State


def auto_reset(env: Environment) -> Callable[[State, Array, Array], State]:
    """Return a ``step(state, action, key)`` after whose last step stands the initial state.

    Rewards, ``terminated`` and ``truncated`` are those of the match that has ended, as in
    ``pgx.experimental.auto_reset``; the next step goes on from the initial state.
    """

    def step(state: State, action: Array, key: Array) -> State:
        moving, beginning = jax.random.split(key)
        initial = env.init(beginning)
        # A match that has just begun tells of the one before; where it begins with its end it stays there.
        begun = state._step_count == 0
        state = state.replace(
            terminated=jnp.where(begun, initial.terminated, state.terminated),
            truncated=jnp.where(begun, initial.truncated, state.truncated),
        )
        state = env.step(state, action, moving)
        ended = state.terminated | state.truncated
        fresh = initial.replace(rewards=state.rewards, terminated=state.terminated, truncated=state.truncated)
        chosen: State = jax.tree.map(lambda new, old: jnp.where(ended, new, old), fresh, state)
        return chosen

    return step
