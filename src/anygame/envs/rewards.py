"""Loading of compiled games for environments, and rewards computed from goals."""

from __future__ import annotations

import os
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, get_args

import numpy as np

from anygame.game.game import Game
from anygame.game.loading import load
from anygame.sheets.installed import find_installed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

#: The name of a conversion of goals to rewards; see ``GameEnv``.
RewardName: TypeAlias = Literal["scaled", "goals", "zero-sum"]
_NAMES: Final[tuple[RewardName, ...]] = get_args(RewardName)
#: The highest goal in nearly all sheets.
_HIGHEST: Final = 100.0
#: Maximum number of cached games. All environments of a sheet share the cached game.
_KEPT: Final = 8


def players_of(game: Game) -> list[int]:
    """Return the indices of all roles except ``random``."""
    return [index for index, role in enumerate(game.roles) if not role.is_random]


class Rewards:
    """Converts goals to rewards.

    >>> import anygame
    >>> rewards = Rewards(anygame.load("tic_tac_toe"), "zero-sum")
    >>> rewards.of(np.array([[100.0, 0.0], [50.0, 50.0]])).tolist()
    [[1.0, -1.0], [0.0, 0.0]]
    """

    def __init__(self, game: Game, name: RewardName) -> None:
        if name not in _NAMES:
            raise ValueError(f"rewards must be one of {', '.join(_NAMES)}, not {name!r}")
        self._name = name
        self._players = players_of(game)
        if name == "zero-sum" and len(self._players) < 2:
            raise ValueError(f"zero-sum rewards need two roles or more, and {game.name} has one")

    def of(self, goals: Sequence[float] | NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the rewards for goals: both are float [..., roles]. The role ``random`` gets 0.

        A role without a goal, or with several goals, gets 0; with ``zero-sum``, then all roles get 0.
        """
        given = np.asarray(goals, np.float64)
        rewards = np.zeros_like(given)
        rewards[..., self._players] = rewards_of_goals(self._name, given[..., self._players], np)
        return rewards


def rewards_of_goals(name: RewardName, goals: Any, library: Any) -> Any:
    """Return the rewards of players: float [..., players]; ``library`` is NumPy or jax.numpy."""
    if name == "goals":
        return library.nan_to_num(goals)
    scaled = goals / np.float32(_HIGHEST)
    if name == "zero-sum":
        of_others = scaled.sum(axis=-1, keepdims=True) - scaled
        scaled = scaled - of_others / (goals.shape[-1] - 1)
    return library.nan_to_num(scaled)


def compiled_game(sheet: Game | str | os.PathLike[str]) -> Game:
    """Return a compiled game; ``sheet`` is a rule sheet, the name of an installed game, or a game.

    Raises RuleSheetError for unusable rules, and LimitError for a game that cannot be compiled.
    """
    if isinstance(sheet, Game):
        game = sheet
    else:
        path = Path(find_installed(sheet) or sheet).resolve()
        stat = path.stat() if path.is_file() else None
        game = _loaded(os.fspath(sheet), path, stat and (stat.st_mtime_ns, stat.st_size))
    game.backends.needed_network()
    return game


@lru_cache(_KEPT)
def _loaded(sheet: str, path: Path, version: tuple[int, int] | None) -> Game:
    return load(sheet)
