"""Atoms: one number for each that can ever hold, and the conjunctions that derive it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from anygame.network.logic.merging import FAILS, HOLDS, merge, normalised
from anygame.network.logic.ragged import starts_of, strong_components

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from anygame.datalog.relations import Relation
    from anygame.network.grounding.grounder import Batch, Grounding
    from anygame.network.grounding.tables import Ids


class Atoms:
    """The atoms of a grounding as numbers, and what derives each.

    A conjunction is a tuple of literals; a literal is twice an atom, plus one where it must not hold.

    Attributes:
        count: how many atoms.
        fluents: per relation of ``true``, the atom of its first row and how many there are.
        actions: the same for ``does``.
        literal_of: what each atom has become: a literal, perhaps of another atom, ``HOLDS`` or ``FAILS``.
        conjunctions: how many there were at first.
        literals: how many literals these have.
    """

    def __init__(self, grounding: Grounding) -> None:
        self._tables = grounding.tables
        self._first: dict[Relation, int] = {}
        self.count = 0
        for relation, table in grounding.tables.items():
            self._first[relation] = self.count
            self.count += table.count
        self.fluents = self._ranges("true")
        self.actions = self._ranges("does")
        self._facts = np.zeros(self.count, np.bool_)
        for relation, rows in grounding.facts.items():
            self._facts[self._first[relation] + rows] = True
        self._collect(grounding.batches)

    def _ranges(self, predicate: str) -> dict[Relation, tuple[int, int]]:
        return {
            relation: (first, self._tables[relation].count)
            for relation, first in self._first.items()
            if relation.predicate == predicate
        }

    def of(self, relation: Relation, rows: Ids | None = None) -> Ids:
        """Return the atoms of some rows of a relation, of all by default."""
        table = self._tables.get(relation)
        count = table.count if table is not None else 0
        return self._first.get(relation, 0) + (np.arange(count) if rows is None else rows)

    def of_conjunctions(self, atom: int) -> list[list[int]]:
        """Return the conjunctions that derive an atom: literals, ascending; perhaps ``HOLDS`` before."""
        found: list[list[int]] = []
        for starts, rows in self._groups:
            low, high = starts[atom], starts[atom + 1]
            if low < high:
                found += rows[low:high].tolist()
        return found

    def _collect(self, batches: list[Batch]) -> None:
        """Sort the instances by head; those with as many literals lie together."""
        by_width: dict[int, list[NDArray[np.int64]]] = {}
        for batch in batches:
            rows = self._rows(batch)
            by_width.setdefault(rows.shape[1], []).append(rows)
        groups = [np.concatenate(found) for _, found in sorted(by_width.items())]
        self.conjunctions = sum(len(rows) for rows in groups)
        self.literals = sum(int((rows[:, 1:] >= 0).sum()) for rows in groups)
        is_input = np.zeros(self.count, np.bool_)
        for first, count in (*self.fluents.values(), *self.actions.values()):
            is_input[first : first + count] = True
        self.literal_of, groups = merge(groups, is_input, self._facts, self._levels(batches))
        self._groups: list[tuple[list[int], Ids]] = []
        for rows in groups:
            rows = rows[np.argsort(rows[:, 0], kind="stable")]
            literals = np.ascontiguousarray(rows[:, 1:])
            starts = starts_of(np.bincount(rows[:, 0], minlength=self.count)).tolist()
            self._groups.append((starts, literals))

    def _levels(self, batches: list[Batch]) -> Ids:
        """Return per atom how far its relation lies above the state and the moves, whatever is recursive."""
        numbers = {relation: number for number, relation in enumerate(self._first)}
        reads: list[set[int]] = [set() for _ in numbers]
        for batch in batches:
            read = {*batch.rule.positives, *batch.rule.negatives}
            found = {numbers[atom.relation] for atom in read if atom.relation in numbers}
            reads[numbers[batch.rule.head.relation]] |= found
        level = [0] * len(numbers)
        for component in strong_components(range(len(numbers)), lambda number: sorted(reads[number])):
            below = {level[read] for number in component for read in reads[number].difference(component)}
            for number in component:
                level[number] = 1 + max(below, default=0) if reads[number] else 0
        counts = [self._tables[relation].count for relation in numbers]
        return np.repeat(np.array(level, np.int64), counts)

    def _rows(self, batch: Batch) -> NDArray[np.int64]:
        """Return head and literals per instance, literals ascending, without what always holds."""
        columns: list[Ids] = []
        for atom, rows in zip(batch.rule.positives, batch.positives, strict=True):
            atoms = self.of(atom.relation, rows)
            columns.append(np.where(self._facts[atoms], HOLDS, 2 * atoms))
        for atom, keys in zip(batch.rule.negatives, batch.negatives, strict=True):
            columns.append(self._negated(atom.relation, keys, len(batch.heads)))
        heads = self.of(batch.rule.head.relation, batch.heads)
        if not columns:
            return heads[:, None]
        return normalised(np.stack([heads, *columns], axis=1))

    def _negated(self, relation: Relation, keys: list[NDArray[np.int32]], count: int) -> Ids:
        table = self._tables.get(relation)
        if table is None:
            return np.full(count, HOLDS, np.int64)
        numbers = table.find(keys, count)
        atoms = self.of(relation, numbers)
        literals = np.where(self._facts[np.where(numbers < 0, 0, atoms)], FAILS, 2 * atoms + 1)
        return np.where(numbers < 0, HOLDS, literals)
