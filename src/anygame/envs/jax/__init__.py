"""JAX: a compiled game as pure functions over arrays, with the fields and functions of pgx.

Every game with a network works with ``jit``, ``vmap`` and ``scan``, with the searches of mctx, and with
training on a graphics card. This package needs the extra ``jax``.
"""

from __future__ import annotations

from anygame.errors import needing

with needing("jax", "this needs jax, which is not installed"):
    import jax as _jax

from anygame.envs.jax.environment import Environment, SimultaneousEnvironment, State
from anygame.envs.jax.loading import auto_reset, load

__all__ = ["Environment", "SimultaneousEnvironment", "State", "auto_reset", "load"]

del _jax
