"""Games as environments of PettingZoo.

See Terry et al. 2021, "PettingZoo: Gym for multi-agent reinforcement learning". Roles of GDL move at the same
time, so that ``parallel_env`` shows a game as it is. ``aec_env`` shows one move at a time, of games in which
roles take turns; ``env`` is another name for it.
"""

from __future__ import annotations

from anygame.envs.pettingzoo.aec import GameAECEnv, aec_env, env
from anygame.envs.pettingzoo.parallel import GameParallelEnv, parallel_env

__all__ = ["GameAECEnv", "GameParallelEnv", "aec_env", "env", "parallel_env"]
