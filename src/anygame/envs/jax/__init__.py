"""JAX: a compiled game as pure functions over arrays, with the fields and functions of pgx.

Every sheet with a network works with ``jit``, ``vmap`` and ``scan``, with the searches of mctx, and with
learning on a graphics card. Importing this package needs the extra ``jax``.
"""

from __future__ import annotations

from anygame.errors import needing

with needing("jax", "this needs jax, which is not installed"):
    import jax as _jax

from anygame.envs.jax.environment import Environment, SimultaneousEnvironment, State
from anygame.envs.jax.loading import auto_reset, load

__all__ = ["Environment", "SimultaneousEnvironment", "State", "auto_reset", "load"]

del _jax
