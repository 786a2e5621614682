"""Numbers of the atoms that can ever hold, with the conjunctions that derive each atom."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from anygame.network.logic.factoring import Products
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
    starts_of,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from anygame.datalog.relations import Relation
    from anygame.network.grounding.grounder import Grounding, RuleInstances
    from anygame.network.ragged import Keys, Numbers

    Ids = NDArray[np.int32 | np.int64]


class Atoms:
    """The numbered atoms of a grounding, with their derivations.

    A literal is twice the number of an atom, plus one if negated.

    Attributes:
        fluents: per relation of ``true``, the atom of its first row, and its number of rows.
        actions: the same for ``does``.
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
        by_width: dict[int, list[Ids]] = {}
        for instances in by_rule:
            rows = self._rows(instances)
            by_width.setdefault(rows.shape[1], []).append(rows)
        groups = [np.concatenate(parts) for _, parts in sorted(by_width.items())]
        self.conjunctions = sum(len(rows) for rows in groups)
        self.literals = sum(int((rows[:, 1:] >= 0).sum()) for rows in groups)
        is_input = np.zeros(self.count, np.bool_)
        for first, count in (*self.fluents.values(), *self.actions.values()):
            is_input[first : first + count] = True
        self.literal_of, groups = merge(groups, is_input, self._facts)
        groups = _merge_disjunctions(groups, self.literal_of)
        heads = np.concatenate([rows[:, 0] for rows in (*groups, np.zeros((0, 1), np.int64))])
        #: The first conjunction of each head, among all conjunctions sorted by head.
        self._starts = starts_of(np.bincount(heads, minlength=self.count))
        order = np.argsort(heads, kind="stable")
        held = [rows[:, 1:] >= 0 for rows in groups]
        lengths = np.concatenate([*(mask.sum(axis=1) for mask in held), np.zeros(0, np.int64)])
        self._firsts, self._lengths = starts_of(lengths)[order], lengths[order]
        literals = [rows[:, 1:][mask] for rows, mask in zip(groups, held, strict=True)]
        self._literals: Numbers = np.concatenate([*literals, np.zeros(0, np.int64)])

    def _rows(self, instances: RuleInstances) -> Ids:
        """Return a row for each instance: the head, then the literals in ascending order."""
        columns: list[Ids] = []
        for atom, rows in zip(instances.rule.positives, instances.positives, strict=True):
            atoms = self.of(atom.relation, rows)
            columns.append(np.where(self._facts[atoms], HOLDS, 2 * atoms))
        for atom, keys in zip(instances.rule.negatives, instances.negatives, strict=True):
            columns.append(self._negated(atom.relation, keys, len(instances.heads)))
        heads = self.of(instances.rule.head.relation, instances.heads)
        if not columns:
            return heads[:, None].astype(np.int32)
        return normalised(np.stack([heads, *columns], axis=1, dtype=np.int32, casting="same_kind"))

    def _negated(self, relation: Relation, keys: list[NDArray[np.int32]], count: int) -> Ids:
        table = self._tables.get(relation)
        if table is None:
            return np.full(count, HOLDS, np.int64)
        numbers = table.find(keys, count)
        atoms = self.of(relation, numbers)
        literals = np.where(self._facts[np.where(numbers < 0, 0, atoms)], FAILS, 2 * atoms + 1)
        return np.where(numbers < 0, HOLDS, literals)


#: Literal that always holds. It also pads rows.
HOLDS: Final = -1
#: Literal that never holds.
FAILS: Final = -2

#: Maximum number of merging rounds; public sheets need two to four.
_MOST_ROUNDS: Final = 60
#: Ratio of merged to all atoms below which merging stops. Structural hashing finds the other equal atoms.
_WORTH_IT: Final = 0.002
#: Replaces the only literal of a conjunction that has several.
_NONE: Final = -3


def merge(groups: list[Ids], is_input: NDArray[np.bool_], facts: NDArray[np.bool_]) -> tuple[Ids, list[Ids]]:
    """Merge equal atoms; return the literal that replaces each atom, and the remaining conjunctions.

    Large groundings have many equal atoms, such as rows of a view that differ only in irrelevant arguments.
    Each round applies the replacements of earlier rounds, and compares the derivations of all atoms.

    A row of a group is a head and the literals of a conjunction, padded with ``HOLDS``.
    """
    # 32 bits, because several copies of all instances of a game are in memory here.
    literal_of = 2 * np.arange(len(is_input), dtype=np.int32)
    literal_of[facts] = HOLDS
    members = np.flatnonzero(~is_input & ~facts)
    groups, keys = _mapped(groups, literal_of)
    for _ in range(_MOST_ROUNDS):
        before = literal_of[members]
        _resolve(literal_of, members, groups, keys)
        changed = int((before != literal_of[members]).sum())
        if changed:
            groups, keys = _mapped(groups, literal_of)
        if changed <= _WORTH_IT * len(members):
            break
    return literal_of, groups


def _merge_disjunctions(groups: list[Ids], literal_of: Ids) -> list[Ids]:
    """Merge equal disjunctions by updating ``literal_of``; return the remaining conjunctions."""
    if not groups:
        return groups
    heads = np.concatenate([rows[:, 0] for rows in groups]).astype(np.int64)
    lone = np.concatenate([_lone(rows) for rows in groups]).astype(np.int64)
    several = np.zeros(len(literal_of), np.bool_)
    several[heads[lone < 0]] = True
    heads, lone = heads[~several[heads]], lone[~several[heads]]
    order = np.argsort(heads, kind="stable")
    again, first = equal_disjunctions(heads[order], lone[order])
    literal_of[again] = 2 * first
    literal_of[:] = _followed(literal_of, literal_of)
    return _mapped(groups, literal_of)[0]


def normalised(rows: Ids) -> Ids:
    """Drop rows that never hold; sort the literals of each row, with duplicates replaced by ``HOLDS``."""
    literals = np.sort(rows[:, 1:], axis=1, kind="stable")
    left, right = literals[:, :-1], literals[:, 1:]
    same = (left == right) & (left >= 0)
    if same.any():
        left[same] = HOLDS
        literals.sort(axis=1)
    # FAILS sorts first.
    possible = ~((left ^ 1 == right) & (left >= 0)).any(axis=1) & (literals[:, :1] != FAILS).all(axis=1)
    result: Ids = np.concatenate([rows[:, :1], literals], axis=1)
    return result if possible.all() else result[possible]


def _mapped(groups: list[Ids], literal_of: Ids) -> tuple[list[Ids], Keys]:
    """Replace merged atoms and drop duplicate conjunctions; return the groups and a hash per conjunction."""
    result = []
    for rows in groups:
        kept = rows[literal_of[rows[:, 0]] == 2 * rows[:, 0]]
        literals = kept[:, 1:]
        # Padding has no sign bit.
        mapped = np.where(literals < 0, np.int32(HOLDS), _followed(literal_of, literals))
        result.append(normalised(np.concatenate([kept[:, :1], mapped], axis=1)))
    return _each_once(result)


def _each_once(groups: list[Ids]) -> tuple[list[Ids], Keys]:
    heads = _heads(groups)
    keys = np.concatenate([*map(_keys, groups), np.zeros(0, np.uint64)])
    whole = keys + mixed(~heads.astype(np.uint64))  # a complement is larger than any literal
    order = order_of(whole)
    again = np.flatnonzero(whole[order[1:]] == whole[order[:-1]]) + 1
    again = again[heads[order[again]] == heads[order[again - 1]]]
    again = again[_have_same_literals(groups, order[again], order[again - 1])]
    fresh = np.ones(len(order), np.bool_)
    fresh[order[again]] = False
    ends = np.cumsum([len(rows) for rows in groups])
    kept = [rows[mask] for rows, mask in zip(groups, np.split(fresh, ends[:-1]), strict=False)]
    return kept, keys[fresh]


def _heads(groups: list[Ids]) -> Ids:
    return np.concatenate([*(rows[:, 0] for rows in groups), np.zeros(0, np.int32)])


def _keys(rows: Ids) -> Keys:
    """Return a hash per conjunction, independent of its padding."""
    total = np.zeros(len(rows), np.uint64)
    for column in rows[:, 1:].T:
        total += np.where(column < 0, np.uint64(0), mixed(column.astype(np.uint64) + np.uint64(1)))
    return mixed(total)


def _have_same_literals(groups: list[Ids], some: Numbers, others: Numbers) -> NDArray[np.bool_]:
    """Return which pairs of conjunctions have the same literals. Their numbers run through all groups."""
    ends = np.cumsum([0, *map(len, groups)])
    first, second = (np.searchsorted(ends, numbers, "right") - 1 for numbers in (some, others))
    equal = np.zeros(len(some), np.bool_)
    for pair in distinct(first * len(groups) + second).tolist():
        one, other = divmod(pair, len(groups))
        here = np.flatnonzero((first == one) & (second == other))
        left, right = groups[one][some[here] - ends[one], 1:], groups[other][others[here] - ends[other], 1:]
        # The padding comes first.
        extra = left.shape[1] - right.shape[1]
        is_padded = ((left if extra > 0 else right)[:, : abs(extra)] == HOLDS).all(axis=1)
        equal[here] = is_padded & (left[:, max(0, extra) :] == right[:, max(0, -extra) :]).all(axis=1)
    return equal


def _lone(rows: Ids) -> Ids:
    """Return per conjunction its only literal, HOLDS if it is empty, or _NONE if it has several literals."""
    if rows.shape[1] == 1:
        return np.full(len(rows), HOLDS, np.int64)
    several = rows[:, -2] >= 0 if rows.shape[1] > 2 else np.zeros(len(rows), np.bool_)
    return np.where(several, _NONE, rows[:, -1])


def _resolve(literal_of: Ids, members: Ids, groups: list[Ids], keys: Keys) -> None:
    order = order_of(_heads(groups))
    lone = np.concatenate([*map(_lone, groups), np.zeros(0, np.int64)])[order]
    of_rows = _heads(groups)[order]
    starts = np.flatnonzero(np.diff(of_rows, prepend=-1))
    heads, sizes = of_rows[starts], np.diff(np.append(starts, len(order)))
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
        sums = np.add.reduceat(keys[order], starts)
        again, first = candidates(unnamed[order_of(sums[unnamed])], sums, sizes)
        lengths = sizes[again]
        owners = np.repeat(np.arange(len(again)), lengths)
        # Sort conjunctions by key, so that equal atoms have equal conjunctions in the same order.
        rows = [order[places(starts[of], lengths)] for of in (again, first)]
        some, others = (conjunctions[np.lexsort((keys[conjunctions], owners))] for conjunctions in rows)
        equal = all_in_rows(lengths, _have_same_literals(groups, some, others))
        literal_of[heads[again[equal]]] = 2 * heads[first[equal]]
    literal_of[members] = _followed(literal_of, literal_of[members])


def _name(literal_of: Ids, heads: Ids, targets: Ids) -> None:
    before = literal_of[heads]
    literal_of[heads] = targets
    # Pointer jumping: each round doubles the length of the chains that it follows.
    for _ in range(max(1, len(heads).bit_length())):
        targets = _followed(literal_of, targets)
        literal_of[heads] = targets
    is_resolved = (targets < 0) | (literal_of[np.maximum(targets, 0) >> 1] == (targets & ~1))
    literal_of[heads[~is_resolved]] = before[~is_resolved]


def _followed(literal_of: Ids, literals: Ids) -> Ids:
    replacements: Ids = np.where(
        literals < 0, literals, literal_of[np.maximum(literals, 0) >> 1] ^ (literals & 1)
    )
    return replacements


#: Maximum nesting depth of flattened disjunctions.
_MOST_LEVELS: Final = 8
#: Maximum number of literals of a flattened disjunction. A larger disjunction is treated as a literal.
_MOST_LITERALS: Final = 100


def equal_disjunctions(owners: Numbers, literals: Numbers) -> tuple[Numbers, Numbers]:
    """Return the redundant disjunctions, and for each an equal disjunction that does not depend on it.

    Disjunctions are equal if they flatten to the same literals. ``owners`` has, in ascending order, the node
    of each literal's disjunction. A literal is twice a node, plus one if inverted.
    """
    count = int(max(owners.max(initial=0), literals.max(initial=0) >> 1)) + 1
    lengths = np.bincount(owners, minlength=count)
    starts = starts_of(lengths)
    #: Per node, the start and the number of its flattened literals: -1 if unknown, 0 for other nodes.
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
