"""Linear scan register allocation: rows for values, each taken by one value after the other.

Poletto and Sarkar, "Linear Scan Register Allocation", 1999. There are always more rows: nothing is spilled.
"""

from __future__ import annotations

from heapq import heappop, heappush
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


def linear_scan(live_ranges: Iterable[tuple[int, int]], first_row: int) -> tuple[list[int], int]:
    """Return a row for each value, and the first row that is never used.

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
