"""Gates: conjunctions of literals, each made once (structural hashing).

The method is from Kuehlmann, Paruthi, Krohm and Ganai (2002, "Robust Boolean reasoning for equivalence
checking and functional property verification"), here with gates of any width.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Final

from anygame.network.network import FALSE, TRUE

if TYPE_CHECKING:
    from collections.abc import Iterable

#: Maximum size of a set of literals that is its own key, which is fast. Larger sets take more memory than
#: tuples.
_FEW: Final = 4
_Key = frozenset[int] | tuple[int, ...]


class Gates:
    """A growing list of distinct gates over some inputs.

    Literals are as in ``Network``: twice the node, plus one if inverted; node 0 never holds. ``inputs`` is
    the number of nodes before the first gate, including the constant. ``gates`` has the inputs of each gate.
    """

    def __init__(self, inputs: int) -> None:
        self.inputs = inputs
        self.gates: list[tuple[int, ...]] = []
        #: The literal of each requested conjunction.
        self._known: dict[_Key, int] = {}

    def copy(self) -> Gates:
        """Return an independent copy."""
        made = Gates(self.inputs)
        made.gates, made._known = self.gates.copy(), self._known.copy()
        return made

    def conjunction(self, literals: Iterable[int]) -> int:
        """Return the literal of the conjunction of some literals."""
        asked = frozenset(literals)
        key = asked if len(asked) <= _FEW else tuple(sorted(asked))
        literal = self._known.get(key)
        if literal is None:
            literal = self._conjunction(asked, key)
            if len(asked) > 1:
                self._known[key] = literal
        return literal

    def _conjunction(self, asked: frozenset[int], key: _Key) -> int:
        if FALSE in asked:
            return FALSE
        others = asked - {TRUE} if TRUE in asked else asked
        if len(others) < 2:
            return next(iter(others), TRUE)
        row = key if isinstance(key, tuple) and others is asked else tuple(sorted(others))
        # A literal and its inverse are neighbours.
        for one, other in pairwise(row):
            if one ^ 1 == other:
                return FALSE
        if others is not asked:
            return self.conjunction(others)
        self.gates.append(row)
        return 2 * (self.inputs + len(self.gates) - 1)

    def disjunction(self, literals: Iterable[int]) -> int:
        """Return the literal of the disjunction of some literals."""
        return self.conjunction([literal ^ 1 for literal in literals]) ^ 1

    def inputs_of(self, literal: int) -> tuple[int, ...] | None:
        """Return the inputs of the gate of a literal; None for an input."""
        number = (literal >> 1) - self.inputs
        return self.gates[number] if number >= 0 else None
