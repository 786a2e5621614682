"""How many random examples the laws are tried on: few in every run of the tests, many now and then."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final, TypeVar

if TYPE_CHECKING:
    from collections.abc import Sequence

_Item = TypeVar("_Item")

_TIMES: Final = int(os.environ.get("ANYGAME_EXAMPLES") or 1)


def examples(count: int) -> int:
    """Return how many examples a law is tried on: so many, or ANYGAME_EXAMPLES times as many."""
    return count * _TIMES


def some(items: Sequence[_Item], count: int) -> list[_Item]:
    """Return ``examples(count)`` of the items, evenly spread, or all if they are no more."""
    wanted = min(examples(count), len(items))
    return [items[index * len(items) // wanted] for index in range(wanted)]
