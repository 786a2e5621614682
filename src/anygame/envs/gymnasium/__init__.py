"""Games as environments of Gymnasium (Towers et al. 2024): one role learns, opponents play the other roles.

Importing this package registers the environment ``anygame/Game-v0``. Gymnasium itself imports the package in
``gymnasium.make("anygame.envs.gymnasium:anygame/Game-v0", sheet="lights_out")``.
"""

from __future__ import annotations

from typing import Final

from anygame.errors import needing

with needing("gymnasium", "this needs gymnasium, which is not installed"):
    import gymnasium

from anygame.envs.gymnasium.environments import GameEnv, GameVectorEnv

__all__ = ["ENVIRONMENT", "GameEnv", "GameVectorEnv"]

#: The id for ``gymnasium.make`` and ``gymnasium.make_vec``.
ENVIRONMENT: Final = "anygame/Game-v0"

if ENVIRONMENT not in gymnasium.registry:
    gymnasium.register(
        ENVIRONMENT,
        entry_point="anygame.envs.gymnasium.environments:GameEnv",
        vector_entry_point="anygame.envs.gymnasium.environments:GameVectorEnv",
    )
