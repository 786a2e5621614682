"""Gates: conjunctions of literals, each made once (structural hashing).

After Kuehlmann, Paruthi, Krohm and Ganai (2002, "Robust Boolean reasoning for equivalence checking and
functional property verification"), with gates of any width.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from anygame.network.network import FALSE, TRUE

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["Gates"]


class Gates:
    """A growing list of distinct gates over some inputs.

    Literals are as in ``Network``: twice the node, plus one where it is inverted; node 0 never holds.
    Of the nodes of a *choice* exactly one holds, always; gates are simplified by that.

    Args:
        inputs: how many nodes come before the first gate, the constant among them.
        choices: groups of nodes of which exactly one holds.

    Attributes:
        inputs: as given.
        gates: the inputs of each gate; None for one that is to be closed yet.
        choices: as given.
        opened: the nodes of disjunctions that were opened; each is inverted, so that it begins as true.
    """

    def __init__(self, inputs: int, choices: Iterable[Sequence[int]] = ()) -> None:
        self.inputs = inputs
        self.gates: list[tuple[int, ...] | None] = []
        self.opened: set[int] = set()
        self._known: dict[tuple[int, ...], int] = {}
        self._choice_of: dict[int, int] = {}
        self.choices = [tuple(choice) for choice in choices]
        for number, choice in enumerate(self.choices):
            self._choice_of.update(dict.fromkeys(choice, number))

    def conjunction(self, literals: Iterable[int]) -> int:
        """Return the literal that holds where all of some literals do."""
        found = set(literals)
        found.discard(TRUE)
        if FALSE in found:
            return FALSE
        if len(found) < 2:
            return found.pop() if found else TRUE
        key = tuple(sorted(found))
        number = self._known.get(key)
        if number is not None:
            return 2 * number
        for literal in found:
            if literal ^ 1 in found:
                return FALSE
        # Choices are made of inputs, which come first.
        if self.choices and key[0] >> 1 < self.inputs:
            simpler = self._choose(found)
            if simpler is None:
                return FALSE
            if len(simpler) < 2:
                return simpler.pop() if simpler else TRUE
            if simpler != found:
                key = tuple(sorted(simpler))
        number = self._known.get(key)
        if number is None:
            number = self._known[key] = self._add(key)
        return 2 * number

    def disjunction(self, literals: Iterable[int]) -> int:
        """Return the literal that holds where at least one of some literals does."""
        return self.conjunction([literal ^ 1 for literal in literals]) ^ 1

    def inputs_of(self, literal: int) -> tuple[int, ...] | None:
        """Return the inputs of the gate behind a literal; None for an input."""
        number = (literal >> 1) - self.inputs
        return self.gates[number] if number >= 0 else None

    def open(self) -> int:
        """Return the literal of a new disjunction whose parts are not known yet; see ``close``."""
        node = self._add(None)
        self.opened.add(node)
        return 2 * node + 1

    def close(self, literal: int, parts: Iterable[int]) -> None:
        """Say what an open disjunction is made of."""
        inputs = sorted({part ^ 1 for part in parts} - {TRUE})
        if FALSE in inputs:
            inputs = [FALSE]
        self.gates[(literal >> 1) - self.inputs] = tuple((inputs * 2)[:2] if len(inputs) < 2 else inputs)

    def _add(self, inputs: tuple[int, ...] | None) -> int:
        self.gates.append(inputs)
        return self.inputs + len(self.gates) - 1

    def _choose(self, found: set[int]) -> set[int] | None:
        """Simplify a conjunction by what is known of choices; None where it can never hold."""
        touched: dict[int, list[int]] = {}
        for literal in found:
            choice = self._choice_of.get(literal >> 1)
            if choice is not None:
                touched.setdefault(choice, []).append(literal)
        for choice, literals in touched.items():
            if len(literals) < 2 and len(self.choices[choice]) > 2:
                continue
            positive = [literal for literal in literals if not literal & 1]
            if len(positive) > 1:
                return None
            if positive:
                # One holds, so the others do not.
                found = found.difference(literals)
                found.add(positive[0])
                continue
            nodes = self.choices[choice]
            if 2 * len(literals) > len(nodes):
                excluded = {literal >> 1 for literal in literals}
                rest = [2 * node for node in nodes if node not in excluded]
                found = found.difference(literals)
                found.add(self.disjunction(rest) if rest else FALSE)
        if FALSE in found:
            return None
        found.discard(TRUE)
        if any(literal ^ 1 in found for literal in found):
            return None
        return found
