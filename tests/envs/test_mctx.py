"""Searches of mctx over rule sheets: what its Gumbel policy chooses is legal, and wins where it can."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from tests.envs.libraries import quick_and_long
from tests.envs.sheets import PUBLIC

import anygame
from anygame.envs.rewards import players_of

jax = pytest.importorskip("jax", reason="environments of JAX need the extra `jax`")
mctx = pytest.importorskip("mctx", reason="mctx searches in environments")

from anygame.envs import jax as envs  # noqa: E402

if TYPE_CHECKING:
    from pathlib import Path

jnp = jax.numpy
#: Matches that are searched side by side.
_GAMES = 2
_SIMULATIONS = 8


class Search:
    """The policy of "Policy improvement by planning with Gumbel" (Danihelka et al. 2022), without a model.

    Where players act together it looks for a move of the first, and draws those of the others.
    """

    def __init__(self, env: envs.Environment, simulations: int = _SIMULATIONS) -> None:
        self.env = env
        self.together = isinstance(env, envs.SimultaneousEnvironment)
        self._step = jax.vmap(env.step)
        self._simulations = simulations
        self.choose = jax.jit(self._choose)
        self.act = jax.jit(self._act)

    def mask(self, states: Any) -> Any:
        """Return the legal actions of whom a move is looked for: bool [games, actions]."""
        masks = states.legal_action_mask
        return masks[:, 0] if self.together else masks

    def _choose(self, key: Any, states: Any) -> Any:
        root = mctx.RootFnOutput(
            prior_logits=_logits(self.mask(states)), value=jnp.zeros(_GAMES), embedding=states
        )
        return mctx.gumbel_muzero_policy(
            None, key, root, self._recurrent, self._simulations, invalid_actions=~self.mask(states)
        )

    def _act(self, key: Any, action: Any, states: Any) -> Any:
        """Return the states after actions; others who act at the same time draw theirs."""
        drawing, moving = jax.random.split(key)
        if self.together:
            drawn = jax.random.categorical(drawing, _logits(states.legal_action_mask))
            action = drawn.at[:, 0].set(action)
        return self._step(states, action, jax.random.split(moving, len(states.terminated)))

    def _recurrent(self, _: Any, key: Any, action: Any, states: Any) -> Any:
        after = self._act(key, action, states)
        player = jnp.maximum(states.current_player, 0)
        reward = jnp.take_along_axis(after.rewards, player[:, None], axis=1)[:, 0]
        same = after.current_player == states.current_player
        discount = jnp.where(after.terminated | after.truncated, 0.0, jnp.where(same, 1.0, -1.0))
        found = mctx.RecurrentFnOutput(
            reward=reward,
            discount=discount,
            prior_logits=_logits(self.mask(after)),
            value=jnp.zeros_like(reward),
        )
        return found, after


def _logits(mask: Any) -> Any:
    return jnp.where(mask, 0.0, -1e9)


def _searched(game: anygame.Game) -> int:
    """Play by the policy until the first match ends or six moves were made; return how many were searched."""
    env = envs.load(game, rewards="zero-sum" if len(players_of(game)) > 1 else "scaled")
    search = Search(env)
    states = jax.vmap(env.init)(jax.random.split(jax.random.key(0), _GAMES))
    made = 0
    for number in range(6):
        if (states.terminated | states.truncated).any():
            break
        choosing, moving = jax.random.split(jax.random.key(number))
        mask = np.asarray(search.mask(states))
        found = search.choose(choosing, states)
        actions, weights = np.asarray(found.action), np.asarray(found.action_weights)
        assert mask[np.arange(_GAMES), actions].all()
        assert weights.sum(axis=1) == pytest.approx(1, abs=1e-4)
        assert (weights[~mask] < 1e-6).all()
        before = states
        states = search.act(moving, found.action, states)
        # No action was taken for an illegal one, which would end the match and cost something.
        assert (np.asarray(states.rewards)[~np.asarray(states.terminated)] == 0).all()
        assert (states._step_count == before._step_count + 1).all()
        made += 1
    return made


@pytest.mark.slow
@pytest.mark.parametrize("name", quick_and_long({"kuhn_poker", "rock_paper_scissors"}))
def test_moves_are_searched_in_every_sheet(name: str) -> None:
    assert _searched(anygame.load(name)) > 0


@pytest.mark.long
@pytest.mark.parametrize("name", PUBLIC)
def test_moves_are_searched_in_public_sheets(name: str, corpus: Path) -> None:
    assert _searched(anygame.load(corpus / "rules" / f"{name}.kif")) > 0
