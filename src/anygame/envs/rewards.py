"""Rewards: what the goals at the end of a match are worth to a learner."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, get_args

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from anygame.game.game import Game

#: ``scaled``: goals from 0 to 100 become 0 to 1. ``goals``: as the rules give them. ``zero-sum``: how much
#: the scaled goal is above the mean of the others', from -1 to 1.
RewardName: TypeAlias = Literal["scaled", "goals", "zero-sum"]
_NAMES: Final[tuple[RewardName, ...]] = get_args(RewardName)
#: The highest goal of nearly all sheets.
_HIGHEST: Final = 100.0


def players_of(game: Game) -> list[int]:
    """Return the indices of the roles that want something: all but ``random``."""
    return [index for index, role in enumerate(game.roles) if not role.is_random]


class Rewards:
    """Makes rewards of goals.

    >>> import anygame
    >>> rewards = Rewards(anygame.load("tic_tac_toe"), "zero-sum")
    >>> rewards.of(np.array([[100.0, 0.0], [50.0, 50.0]])).tolist()
    [[1.0, -1.0], [0.0, 0.0]]
    """

    def __init__(self, game: Game, name: RewardName) -> None:
        if name not in _NAMES:
            raise ValueError(f"rewards are one of {', '.join(_NAMES)}, not {name!r}")
        self._name = name
        self._players = players_of(game)
        if name == "zero-sum" and len(self._players) < 2:
            raise ValueError(f"zero-sum rewards need two roles or more, and {game.name} has one")

    def of(self, goals: Sequence[float] | NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the rewards for goals: both float [..., roles], 0 for ``random``.

        Where the rules give a role no goal, or several, its reward is 0; in zero-sum, so are all others'.
        """
        given = np.asarray(goals, np.float64)
        rewards = np.zeros_like(given)
        rewards[..., self._players] = rewards_of_goals(self._name, given[..., self._players], np)
        return rewards


def rewards_of_goals(name: RewardName, goals: Any, library: Any) -> Any:
    """Return the rewards for the goals of players, both float [..., players], by NumPy or what is like it."""
    if name == "goals":
        return library.nan_to_num(goals)
    scaled = goals / np.float32(_HIGHEST)
    if name == "zero-sum":
        # For a player, the others' mean is what is left of the total.
        rest = scaled.sum(axis=-1, keepdims=True) - scaled
        scaled = scaled - rest / (goals.shape[-1] - 1)
    return library.nan_to_num(scaled)
