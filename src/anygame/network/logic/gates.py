"""Gates: conjunctions of literals, each built only once (structural hashing).

The method is from Kuehlmann, Paruthi, Krohm and Ganai (2002, "Robust Boolean reasoning for equivalence
checking and functional property verification"), here with gates of any width.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from anygame.network.network import FALSE, TRUE

if TYPE_CHECKING:
    from collections.abc import Iterable


class Gates:
    """A growing list of distinct gates over some inputs.

    Literals are as in ``Network``: twice the node, plus one if inverted; node 0 never holds. ``inputs`` is
    the number of nodes before the first gate, including the constant. ``gates`` has the sorted input literals
    of each gate.
    """

    def __init__(self, inputs: int) -> None:
        self.inputs = inputs
        self.gates: list[tuple[int, ...]] = []
        self._known: dict[tuple[int, ...], int] = {}

    def copy(self) -> Gates:
        """Return an independent copy."""
        made = Gates(self.inputs)
        made.gates, made._known = self.gates.copy(), self._known.copy()
        return made

    def conjunction(self, literals: Iterable[int]) -> int:
        """Return the literal of the conjunction of some literals."""
        row = tuple(sorted({*literals} - {TRUE}))
        if len(row) < 2 or row[0] == FALSE:
            return row[0] if row else TRUE
        known = self._known.get(row)
        if known is not None:
            return known
        # A literal and its inverse are neighbours in the row.
        if any(one ^ 1 == other for one, other in pairwise(row)):
            literal = FALSE
        else:
            self.gates.append(row)
            literal = 2 * (self.inputs + len(self.gates) - 1)
        self._known[row] = literal
        return literal

    def disjunction(self, literals: Iterable[int]) -> int:
        """Return the literal of the disjunction of some literals."""
        return self.conjunction([literal ^ 1 for literal in literals]) ^ 1

    def inputs_of(self, literal: int) -> tuple[int, ...] | None:
        """Return the inputs of the gate of a literal; None for an input."""
        number = (literal >> 1) - self.inputs
        return self.gates[number] if number >= 0 else None
