"""Batches on a graphics card: many simultaneous matches of one game, for learners on the card."""

from __future__ import annotations

from random import SystemRandom
from typing import TYPE_CHECKING, Any

from anygame.game.batch import arrays_in_order
from anygame.game.encoding import ActionSpace

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import ArrayLike

    from anygame.game.game import Game
    from anygame.game.machines.network import CardArray, NetworkMachine
    from anygame.language.terms import Term


class CardBatch:
    """Simultaneous matches of a game on a graphics card: like ``Batch``, with arrays on the card.

    The batch owns its arrays and overwrites them with the next move, so copy arrays that you keep.
    ``torch.from_dlpack``, ``jax.dlpack.from_dlpack`` and ``cupy.from_dlpack`` read the arrays in place;
    ``array.numpy()`` copies an array. Moves and masks can be in main memory or on the card: PyTorch tensors,
    or any array with CUDA's array interface. Call ``game.card_batch`` to make a batch.
    Methods raise UnknownRoleError for a ``role`` that the game does not have.

    Attributes:
        game: the game.
        lanes: the number of lanes.
    """

    def __init__(self, game: Game, machine: NetworkMachine, lanes: int, seed: int | None, card: int) -> None:
        self.game = game
        self.lanes = lanes
        self._machine = machine
        chosen = SystemRandom().getrandbits(32) if seed is None else seed
        self._lanes = machine.lanes_on_card(lanes, chosen, card)

    def __repr__(self) -> str:
        return f"<CardBatch of {self.lanes} lanes of {self.game.name} on {self._lanes.card.name}>"

    @property
    def terminal(self) -> CardArray:
        """Which lanes have ended: bool [lanes]."""
        return self._lanes.terminal

    @property
    def stuck(self) -> CardArray:
        """Which lanes are stuck, since a role has no legal move before the end: bool [lanes]."""
        return self._lanes.stuck

    def action_space(self, role: str | Term) -> ActionSpace:
        """Return the moves of a role in the order of their numbers, which are the columns of its masks."""
        index = self.game.role_index(role)
        return ActionSpace(self.game.roles[index], self._machine.compiled.actions[index])

    def legal_mask(self, role: str | Term) -> CardArray:
        """Return which moves of a role are legal: bool [lanes, actions], in the order of ``game.actions``.

        In memory, the lanes of a move are contiguous.
        """
        return self._lanes.legal(self.game.role_index(role))

    def goals(self, role: str | Term) -> CardArray:
        """Return the goals of a role, also before the end: float32 [lanes].

        A goal is nan in lanes in which the rules give no goal, or several. A goal beyond 16,777,216 is
        rounded to the nearest float32.
        """
        return self._lanes.goals(self.game.role_index(role))

    def observation(self) -> CardArray:
        """Return the fluents that are true: bool [lanes, fluents], in the order of ``game.fluent_terms``.

        In memory, the lanes of a fluent are contiguous.
        """
        return self._lanes.observation()

    def step(self, moves: Mapping[Any, ArrayLike]) -> None:
        """Make a joint move in every lane that has not ended and is not stuck.

        Args:
            moves: for each role an array [lanes] of int32 or int64, indices of ``game.actions(role)``;
                ignored in lanes that have ended or are stuck.

        Raises:
            IllegalMoveError: a move is not legal, or a role is missing; nothing has changed.
            ValueError: an array has the wrong shape or type.
        """
        self._lanes.step(arrays_in_order(self.game, moves))

    def step_random(self) -> dict[str, CardArray]:
        """Make a uniformly random joint move in every lane that has not ended and is not stuck.

        Returns:
            For each role the sampled moves: int32 [lanes], -1 in lanes that did not move.
        """
        return dict(zip(self.game.roles, self._lanes.step_random(), strict=True))

    def reset(self, lanes: ArrayLike | None = None) -> None:
        """Reset lanes to the initial state.

        Args:
            lanes: a bool array [lanes], such as ``batch.terminal``; all by default.

        Raises:
            ValueError: the array has the wrong shape or type.
        """
        self._lanes.reset(lanes)
