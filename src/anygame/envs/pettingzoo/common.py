"""What both environments of PettingZoo share: a match, its agents, their spaces, pictures."""

from __future__ import annotations

from pathlib import PurePath
from typing import TYPE_CHECKING, Any

import numpy as np
from gymnasium.error import ResetNeeded
from gymnasium.spaces import Box
from gymnasium.utils.seeding import np_random

from anygame.envs.episode import DEFAULT_LIMIT, Episode
from anygame.envs.rendering import check_mode, render
from anygame.envs.rewards import Rewards
from anygame.envs.sources import compiled_game
from anygame.envs.spaces import action_space, masked_space

if TYPE_CHECKING:
    import os

    from gymnasium.spaces import Dict, Discrete
    from numpy.typing import NDArray

    from anygame.envs.episode import Illegal
    from anygame.envs.observing import Form
    from anygame.envs.rewards import RewardName
    from anygame.game.game import Game


class GameAgents:
    """A match whose roles but ``random`` are agents; see ``GameParallelEnv`` for the arguments."""

    metadata: dict[str, Any]
    possible_agents: list[str]
    agents: list[str]

    def __init__(
        self,
        source: Game | str | os.PathLike[str],
        *,
        render_mode: str | None = None,
        max_cycles: int = DEFAULT_LIMIT,
        rewards: RewardName = "scaled",
        observations: Form = "flat",
        illegal: Illegal = "error",
    ) -> None:
        check_mode(render_mode)
        self.game = game = compiled_game(source)
        self.metadata = {**self.metadata, "name": f"{PurePath(game.name).stem}_v0"}
        self.render_mode = render_mode
        self._episode = Episode(game, observations, max_cycles, illegal)
        self._rewards = Rewards(game, rewards)
        players = self._episode.players
        self.possible_agents = [str(game.roles[role]) for role in players]
        self.agents = []
        self._role = dict(zip(self.possible_agents, players, strict=True))
        observer = self._episode.observer
        self.observation_spaces = {
            agent: masked_space(game, observer, role) for agent, role in self._role.items()
        }
        self.action_spaces = {agent: action_space(game, role) for agent, role in self._role.items()}
        self.state_space = Box(0, 1, (len(game.fluent_terms),), np.int8)
        self._random, _ = np_random(None)
        self._is_ready = False
        self._check_game()

    def _check_game(self) -> None:
        """Refuse a game of another kind before it is played."""

    @property
    def max_cycles(self) -> int:
        """Joint moves after which a match is truncated; may be set."""
        return self._episode.limit

    @max_cycles.setter
    def max_cycles(self, limit: int) -> None:
        self._episode.limit = limit

    def observation_space(self, agent: str) -> Dict:
        """Return the space of what an agent observes, always the same."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> Discrete:
        """Return the numbers of an agent's moves, always the same."""
        return self.action_spaces[agent]

    def state(self) -> NDArray[np.int8]:
        """Return everything that is true, in the order of ``game.fluent_terms``: int8 [fluents]."""
        return self._episode.facts()

    def render(self) -> str | NDArray[np.uint8] | None:
        """Return the boards as text or pixels, as ``render_mode`` says; ``human`` prints them."""
        return render(self._episode.board(), self.render_mode)

    def close(self) -> None:
        """There is nothing to let go of."""

    def _begin(self, seed: int | None) -> None:
        if seed is not None:
            self._random, _ = np_random(seed)
        self._episode.begin()
        self._is_ready = True

    def _check_ready(self, asked: str = "step") -> None:
        if not self._is_ready:
            raise ResetNeeded(f"{asked} was called before reset")

    def _rewards_now(self) -> dict[str, float]:
        """Return the rewards by agent: those of a match that goes on, or was cut, are 0."""
        episode = self._episode
        if not episode.is_terminal:
            return dict.fromkeys(self.agents, 0.0)
        rewards = self._rewards.of(episode.goals())
        return {agent: float(rewards[self._role[agent]]) for agent in self.agents}

    def _info(self) -> dict[str, Any]:
        """Return what else there is to tell: the role that is stuck, if one is."""
        stuck = self._episode.stuck
        return {} if stuck is None else {"stuck": str(self.game.roles[stuck])}
