"""Many games of one kind side by side on a graphics card, for learners that are there."""

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
    """Games side by side on a graphics card: what ``Batch`` is on a processor, with arrays on the card.

    Arrays are the batch's own, and are written anew after the next move: copy what is to be kept.
    ``torch.from_dlpack``, ``jax.dlpack.from_dlpack`` and ``cupy.from_dlpack`` read them where they are, and
    ``array.numpy()`` copies one. Moves and masks may lie on the card, as tensors of PyTorch and all else that
    has CUDA's array interface, or not. Made by ``game.card_batch``.

    Attributes:
        game: the game.
        lanes: how many.
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
        """Which lanes have come to an end: bool [lanes]."""
        return self._lanes.terminal

    @property
    def stuck(self) -> CardArray:
        """In which lanes a role has no legal move, though they have not come to an end: bool [lanes]."""
        return self._lanes.stuck

    def action_space(self, role: str | Term) -> ActionSpace:
        """Return what the numbers of a role's moves stand for, the columns of its masks.

        Raises:
            UnknownRoleError: the game has no such role.
        """
        index = self.game.role_index(role)
        return ActionSpace(self.game.roles[index], self._machine.compiled.actions[index])

    def legal_mask(self, role: str | Term) -> CardArray:
        """Return which moves of a role are legal: bool [lanes, actions], in the order of ``game.actions``.

        The lanes of a move lie side by side in memory.

        Raises:
            UnknownRoleError: the game has no such role.
        """
        return self._lanes.legal(self.game.role_index(role))

    def goals(self, role: str | Term) -> CardArray:
        """Return the goals of a role, at the end or before: float32 [lanes]; nan where there is not one.

        A goal beyond 16,777,216 is rounded to the nearest float32.

        Raises:
            UnknownRoleError: the game has no such role.
        """
        return self._lanes.goals(self.game.role_index(role))

    def observation(self) -> CardArray:
        """Return what is true: bool [lanes, fluents], in the order of ``game.fluent_terms``.

        The lanes of a fluent lie side by side in memory.
        """
        return self._lanes.observation()

    def step(self, moves: Mapping[Any, ArrayLike]) -> None:
        """Make a joint move in every lane that can go on.

        Args:
            moves: for each role an array [lanes] of int32 or int64, indices of ``game.actions(role)``. What
                is chosen in lanes that have come to an end, or are stuck, is not read.

        Raises:
            IllegalMoveError: a move is not legal, or a role is missing; nothing has changed.
            UnknownRoleError: a key is no role.
            ValueError: an array has another shape or type.
        """
        self._lanes.step(arrays_in_order(self.game, moves))

    def step_random(self) -> dict[str, CardArray]:
        """Make a random joint move in every lane that can go on, each role's uniform.

        Returns:
            What was chosen: for each role int32 [lanes]; -1 in lanes that had come to an end, or were stuck.
        """
        return dict(zip(self.game.roles, self._lanes.step_random(), strict=True))

    def reset(self, lanes: ArrayLike | None = None) -> None:
        """Put lanes back to the initial state.

        Args:
            lanes: a bool array [lanes], such as ``batch.terminal``; all by default.

        Raises:
            ValueError: the array has another shape or type.
        """
        self._lanes.reset(lanes)
