"""Games side by side in the lanes of a network, with names for what the network numbers."""

from __future__ import annotations

from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Final

import numpy as np

from anygame.errors import IllegalMoveError, PositionError
from anygame.network.lanes import DOUBLE, MISSING, IllegalChoiceError, Lanes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from anygame.network.compiled import CompiledGame
    from anygame.network.kernels.kernel import Kernel

#: Legal moves that an error names at most.
_SHOWN: Final = 8


class GameLanes(Lanes):
    """The lanes of a compiled game: see ``Batch``, which asks them. Roles are given by their index."""

    def __init__(self, kernel: Kernel, count: int, seed: int, compiled: CompiledGame) -> None:
        self._compiled = compiled
        ends = accumulate(map(len, compiled.actions), initial=0)
        self._columns = [slice(first, end) for first, end in pairwise(ends)]
        super().__init__(kernel, count, seed)

    def legal_of(self, role: int) -> NDArray[np.bool_]:
        """Return which moves of a role are legal: bool [lanes, actions]."""
        return self.legal()[:, self._columns[role]]

    def legal_by_role(self) -> list[NDArray[np.bool_]]:
        """Return which moves are legal for each role: bool [lanes, actions] per role."""
        legal = self.legal()
        return [legal[:, columns] for columns in self._columns]

    def percepts_of(self, role: int) -> NDArray[np.bool_]:
        """Return what a role saw of the last joint move of each lane: bool [lanes, percepts].

        Lanes that made none, since they had come to an end or have been put into a state, show nothing.
        """
        if not self.network.percepts:
            return np.zeros((self.count, 0), np.bool_)
        return self.percepts()[role]

    def goals_of(self, role: int) -> NDArray[np.float64]:
        """Return goals: float [lanes]; not a number where there is none, or several."""
        goals = self.goals()[role]
        return np.where((goals == MISSING) | (goals == DOUBLE), np.nan, goals)

    # -- moving ------------------------------------------------------------------------------------

    def step(self, choices: Sequence[ArrayLike], mask: ArrayLike | None = None) -> None:
        """Move in all lanes that can go on; see ``Batch.step``."""
        for role, chosen in zip(self._compiled.roles, choices, strict=True):
            array = np.asarray(chosen)
            if array.shape != (self.count,) or not np.issubdtype(array.dtype, np.integer):
                raise ValueError(
                    f"the moves of {role} should be {self.count} integers, one per lane, not an array "
                    f"of {array.dtype} of shape {array.shape}"
                )
        try:
            super().step(choices, None if mask is None else self._mask(mask))
        except IllegalChoiceError as error:
            raise self._illegal(error) from None

    def _illegal(self, error: IllegalChoiceError) -> IllegalMoveError:
        role, moves = self._compiled.roles[error.role], self._compiled.actions[error.role]
        known = 0 <= error.action < len(moves)
        move = str(moves[error.action]) if known else ""
        legal = np.flatnonzero(self.legal_of(error.role)[error.lane]).tolist()
        some = ", ".join(f"{index} {moves[index]}" for index in legal[:_SHOWN])
        more = ", ..." if len(legal) > _SHOWN else ""
        what = (
            f"{error.action}, {move}," if known else f"{error.action} (numbers go from 0 to {len(moves) - 1})"
        )
        return IllegalMoveError(
            f"lane {error.lane}: {what} is not legal for {role}; legal: {some or 'nothing'}{more}",
            str(role),
            move,
            [str(moves[index]) for index in legal[:_SHOWN]],
        )

    # -- positions ---------------------------------------------------------------------------------

    def reset(self, mask: ArrayLike | None = None) -> None:
        """Put lanes back; see ``Batch.reset``."""
        super().reset(None if mask is None else self._mask(mask))

    def _mask(self, chosen: ArrayLike) -> NDArray[np.bool_]:
        """Return which lanes are meant by numbers of lanes, or by a mask: bool [lanes]."""
        array, count = np.asarray(chosen), self.count
        if array.dtype == np.bool_:
            return array
        numbers = array.astype(np.int64) if array.size else np.zeros(0, np.int64)
        wrong = numbers[(numbers < 0) | (numbers >= count)]
        if wrong.size or (array.size and not np.issubdtype(array.dtype, np.integer)):
            given = wrong.flat[0] if wrong.size else array.dtype
            raise IndexError(f"expected numbers of lanes from 0 to {count - 1}, got {given}")
        mask = np.zeros(count, np.bool_)
        mask[numbers] = True
        return mask

    def set_observation(self, states: ArrayLike) -> None:
        """Put all lanes into states: bool [lanes, fluents]; see ``Batch.set_observation``."""
        array = np.asarray(states)
        expected = (self.count, len(self._compiled.fluents))
        if array.shape != expected or not (
            array.dtype == np.bool_ or (np.isin(array, (0, 1)).all() and array.dtype.kind in "iuf")
        ):
            raise ValueError(
                f"expected an observation of truth values [{expected[0]} lanes, {expected[1]} fluents], "
                f"found an array of {array.dtype} of shape {array.shape}"
            )
        pair = self._compiled.exclusions.pair_in(array)
        if pair is not None:
            lane, one, other = pair
            fluents = self._compiled.fluents
            raise PositionError(f"lane {lane}: no play leads to {fluents[one]} and {fluents[other]} together")
        self.load(array)

    def position(self, lane: int) -> bytes:
        """Return the position of a lane, as the machine holds it."""
        return self.get(lane).tobytes()

    def set_position(self, lane: int, position: bytes) -> None:
        """Put a lane into a position of the machine."""
        self.set(lane, np.frombuffer(position, np.bool_))
