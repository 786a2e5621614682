"""One match at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, get_args

import gymnasium
import numpy as np
from gymnasium.error import ResetNeeded

from anygame.envs.episode import DEFAULT_LIMIT, Episode
from anygame.envs.gymnasium.opponents import learner_of, opponents_of
from anygame.envs.rendering import RENDER_MODES, check_mode, render
from anygame.envs.rewards import Rewards
from anygame.envs.sources import compiled_game
from anygame.envs.spaces import action_space, masked_space, observation_space
from anygame.errors import IllegalMoveError

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from anygame.envs.episode import Form, Illegal
    from anygame.envs.gymnasium.opponents import OpponentSpec
    from anygame.envs.rewards import RewardName
    from anygame.game.game import Game

#: Where masks are given: beside the observation, in ``info``, or together with it, as a dictionary.
MaskPlace: TypeAlias = Literal["info", "observation"]
_MASK_PLACES: Final[tuple[MaskPlace, ...]] = get_args(MaskPlace)


def check_mask(place: str) -> None:
    """Raise a ValueError unless masks can be given there."""
    if place not in _MASK_PLACES:
        raise ValueError(f"masks are in {' or '.join(_MASK_PLACES)}, not {place!r}")


class GameEnv(gymnasium.Env):
    """A game of which one role learns; opponents play the others, and ``random`` plays at random.

    A step is a move of the role, and what the others do until it has a choice again. What it observes are the
    facts, int8 [fluents] in the order of ``game.fluent_terms``, or planes over the board; in games that hide
    information (GDL-II), what it saw since its last move. ``info["action_mask"]`` says which actions are
    legal: int8 [actions] in the order of ``game.actions(role)``. A match that was cut, as it was too long or
    since a role had no legal move, is truncated; ``info["stuck"]`` names such a role.

    Args:
        sheet: a rule sheet, the name of a game that comes with the package, or a game.
        role: the one that learns; the first by default.
        opponents: for the other roles, in the order of the sheet, or by role: ``random`` (the default), the
            name of another player, a ``Player``, or a function of observation and mask that returns an
            action.
        render_mode: ``ansi``, ``human`` or ``rgb_array`` (extra ``cairosvg``).
        rewards: at the end of a match, and 0 before: ``scaled`` (goals from 0 to 100 as 0 to 1), ``goals``
            (as the rules give them) or ``zero-sum`` (the scaled goal less the mean of the others').
        observations: ``flat``, or ``planes`` over the board: int8 [channels, rows, columns].
        mask: where masks are: in ``info``, or in the ``observation``, then a dictionary of both.
        skip_forced: whether the role's moves are made for it where it has one alone.
        illegal: what becomes of an action that the mask forbids: an ``error``, or a ``random`` legal move in
            its place.
        max_moves: joint moves after which a match is truncated.
        opponent_seconds: the time of players that think for a move.

    Raises:
        LimitError: the game has no network, or one that does not compute what roles see.
        MissingExtraError: a library is not installed.
        PlayerError: an opponent cannot play.
        RuleSheetError: the rules cannot be used.
        UnknownRoleError: there is no such role.
        ValueError: an argument is none of those.
    """

    metadata: dict[str, Any] = {"render_modes": RENDER_MODES, "render_fps": 2}  # noqa: RUF012 - as of the library

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
        max_moves: int = DEFAULT_LIMIT,
        opponent_seconds: float = 1.0,
    ) -> None:
        check_mode(render_mode)
        check_mask(mask)
        self.game = game = compiled_game(sheet)
        self.render_mode = render_mode
        self._role = learner_of(game, role)
        self.role = game.roles[self._role]
        self._opponents = opponents_of(game, self._role, opponents, opponent_seconds)
        self._episode = Episode(game, observations, max_moves, illegal)
        self._rewards = Rewards(game, rewards)
        self._skip_forced = skip_forced
        self._with_mask = mask == "observation"
        observer = self._episode.observer
        self.observation_space = (
            masked_space(game, observer, self._role)
            if self._with_mask
            else observation_space(observer, self._role)
        )
        self.action_space = action_space(game, self._role)
        self._is_ready = self._has_ended = False
        self._drawn: list[int] | None = None

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Begin a match; return the observation and the info. There are no options."""
        super().reset(seed=seed)
        episode = self._episode
        episode.begin()
        for opponent in self._opponents.values():
            opponent.start(np.zeros(1, np.intp))
        self._is_ready, self._has_ended, self._drawn = True, False, None
        while self._is_forced() and self._drawn is None:
            mark = episode.mark()
            joint = self._joint(episode.legal[self._role][0])
            self._move(joint)
            if episode.is_over:
                # A match does not begin with its end: the role makes its only move itself, to the same end.
                episode.go_back(mark)
                self._drawn = joint
        return self._observation(), self._info()

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Make a move of the role that learns. A match that begins with its end ends so, whatever the action.

        Returns:
            Observation, reward, whether the match has come to an end, whether it was cut, info.

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
            episode.forget(self._role)
            joint, self._drawn = self._drawn or self._joint(number), None
            self._move(joint)
            while self._is_forced():
                self._move(self._joint(episode.legal[self._role][0]))
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
        """Return a joint move in which the role that learns makes a move."""
        joint = [number] * len(self.game.roles)
        for role, opponent in self._opponents.items():
            joint[role] = opponent.choose(self._episode, role, self.np_random)
        return joint

    def _move(self, joint: Sequence[int]) -> None:
        for role in self._opponents:
            # Who had a choice has looked at what it saw until then.
            if len(self._episode.legal[role]) > 1:
                self._episode.forget(role)
        self._episode.move(joint)

    def action_masks(self) -> NDArray[np.bool_]:
        """Return which actions are legal, as maskable algorithms ask for it: bool [actions]."""
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
        """Return the boards as text or pixels, as ``render_mode`` says; ``human`` prints them."""
        return render(self._episode.board(), self.render_mode)

    def close(self) -> None:
        """Let the opponents go."""
        for opponent in self._opponents.values():
            opponent.close()
