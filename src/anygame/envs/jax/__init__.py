"""JAX: a compiled game as pure functions over arrays, with the fields and functions of pgx.

Every game with a network works with ``jit``, ``vmap`` and ``scan``, with the searches of mctx, and with
training on a graphics card. The package needs the extra ``jax``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from anygame.errors import LimitError, SimultaneousMovesError, needing

with needing("jax", "this needs jax, which is not installed"):
    import jax
    import jax.numpy as jnp

from anygame.envs.jax.environment import Environment, SimultaneousEnvironment, State
from anygame.envs.jax.evaluation import SharedNumbers, planes, relative
from anygame.envs.rewards import Rewards, compiled_game, players_of
from anygame.envs.turns import numbered_turns

if TYPE_CHECKING:
    import os
    from collections.abc import Callable

    from anygame.envs.jax.evaluation import Array, Observe
    from anygame.envs.rewards import RewardName
    from anygame.game.game import Game

__all__ = ["Environment", "SimultaneousEnvironment", "State", "auto_reset", "load"]

#: Maximum number of gate inputs. The largest table takes 0.5 GB; gate values of 4,096 games take as much.
_LARGEST: Final = 20_000_000


def load(
    sheet: str | os.PathLike[str] | Game,
    *,
    simultaneous: bool | None = None,
    observations: str | Observe | None = None,
    rewards: RewardName = "scaled",
    reveal: bool = False,
    largest: int = _LARGEST,
) -> Environment:
    """Return a game as an environment of JAX.

    Args:
        sheet: a file, the name of an installed game, or a game.
        simultaneous: whether players act together, so that a step takes an action of each player. By default,
            players act together if, in random play, several players have a choice in the same state. In a
            turn-based environment, a match is truncated if several players have a choice in a state.
        observations: ``flat``: the fluents, in the order of ``env.fluents``. ``relative``: the fluents from
            the view of the first player, with the names of players exchanged, followed by the current player.
            ``planes``: the relative fluents over the board, bool [rows, columns, channels]. ``observations``
            can also be a function from fluents, bool [fluents], and the number of a player, int32, to an
            array. The default is ``relative``, or ``flat`` if players act together. If the rules hide
            information (GDL-II), the player's percepts since its last choice, in the order of
            ``env.percepts``, replace the fluents.
        rewards: ``scaled``, ``goals`` or ``zero-sum``; see ``anygame.envs.gymnasium.GameEnv``.
        reveal: whether players see all fluents even if the rules hide information (GDL-II).
        largest: maximum total number of inputs of all gates.

    Raises:
        RuleSheetError: the sheet cannot be used.
        LimitError: the game has no network, no network with percepts, or more gate inputs than ``largest``.
        SimultaneousMovesError: several players have a choice in a state, and ``simultaneous`` is False.
        ValueError: the game has no players, or an argument does not suit the game.

    >>> import jax
    >>> env = load("tic_tac_toe", rewards="zero-sum")
    >>> state = jax.jit(env.init)(jax.random.key(0))
    >>> [str(env.actions[number]) for number in state.legal_action_mask.nonzero()[0][:2]]
    ['(mark 1 1)', '(mark 1 2)']
    >>> state = jax.jit(env.step)(state, 0)
    >>> int(state.current_player), bool(state.legal_action_mask[0]), state.rewards.tolist()
    (1, False, [0.0, 0.0])
    """
    game = compiled_game(sheet)
    if not players_of(game):
        raise ValueError(f"{game.name} has no role besides `random`, so no players")
    Rewards(game, rewards)  # raises an error for a wrong name
    inputs = len(game.backends.needed_network().compiled.network.inputs)
    if inputs > largest:
        raise LimitError(
            f"{game.name} has {inputs:,} gate inputs; `largest` allows {largest:,}", "largest", largest
        )
    turns = None
    if not simultaneous:
        try:
            turns = numbered_turns(game)
        except SimultaneousMovesError:
            if simultaneous is False:
                raise
    percepts = None
    if game.is_gdl2 and not reveal:
        machine = game.backends.needed_network()
        machine.check_percepts(game.name)
        percepts = SharedNumbers(machine.compiled.percepts, players_of(game))
    observe = _observe(game, observations, percepts, together=turns is None)
    make = Environment if turns else SimultaneousEnvironment
    return make(game, turns, observe, rewards, percepts)


def _observe(
    game: Game, observations: str | Observe | None, percepts: SharedNumbers | None, together: bool
) -> Observe:
    players = [game.roles[index].term for index in players_of(game)]
    if observations is None:
        observations = "flat" if together else "relative"
    if not isinstance(observations, str):
        return observations
    if observations == "flat":
        return lambda fluents, player: fluents
    if observations not in ("relative", "planes"):
        raise ValueError(f"observations must be flat, relative, planes, or a function, not {observations!r}")
    if together:
        raise ValueError(
            f"{observations} observations need a current player, but the players act together: use flat"
        )
    if observations == "relative":
        return relative(game.fluent_terms if percepts is None else percepts.terms, players)
    if percepts is not None:
        raise ValueError(
            f"{game.name} hides information (a rule has `sees`), so `planes` is not possible: use "
            "relative or flat, or reveal=True to show everything"
        )
    return planes(game, players)


def auto_reset(env: Environment) -> Callable[[State, Array, Array], State]:
    """Return a ``step(state, action, key)`` that restarts finished matches.

    The last step of a match returns the initial state with the rewards, ``terminated`` and ``truncated`` of
    the finished match, as in ``pgx.experimental.auto_reset``.
    """

    def step(state: State, action: Array, key: Array) -> State:
        moving, beginning = jax.random.split(key)
        initial = env.init(beginning)
        # The flags of the previous match must not end a new match, unless its initial state is terminal.
        begun = state._step_count == 0
        state = state.replace(
            terminated=jnp.where(begun, initial.terminated, state.terminated),
            truncated=jnp.where(begun, initial.truncated, state.truncated),
        )
        state = env.step(state, action, moving)
        ended = state.terminated | state.truncated
        fresh = initial.replace(rewards=state.rewards, terminated=state.terminated, truncated=state.truncated)
        chosen: State = jax.tree.map(lambda new, old: jnp.where(ended, new, old), fresh, state)
        return chosen

    return step
