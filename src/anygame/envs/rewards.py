"""What an environment is made of: a compiled game, what its goals are worth, whose turn it is; extras."""

from __future__ import annotations

import os
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, get_args

import numpy as np

from anygame.errors import MissingExtraError, SimultaneousMovesError
from anygame.game.game import Game
from anygame.game.loading import load
from anygame.sheets.installed import find_installed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


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


#: Games that environments made by the same sheet share: learners make many of one kind.
_KEPT: Final = 8


def compiled_game(source: Game | str | os.PathLike[str]) -> Game:
    """Return a compiled game.

    Args:
        source: a game, a rule sheet, or the name of a game that comes with the package.

    Raises:
        RuleSheetError: the rules cannot be used.
        LimitError: the game has no network, which gives its moves and fluents their numbers.
    """
    if not isinstance(source, Game):
        path = Path(find_installed(source) or source).resolve()
        # What is no file fails with a reason when it is loaded.
        stat = path.stat() if path.is_file() else None
        game = _loaded(os.fspath(source), path, stat and (stat.st_mtime_ns, stat.st_size))
    else:
        game = source
    game.backends.needed_network()
    return game


@lru_cache(_KEPT)
def _loaded(source: str, path: Path, version: tuple[int, int] | None) -> Game:
    return load(source)


def missing(library: str, extra: str) -> MissingExtraError:
    """Return the error for a missing library, which names its extra.

    >>> str(missing("pettingzoo", "pettingzoo"))
    "this needs pettingzoo, which is not installed: pip install 'anygame[pettingzoo]'"
    """
    message = f"this needs {library}, which is not installed: pip install 'anygame[{extra}]'"
    return MissingExtraError(message, extra)


#: Random matches that are looked at, side by side, which costs as much as one.
_LANES: Final = 512
#: Joint moves in each: where roles choose together at all, most sheets let them do so early on.
_MOVES: Final = 200


class Turns:
    """Whose turn it is, in a game in which no two roles ever choose at the same time.

    That is found by play: in some hundred random matches no two roles but ``random`` have several legal moves
    at once. A state of play in which they have is an error when it is met.

    A move is one of waiting (``noop``, say) if it was a role's only one there while another role had a
    choice. Where nobody has a choice, it is the turn of the one role whose move is none of waiting, if there
    is one.

    Attributes:
        waiting: per role the numbers of its moves of waiting.

    Raises:
        SimultaneousMovesError: two roles choose at the same time.
    """

    def __init__(self, game: Game) -> None:
        self._name = game.name
        self._roles = game.roles
        self._players = players_of(game)
        self.waiting = self._find_waiting(game)

    def _find_waiting(self, game: Game) -> list[frozenset[int]]:
        batch = game.batch(_LANES, seed=1)
        waiting: list[set[int]] = [set() for _ in game.roles]
        for _ in range(_MOVES):
            masks = batch.legal_masks()
            going = ~batch.terminal & ~batch.stuck
            options = np.stack([mask.sum(axis=1) for mask in masks])
            choosing = (options > 1) & going
            together = np.flatnonzero(choosing[self._players].sum(axis=0) > 1)
            if len(together):
                raise self._error(np.flatnonzero(choosing[:, together[0]]).tolist())
            for role, mask in enumerate(masks):
                alone = (options[role] == 1) & choosing.any(axis=0)
                waiting[role].update(np.flatnonzero(mask[alone].any(axis=0)).tolist())
            batch.step_random()
            batch.reset(batch.terminal | batch.stuck)
        return list(map(frozenset, waiting))

    def _error(self, choosing: Sequence[int]) -> SimultaneousMovesError:
        roles = " and ".join(self._roles[role] for role in choosing if role in self._players)
        return SimultaneousMovesError(
            f"{roles} choose at the same time in {self._name}; an environment of turns is for games "
            "in which they never do: use the parallel one"
        )

    def mover(self, legal: Sequence[Sequence[int]]) -> int | None:
        """Return the index of the role to move; None where it is none but ``random``, or nobody's turn.

        Args:
            legal: per role the numbers of its legal moves.

        Raises:
            SimultaneousMovesError: two roles choose at the same time.
        """
        choosing = [role for role in self._players if len(legal[role]) > 1]
        if len(choosing) > 1:
            raise self._error(choosing)
        if choosing:
            return choosing[0]
        acting = [
            role
            for role, moves in enumerate(legal)
            if len(moves) > 1 or (moves and moves[0] not in self.waiting[role])
        ]
        return acting[0] if len(acting) == 1 and acting[0] in self._players else None


@lru_cache(_KEPT)
def turns_of(game: Game) -> Turns:
    """Return whose turn it is in a game, found once for all that ask. Raises SimultaneousMovesError."""
    return Turns(game)
