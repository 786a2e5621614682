"""Environments: a compiled game as functions that JAX can transform."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from anygame.envs.jax.evaluation import SharedNumbers, evaluator, tabulate
from anygame.envs.rewards import players_of, rewards_of_goals
from anygame.proving.proving import facts_of

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from anygame.envs.jax.evaluation import Array, Evaluate, Observe
    from anygame.envs.rewards import RewardName
    from anygame.envs.turns import Turns
    from anygame.game.game import Game
    from anygame.game.roles import Role

#: Number of gates per block on a processor. With 128 gates per block, small games take up to twice as long.
_BLOCK: Final = 32
#: Number of gates per block on a graphics card, where each block is a separate call.
_BLOCK_ELSEWHERE: Final = 256
#: Maximum number of states in the picture of a batch.
_SHOWN: Final = 16
_LENGTH: Final = {name: re.compile(rf' {name}="([\d.]+)"') for name in ("width", "height")}
_ID: Final = re.compile(r' id="[^"]*"')


class _Seen(NamedTuple):
    """The answers for a state: legal bool [all moves], terminal bool, goals float32 [players].

    The goal of a player with no goal, or with several goals, is nan.
    """

    legal: Array
    terminal: Array
    goals: Array


class Environment:
    """A turn-based game; see ``load``.

    A step is a joint move: the action of the current player, the only move of every other player, and a
    uniformly random legal move of the role ``random``.

    Attributes:
        game: the game.
        id: the name of the game.
        players: the roles besides ``random``. The number of a player is its index in this tuple.
        actions: all moves that players can make, sorted by text. An action has the same number for all
            players.
        fluents: all facts that can be true, sorted by text.
        percepts: if the rules hide information (GDL-II) and ``reveal`` is False, all possible percepts of
            players, sorted by text; else None. A percept has the same number for all players.
        is_random: whether there is a role ``random``, so that steps need keys.
    """

    #: Whether players act at the same time.
    _together = False

    def __init__(
        self,
        game: Game,
        turns: Turns[int] | None,
        observe: Observe,
        rewards: RewardName,
        percepts: SharedNumbers | None,
    ) -> None:
        compiled = game.backends.needed_network().compiled
        network = compiled.network
        self.game = game
        self._percepts = percepts
        self.percepts = None if percepts is None else percepts.terms
        self.id = Path(game.name).stem
        self.players: tuple[Role, ...] = tuple(role for role in game.roles if not role.is_random)
        self.is_random = len(self.players) < len(game.roles)
        self.fluents = game.fluent_terms
        moves = [game.actions(role) for role in game.roles]
        self._moves = SharedNumbers(moves, players_of(game))
        self.actions = self._moves.terms
        self._observe = observe
        self._rewards = rewards
        self._columns = self._moves.columns
        chance = [index for index, role in enumerate(game.roles) if role.is_random]
        self._by_chance = SharedNumbers(moves, chance).columns
        self._all_moves = sum(network.actions)
        self._waiting: list[NDArray[np.bool_]] = []
        for index in players_of(game):
            waiting = np.zeros(len(moves[index]), np.bool_)
            if turns:
                waiting[list(turns.waiting[index])] = True
            self._waiting.append(waiting)
        goals = [network.goals[index] for index in players_of(game)]
        self._goals = [[value for value, _ in goals_of_role] for goals_of_role in goals]
        block = _BLOCK if jax.default_backend() == "cpu" else _BLOCK_ELSEWHERE
        literals = [literal for goals_of_role in goals for _, literal in goals_of_role]
        answers = [*network.legal.tolist(), network.terminal, *literals]
        #: Function from fluents to legal moves, the end, and goals.
        self._look: Evaluate = evaluator(tabulate(network, network.fluents, answers, block))
        # In a network with percepts, the percepts follow the fluents in inputs and outputs.
        moving = (compiled.percept_network if percepts else None) or network
        self._unseen = np.zeros(moving.fluents - network.fluents, np.bool_)
        inputs = moving.fluents + self._all_moves
        #: Function from fluents and moves to the next fluents.
        self._move: Evaluate = evaluator(tabulate(moving, inputs, moving.next.tolist(), block))
        self._initial = jax.tree.map(np.asarray, jax.jit(lambda: self._begin(network.initial))())

    @property
    def num_players(self) -> int:
        """The number of players, without ``random``."""
        return len(self.players)

    @property
    def num_actions(self) -> int:
        """The number of actions."""
        return len(self.actions)

    @property
    def observation_shape(self) -> tuple[int, ...]:
        """The shape of an observation."""
        shape: tuple[int, ...] = self._initial.observation.shape
        return shape

    @cached_property
    def most_moves(self) -> int | None:
        """A proven upper bound on the number of joint moves of a match, for the length of a scan.

        None if no bound is known, or if the extra ``prove`` is not installed.
        """
        return facts_of(self.game).most_moves

    @property
    def version(self) -> str:
        """The version of the environment, as in pgx."""
        return "v0"

    def init(self, key: Array) -> State:
        """Return the initial state. The key has no effect, because ``random`` moves only in steps."""
        del key
        state: State = jax.tree.map(jnp.asarray, self._initial)
        return state

    def step(self, state: State, action: Array, key: Array | None = None) -> State:
        """Return the state after an action of the current player.

        A final state does not change, and further rewards are 0. An illegal action ends the match in the same
        state, and the player gets a penalty.

        Args:
            state: a state of this environment.
            action: int32, the index of a move in ``actions``. If players act together, int32 [players]; the
                actions of players with a single legal move are ignored.
            key: random key, needed if there is a role ``random``.

        Raises:
            ValueError: a key is missing, the state is of another game, or the action has the wrong shape or
                type.
        """
        action = self._checked(state, action)
        if self.is_random and key is None:
            raise ValueError(f"{self.id} has a role `random`: step(state, action, key) needs the key")
        over = state.terminated | state.truncated
        offenders = self._offenders(state, action) & ~over
        does = self._joint(state, action)
        if key is not None:
            does += [_sampled(key, state._legal[columns]) for columns in self._by_chance]
        columns = [*self._columns, *self._by_chance]
        in_order = sorted(zip(columns, does, strict=True), key=lambda moves: moves[0].start)
        moves = jnp.concatenate([moves for _, moves in in_order])
        after = self._move(jnp.concatenate([state._fluents, self._unseen, moves]))
        illegal = offenders.any()
        fluents = jnp.where(over | illegal, state._fluents, after[: len(self.fluents)])
        percepts = state._seen
        if self._percepts is not None:
            # A player observes its percepts since its last choice.
            kept = percepts & ~self._choosing(state)[:, None]
            new = self._percepts.of(after[len(self.fluents) :])
            percepts = jnp.where(over | illegal, percepts, kept | new)
        seen = self._seen(fluents)
        gains = jnp.where(seen.terminal, rewards_of_goals(self._rewards, seen.goals, jnp), 0.0)
        gains = jnp.where(illegal, rewards_for_illegal(self._rewards, offenders), gains)
        return self._state(
            state,
            fluents,
            seen,
            percepts,
            rewards=jnp.where(over, 0.0, gains).astype(jnp.float32),
            ended=jnp.where(over, state.terminated, seen.terminal | illegal),
            cut=over & state.truncated,
            count=state._step_count + ~over,
        )

    def observe(self, state: State, player: Array | None = None) -> Array:
        """Return the observation of a player, by default of the current player."""
        if player is None:
            return self._view(state._fluents, state._seen, state.current_player)
        return self._shown(state._fluents, state._seen, player)

    def _view(self, fluents: Array, known: Array, player: Array) -> Array:
        """Return the observation of the player to move, or of all players if they act together."""
        if not self._together or self._percepts is None:
            return self._shown(fluents, known, player)
        return jnp.stack([self._shown(fluents, known, jnp.int32(one)) for one in range(self.num_players)])

    def _shown(self, fluents: Array, known: Array, player: Array) -> Array:
        if self._percepts is None:
            return self._observe(fluents, player)
        whose = jnp.arange(self.num_players) == player
        return self._observe((known & whose[:, None]).any(axis=0), player)

    def _checked(self, state: State, action: Array) -> Array:
        """Return an action as int32; -1 for a NumPy number out of range."""
        if state.env_id != self.id:
            raise ValueError(f"the state belongs to {state.env_id}, not to {self.id}")
        shape, kind = jnp.shape(action), jnp.result_type(action)
        wanted = (self.num_players,) if self._together else ()
        if shape != wanted or not jnp.issubdtype(kind, jnp.integer):
            expected = (
                f"{self.num_players} integers, one action for each player"
                if self._together
                else "an integer, the action of the current player"
            )
            raise ValueError(
                f"{self.id}: expected {expected}, found {kind} of shape {shape}; jax.vmap steps several games"
            )
        if not isinstance(action, np.ndarray | np.generic):
            return action
        # JAX truncates numbers to their lower 32 bits.
        number = np.asarray(action)
        in_range = (number >= 0) & (number < self.num_actions)
        return np.where(in_range, number.astype(np.int64), -1).astype(np.int32)

    def _begin(self, fluents: Array) -> State:
        values = jnp.asarray(fluents)
        none = jnp.zeros(self.num_players, jnp.float32)
        seen = self._seen(values)
        state = State(None, None, none, None, None, None, None, values, None, None, self)
        percepts = jnp.zeros((self.num_players, len(self.percepts or ())), jnp.bool_)
        begin = {"rewards": none, "ended": seen.terminal, "cut": jnp.bool_(False), "count": jnp.int32(0)}
        return self._state(state, values, seen, percepts, **begin)

    def _seen(self, fluents: Array) -> _Seen:
        values = self._look(fluents)
        at = self._all_moves + 1
        goals = []
        for of_role in self._goals:
            holds = values[at : at + len(of_role)]
            at += len(of_role)
            is_unique = holds.sum() == 1
            goal = (holds * np.array(of_role, np.float32)).sum()
            goals.append(jnp.where(is_unique, goal, jnp.nan))
        return _Seen(values[: self._all_moves], values[self._all_moves], jnp.array(goals, jnp.float32))

    def _state(
        self,
        before: State,
        fluents: Array,
        seen: _Seen,
        known: Array,
        *,
        rewards: Array,
        ended: Array,
        cut: Array,
        count: Array,
    ) -> State:
        """Return a state with the given fluents; ``cut`` is whether the previous state was truncated."""
        counts = jnp.stack([seen.legal[columns].sum() for columns in self._columns])
        stuck = (counts == 0).any()
        if not self._together:
            # In a turn-based environment, a match cannot continue if several players have a choice.
            stuck |= (counts > 1).sum() > 1
        for columns in self._by_chance:
            stuck |= ~seen.legal[columns].any()
        player = self._to_move(seen.legal, counts)
        truncated = (stuck | cut) & ~ended
        return before.replace(
            current_player=player,
            observation=self._view(fluents, known, player),
            rewards=rewards,
            terminated=ended,
            truncated=truncated,
            legal_action_mask=self._mask(seen.legal, player) | ended | truncated,
            _step_count=count,
            _fluents=fluents,
            _legal=seen.legal,
            _seen=known,
        )

    def _choosing(self, state: State) -> Array:
        return jnp.stack([state._legal[columns].sum() > 1 for columns in self._columns])

    def _to_move(self, legal: Array, counts: Array) -> Array:
        """Return the player with a choice, or else a player whose only move is not a wait."""
        if self._together:
            return jnp.int32(-1)
        acts = [
            (legal[columns] & ~waiting).any()
            for columns, waiting in zip(self._columns, self._waiting, strict=True)
        ]
        claims = 2 * (counts > 1) + jnp.stack(acts)
        return jnp.argmax(claims).astype(jnp.int32)

    def _mask(self, legal: Array, player: Array) -> Array:
        masks = self._moves.of(legal)
        if self._together:
            return masks
        whose = jnp.arange(self.num_players) == player
        return (masks & whose[:, None]).any(axis=0)

    def _acting(self, state: State) -> Array:
        """Return which players choose an action in this step: bool [players]."""
        if self._together:
            return self._choosing(state)
        return jnp.arange(self.num_players) == state.current_player

    def _offenders(self, state: State, action: Array) -> Array:
        """Return which players take an illegal action: bool [players]."""
        taken = jnp.arange(self.num_actions) == jnp.asarray(action)[..., None]
        legal = (state.legal_action_mask & taken).any(axis=-1)
        return self._acting(state) & ~legal

    def _joint(self, state: State, action: Array) -> list[Array]:
        """Return the move of each player: bool [moves of the player]."""
        acting, actions = self._acting(state), jnp.broadcast_to(action, self.num_players)
        return [
            jnp.where(acting[player], jnp.asarray(numbers) == actions[player], state._legal[columns])
            for player, (columns, numbers) in enumerate(zip(self._columns, self._moves.numbers, strict=True))
        ]


class SimultaneousEnvironment(Environment):
    """A game in which players act at the same time: ``step`` takes an action of each player.

    The mask is [players, actions]. If the rules hide information, the observation has a row per player.
    """

    _together = True


def _sampled(key: Array, legal: Array) -> Array:
    """Return a uniformly random legal move: bool [moves]."""
    count = legal.sum()
    chosen = jax.random.randint(key, (), 0, jnp.maximum(count, 1))
    return legal & (jnp.cumsum(legal) - 1 == chosen)


def rewards_for_illegal(name: RewardName, offenders: Array) -> Array:
    """Return the rewards, float32 [players], after illegal actions of ``offenders``: bool [players].

    The penalty is -1, or -100 with unscaled goals. With ``zero-sum``, the other players share the amount of
    the penalty.
    """
    lost = offenders.astype(jnp.float32)
    if name == "zero-sum":
        return (lost.sum() - lost) / (len(offenders) - 1) - lost
    return -lost * (100 if name == "goals" else 1)


@dataclass(frozen=True)
class State:
    """A state with the fields of pgx (Koyamada et al. 2023, "Pgx").

    Shapes are for one game; ``vmap`` adds a leading axis. The sizes ``players`` and ``actions`` are
    ``env.num_players`` and ``env.num_actions``.

    Attributes:
        current_player: int32; the player to move, or -1 if players act together.
        legal_action_mask: bool [actions] of the current player, or [players, actions] if players act
            together. After the end, all actions are legal.
        observation: see ``load``.
        rewards: float32 [players]; the rewards of the last step.
        terminated: bool; whether the match has ended, by the rules or by an illegal action.
        truncated: bool; whether the match cannot continue, although the rules do not end the match.
    """

    current_player: Array
    observation: Array
    rewards: Array
    terminated: Array
    truncated: Array
    legal_action_mask: Array
    _step_count: Array
    _fluents: Array
    _legal: Array
    _seen: Array
    _env: Environment = field(repr=False)

    @property
    def env_id(self) -> str:
        """The name of the game."""
        return self._env.id

    def replace(self, **changes: Any) -> State:
        """Return a state with some fields replaced."""
        return replace(self, **changes)

    def to_svg(self) -> str:
        """Return a picture of the board; for a batch, a picture of the first 16 boards side by side."""
        fluents = np.asarray(self._fluents)
        if fluents.ndim == 1:
            return self._picture(fluents)
        return _side_by_side([self._picture(row) for row in fluents.reshape(-1, fluents.shape[-1])[:_SHOWN]])

    def _picture(self, fluents: NDArray[np.bool_]) -> str:
        facts = [fact for fact, holds in zip(self._env.fluents, fluents, strict=True) if holds]
        return self._env.game.state(facts).board().svg()

    def save_svg(self, filename: str | os.PathLike[str]) -> None:
        """Write a picture of the board to a file; see ``to_svg``."""
        with open(filename, "w", encoding="utf-8") as file:
            file.write(self.to_svg())

    def _repr_html_(self) -> str:
        return self.to_svg()


def _side_by_side(pictures: Sequence[str]) -> str:
    across, tallest, parts = 0.0, 0.0, []
    for picture in pictures:
        width, height = (float(_LENGTH[name].search(picture)[1]) for name in ("width", "height"))  # type: ignore[index]
        # Ids of SVG elements must be unique in the combined picture, so the ids are removed.
        parts.append(_ID.sub("", picture).replace("<svg ", f'<svg x="{across:g}" ', 1))
        across, tallest = across + width, max(tallest, height)
    size = f'width="{across:g}" height="{tallest:g}"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size}>{"".join(parts)}</svg>'


jax.tree_util.register_dataclass(State, [part.name for part in fields(State)][:-1], ["_env"])
