"""Rewrites, from top to bottom: each makes a circuit smaller and leaves what it computes as it is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from anygame.network.logic.rewrites.conjunctions import merge_conjunctions
from anygame.network.logic.rewrites.implied import drop_implied_conditions

if TYPE_CHECKING:
    from collections.abc import Callable

    from anygame.network.logic.circuit import Circuit

#: Each makes a circuit smaller, and can be left out.
REWRITES: Final[tuple[tuple[str, Callable[[Circuit], Circuit]], ...]] = (
    ("dropping implied conditions", drop_implied_conditions),
    ("merging conjunctions", merge_conjunctions),
)
