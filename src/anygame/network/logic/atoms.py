"""Atoms: one number for each that can ever hold, and the conjunctions that derive it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from anygame.analysis.groups import strong_components
from anygame.network.logic.disjunctions import equal_disjunctions
from anygame.network.logic.factoring import Products
from anygame.network.logic.hashing import all_in_rows, candidates, mixed
from anygame.network.ragged import distinct, order_of, places, starts_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from anygame.datalog.relations import Relation
    from anygame.network.grounding.grounder import Grounding, RuleInstances

    Ids = NDArray[np.int32 | np.int64]
    Numbers = NDArray[np.int64]
    Keys = NDArray[np.uint64]


class Atoms:
    """The atoms of a grounding as numbers, and what derives each.

    A conjunction is a tuple of literals; a literal is twice an atom, plus one where it must not hold.

    Attributes:
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
        self._collect(grounding.by_rule)

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

    def needed(self, wanted: Numbers, known: NDArray[np.bool_]) -> Numbers:
        """Return the atoms that some are derived from, themselves among them, ascending.

        Args:
            wanted: atoms.
            known: bool [atoms]; those of which it is not asked what they are derived from, and so left out.
        """
        seen = known.copy()
        fresh = distinct(wanted[~seen[wanted]])
        while len(fresh):
            seen[fresh] = True
            below = self._literals_of(self._conjunctions_of(fresh)) >> 1
            fresh = distinct(below[~seen[below]])
        return np.flatnonzero(seen & ~known)

    def products(self, heads: Numbers) -> Products:
        """Return the conjunctions that derive some atoms, each for a number of these; literals ascending."""
        found = self._conjunctions_of(heads)
        of = np.repeat(np.arange(len(heads)), self._starts[heads + 1] - self._starts[heads])
        owners = np.repeat(np.arange(len(found)), self._lengths[found])
        return Products(of, owners, self._literals_of(found))

    def _conjunctions_of(self, heads: Numbers) -> Numbers:
        return places(self._starts[heads], self._starts[heads + 1] - self._starts[heads])

    def _literals_of(self, conjunctions: Numbers) -> Numbers:
        found: Numbers = self._literals[places(self._firsts[conjunctions], self._lengths[conjunctions])]
        return found

    def _collect(self, by_rule: list[RuleInstances]) -> None:
        """Sort the instances by head; those with as many literals lie together."""
        by_width: dict[int, list[Ids]] = {}
        for instances in by_rule:
            rows = self._rows(instances)
            by_width.setdefault(rows.shape[1], []).append(rows)
        groups = [np.concatenate(found) for _, found in sorted(by_width.items())]
        self.conjunctions = sum(len(rows) for rows in groups)
        self.literals = sum(int((rows[:, 1:] >= 0).sum()) for rows in groups)
        is_input = np.zeros(self.count, np.bool_)
        for first, count in (*self.fluents.values(), *self.actions.values()):
            is_input[first : first + count] = True
        self.literal_of, groups = merge(groups, is_input, self._facts, self._levels(by_rule))
        groups = _merge_disjunctions(groups, self.literal_of)
        heads = np.concatenate([rows[:, 0] for rows in (*groups, np.zeros((0, 1), np.int64))])
        #: The conjunctions in the order of their heads: where those of each begin, and their literals.
        self._starts = starts_of(np.bincount(heads, minlength=self.count))
        order = np.argsort(heads, kind="stable")
        held = [rows[:, 1:] >= 0 for rows in groups]
        lengths = np.concatenate([*(mask.sum(axis=1) for mask in held), np.zeros(0, np.int64)])
        self._firsts, self._lengths = starts_of(lengths)[order], lengths[order]
        literals = [rows[:, 1:][mask] for rows, mask in zip(groups, held, strict=True)]
        self._literals: Numbers = np.concatenate([*literals, np.zeros(0, np.int64)])

    def _levels(self, by_rule: list[RuleInstances]) -> Ids:
        """Return per atom how far its relation lies above the state and the moves, whatever is recursive."""
        numbers = {relation: number for number, relation in enumerate(self._first)}
        reads: list[set[int]] = [set() for _ in numbers]
        for instances in by_rule:
            read = {*instances.rule.positives, *instances.rule.negatives}
            found = {numbers[atom.relation] for atom in read if atom.relation in numbers}
            reads[numbers[instances.rule.head.relation]] |= found
        level = [0] * len(numbers)
        for component in strong_components(range(len(numbers)), lambda number: sorted(reads[number])):
            below = {level[read] for number in component for read in reads[number].difference(component)}
            for number in component:
                level[number] = 1 + max(below, default=0) if reads[number] else 0
        counts = [self._tables[relation].count for relation in numbers]
        return np.repeat(np.array(level, np.int64), counts)

    def _rows(self, instances: RuleInstances) -> Ids:
        """Return head and literals per instance, literals ascending, without what always holds."""
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


#: What stands for a literal that always holds, and for one that never does: each the other's inversion.
HOLDS: Final = -1
FAILS: Final = -2

#: A round goes through all conjunctions; public sheets that were looked at need two to four.
_MOST_ROUNDS: Final = 60
#: Rounds go on while they merge more than this share of the atoms: what is left, structural hashing finds.
_WORTH_IT: Final = 0.002
#: Conjunctions for which levels are worth their many short steps.
_MANY: Final = 200_000
_NONE: Final = -3


def merge(
    groups: list[Ids], is_input: NDArray[np.bool_], facts: NDArray[np.bool_], levels: Ids | None = None
) -> tuple[Ids, list[Ids]]:
    """Return what each atom has become, and the conjunctions that are left.

    Large groundings hold many atoms that say the same: views with arguments that do not matter, names for
    other atoms. Each round compares all atoms at once by what derives them, given what was merged before.

    Args:
        groups: rows of a head and its literals, padded with ``HOLDS``.
        is_input: bool [atoms]; which atoms are fluents and actions.
        facts: bool [atoms]; which always hold.
        levels: int [atoms]; literals are of the same level as their head or of one below. With these, large
            groups are merged level by level, so that most conjunctions are gone through once.

    Returns:
        Per atom a literal, ``HOLDS`` or ``FAILS``; and groups whose heads and literals are of atoms that
        have become themselves.
    """
    # Half as wide as other numbers: all instances of a game lie here at once, some times over.
    literal_of = 2 * np.arange(len(is_input), dtype=np.int32)
    literal_of[facts] = HOLDS
    if levels is None or sum(map(len, groups)) < _MANY:
        members = np.flatnonzero(~is_input & ~facts)
        return literal_of, _merge_level(groups, literal_of, members)
    left: list[list[Ids]] = [[] for _ in groups]
    order = np.argsort(levels, kind="stable")
    ends = np.searchsorted(levels[order], np.arange(levels.max() + 2))
    by_level = [_split(rows, levels) for rows in groups]
    for level in range(len(ends) - 1):
        members = order[ends[level] : ends[level + 1]]
        members = members[~is_input[members] & ~facts[members]]
        held = [number for number, parts in enumerate(by_level) if len(parts[level])]
        found = _merge_level([by_level[number][level] for number in held], literal_of, members)
        for number, rows in zip(held, found, strict=True):
            by_level[number][level] = rows[:0]
            left[number].append(rows)
    return literal_of, [np.concatenate(parts) for parts in left if parts]


def _merge_disjunctions(groups: list[Ids], literal_of: Ids) -> list[Ids]:
    """Find which atoms are equal disjunctions, in place; return the conjunctions that are left."""
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


def _split(rows: Ids, levels: Ids) -> list[Ids]:
    """Return the rows of each level."""
    of_rows = levels[rows[:, 0]]
    order = np.argsort(of_rows, kind="stable")
    return np.split(rows[order], np.searchsorted(of_rows[order], np.arange(1, levels.max() + 1)))


def _merge_level(groups: list[Ids], literal_of: Ids, members: Ids) -> list[Ids]:
    """Find what the atoms of a level have become, in place; return the conjunctions that are left."""
    groups, keys = _mapped(groups, literal_of)
    for _ in range(_MOST_ROUNDS):
        before = literal_of[members]
        _resolve(literal_of, members, groups, keys)
        changed = int((before != literal_of[members]).sum())
        if changed:
            groups, keys = _mapped(groups, literal_of)
        if changed <= _WORTH_IT * len(members):
            break
    return groups


def normalised(rows: Ids) -> Ids:
    """Return rows without those that never hold; literals ascending, each once, ``HOLDS`` in front."""
    literals = np.sort(rows[:, 1:], axis=1, kind="stable")
    left, right = literals[:, :-1], literals[:, 1:]
    same = (left == right) & (left >= 0)
    if same.any():
        left[same] = HOLDS
        literals.sort(axis=1)
    # What never holds comes first.
    possible = ~((left ^ 1 == right) & (left >= 0)).any(axis=1) & (literals[:, :1] != FAILS).all(axis=1)
    found: Ids = np.concatenate([rows[:, :1], literals], axis=1)
    return found if possible.all() else found[possible]


def _mapped(groups: list[Ids], literal_of: Ids) -> tuple[list[Ids], Keys]:
    """Return the groups with merged atoms replaced, each conjunction once, and a key per conjunction."""
    result = []
    for rows in groups:
        kept = rows[literal_of[rows[:, 0]] == 2 * rows[:, 0]]
        literals = kept[:, 1:]
        # What pads a row is no literal: its last bit says nothing.
        found = np.where(literals < 0, np.int32(HOLDS), _followed(literal_of, literals))
        result.append(normalised(np.concatenate([kept[:, :1], found], axis=1)))
    return _each_once(result)


def _each_once(groups: list[Ids]) -> tuple[list[Ids], Keys]:
    heads = _heads(groups)
    keys = np.concatenate([*(_keys(rows[:, 1:]) for rows in groups), np.zeros(0, np.uint64)])
    whole = keys + mixed(~heads.astype(np.uint64))  # no literal is so large
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


def _keys(literals: Ids) -> Keys:
    """Return one key per conjunction; what pads it does not count. Different ones may have the same key."""
    total = np.zeros(len(literals), np.uint64)
    for column in literals.T:
        total += np.where(column < 0, np.uint64(0), mixed(column.astype(np.uint64) + np.uint64(1)))
    return mixed(total)


def _have_same_literals(groups: list[Ids], some: Numbers, others: Numbers) -> NDArray[np.bool_]:
    """Return which conjunctions have the literals of others; both by their numbers over all groups."""
    ends = np.cumsum([0, *map(len, groups)])
    first, second = (np.searchsorted(ends, numbers, "right") - 1 for numbers in (some, others))
    equal = np.zeros(len(some), np.bool_)
    for pair in distinct(first * len(groups) + second).tolist():
        one, other = divmod(pair, len(groups))
        here = np.flatnonzero((first == one) & (second == other))
        left, right = groups[one][some[here] - ends[one], 1:], groups[other][others[here] - ends[other], 1:]
        # Literals stand at the end, behind what pads the row.
        extra = left.shape[1] - right.shape[1]
        is_padded = ((left if extra > 0 else right)[:, : abs(extra)] == HOLDS).all(axis=1)
        equal[here] = is_padded & (left[:, max(0, extra) :] == right[:, max(0, -extra) :]).all(axis=1)
    return equal


def _lone(rows: Ids) -> Ids:
    """Return per conjunction its only literal, HOLDS where it has none, _NONE where it has more."""
    if rows.shape[1] == 1:
        return np.full(len(rows), HOLDS, np.int64)
    several = rows[:, -2] >= 0 if rows.shape[1] > 2 else np.zeros(len(rows), np.bool_)
    return np.where(several, _NONE, rows[:, -1])


def _resolve(literal_of: Ids, members: Ids, groups: list[Ids], keys: Keys) -> None:
    """Find what atoms have become, in place."""
    order = order_of(_heads(groups))
    lone = np.concatenate([*map(_lone, groups), np.zeros(0, np.int64)])[order]
    of_rows = _heads(groups)[order]
    starts = np.flatnonzero(np.diff(of_rows, prepend=-1))
    heads, sizes = of_rows[starts], np.diff(np.append(starts, len(order)))
    derived = np.zeros(len(literal_of), np.bool_)
    derived[heads] = True
    literal_of[members[(literal_of[members] == 2 * members) & ~derived[members]]] = FAILS
    only = np.where(sizes == 1, lone[starts], _NONE)
    # An atom that holds in any case says so by its only literal that matters.
    only[np.searchsorted(starts, np.flatnonzero(lone == HOLDS), "right") - 1] = HOLDS
    named = only != _NONE
    _name(literal_of, heads[named], only[named])
    rest = np.flatnonzero(~named)
    if len(rest):
        sums = np.add.reduceat(keys[order], starts)
        again, first = candidates(rest[order_of(sums[rest])], sums, sizes)
        lengths = sizes[again]
        owners = np.repeat(np.arange(len(again)), lengths)
        # The conjunctions of each, by their keys: so those of equal atoms stand in the same order.
        rows = [order[places(starts[of], lengths)] for of in (again, first)]
        some, others = (found[np.lexsort((keys[found], owners))] for found in rows)
        equal = all_in_rows(lengths, _have_same_literals(groups, some, others))
        literal_of[heads[again[equal]]] = 2 * heads[first[equal]]
    literal_of[members] = _followed(literal_of, literal_of[members])


def _name(literal_of: Ids, heads: Ids, targets: Ids) -> None:
    """Let atoms become other literals; names that go round in a circle are left as they were."""
    before = literal_of[heads]
    literal_of[heads] = targets
    # Names of names: jump until all rest.
    for _ in range(max(1, len(heads).bit_length())):
        targets = _followed(literal_of, targets)
        literal_of[heads] = targets
    rests = (targets < 0) | (literal_of[np.maximum(targets, 0) >> 1] == (targets & ~1))
    literal_of[heads[~rests]] = before[~rests]


def _followed(literal_of: Ids, literals: Ids) -> Ids:
    """Return what literals have become."""
    found: Ids = np.where(literals < 0, literals, literal_of[np.maximum(literals, 0) >> 1] ^ (literals & 1))
    return found
