"""Environments of Gymnasium: one match at a time, or many side by side in the lanes of a batch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

import gymnasium
import numpy as np
from gymnasium.error import ResetNeeded
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from anygame.envs.episode import DEFAULT_LIMIT, RENDER_MODES, Episode, EpisodeLanes, check_options, render
from anygame.envs.gymnasium.opponents import first_choices, learner_of, opponents_of, random_choices
from anygame.envs.rewards import Rewards, compiled_game
from anygame.errors import IllegalMoveError

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from anygame.envs.episode import Form, Illegal
    from anygame.envs.gymnasium.opponents import OpponentSpec
    from anygame.envs.rewards import RewardName
    from anygame.game.game import Game

#: Where masks appear: in ``info``, or in the observation.
MaskPlace: TypeAlias = Literal["info", "observation"]


class _LearnerEnv:
    """The common part of environments with one match and with many matches."""

    game: Game

    def _set_up(
        self,
        sheet: Game | str | os.PathLike[str],
        role: str | None,
        opponents: Sequence[OpponentSpec] | Mapping[str, OpponentSpec] | None,
        opponent_seconds: float,
        mask: MaskPlace,
        rewards: RewardName,
    ) -> None:
        if mask not in get_args(MaskPlace):
            raise ValueError(f"mask must be one of {', '.join(get_args(MaskPlace))}, not {mask!r}")
        self.game = compiled_game(sheet)
        self._role = learner_of(self.game, role)
        self.role = self.game.roles[self._role]
        self._opponents = opponents_of(self.game, self._role, opponents, opponent_seconds)
        self._rewards = Rewards(self.game, rewards)
        self._with_mask = mask == "observation"
        self._is_ready = False

    def _close_opponents(self) -> None:
        for opponent in self._opponents.values():
            opponent.close()


class GameEnv(_LearnerEnv, gymnasium.Env):
    """A game with one learning role; opponents play the other roles, and ``random`` plays at random.

    A step makes a move of the learner, and then all moves until the learner has a choice again. The mask of
    legal actions is ``info["action_mask"]``: int8 [actions] in the order of ``game.actions(role)``. A match
    that is too long, or in which a role has no legal move, is truncated; ``info["stuck"]`` names that role.

    Args:
        sheet: a rule sheet, the name of an installed game, or a game.
        role: the learner; by default the first role.
        opponents: the players of the other roles, by role or in the order of the roles. A player is
            ``random`` (the default), another name, a ``Player``, or a function from observation and mask to
            an action.
        render_mode: ``ansi``, ``human`` or ``rgb_array`` (extra ``cairosvg``).
        rewards: the conversion of goals to rewards, which are 0 before the end of a match. ``scaled`` maps
            goals from 0 to 100 to rewards from 0 to 1. ``goals`` are the goals of the rules. ``zero-sum`` is
            the scaled goal minus the mean scaled goal of the other roles.
        observations: ``flat`` shows the fluents, int8 [fluents] in the order of ``game.fluent_terms``.
            ``planes`` shows the board: int8 [channels, rows, columns]. If the rules hide information
            (GDL-II), ``flat`` shows the learner's percepts since its last choice, in the order of
            ``game.percept_terms(role)``. ``history``, int8 [max_steps, events], has a row for each joint
            move. The columns of a row are the learner's actions, followed by its percepts; if the rules hide
            nothing, the columns are the actions of all roles.
        mask: where the mask appears: in ``info``, or in the ``observation``, which is then a dictionary.
        skip_forced: whether the environment makes the learner's move if only one move is legal.
        illegal: the effect of an illegal action: an ``error``, or a ``random`` legal move instead.
        max_steps: number of joint moves after which a match is truncated.
        opponent_seconds: seconds that an opponent has for a move.

    Raises:
        LimitError: the game has no network, or a network without percepts.
        MissingExtraError: a library is not installed.
        PlayerError: an opponent cannot play.
        RuleSheetError: the rules cannot be used.
        UnknownRoleError: there is no such role.
        ValueError: an argument has an unknown value, or does not suit the game.
    """

    metadata: dict[str, Any] = {"render_modes": RENDER_MODES, "render_fps": 2}  # noqa: RUF012 - the library defines this attribute

    def __init__(
        self,
        sheet: Game | str | os.PathLike[str],
        role: str | None = None,
        opponents: Sequence[OpponentSpec] | Mapping[str, OpponentSpec] | None = None,
        *,
        render_mode: str | None = None,
        rewards: RewardName = "scaled",
        observations: Form = "flat",
        mask: MaskPlace = "info",
        skip_forced: bool = True,
        illegal: Illegal = "error",
        max_steps: int = DEFAULT_LIMIT,
        opponent_seconds: float = 1.0,
    ) -> None:
        check_options(render_mode, illegal)
        self._set_up(sheet, role, opponents, opponent_seconds, mask, rewards)
        self.render_mode = render_mode
        self._episode = Episode(self.game, observations, max_steps, illegal)
        self._skip_forced = skip_forced
        observer = self._episode.observer
        self.observation_space = observer.space(self._role, masked=self._with_mask)
        self.action_space = observer.action_space(self._role)
        self._has_ended = False
        self._ending_joint: list[int] | None = None

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Begin a match; return the observation and the info. ``options`` has no effect."""
        super().reset(seed=seed)
        episode = self._episode
        episode.begin()
        for opponent in self._opponents.values():
            opponent.start(np.zeros(1, np.intp))
        self._is_ready, self._has_ended, self._ending_joint = True, False, None
        while self._is_forced() and self._ending_joint is None:
            mark = episode.mark()
            joint = self._joint(episode.legal[self._role][0])
            episode.move(joint)
            if episode.is_over:
                # Learners expect at least one step, so the first step ends the match.
                episode.go_back(mark)
                self._ending_joint = joint
        return self._observation(), self._info()

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Make a move of the learner. If the learner never has a choice, the first step ends the match.

        Returns:
            The observation, the reward, whether the match has ended, whether it was truncated, and the info.

        Raises:
            IllegalMoveError: the action is not legal, or the match is over; nothing has changed.
            ResetNeeded: there is no match yet.
        """
        episode = self._episode
        if not self._is_ready:
            raise ResetNeeded("step was called before reset")
        if self._has_ended:
            raise IllegalMoveError("the match is over: no move can be made before the next reset")
        if not episode.is_over:
            number = episode.checked(self._role, action, self.np_random)
            joint, self._ending_joint = self._ending_joint or self._joint(number), None
            episode.move(joint)
            while self._is_forced():
                episode.move(self._joint(episode.legal[self._role][0]))
        self._has_ended = episode.is_over
        if episode.is_over:
            for opponent in self._opponents.values():
                opponent.stop(np.zeros(1, np.intp), lambda _: episode.state())
        reward = float(self._rewards.of(episode.goals())[self._role]) if episode.is_terminal else 0.0
        return self._observation(), reward, episode.is_terminal, episode.is_cut, self._info()

    def _is_forced(self) -> bool:
        episode = self._episode
        return self._skip_forced and not episode.is_over and len(episode.legal[self._role]) == 1

    def _joint(self, number: int) -> list[int]:
        joint = [number] * len(self.game.roles)
        for role, opponent in self._opponents.items():
            joint[role] = opponent.choose(self._episode, role, self.np_random)
        return joint

    def action_masks(self) -> NDArray[np.bool_]:
        """Return which actions are legal, for algorithms that mask actions: bool [actions]."""
        return self._episode.mask(self._role).astype(np.bool_)

    def _observation(self) -> Any:
        observation = self._episode.observation(self._role)
        if not self._with_mask:
            return observation
        return {"observation": observation, "action_mask": self._episode.mask(self._role)}

    def _info(self) -> dict[str, Any]:
        info: dict[str, Any] = {"action_mask": self._episode.mask(self._role)}
        if self._episode.stuck is not None:
            info["stuck"] = str(self.game.roles[self._episode.stuck])
        return info

    def render(self) -> Any:
        """Return the boards as text or pixels, or print the boards, according to ``render_mode``."""
        return render(self._episode.board(), self.render_mode)

    def close(self) -> None:
        """Close the opponents."""
        self._close_opponents()


class GameVectorEnv(_LearnerEnv, VectorEnv):
    """Matches of a game in parallel lanes, like several ``GameEnv`` but much faster.

    Arrays have a row per match: observations int8 [lanes, *shape], masks int8 [lanes, actions], rewards float
    [lanes], and bool [lanes] for matches that have ended or were truncated. An opponent that is a function
    gets many matches in one call.

    Args:
        num_envs: the number of matches. A step of 512 matches costs little more than a step of one match.
        autoreset_mode: when finished matches restart. With ``NextStep``, matches restart in the next step,
            which ignores their actions. With ``SameStep``, a match restarts in its last step, whose infos
            have the last observations and infos as ``final_obs`` and ``final_info``. With ``Disabled``,
            ``reset`` restarts matches: ``options={"reset_mask": bool [lanes]}``.
        max_episode_steps: number of steps after which a match is truncated; unlimited by default.
        sheet: see ``GameEnv`` for this and the other arguments.
    """

    def __init__(
        self,
        num_envs: int,
        sheet: Game | str | os.PathLike[str],
        role: str | None = None,
        opponents: Sequence[OpponentSpec] | Mapping[str, OpponentSpec] | None = None,
        *,
        render_mode: str | None = None,
        rewards: RewardName = "scaled",
        observations: Form = "flat",
        mask: MaskPlace = "info",
        skip_forced: bool = True,
        illegal: Illegal = "error",
        max_steps: int = DEFAULT_LIMIT,
        opponent_seconds: float = 1.0,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        max_episode_steps: int | None = None,
    ) -> None:
        check_options(render_mode, illegal)
        self._set_up(sheet, role, opponents, opponent_seconds, mask, rewards)
        self.num_envs = num_envs
        self.render_mode = render_mode
        self._mode = AutoresetMode(autoreset_mode)
        self.metadata = {"render_modes": RENDER_MODES, "render_fps": 2, "autoreset_mode": self._mode}
        self._lanes = EpisodeLanes(self.game, observations, num_envs, max_steps)
        self._skip_forced = skip_forced
        self._illegal = illegal
        observer = self._lanes.observer
        self.single_observation_space = observer.space(self._role, masked=self._with_mask)
        self.single_action_space = observer.action_space(self._role)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._most_steps = max_episode_steps
        self._steps = np.zeros(num_envs, np.int64)
        self._ended = np.zeros(num_envs, np.bool_)
        #: Lanes whose match ends, after the moves in `_ending_joint`, before the learner has a choice.
        self._is_ended_early = np.zeros(num_envs, np.bool_)
        self._ending_joint = np.zeros((len(self.game.roles), num_envs), np.int64)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Begin matches; return observations and infos.

        Args:
            seed: one seed for all lanes.
            options: ``reset_mask``, bool [lanes], selects the matches to restart; all by default.

        Raises:
            ValueError: the mask or the seed has the wrong type, or an option is unknown.
        """
        if seed is not None and not isinstance(seed, int):
            raise ValueError(f"expected one integer as the seed of all lanes, found {type(seed).__name__}")
        if unknown := [name for name in options or () if name != "reset_mask"]:
            raise ValueError(f"reset has no option {unknown[0]!r}; the only option is reset_mask")
        super().reset(seed=seed)
        lanes = np.ones(self.num_envs, np.bool_)
        if options:
            lanes = np.asarray(options["reset_mask"])
            if lanes.shape != (self.num_envs,) or lanes.dtype != np.bool_ or not lanes.any():
                raise ValueError(
                    f"expected a reset_mask of {self.num_envs} truth values, at least one of them true"
                )
        self._begin(lanes)
        self._is_ready = True
        return self._observation(), self._info(lanes)

    def _begin(self, chosen: NDArray[np.bool_]) -> None:
        lanes = self._lanes
        lanes.begin(chosen)
        self._steps[chosen] = 0
        self._ended[chosen] = self._is_ended_early[chosen] = False
        for opponent in self._opponents.values():
            opponent.start(np.flatnonzero(chosen))
        ahead = chosen & self._forced()
        while ahead.any():
            mark = lanes.mark()
            joint = self._joint(first_choices(lanes.masks[self._role]), ahead)
            lanes.move(joint, ahead)
            ended = ahead & lanes.over
            if ended.any():
                # As in `GameEnv.reset`, the first step makes the joint move that ends the match.
                lanes.go_back(mark, ended)
                self._ending_joint[:, ended] = np.stack(joint)[:, ended]
                self._is_ended_early |= ended
            ahead &= ~ended & self._forced()

    def step(
        self, actions: Any
    ) -> tuple[Any, NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]:
        """Make a move of the learner in every match, given as int [lanes]; see ``GameEnv.step``.

        Returns:
            The observations, the rewards, which matches have ended, which were truncated, and the infos.

        Raises:
            IllegalMoveError: an action is not legal, or a finished match needs a reset; nothing has changed.
            ResetNeeded: there are no matches yet.
            ValueError: the actions have the wrong shape or type.
        """
        if not self._is_ready:
            raise ResetNeeded("step was called before reset")
        fresh = self._ended.copy()
        acting = ~fresh
        if self._mode == AutoresetMode.DISABLED and fresh.any():
            lane = int(fresh.argmax())
            raise IllegalMoveError(f"the match of lane {lane} is over: no move can be made before its reset")
        going = acting & ~self._lanes.over
        chosen = self._checked(actions, going)
        self._play(chosen, going)
        terminal = self._lanes.terminal & acting
        cut = self._lanes.cut & acting
        if self._most_steps is not None:
            cut |= acting & (self._steps >= self._most_steps)
        rewards = np.zeros(self.num_envs)
        if terminal.any():
            rewards[terminal] = self._rewards.of(self._lanes.goals())[terminal, self._role]
        self._ended = terminal | cut
        if self._ended.any():
            for opponent in self._opponents.values():
                opponent.stop(np.flatnonzero(self._ended), self._lanes.batch.state)
        final = {}
        if self._mode == AutoresetMode.SAME_STEP and self._ended.any():
            final = self._final(self._ended)
            self._begin(self._ended.copy())
        elif fresh.any():
            self._begin(fresh)
        return self._observation(), rewards, terminal, cut, self._info(np.ones_like(acting)) | final

    def _play(self, chosen: NDArray[np.int64], acting: NDArray[np.bool_]) -> None:
        """In the acting lanes, make the learner's moves, then all moves until the learner has a choice."""
        lanes = self._lanes
        self._steps[acting] += 1
        lanes.move(self._joint(chosen, acting), acting)
        going = acting & self._forced()
        while going.any():
            lanes.move(self._joint(first_choices(lanes.masks[self._role]), going), going)
            going &= self._forced()

    def _checked(self, actions: Any, acting: NDArray[np.bool_]) -> NDArray[np.int64]:
        chosen = np.asarray(actions)
        if chosen.shape != (self.num_envs,) or not np.issubdtype(chosen.dtype, np.integer):
            raise ValueError(
                f"expected {self.num_envs} integers, one per lane, not an array of {chosen.dtype} of shape "
                f"{chosen.shape}"
            )
        masks = self._lanes.masks[self._role]
        in_range = (chosen >= 0) & (chosen < masks.shape[1])
        legal = in_range & masks[np.arange(self.num_envs), np.where(in_range, chosen, 0)]
        wrong = np.flatnonzero(acting & ~legal)
        chosen = chosen.astype(np.int64)
        if len(wrong):
            if self._illegal == "error":
                # The batch raises an error that names the move and the role.
                joint = [np.where(acting, first_choices(mask), 0) for mask in self._lanes.masks]
                joint[self._role] = chosen
                self._lanes.batch.step(dict(zip(self.game.roles, joint, strict=True)), wrong)
            chosen[wrong] = random_choices(masks[wrong], self.np_random)
        return chosen

    def _joint(self, own: NDArray[np.int64], going: NDArray[np.bool_]) -> list[NDArray[np.int64]]:
        """Return joint moves, int [lanes] per role, for lanes ``going``; ``own`` has the learner's moves."""
        joint = [own] * len(self.game.roles)
        asked = np.flatnonzero(going & ~self._is_ended_early)
        for role, opponent in self._opponents.items():
            numbers = np.zeros(self.num_envs, np.int64)
            if len(asked):
                numbers[asked] = opponent.choose_many(self._lanes, asked, role, self.np_random)
            joint[role] = np.where(self._is_ended_early, self._ending_joint[role], numbers)
        self._is_ended_early &= ~going
        return joint

    def _forced(self) -> NDArray[np.bool_]:
        """Return the lanes in which the environment makes the learner's only move: bool [lanes]."""
        if not self._skip_forced:
            return np.zeros(self.num_envs, np.bool_)
        alone: NDArray[np.bool_] = self._lanes.masks[self._role].sum(axis=1) == 1
        return alone & ~self._lanes.over

    def action_masks(self) -> NDArray[np.bool_]:
        """Return which actions are legal: bool [lanes, actions]."""
        return np.ascontiguousarray(self._lanes.masks[self._role])

    def _observation(self) -> Any:
        observation = self._lanes.observation(self._role)
        if not self._with_mask:
            return observation
        return {"observation": observation, "action_mask": self.action_masks().astype(np.int8)}

    def _info(self, lanes: NDArray[np.bool_]) -> dict[str, Any]:
        """Return the infos of the given lanes, in the format of Gymnasium's vector environments."""
        masks = self.action_masks().astype(np.int8)
        masks[~lanes] = 0
        infos: dict[str, Any] = {"action_mask": masks, "_action_mask": lanes.copy()}
        stuck = lanes & (self._lanes.stuck >= 0)
        if stuck.any():
            names = np.full(self.num_envs, None, object)
            names[stuck] = [str(self.game.roles[role]) for role in self._lanes.stuck[stuck]]
            infos |= {"stuck": names, "_stuck": stuck}
        return infos

    def _final(self, ended: NDArray[np.bool_]) -> dict[str, Any]:
        """Return the final observations and infos of matches before they restart."""
        observation = self._observation()
        final = np.full(self.num_envs, None, object)
        for lane in np.flatnonzero(ended).tolist():
            if self._with_mask:
                final[lane] = {key: part[lane] for key, part in observation.items()}
            else:
                final[lane] = observation[lane]
        return {
            "final_obs": final,
            "_final_obs": ended.copy(),
            "final_info": self._info(ended),
            "_final_info": ended.copy(),
        }

    def render(self) -> tuple[Any, ...]:
        """Return or print the boards of all matches; see ``GameEnv.render``."""
        boards = [self._lanes.batch.state(lane).board() for lane in range(self.num_envs)]
        return tuple(render(board, self.render_mode) for board in boards)

    def close_extras(self, **kwargs: Any) -> None:
        """Close the opponents."""
        self._close_opponents()
