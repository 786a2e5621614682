"""Planes: the fluents of a game as images over the squares of its board, for neural networks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


class Planes:
    """The layout of fluents as planes over the squares of the board.

    Facts with the same content on different squares share a channel. Boards that are parts of one large board
    share the planes of the large board. All other boards, and boards of different fluents, have separate
    channels. Every board starts at the top left of its planes; elements outside a small board are false.

    Attributes:
        channels: the name of each plane. The name of a plane of a board is a fact with ``?`` for the
            coordinates, as in ``(cell ? ? x)``. The plane of a fluent outside all boards has the same value
            on all squares.
        rows: the number of rows, from top to bottom.
        columns: the number of columns, from left to right.
        places: for each fluent on a board, the index of its element in the flattened planes.
    """

    def __init__(self, channels: Sequence[str], rows: int, columns: int, places: Sequence[int]) -> None:
        self.channels = tuple(channels)
        self.rows = rows
        self.columns = columns
        self.places = {fluent: place for fluent, place in enumerate(places) if place >= 0}
        self._on_board = np.array([*self.places.values()], np.intp)
        self._of_board = np.array([*self.places], np.intp)
        self._off_board = np.flatnonzero(np.array(places, np.intp) < 0)

    @property
    def shape(self) -> tuple[int, int, int]:
        """The numbers of channels, rows and columns."""
        return len(self.channels), self.rows, self.columns

    def of(self, observation: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return observations [..., fluents] as planes: bool [..., channels, rows, columns]."""
        leading, squares = observation.shape[:-1], self.rows * self.columns
        planes = np.zeros((*leading, len(self.channels) * squares), np.bool_)
        planes[..., self._on_board] = observation[..., self._of_board]
        planes = planes.reshape(*leading, *self.shape)
        first = len(self.channels) - len(self._off_board)
        planes[..., first:, :, :] = observation[..., self._off_board, None, None]
        return planes
