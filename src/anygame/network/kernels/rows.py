"""Which row of a block of lanes holds what.

A block is 512 games, and its memory is rows of 512 bits: a few with a fixed meaning, then the fluents, the
actions, what gates compute (see ``straight_line``, ``gate_loop``), and the counters.
"""

from __future__ import annotations

from functools import reduce
from heapq import heappop, heappush
from operator import or_
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from anygame.network.kernels.phases import Phases
    from anygame.network.network import Network

#: The rows with a fixed meaning. Row 0 never holds. ``GO``: the lanes that make a move in this step;
#: ``RESTART``: those that begin a playout behind it; ``RUNNING``: those with a playout under way; ``ACTIVE``:
#: those of them that are to choose moves; ``ENDED``, ``CUT``, ``STUCK``: those that leave, and why; from
#: ``RANDOM`` on the state of the random numbers; ``IDLE``: those that wait for the next playout; ``ABSENT``:
#: see ``gate_code.Presence``.
GO, RESTART, RUNNING, ACTIVE, ENDED, CUT, STUCK, RANDOM, IDLE, ABSENT = 1, 2, 3, 4, 5, 6, 7, 8, 12, 13
FIRST_FLUENT = 14
#: A role with more actions chooses among them by loops, others by straight code: for some 150 moves that
#: takes more than twice as long to compile, and runs no faster. Its chosen action is kept as a group and a
#: member, see ``RowLayout``.
MOST_UNROLLED = 64
#: Moves per group in loops: as many accumulators as fit the registers, 32 rows on the widest machines, beside
#: the rest.
GROUP = 16


class RowLayout:
    """Where the inputs of the gates lie: fluents, then actions, a row each.

    The legal actions of a role that has many are put in rows side by side, so that loops can read them. And
    what it does is also kept decoded half, as memory decodes the number of a row and that of a column apart:
    a row for each group of ``GROUP`` actions, and one for each place in a group. An action is done where both
    its rows hold, as a role does one thing at a time. These few rows stay in the cache next to the processor,
    where those of some thousand actions do not.

    Attributes:
        fluents: the row of the first fluent.
        actions: the row of the first action.
        legal: per action of a role with many the row that says whether it is legal.
        chosen: per action the phases in which it can be chosen, and all its group with it: then its row is
            set, and the row is read that says whether it is legal.
        factors: per action of a role with many the rows of its group and of its place in there.
        many: of each role with many actions the first one, and how many.
        end: the first row behind these.
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
                self._find_chosen(first, count, phases)
            first += count
        for first, count in self.many:
            members, groups = self.end, self.end + GROUP
            for number in range(count):
                self.factors[first + number] = groups + number // GROUP, members + number % GROUP
            self.end = groups + -(-count // GROUP)

    def _find_chosen(self, first: int, count: int, phases: Phases) -> None:
        for start in range(first, first + count, GROUP):
            group = range(start, min(start + GROUP, first + count))
            mask = reduce(or_, [phases.actions[action] for action in group])
            self.chosen[group.start : group.stop] = [mask] * len(group)

    def by_phases(self, actions: Iterable[int]) -> dict[int, list[int]]:
        """Return some actions by the phases in which they can be chosen."""
        found: dict[int, list[int]] = {}
        for action in actions:
            found.setdefault(self.chosen[action], []).append(action)
        return found

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
    """Return a row for each value, taken by one after the other, and the first row that is never used.

    Poletto and Sarkar, "Linear Scan Register Allocation", 1999. There are always more rows: nothing is
    spilled.

    Args:
        live_ranges: for each value when it is made and when it is read last, in the order of the first.
        first_row: the first row that is free.
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
