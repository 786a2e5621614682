"""Games as environments of PettingZoo.

See Terry et al. 2021, "PettingZoo: Gym for multi-agent reinforcement learning". In ``parallel_env``, all
roles move at the same time, as in GDL. In ``aec_env`` (also named ``env``), one role moves at a time, for
games in which roles take turns.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

import numpy as np

from anygame.envs.episode import DEFAULT_LIMIT, RENDER_MODES, Episode, check_options, render
from anygame.envs.rewards import Rewards, compiled_game
from anygame.envs.turns import chance_of, numbered_turns, simultaneous_moves
from anygame.errors import IllegalMoveError, needing

with needing("pettingzoo", "this needs pettingzoo, which is not installed"):
    from pettingzoo import AECEnv, ParallelEnv

from gymnasium.error import ResetNeeded
from gymnasium.spaces import Box
from gymnasium.utils.seeding import np_random

if TYPE_CHECKING:
    import os

    from gymnasium.spaces import Dict, Discrete
    from numpy.typing import NDArray

    from anygame.envs.episode import Form, Illegal
    from anygame.envs.rewards import RewardName
    from anygame.game.game import Game


class GameAgents:
    """The common part of both environments; see ``GameParallelEnv``."""

    metadata: dict[str, Any]
    possible_agents: list[str]
    agents: list[str]

    def __init__(
        self,
        sheet: Game | str | os.PathLike[str],
        *,
        render_mode: str | None = None,
        max_cycles: int = DEFAULT_LIMIT,
        rewards: RewardName = "scaled",
        observations: Form = "flat",
        illegal: Illegal = "error",
    ) -> None:
        check_options(render_mode, illegal)
        self.game = game = compiled_game(sheet)
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
            agent: observer.space(role, masked=True) for agent, role in self._role.items()
        }
        self.action_spaces = {agent: observer.action_space(role) for agent, role in self._role.items()}
        self.state_space = Box(0, 1, (len(game.fluent_terms),), np.int8)
        self._random, _ = np_random(None)
        self._is_ready = False
        self._check_game()

    def _check_game(self) -> None:
        """Raise an error for an unsuitable game."""

    @property
    def max_cycles(self) -> int:
        """Number of joint moves after which a match is truncated; at most the rows of a history."""
        return self._episode.limit

    @max_cycles.setter
    def max_cycles(self, limit: int) -> None:
        self._episode.limit = limit

    def observation_space(self, agent: str) -> Dict:
        """Return the space of an agent's observations; each call returns the same object."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> Discrete:
        """Return the space of an agent's moves; each call returns the same object."""
        return self.action_spaces[agent]

    def state(self) -> NDArray[np.int8]:
        """Return all fluents, even hidden fluents: int8 [fluents] in the order of ``game.fluent_terms``."""
        return self._episode.facts()

    def render(self) -> str | NDArray[np.uint8] | None:
        """Return the boards as text or pixels, or print the boards, according to ``render_mode``."""
        return render(self._episode.board(), self.render_mode)

    def close(self) -> None:
        """Do nothing: the environment holds no resources."""

    def _begin(self, seed: int | None) -> None:
        if seed is not None:
            self._random, _ = np_random(seed)
        self._episode.begin()
        self._is_ready = True

    def _check_ready(self, asked: str = "step") -> None:
        if not self._is_ready:
            raise ResetNeeded(f"{asked} was called before reset")

    def _rewards_now(self) -> dict[str, float]:
        """Return the rewards by agent, which are 0 before the rules end the match."""
        episode = self._episode
        if not episode.is_terminal:
            return dict.fromkeys(self.agents, 0.0)
        rewards = self._rewards.of(episode.goals())
        return {agent: float(rewards[self._role[agent]]) for agent in self.agents}

    def _masked(self, role: int) -> dict[str, Any]:
        return {"observation": self._episode.observation(role), "action_mask": self._episode.mask(role)}

    def _info(self) -> dict[str, Any]:
        stuck = self._episode.stuck
        return {} if stuck is None else {"stuck": str(self.game.roles[stuck])}


class GameParallelEnv(GameAgents, ParallelEnv):
    """A game in which all roles move at once.

    The environment plays the role ``random``. Every other role is an agent, whose name is the role. An agent
    observes ``{"observation": int8 [*shape], "action_mask": int8 [actions]}``, with actions in the order of
    ``game.actions(role)``. An agent with one legal move, such as a wait, can omit its action. If a role has
    no legal move in a nonterminal state, the match is truncated; ``infos`` names the role as ``stuck``.

    Args:
        sheet: a game, a rule sheet, or the name of an installed game.
        max_cycles: number of joint moves after which a match is truncated.
        render_mode: ``ansi``, ``human`` or ``rgb_array``, which needs the extra ``cairosvg``.
        rewards: ``scaled``, ``goals`` or ``zero-sum``; see ``anygame.envs.gymnasium.GameEnv``.
        observations: ``flat``, ``planes`` or ``history``; see ``GameEnv``.
        illegal: ``error`` or ``random``, the result of an illegal action; see ``GameEnv``.

    Raises:
        LimitError, MissingExtraError, RuleSheetError, ValueError: as for ``GameEnv``.
    """

    metadata: dict[str, Any] = {  # noqa: RUF012 - the library defines this attribute
        "render_modes": RENDER_MODES,
        "is_parallelizable": True,
    }

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
        """Begin a match; return observations and infos by agent. ``options`` has no effect."""
        self._begin(seed)
        self.agents = self.possible_agents[:]
        return self._observations(), {agent: {} for agent in self.agents}

    def step(
        self, actions: Mapping[str, Any]
    ) -> tuple[dict[str, Any], dict[str, float], dict[str, bool], dict[str, bool], dict[str, dict[str, Any]]]:
        """Make a joint move; ``actions`` has the number of a legal move for each agent.

        Returns:
            Observations, rewards, terminations, truncations and infos by agent.

        Raises:
            IllegalMoveError: an action is illegal or missing, or the match is over; nothing has changed.
            ResetNeeded: there is no match yet.
        """
        self._check_ready()
        episode = self._episode
        if not self.agents:
            if not actions:
                return {}, {}, {}, {}, {}
            raise IllegalMoveError("the match is over: no agent can move before the next reset")
        joint = self._joint(actions)
        if not episode.is_over:
            episode.move(joint)
        agents, over = self.agents, episode.is_over
        rewards = self._rewards_now()
        observations, infos = self._observations(), {agent: self._info() for agent in agents}
        self.agents = [] if over else agents
        return (
            observations,
            rewards,
            dict.fromkeys(agents, episode.is_terminal),
            dict.fromkeys(agents, episode.is_cut),
            infos,
        )

    def _joint(self, actions: Mapping[str, Any]) -> list[int]:
        episode = self._episode
        if not isinstance(actions, Mapping):
            raise IllegalMoveError(
                f"expected actions by agent, such as {{{self.agents[0]!r}: 0}}, found {actions!r:.80}"
            )
        unknown = [agent for agent in actions if agent not in self._role]
        if unknown:
            raise IllegalMoveError(f"no agent is called {unknown[0]!r}; expected {', '.join(self.agents)}")
        if episode.is_over:
            return []
        joint = [-1] * len(episode.legal)
        for agent, role in self._role.items():
            legal = episode.legal[role]
            if agent in actions:
                joint[role] = episode.checked(role, actions[agent], self._random)
            elif len(legal) == 1:
                joint[role] = legal[0]
            else:
                raise IllegalMoveError(f"no action is given for {agent}, which has {len(legal)} legal moves")
        for role in episode.chance:
            joint[role] = episode.draw(self._random, role)
        return joint

    def _observations(self) -> dict[str, Any]:
        return {agent: self._masked(role) for agent, role in self._role.items()}


class GameAECEnv(GameAgents, AECEnv):
    """A turn-based game, in which one agent moves at a time.

    Arguments, observations and masks are as in ``parallel_env``. The mask of an agent is all 0 unless the
    agent is to move. The environment makes the moves of ``random``, and all moves that need no decision.

    Raises:
        SimultaneousMovesError: several roles have a choice in a state. The constructor looks in random
            matches for a state in which several roles have a choice.
        LimitError, MissingExtraError, RuleSheetError, ValueError: as for ``GameEnv``.
    """

    metadata: dict[str, Any] = {  # noqa: RUF012 - the library defines this attribute
        "render_modes": RENDER_MODES,
        "is_parallelizable": False,
    }

    def _check_game(self) -> None:
        self.turns = numbered_turns(self.game)
        self._chance = chance_of(self.game)

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Begin a match. ``options`` has no effect."""
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
        """Make a move of the selected agent. The action must be None if the match of the agent is over.

        Raises:
            IllegalMoveError: the move is not legal, or the match is over for all agents; nothing has changed.
            ResetNeeded: there is no match yet.
            SimultaneousMovesError: after the move, several roles have a choice.
            ValueError: the match of the agent is over, and the action is not None.
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
        self._move(role, number)
        self._play_on()
        self._accumulate_rewards()

    def last(self, observe: bool = True) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Return the selected agent's observation and results; raise ResetNeeded without a match."""
        self._check_ready("last")
        result: tuple[Any, float, bool, bool, dict[str, Any]] = super().last(observe)
        return result

    def _move(self, role: int | None, number: int) -> None:
        """Make the move ``number`` of a role; every other role makes a random move, or its only move."""
        draw, random = self._episode.draw, self._random
        roles = range(len(self._episode.legal))
        self._episode.move([number if other == role else draw(random, other) for other in roles])

    def _play_on(self) -> None:
        episode = self._episode
        while not episode.is_over:
            deciders = self.turns.deciders(episode.legal, self._chance)
            if len(deciders) > 1:
                raise simultaneous_moves(self.game, deciders)
            if deciders:
                self.agent_selection = str(self.game.roles[deciders[0]])
                return
            self._move(None, 0)
        self.rewards = self._rewards_now()
        self.terminations = dict.fromkeys(self.agents, episode.is_terminal)
        self.truncations = dict.fromkeys(self.agents, episode.is_cut)
        self.infos = {agent: self._info() for agent in self.agents}
        self.agent_selection = self.agents[0]

    def observe(self, agent: str) -> dict[str, Any]:
        """Return an agent's observation; its mask is all 0 unless the agent is to move."""
        seen = self._masked(self._role[agent])
        if agent != self.agent_selection or self._episode.is_over:
            seen["action_mask"][:] = 0
        return seen


#: The names by which users of PettingZoo expect to find environments.
parallel_env = GameParallelEnv
aec_env = env = GameAECEnv
