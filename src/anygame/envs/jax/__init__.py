"""JAX: a compiled game as pure functions over arrays, with the fields and functions of pgx.

What runs on them runs on any sheet that has a network: ``jit``, ``vmap`` and ``scan``, the searches of mctx,
learning on a graphics card. Importing this package needs the extra ``jax``.
"""

from __future__ import annotations

try:
    import jax as _jax
except ImportError as error:
    from anygame.envs.rewards import missing

    raise missing("jax", "jax") from error

from anygame.envs.jax.environment import Environment, SimultaneousEnvironment, State
from anygame.envs.jax.loading import auto_reset, load

__all__ = ["Environment", "SimultaneousEnvironment", "State", "auto_reset", "load"]

del _jax
