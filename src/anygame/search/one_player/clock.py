"""Counters of steps: fluents that make every state new, though nothing but the end reads them.

States that differ in such a clock alone have the same moves, and lead to states that differ in it alone. So a
search need not visit both: the earlier one does as well. That loses no line to a goal if that goal ends the
match whatever the clock says; a line to a goal that the clock alone ends may be lost, since who is early may
not be able to wait.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from anygame.network.kernels.phases import autonomous_fluents, cyclic_gates, inputs_of, run_alone
from anygame.network.network import FALSE, TRUE

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from anygame.network.network import Network
    from anygame.search.one_player.influence import Influence

#: A clock that has so many values is one of a game that nobody plays to the end.
_MOST_TICKS: Final = 2_000
#: Gates, or fluents, times ticks that are looked at: a fraction of a second.
_MOST_WORK: Final = 300_000


@dataclass(frozen=True, eq=False)
class Clock:
    """What may be left out of a state when it is compared with others.

    Attributes:
        fluents: bool [fluents].
        safe_goals: the goals to which no line is lost, nor a shorter one, where the earlier of two states
            that differ in these fluents alone stands for both.
    """

    fluents: NDArray[np.bool_]
    safe_goals: frozenset[int]


def find_clock(influence: Influence, chooser: int, start: NDArray[np.bool_]) -> Clock:
    """Return the clock of a game, with no fluents where it has none.

    Args:
        influence: of its network.
        chooser: the index of the role that chooses.
        start: bool [fluents]; the state from which the clock runs.
    """
    network = influence.network
    goals = frozenset(value for value, _ in network.goals[chooser])
    none = Clock(np.zeros(network.fluents, np.bool_), goals)
    relevant = influence.relevant_fluents(chooser)
    alone = np.zeros_like(relevant)
    alone[list(autonomous_fluents(network))] = True
    fluents = np.flatnonzero(alone & relevant).tolist()
    most = min(_MOST_TICKS, _MOST_WORK // max(1, len(fluents)))
    ticks = np.array(run_alone(network, fluents, start, most)[:-1], np.bool_)
    if not len(fluents) or not len(ticks):
        return none
    varying = np.zeros_like(relevant)
    varying[fluents] = (ticks != ticks[0]).any(axis=0)
    nodes = 1 + np.flatnonzero(varying)
    if not len(nodes):
        return none
    affected = influence.affected_now(nodes)
    others = relevant & ~alone
    if affected[network.legal >> 1].any() or affected[network.next[others] >> 1].any():
        return none
    return Clock(varying, _safe_goals(network, chooser, nodes, ticks[:, varying[fluents]], affected))


def _safe_goals(
    network: Network,
    chooser: int,
    nodes: NDArray[np.int64],
    ticks: NDArray[np.bool_],
    affected: NDArray[np.bool_],
) -> frozenset[int]:
    """Return the goals that end the match whatever the clock says.

    Args:
        network: the game.
        chooser: the index of the role that chooses.
        nodes: int64 [fluents]; of the clock.
        ticks: bool [ticks, fluents]; its values one after the other.
        affected: bool [nodes]; which depend on it.
    """
    gates = [node for node in np.flatnonzero(affected).tolist() if node >= network.first_gate]
    is_cyclic = cyclic_gates(network)[np.array(gates, np.int64) - network.first_gate].any()
    if is_cyclic or len(gates) * len(ticks) > _MOST_WORK:
        return frozenset()
    residues = _Residues(network)
    going: int | None = None
    goals: dict[int, int] = {}
    for tick in ticks.tolist():
        become = residues.at(dict(zip(nodes.tolist(), tick, strict=True)), gates)
        end = become(network.terminal)
        going = end if going is None else going
        found = {value: become(literal) for value, literal in network.goals[chooser]}
        goals = {value: literal for value, literal in found.items() if goals.get(value, literal) == literal}
        if end == TRUE:
            break
        if end != going:
            return frozenset()
    assert going is not None
    return frozenset(value for value, literal in goals.items() if residues.implies(literal, going))


class _Residues:
    """Gates over the fluents that are left when those of a clock are given values."""

    def __init__(self, network: Network) -> None:
        self._network = network
        self._known: dict[tuple[int, ...], int] = {}
        self._made: dict[int, tuple[int, ...]] = {}

    def at(self, values: dict[int, bool], gates: list[int]) -> _Become:
        """Return what literals become.

        Args:
            values: of the nodes of the clock.
            gates: those that depend on it, in the order of computation.
        """
        become = _Become({node: TRUE if value else FALSE for node, value in values.items()})
        for gate in gates:
            become.literals[gate] = self._conjunction(list(map(become, inputs_of(self._network, gate))))
        return become

    def _conjunction(self, literals: list[int]) -> int:
        left = {literal for literal in literals if literal != TRUE}
        if FALSE in left or any(literal ^ 1 in left for literal in left):
            return FALSE
        if len(left) < 2:
            return left.pop() if left else TRUE
        key = tuple(sorted(left))
        number = self._known.setdefault(key, 2 * (self._network.nodes + len(self._known)))
        self._made[number] = key
        return number

    def implies(self, literal: int, other: int) -> bool:
        """Return whether it is plain that one literal holds wherever another one does not fail."""
        forced: set[int] = set()
        waiting = [literal, other ^ 1]
        while waiting:
            here = waiting.pop()
            if here == FALSE or here ^ 1 in forced:
                return True
            if here in forced or here == TRUE:
                continue
            forced.add(here)
            if not here & 1:
                waiting += self._inputs(here)
        return False

    def _inputs(self, literal: int) -> list[int]:
        made = self._made.get(literal)
        if made is not None:
            return list(made)
        node = literal >> 1
        return inputs_of(self._network, node) if node >= self._network.first_gate else []


class _Become:
    """What literals become where some nodes are known."""

    def __init__(self, literals: dict[int, int]) -> None:
        self.literals = literals

    def __call__(self, literal: int) -> int:
        return self.literals.get(literal >> 1, literal & ~1) ^ (literal & 1)
