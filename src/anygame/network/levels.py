"""Levels: gates none of which reads another one of the same level, so that all of a level go at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from anygame.network.logic.ragged import distinct, places

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from anygame.network.network import Network

    Numbers = NDArray[np.int64]


def units_of(network: Network) -> Numbers:
    """Return per gate the first gate of its cycle, itself where it is in none: int64 [gates]."""
    units = np.arange(network.gates)
    for cycle in network.cycles:
        units[cycle.first : cycle.end] = cycle.first
    return units


def gates_by_level(network: Network) -> list[Numbers]:
    """Return the gates of each level, from those that read inputs alone; a cycle is on one level.

    >>> from anygame.network.network import Network
    >>> [level.tolist() for level in gates_by_level(Network.example())]
    [[0]]
    """
    units = units_of(network)
    reader = np.repeat(units, np.diff(network.starts))
    read = (network.inputs >> 1) - network.first_gate
    between = read >= 0
    reader, read = reader[between], units[read[between]]
    outside = reader != read
    reader, read = reader[outside], read[outside]
    waiting = np.bincount(reader, minlength=network.gates)
    order = np.argsort(read, kind="stable")
    starts = np.searchsorted(read[order], np.arange(network.gates + 1))
    reader = reader[order]
    level = np.zeros(network.gates, np.int64)
    ready = np.flatnonzero((waiting == 0) & (units == np.arange(network.gates)))
    number = 0
    while len(ready):
        level[ready] = number
        number += 1
        readers = reader[places(starts[ready], starts[ready + 1] - starts[ready])]
        np.subtract.at(waiting, readers, 1)
        ready = distinct(readers[waiting[readers] == 0])
    level = level[units]
    order = np.argsort(level, kind="stable")
    return np.split(order, np.searchsorted(level[order], np.arange(1, number))) if number else []
