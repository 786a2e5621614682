"""JAX: a compiled game as pure functions over arrays, with the fields and functions of pgx.

Works for every sheet with a network, with ``jit``, ``vmap`` and ``scan``, the searches of mctx, and learning
on a graphics card. Importing this package needs the extra ``jax``.
"""

from __future__ import annotations

from anygame.errors import needing

with needing("jax", "this needs jax, which is not installed"):
    import jax as _jax

from anygame.envs.jax.environment import Environment, SimultaneousEnvironment, State
from anygame.envs.jax.loading import auto_reset, load

__all__ = ["Environment", "SimultaneousEnvironment", "State", "auto_reset", "load"]

del _jax
