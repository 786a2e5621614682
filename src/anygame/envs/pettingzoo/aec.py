"""One agent at a time: games in which roles take turns."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from anygame.envs.extras import missing
from anygame.envs.rendering import RENDER_MODES
from anygame.envs.turns import Turns
from anygame.errors import IllegalMoveError

try:
    from pettingzoo import AECEnv
except ImportError:
    raise missing("pettingzoo", "pettingzoo") from None

from anygame.envs.pettingzoo.common import GameAgents


class GameAECEnv(GameAgents, AECEnv):
    """A game in which roles take turns, one agent's move at a time.

    Arguments, observations and masks are those of ``parallel_env``. The mask of an agent whose turn it is not
    is all 0. Roles that wait, and ``random``, are played by the environment, and so is what nobody chooses.
    In games that hide information an agent observes what it saw since its last move.

    Raises:
        SimultaneousMovesError: two roles choose at the same time. That is looked for in random matches
            beforehand; a state of play in which they do is an error when it is met.
        LimitError, MissingExtraError, RuleSheetError, ValueError: as ``parallel_env``.
    """

    metadata: dict[str, Any] = {  # noqa: RUF012 - as of the library
        "render_modes": RENDER_MODES,
        "is_parallelizable": False,
    }

    def _check_game(self) -> None:
        _ = self.turns

    @cached_property
    def turns(self) -> Turns:
        """Whose turn it is. Raises SimultaneousMovesError."""
        return Turns.of(self.game)

    @cached_property
    def _agent(self) -> dict[int, str]:
        return {role: agent for agent, role in self._role.items()}

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Begin a match. There are no options."""
        self._begin(seed)
        self.agents = self.possible_agents[:]
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in self.agents}
        self._skip_agent_selection = None
        self.agent_selection = self.agents[0]
        self._play_on()

    def step(self, action: Any) -> None:
        """Make a move of the agent whose turn it is; None for one whose match is over.

        Raises:
            IllegalMoveError: it is not legal, or the match is over for all; nothing has changed.
            ResetNeeded: there is no match yet.
            SimultaneousMovesError: two roles choose at the same time after it.
            ValueError: something else than None was given for an agent whose match is over.
        """
        self._check_ready()
        if not self.agents:
            raise IllegalMoveError("the match is over: no agent can move before the next reset")
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        role = self._role[agent]
        number = self._episode.checked(role, action, self._random)
        self._cumulative_rewards[agent] = 0.0
        self._clear_rewards()
        self._episode.forget(role)
        self._move(role, number)
        self._play_on()
        self._accumulate_rewards()

    def last(self, observe: bool = True) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Return what the agent whose turn it is sees, and what its last move brought.

        Raises:
            ResetNeeded: there is no match yet.
        """
        self._check_ready("last")
        found: tuple[Any, float, bool, bool, dict[str, Any]] = super().last(observe)
        return found

    def _move(self, role: int | None, number: int) -> None:
        """Make the move of a role while all others wait, or draw."""
        draw, random = self._episode.draw, self._random
        roles = range(len(self._episode.legal))
        self._episode.move([number if other == role else draw(random, other) for other in roles])

    def _play_on(self) -> None:
        """Play until it is an agent's turn, or the match is over."""
        episode = self._episode
        while not episode.is_over:
            role = self.turns.mover(episode.legal)
            if role is not None:
                self.agent_selection = self._agent[role]
                return
            self._move(None, 0)
        self.rewards = self._rewards_now()
        self.terminations = dict.fromkeys(self.agents, episode.is_terminal)
        self.truncations = dict.fromkeys(self.agents, episode.is_cut)
        self.infos = {agent: self._info() for agent in self.agents}
        self.agent_selection = self.agents[0]

    def observe(self, agent: str) -> dict[str, Any]:
        """Return what an agent observes, and which moves it has if it is its turn."""
        episode, role = self._episode, self._role[agent]
        is_its_turn = agent == self.agent_selection and not episode.is_over
        mask = episode.mask(role) if is_its_turn else np.zeros_like(episode.mask(role))
        return {"observation": episode.observation(role), "action_mask": mask}


#: What modules of PettingZoo call it.
aec_env = env = GameAECEnv
