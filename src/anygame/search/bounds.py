"""Between what a value lies."""

from __future__ import annotations

from typing import NamedTuple


class Bounds(NamedTuple):
    """Between what the value of a state lies, for one role.

    Attributes:
        least: what the role can make sure of.
        most: what the others can hold it to.
    """

    least: float
    most: float
