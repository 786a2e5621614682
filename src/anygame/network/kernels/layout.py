"""The rows of the inputs and outputs of the gates."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from heapq import heappop, heappush
from operator import or_
from typing import TYPE_CHECKING

from anygame.network.kernels.function import FIRST_FLUENT

if TYPE_CHECKING:
    from collections.abc import Iterable

    from anygame.network.kernels.phases import Phases
    from anygame.network.network import Network

#: Maximum number of actions of a role for which straight-line code chooses a move. Loops for all roles make
#: 0.91 times as many playouts on nine sheets. For about 150 actions, straight-line code takes more than twice
#: as long to compile as loops, and is not faster.
MOST_UNROLLED = 64
#: Number of actions per group in loops. The widest machines have registers for 32 rows: an accumulator for
#: each action of a group, and other values.
GROUP = 16


@dataclass(frozen=True)
class GateOutputs:
    """The bit literals of the outputs: legality of each action, end of the game, and goals of each role."""

    legal: tuple[int, ...]
    terminal: int
    goals: tuple[tuple[tuple[int, int], ...], ...]


class RowLayout:
    """The rows of inputs and outputs, which are the same in straight-line code and in loops.

    First come the rows of fluents, then the rows of actions. Each output that is a gate has its own row, too.
    Row ``end`` is the first unused row.

    Loops choose the moves of a role with many actions, and read the legality of its actions from adjacent
    rows. They store the chosen action half decoded (*factors*): a row for each group of ``GROUP`` actions,
    and a row for each member of a group. An action is chosen in the lanes in which both its rows hold, since
    a role makes one move at a time. Unlike the rows of thousands of actions, these rows stay in the
    first-level cache.

    Attributes:
        legal: per action of a role with many actions, the row of its legality.
        chosen: per action, the phases in which an action of its group can be legal. Only in these phases the
            code writes the action's row and reads its legality.
        factors: per action of a role with many actions, the rows of its group and of its place in the group.
        many: per role with many actions, its first action and the number of its actions.
        answers: per output that is a gate, the row of its node.
        copies: actions whose legality must be copied to their rows in ``legal``.
    """

    def __init__(self, network: Network, phases: Phases) -> None:
        self.fluents = FIRST_FLUENT
        self.actions = FIRST_FLUENT + network.fluents
        self._actions = sum(network.actions)
        self.end = self.actions + self._actions
        self.legal: dict[int, int] = {}
        self.chosen = [phases.every] * self._actions
        self.factors: dict[int, tuple[int, int]] = {}
        self.many: list[tuple[int, int]] = []
        first = 0
        for count in network.actions:
            if count > MOST_UNROLLED:
                self.many.append((first, count))
                self.legal.update((first + number, self.end + number) for number in range(count))
                self.end += count
                for start in range(first, first + count, GROUP):
                    group = range(start, min(start + GROUP, first + count))
                    mask = reduce(or_, [phases.actions[action] for action in group])
                    self.chosen[group.start : group.stop] = [mask] * len(group)
            first += count
        for first, count in self.many:
            members, groups = self.end, self.end + GROUP
            for number in range(count):
                self.factors[first + number] = groups + number // GROUP, members + number % GROUP
            self.end = groups + -(-count // GROUP)
        self.answers: dict[int, int] = {}
        self.copies: list[int] = []
        self.outputs = self._place_outputs(network)

    def _place_outputs(self, network: Network) -> GateOutputs:
        literals = network.legal.tolist()
        for action, row in self.legal.items():
            node, is_inverted = divmod(literals[action], 2)
            if is_inverted or node < network.first_gate or node in self.answers:
                self.copies.append(action)
            else:
                self.answers[node] = row

        def bit(literal: int) -> int:
            node = literal >> 1
            if node < network.first_gate:
                return 2 * self.input(node) | literal & 1
            if node not in self.answers:
                self.answers[node] = self.end
                self.end += 1
            return 2 * self.answers[node] | literal & 1

        legal = [
            2 * self.legal[action] if action in self.legal else bit(literal)
            for action, literal in enumerate(literals)
        ]
        goals = tuple(tuple((value, bit(literal)) for value, literal in role) for role in network.goals)
        return GateOutputs(tuple(legal), bit(network.terminal), goals)

    def by_phases(self, actions: Iterable[int]) -> dict[int, list[int]]:
        """Group actions by their phases in ``chosen``."""
        groups: dict[int, list[int]] = {}
        for action in actions:
            groups.setdefault(self.chosen[action], []).append(action)
        return groups

    @property
    def fluent_rows(self) -> slice:
        """The rows of the fluents."""
        return slice(self.fluents, self.actions)

    @property
    def action_rows(self) -> slice:
        """The rows of the actions."""
        return slice(self.actions, self.actions + self._actions)

    def input(self, node: int) -> int:
        """Return the row of an input node; the constant has row 0."""
        return node + FIRST_FLUENT - 1 if node else 0


def linear_scan(live_ranges: Iterable[tuple[int, int]], first_row: int) -> tuple[list[int], int]:
    """Return a row for each value, and the first unused row.

    ``live_ranges`` are the times of definition and last use of each value, sorted by definition. See Poletto
    and Sarkar, "Linear Scan Register Allocation", 1999. Rows are unlimited, so no value is spilled.
    """
    rows: list[int] = []
    free: list[int] = []
    ending: dict[int, list[int]] = {}
    times: list[int] = []
    end = first_row
    for begin, last in live_ranges:
        while times and times[0] < begin:
            free += ending.pop(heappop(times))
        if free:
            row = free.pop()
        else:
            row, end = end, end + 1
        rows.append(row)
        if last not in ending:
            ending[last] = []
            heappush(times, last)
        ending[last].append(row)
    return rows, end
