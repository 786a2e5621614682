"""Numbers of the atoms that can ever hold, with the conjunctions that derive each atom."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np

from anygame.analysis.groups import strong_components
from anygame.network.logic.factoring import Products, each_once
from anygame.network.ragged import (
    LOW,
    SHIFT,
    all_in_rows,
    candidates,
    distinct,
    equal_rows,
    keys_of_rows,
    mixed,
    order_of,
    places,
    same_rows,
    starts_of,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from anygame.datalog.relations import Relation
    from anygame.network.grounding.grounder import Grounding, RuleInstances
    from anygame.network.ragged import Mask, Numbers

    Ids = NDArray[np.int32 | np.int64]


class Atoms:
    """The numbered atoms of a grounding, with their derivations.

    A literal is twice the number of an atom, plus one if negated.

    Attributes:
        fluents: per relation of ``true``, the atom of its first row, and its number of rows.
        actions: per relation of ``does``, the atom of its first row, and its number of rows.
        literal_of: per atom the literal that replaces it: its own literal, a literal of another atom,
            ``HOLDS`` or ``FAILS``.
        conjunctions: number of conjunctions before merging.
        literals: number of literals in these conjunctions.
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
        self._collect(grounding.by_rule)

    def _ranges(self, predicate: str) -> dict[Relation, tuple[int, int]]:
        return {
            relation: (first, self._tables[relation].count)
            for relation, first in self._first.items()
            if relation.predicate == predicate
        }

    def of(self, relation: Relation, rows: Ids | None = None) -> Ids:
        """Return the atoms of the given rows of a relation, by default of all rows."""
        table = self._tables.get(relation)
        count = table.count if table is not None else 0
        return self._first.get(relation, 0) + (np.arange(count) if rows is None else rows)

    def needed(self, wanted: Numbers, known: NDArray[np.bool_]) -> Numbers:
        """Return the wanted atoms and all atoms from which they are derived, ascending.

        The search stops at known atoms, bool [atoms], and leaves them out.
        """
        seen = known.copy()
        fresh = distinct(wanted[~seen[wanted]])
        while len(fresh):
            seen[fresh] = True
            below = self._literals_of(self._conjunctions_of(fresh)) >> 1
            fresh = distinct(below[~seen[below]])
        return np.flatnonzero(seen & ~known)

    def products(self, heads: Numbers) -> Products:
        """Return the conjunctions that derive the heads; head ``n`` is the sum ``n`` of its products."""
        conjunctions = self._conjunctions_of(heads)
        of = np.repeat(np.arange(len(heads)), self._starts[heads + 1] - self._starts[heads])
        owners = np.repeat(np.arange(len(conjunctions)), self._lengths[conjunctions])
        return Products(of, owners, self._literals_of(conjunctions))

    def _conjunctions_of(self, heads: Numbers) -> Numbers:
        return places(self._starts[heads], self._starts[heads + 1] - self._starts[heads])

    def _literals_of(self, conjunctions: Numbers) -> Numbers:
        literals: Numbers = self._literals[places(self._firsts[conjunctions], self._lengths[conjunctions])]
        return literals

    def _collect(self, by_rule: list[RuleInstances]) -> None:
        parts = sorted(map(self._rows, by_rule), key=lambda rows: rows.shape[1])
        shapes = np.array([rows.shape for rows in parts], np.int64).reshape(-1, 2)
        lengths = np.repeat(shapes[:, 1] - 1, shapes[:, 0])
        heads = np.concatenate([*(rows[:, 0] for rows in parts), _NO_NUMBERS])
        literals = np.concatenate([*(rows[:, 1:].ravel() for rows in parts), _NO_NUMBERS])
        products = Products(heads, np.repeat(np.arange(len(lengths)), lengths), literals)
        products = normalised(_by_head(products))
        self.conjunctions, self.literals = len(products.of), len(products.literals)
        is_input = np.zeros(self.count, np.bool_)
        for first, count in (*self.fluents.values(), *self.actions.values()):
            is_input[first : first + count] = True
        self.literal_of, products = merge(products, is_input, self._facts, self._levels(by_rule))
        products = _merge_disjunctions(products, self.literal_of)
        #: For each head, the index of its first conjunction.
        self._starts = starts_of(np.bincount(products.of, minlength=self.count))
        self._lengths, self._literals = products.lengths, products.literals
        self._firsts = starts_of(self._lengths)

    def _levels(self, by_rule: list[RuleInstances]) -> Numbers:
        """Return per atom the length of the longest acyclic path from its relation to state or moves."""
        numbers = {relation: number for number, relation in enumerate(self._first)}
        reads: list[set[int]] = [set() for _ in numbers]
        for instances in by_rule:
            read = {*instances.rule.positives, *instances.rule.negatives}
            read_numbers = {numbers[atom.relation] for atom in read if atom.relation in numbers}
            reads[numbers[instances.rule.head.relation]] |= read_numbers
        level = [0] * len(numbers)
        for component in strong_components(range(len(numbers)), lambda number: sorted(reads[number])):
            below = {level[read] for number in component for read in reads[number].difference(component)}
            for number in component:
                level[number] = 1 + max(below, default=0) if reads[number] else 0
        counts = [self._tables[relation].count for relation in numbers]
        return np.repeat(np.array(level, np.int64), counts)

    def _rows(self, instances: RuleInstances) -> Ids:
        """Return a row for each instance: the head, then the literals, ``HOLDS`` or ``FAILS``."""
        columns: list[Ids] = []
        for atom, rows in zip(instances.rule.positives, instances.positives, strict=True):
            atoms = self.of(atom.relation, rows)
            columns.append(np.where(self._facts[atoms], HOLDS, 2 * atoms))
        for atom, keys in zip(instances.rule.negatives, instances.negatives, strict=True):
            columns.append(self._negated(atom.relation, keys, len(instances.heads)))
        heads = self.of(instances.rule.head.relation, instances.heads)
        return np.stack([heads, *columns], axis=1, dtype=np.int32, casting="same_kind")

    def _negated(self, relation: Relation, keys: list[NDArray[np.int32]], count: int) -> Ids:
        table = self._tables.get(relation)
        if table is None:
            return np.full(count, HOLDS, np.int64)
        numbers = table.find(keys, count)
        atoms = self.of(relation, numbers)
        literals = np.where(self._facts[np.where(numbers < 0, 0, atoms)], FAILS, 2 * atoms + 1)
        return np.where(numbers < 0, HOLDS, literals)


#: Literal that always holds.
HOLDS: Final = -1
#: Literal that never holds.
FAILS: Final = -2

#: Maximum number of merging rounds; public sheets need two to four.
_MOST_ROUNDS: Final = 60
#: Merging stops after a round that merges at most this fraction of atoms: structural hashing finds the rest.
_WORTH_IT: Final = 0.002
#: Minimum number of products for which atoms are merged level by level.
_MANY: Final = 200_000
#: Stands for the only literal of a conjunction if the conjunction has several literals.
_NONE: Final = -3
_NO_NUMBERS: Final[Numbers] = np.zeros(0, np.int64)


def merge(
    products: Products, is_input: Mask, facts: Mask, levels: Numbers | None = None
) -> tuple[Numbers, Products]:
    """Merge equal atoms; return the literal that replaces each atom, and the remaining products.

    A product is a conjunction that derives the atom ``of``; products are sorted by this atom. There are often
    many equal atoms, such as rows of a view that differ only in irrelevant arguments. Each round applies the
    replacements of earlier rounds, and compares the derivations of all atoms.

    No literal of a product has a higher level than the atom that the product derives. Given ``levels``, int
    [atoms], many products are merged level by level, so that most are visited once.
    """
    literal_of = 2 * np.arange(len(is_input))
    literal_of[facts] = HOLDS
    members = np.flatnonzero(~is_input & ~facts)
    if levels is None or len(products.of) < _MANY:
        return literal_of, _merge_level(products, literal_of, members)
    parts = []
    for level in range(levels.max() + 1):
        of_level = levels[products.of] == level
        part = products.only(of_level, of_level[products.owners])
        parts.append(_merge_level(part, literal_of, members[levels[members] == level]))
    firsts = starts_of(np.array([len(part.of) for part in parts]))
    owners = [part.owners + first for part, first in zip(parts, firsts, strict=False)]
    of, literals = [part.of for part in parts], [part.literals for part in parts]
    return literal_of, _by_head(Products(*map(np.concatenate, (of, owners, literals))))


def _by_head(products: Products) -> Products:
    """Sort products by the atoms that they derive."""
    order, lengths = order_of(products.of), products.lengths
    firsts, lengths = starts_of(lengths)[order], lengths[order]
    owners = np.repeat(np.arange(len(order)), lengths)
    return Products(products.of[order], owners, products.literals[places(firsts, lengths)])


def _merge_level(products: Products, literal_of: Numbers, members: Numbers) -> Products:
    products = _mapped(products, literal_of, has_duplicates=True)
    for _ in range(_MOST_ROUNDS):
        before = literal_of[members]
        _resolve(literal_of, members, products)
        changed = int((before != literal_of[members]).sum())
        if changed:
            products = _mapped(products, literal_of)
        if changed <= _WORTH_IT * len(members):
            break
    return products


def _merge_disjunctions(products: Products, literal_of: Numbers) -> Products:
    """Merge equal disjunctions by updating ``literal_of``; return the remaining products."""
    heads, lone = products.of, _lone(products)
    several = np.zeros(len(literal_of), np.bool_)
    several[heads[lone < 0]] = True
    again, first = equal_disjunctions(heads[~several[heads]], lone[~several[heads]])
    literal_of[again] = 2 * first
    literal_of[:] = _followed(literal_of, literal_of)
    return _mapped(products, literal_of)


def normalised(products: Products) -> Products:
    """Sort the literals of each product and drop duplicates and ``HOLDS``; drop products that never hold."""
    possible = np.ones(len(products.of), np.bool_)
    possible[products.owners[products.literals == FAILS]] = False
    is_atom = products.literals >= 0
    pairs = distinct(products.owners[is_atom] << SHIFT | products.literals[is_atom])
    # In the sorted array, a literal and its inverse are neighbours.
    opposed = (pairs[1:] == pairs[:-1] + 1) & (pairs[1:] & 1 == 1)
    possible[pairs[1:][opposed] >> SHIFT] = False
    sorted_products = Products(products.of, pairs >> SHIFT, pairs & LOW)
    return sorted_products.only(possible, possible[sorted_products.owners])


def _mapped(products: Products, literal_of: Numbers, *, has_duplicates: bool = False) -> Products:
    """Replace merged atoms, and drop the products of these atoms and duplicate products."""
    kept = literal_of[products.of] == 2 * products.of
    products = products.only(kept, kept[products.owners])
    literals = _followed(literal_of, products.literals)
    is_new = literals != products.literals
    if is_new.any():
        compared = np.full(len(literal_of), has_duplicates)
        compared[products.of[products.owners[is_new]]] = True
        return each_once(normalised(replace(products, literals=literals)), compared)
    return each_once(products) if has_duplicates else products


def _lone(products: Products) -> Numbers:
    """Return per product its only literal, HOLDS if it is empty, or _NONE if it has several literals."""
    lengths = products.lengths
    lone = np.where(lengths == 0, HOLDS, _NONE)
    lone[lengths == 1] = products.literals[starts_of(lengths)[:-1][lengths == 1]]
    return lone


def _resolve(literal_of: Numbers, members: Numbers, products: Products) -> None:
    lone = _lone(products)
    starts = np.flatnonzero(np.diff(products.of, prepend=-1))
    heads, sizes = products.of[starts], np.diff(np.append(starts, len(products.of)))
    derived = np.zeros(len(literal_of), np.bool_)
    derived[heads] = True
    literal_of[members[(literal_of[members] == 2 * members) & ~derived[members]]] = FAILS
    only = np.where(sizes == 1, lone[starts], _NONE)
    # An atom with an empty conjunction always holds.
    only[np.searchsorted(starts, np.flatnonzero(lone == HOLDS), "right") - 1] = HOLDS
    named = only != _NONE
    _name(literal_of, heads[named], only[named])
    unnamed = np.flatnonzero(~named)
    if len(unnamed):
        lengths = products.lengths
        firsts = starts_of(lengths)[:-1]
        keys = mixed(keys_of_rows(products.literals, firsts, lengths))
        sums = np.add.reduceat(keys, starts)
        again, first = candidates(unnamed[order_of(sums[unnamed])], sums, sizes)
        counts = sizes[again]
        owners = np.repeat(np.arange(len(again)), counts)
        # Sort conjunctions by key, so that equal atoms have equal conjunctions in the same order.
        rows = [places(starts[of], counts) for of in (again, first)]
        some, others = (conjunctions[np.lexsort((keys[conjunctions], owners))] for conjunctions in rows)
        equal = all_in_rows(counts, same_rows(some, others, firsts, lengths, products.literals))
        literal_of[heads[again[equal]]] = 2 * heads[first[equal]]
    literal_of[members] = _followed(literal_of, literal_of[members])


def _name(literal_of: Numbers, heads: Numbers, targets: Numbers) -> None:
    before = literal_of[heads]
    literal_of[heads] = targets
    # Pointer jumping: each round doubles the length of the chains that it follows.
    for _ in range(max(1, len(heads).bit_length())):
        targets = _followed(literal_of, targets)
        literal_of[heads] = targets
    is_resolved = (targets < 0) | (literal_of[np.maximum(targets, 0) >> 1] == (targets & ~1))
    literal_of[heads[~is_resolved]] = before[~is_resolved]


def _followed(literal_of: Numbers, literals: Numbers) -> Numbers:
    replacements: Numbers = np.where(
        literals < 0, literals, literal_of[np.maximum(literals, 0) >> 1] ^ (literals & 1)
    )
    return replacements


#: Maximum nesting depth of flattened disjunctions.
_MOST_LEVELS: Final = 8
#: Maximum number of literals of a flattened disjunction. A larger disjunction counts as a literal.
_MOST_LITERALS: Final = 100


def equal_disjunctions(owners: Numbers, literals: Numbers) -> tuple[Numbers, Numbers]:
    """Return the redundant disjunctions, and for each an equal disjunction that does not depend on it.

    Disjunctions are equal if they flatten to the same literals. ``owners`` has, in ascending order, the node
    of each literal's disjunction. A literal is twice a node, plus one if inverted.
    """
    count = int(max(owners.max(initial=0), literals.max(initial=0) >> 1)) + 1
    lengths = np.bincount(owners, minlength=count)
    starts = starts_of(lengths)
    #: For each node, the start and number of its flattened literals. The number is -1 if unknown.
    firsts, sizes = np.zeros(count, np.int64), np.where(lengths > 0, -1, 0)
    flattened = np.zeros(0, np.int64)
    levels: list[Numbers] = []
    pending = np.flatnonzero(lengths)
    for _ in range(_MOST_LEVELS):
        of = np.repeat(pending, lengths[pending])
        read = literals[places(starts[pending], lengths[pending])]
        is_part = (read & 1 == 0) & (lengths[read >> 1] > 0)
        blocked = np.zeros(count, np.bool_)
        blocked[of[is_part & (sizes[read >> 1] < 0)]] = True
        fits = ~blocked[of]
        of, read, is_part = of[fits], read[fits], is_part[fits]
        inner = read[is_part] >> 1
        whole = np.concatenate(
            [
                of[~is_part] << SHIFT | read[~is_part],
                np.repeat(of[is_part], sizes[inner]) << SHIFT
                | flattened[places(firsts[inner], sizes[inner])],
            ]
        )
        whole = distinct(whole)
        level = distinct(whole >> SHIFT)
        held = np.bincount(whole >> SHIFT, minlength=count)
        firsts[level] = len(flattened) + np.searchsorted(whole >> SHIFT, level)
        sizes[level] = held[level]
        flattened = np.concatenate([flattened, whole & LOW])
        lengths[level[held[level] > _MOST_LITERALS]] = 0
        levels.append(level[held[level] <= _MOST_LITERALS])
        pending = pending[blocked[pending]]
        if not len(pending) or not len(level):
            break
    numbers = np.concatenate(levels)
    firsts, sizes = firsts[numbers], sizes[numbers]
    keys = keys_of_rows(flattened, firsts, sizes)
    # The sort is stable, so the first of several equal disjunctions has the lowest level.
    again, first = equal_rows(order_of(keys), keys, firsts, sizes, flattened)
    return numbers[again], numbers[first]
