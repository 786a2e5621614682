"""Rewards: what the goals at the end of a match are worth to a learner."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, TypeAlias, get_args

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
        """Return the rewards for goals: both float [..., roles].

        Where the rules give a role no goal, or several, its reward is 0; in zero-sum, so are all others'.
        """
        given = np.asarray(goals, np.float64)
        if self._name == "goals":
            return np.nan_to_num(given, nan=0.0)
        if self._name == "scaled":
            return np.nan_to_num(given, nan=0.0) / _HIGHEST
        own = given[..., self._players] / _HIGHEST
        total = own.sum(axis=-1, keepdims=True)
        rewards = np.zeros_like(given)
        # Of one role, the others' mean is what is left of the total.
        rewards[..., self._players] = np.nan_to_num(own - (total - own) / (len(self._players) - 1), nan=0.0)
        return rewards
