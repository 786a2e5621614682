"""Gates: conjunctions of literals, each made once (structural hashing).

After Kuehlmann, Paruthi, Krohm and Ganai (2002, "Robust Boolean reasoning for equivalence checking and
functional property verification"), with gates of any width.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Final

from anygame.network.network import FALSE, TRUE

if TYPE_CHECKING:
    from collections.abc import Iterable

#: Sets of so many literals stand for themselves among those that are known. They are found fast; larger ones
#: would take much more memory than the sorted literals.
_FEW: Final = 4
_Key = frozenset[int] | tuple[int, ...]


class Gates:
    """A growing list of distinct gates over some inputs.

    Literals are as in ``Network``: twice the node, plus one where it is inverted; node 0 never holds.

    Args:
        inputs: how many nodes come before the first gate, the constant among them.

    Attributes:
        gates: the inputs of each gate.
    """

    def __init__(self, inputs: int) -> None:
        self.inputs = inputs
        self.gates: list[tuple[int, ...]] = []
        #: What was asked for, in every form, and the literal that it is.
        self._known: dict[_Key, int] = {}

    def copy(self) -> Gates:
        """Return the same gates; those that are added later are in one of both."""
        found = Gates(self.inputs)
        found.gates, found._known = self.gates.copy(), self._known.copy()
        return found

    def conjunction(self, literals: Iterable[int]) -> int:
        """Return the literal that holds where all of some literals do."""
        asked = frozenset(literals)
        key = asked if len(asked) <= _FEW else tuple(sorted(asked))
        literal = self._known.get(key)
        if literal is None:
            literal = self._conjunction(asked, key)
            if len(asked) > 1:
                self._known[key] = literal
        return literal

    def _conjunction(self, asked: frozenset[int], key: _Key) -> int:
        """Return the literal of a conjunction that was not asked for in this form before."""
        if FALSE in asked:
            return FALSE
        found = asked - {TRUE} if TRUE in asked else asked
        if len(found) < 2:
            return next(iter(found), TRUE)
        row = key if isinstance(key, tuple) and found is asked else tuple(sorted(found))
        # A literal and its inverse would stand side by side.
        for one, other in pairwise(row):
            if one ^ 1 == other:
                return FALSE
        if found is not asked:
            return self.conjunction(found)
        return 2 * self._add(row)

    def disjunction(self, literals: Iterable[int]) -> int:
        """Return the literal that holds where at least one of some literals does."""
        return self.conjunction([literal ^ 1 for literal in literals]) ^ 1

    def inputs_of(self, literal: int) -> tuple[int, ...] | None:
        """Return the inputs of the gate behind a literal; None for an input."""
        number = (literal >> 1) - self.inputs
        return self.gates[number] if number >= 0 else None

    def _add(self, inputs: tuple[int, ...]) -> int:
        self.gates.append(inputs)
        return self.inputs + len(self.gates) - 1
