"""All roles at once: games as they are in GDL."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from anygame.envs.extras import missing
from anygame.envs.rendering import RENDER_MODES
from anygame.errors import IllegalMoveError

try:
    from pettingzoo import ParallelEnv
except ImportError:
    raise missing("pettingzoo", "pettingzoo") from None

from anygame.envs.pettingzoo.common import GameAgents

if TYPE_CHECKING:
    from collections.abc import Mapping


class GameParallelEnv(GameAgents, ParallelEnv):
    """A game in which all roles move at once.

    Each role but ``random`` is an agent, under its own name; ``random`` is played by the environment. An
    agent observes ``{"observation": int8 [fluents], "action_mask": int8 [actions]}``, where the fluents are
    in the order of ``game.fluent_terms`` and the actions in that of ``game.actions(role)``; in games that
    hide information (GDL-II), what it saw of the last joint move, in that of ``game.percept_terms(role)``.
    An agent that has one legal move, to wait say, may be left out of the actions.

    A match in which a role is stuck (it has no legal move, though the match is not over) is truncated, and
    ``infos`` names the role.

    Args:
        source: a game, a rule sheet, or the name of a game that comes with the package.
        render_mode: ``ansi``, ``human`` or ``rgb_array`` (extra ``cairosvg``).
        max_cycles: joint moves after which a match is truncated.
        rewards: at the end of a match, and 0 before: ``scaled`` (goals from 0 to 100 as 0 to 1), ``goals``
            (as the rules give them) or ``zero-sum`` (the scaled goal less the mean of the others').
        observations: ``flat``, or ``planes`` over the board: int8 [channels, rows, columns].
        illegal: what becomes of an action that the mask forbids: an ``error``, or a ``random`` legal move in
            its place.

    Raises:
        LimitError: the game has no network, or one that does not compute what roles see.
        MissingExtraError: a library is not installed.
        RuleSheetError: the rules cannot be used.
        ValueError: an argument is none of those.
    """

    metadata: dict[str, Any] = {  # noqa: RUF012 - as of the library
        "render_modes": RENDER_MODES,
        "is_parallelizable": True,
    }

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
        """Begin a match; return observations and infos by agent. There are no options."""
        self._begin(seed)
        self.agents = self.possible_agents[:]
        return self._observations(), {agent: {} for agent in self.agents}

    def step(
        self, actions: Mapping[str, Any]
    ) -> tuple[dict[str, Any], dict[str, float], dict[str, bool], dict[str, bool], dict[str, dict[str, Any]]]:
        """Make a joint move.

        Args:
            actions: by agent, the number of a legal move.

        Returns:
            Observations, rewards, terminations, truncations and infos by agent.

        Raises:
            IllegalMoveError: an action is not legal, or missing, or the match is over; nothing has changed.
            ResetNeeded: there is no match yet.
        """
        self._check_ready()
        episode = self._episode
        if not self.agents:
            if not actions:
                return {}, {}, {}, {}, {}
            raise IllegalMoveError("the match is over: no agent can move before the next reset")
        joint = self._joint(actions)
        for role in episode.players:
            episode.forget(role)
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
        """Return the numbers of the moves of all roles. Raises IllegalMoveError."""
        episode = self._episode
        unknown = [agent for agent in actions if agent not in self._role]
        if unknown:
            raise IllegalMoveError(f"no agent is called {unknown[0]!r}: they are {', '.join(self.agents)}")
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
        episode = self._episode
        return {
            agent: {"observation": episode.observation(role), "action_mask": episode.mask(role)}
            for agent, role in self._role.items()
        }


#: What modules of PettingZoo call it.
parallel_env = GameParallelEnv
