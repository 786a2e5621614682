"""Opponents: players of the roles that do not learn, in one match or in many lanes at once."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

from anygame.envs.rewards import players_of
from anygame.errors import IllegalMoveError, PlayerError
from anygame.players.loading import make_player
from anygame.players.player import Clock, Player

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from anygame.envs.episode import Episode, EpisodeLanes
    from anygame.game.game import Game
    from anygame.game.state import State

#: A function from an observation, int8 [*shape], and a mask, int8 [actions], to the number of a legal move.
#: For many matches, all arrays have a leading axis for the lanes.
Policy: TypeAlias = Callable[["NDArray[np.int8]", "NDArray[np.int8]"], Any]
#: The name of a player, a player, or a policy.
OpponentSpec: TypeAlias = str | Player | Policy
#: Names of players that ignore the state, so they can play games with hidden information.
_BLIND: Final = ("random", "legal")


class Opponent(ABC):
    """Chooses the moves of a role."""

    def start(self, lanes: NDArray[np.intp]) -> None:  # noqa: B027 - most opponents have no state
        """Begin matches in the given lanes; a single match has lane 0."""

    def stop(self, lanes: NDArray[np.intp], state: Callable[[int], State]) -> None:  # noqa: B027
        """End the matches in the given lanes; the function ``state`` returns the last state of a lane."""

    def close(self) -> None:  # noqa: B027
        """Release all resources."""

    @abstractmethod
    def choose(self, episode: Episode, role: int, random: np.random.Generator) -> int:
        """Return the number of a legal move in a single match."""

    @abstractmethod
    def choose_many(
        self, episodes: EpisodeLanes, lanes: NDArray[np.intp], role: int, random: np.random.Generator
    ) -> NDArray[np.int64]:
        """Return the number of a legal move in each of the given lanes: int [given lanes]."""


class _BlindOpponent(Opponent):
    """Plays a uniformly random legal move, or the first legal move."""

    def __init__(self, *, is_random: bool) -> None:
        self._is_random = is_random

    def choose(self, episode: Episode, role: int, random: np.random.Generator) -> int:
        return episode.draw(random, role) if self._is_random else episode.legal[role][0]

    def choose_many(
        self, episodes: EpisodeLanes, lanes: NDArray[np.intp], role: int, random: np.random.Generator
    ) -> NDArray[np.int64]:
        masks = episodes.masks[role][lanes]
        return random_choices(masks, random) if self._is_random else first_choices(masks)


class _PolicyOpponent(Opponent):
    """Plays the moves of a function, such as a model; calls the function only if there is a choice."""

    def __init__(self, policy: Policy) -> None:
        self._policy = policy

    def choose(self, episode: Episode, role: int, random: np.random.Generator) -> int:
        legal = episode.legal[role]
        if len(legal) == 1:
            return legal[0]
        return episode.checked(role, self._policy(episode.observation(role), episode.mask(role)))

    def choose_many(
        self, episodes: EpisodeLanes, lanes: NDArray[np.intp], role: int, random: np.random.Generator
    ) -> NDArray[np.int64]:
        masks = episodes.masks[role][lanes]
        chosen = first_choices(masks)
        several = np.flatnonzero(masks.sum(axis=1) > 1)
        if not len(several):
            return chosen
        observations = episodes.observation(role, lanes[several])
        actions = np.asarray(self._policy(observations, masks[several].astype(np.int8)))
        if actions.shape != several.shape or not np.issubdtype(actions.dtype, np.integer):
            raise IllegalMoveError(
                f"a policy should return {len(several)} integers, one per lane, not an array of "
                f"{actions.dtype} of shape {actions.shape}"
            )
        chosen[several] = actions
        return chosen


class _PlayerOpponent(Opponent):
    """Plays with a separate player in each lane; asks a player only if there is a choice."""

    def __init__(self, game: Game, role: int, make: Callable[[], Player], seconds: float) -> None:
        self._game = game
        self._role = game.roles[role]
        self._make = make
        self._seconds = seconds
        self._players: dict[int, Player] = {}
        self._playing: set[int] = set()
        self._numbers = {move: number for number, move in enumerate(game.actions(self._role))}

    def start(self, lanes: NDArray[np.intp]) -> None:
        for lane in lanes.tolist():
            if lane in self._playing:
                self._players[lane].abort()
            if lane not in self._players:
                player = self._make()
                if player in self._players.values():
                    raise PlayerError(f"{player.name} plays one match at a time: give the player by name")
                self._players[lane] = player
            self._players[lane].begin(self._game, self._role, Clock.of(self._seconds))
            self._playing.add(lane)

    def stop(self, lanes: NDArray[np.intp], state: Callable[[int], State]) -> None:
        for lane in self._playing.intersection(lanes.tolist()):
            self._playing.remove(lane)
            end = state(lane)
            if end.is_terminal:
                self._players[lane].stop(end.goals())
            else:
                self._players[lane].abort()

    def close(self) -> None:
        for lane in self._playing:
            self._players[lane].abort()
        self._playing.clear()

    def choose(self, episode: Episode, role: int, random: np.random.Generator) -> int:
        legal = episode.legal[role]
        return legal[0] if len(legal) == 1 else self._ask(0, episode.state())

    def choose_many(
        self, episodes: EpisodeLanes, lanes: NDArray[np.intp], role: int, random: np.random.Generator
    ) -> NDArray[np.int64]:
        masks = episodes.masks[role][lanes]
        chosen = first_choices(masks)
        for index in np.flatnonzero(masks.sum(axis=1) > 1).tolist():
            lane = int(lanes[index])
            chosen[index] = self._ask(lane, episodes.batch.state(lane))
        return chosen

    def _ask(self, lane: int, state: State) -> int:
        player = self._players[lane]
        move = player.move(state, Clock.of(self._seconds))
        if move not in state.legal_moves(self._role):
            raise IllegalMoveError(f"{player.name} plays {move}, which is not legal for {self._role}")
        return self._numbers[move]


def learner_of(game: Game, role: str | None) -> int:
    """Return the index of the learner: the named role, or the first role besides ``random``."""
    if role is None:
        return players_of(game)[0]
    index = game.role_index(role)
    if game.roles[index].is_random:
        raise ValueError(f"{role} is played at random, so it has no goal to learn")
    return index


def opponents_of(
    game: Game,
    learner: int,
    given: Sequence[OpponentSpec] | Mapping[str, OpponentSpec] | None,
    seconds: float,
) -> dict[int, Opponent]:
    """Return the opponent of each role except the learner; ``given`` is ``opponents`` of ``GameEnv``."""
    opponents = [role for role in players_of(game) if role != learner]
    if given is None or isinstance(given, Mapping):
        by_role = {game.role_index(role): spec for role, spec in (given or {}).items()}
        wrong = [game.roles[role] for role in by_role if role not in opponents]
        if wrong:
            raise ValueError(f"{wrong[0]} cannot have an opponent: this role learns, or is played at random")
    elif isinstance(given, str) or len(given) != len(opponents):
        names = ", ".join(game.roles[role] for role in opponents) or "none"
        actual = f"the text {given!r}" if isinstance(given, str) else len(given)
        wanted = f"a list with an opponent for each of the other roles ({names})"
        raise ValueError(f"expected {wanted}, found {actual}")
    else:
        by_role = dict(zip(opponents, given, strict=True))
    chance = [role for role in range(len(game.roles)) if role != learner and role not in opponents]
    return {
        role: _opponent(game, role, by_role.get(role, "random"), seconds) for role in [*opponents, *chance]
    }


def _opponent(game: Game, role: int, spec: OpponentSpec, seconds: float) -> Opponent:
    if isinstance(spec, str) and spec in _BLIND:
        return _BlindOpponent(is_random=spec == "random")
    if not isinstance(spec, str | Player):
        if not callable(spec):
            raise PlayerError(f"opponents must be players, names or functions, not {type(spec).__name__}")
        return _PolicyOpponent(spec)
    if game.is_gdl2:
        raise PlayerError(
            f"a player that sees whole states cannot play {game.name}, which hides information: expected "
            f"{', '.join(_BLIND)}, or a function"
        )
    if isinstance(spec, str):
        make_player(spec)  # raises PlayerError for an unknown name
        return _PlayerOpponent(game, role, lambda: make_player(spec), seconds)
    return _PlayerOpponent(game, role, lambda: spec, seconds)


def first_choices(masks: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return the index of the first true column of each row."""
    return np.asarray(masks.argmax(axis=1), np.int64)


def random_choices(masks: NDArray[np.bool_], random: np.random.Generator) -> NDArray[np.int64]:
    """Return the index of a uniformly random true column of each row.

    >>> masks = np.array([[False, True, False], [True, False, True]])
    >>> chosen = random_choices(masks, np.random.default_rng(1))
    >>> bool(masks[[0, 1], chosen].all())
    True
    """
    counts = masks.sum(axis=1)
    chosen = first_choices(masks)
    several = np.flatnonzero(counts > 1)
    if len(several):
        wanted = random.integers(counts[several])
        chosen[several] = (masks[several].cumsum(axis=1) > wanted[:, None]).argmax(axis=1)
    return chosen
