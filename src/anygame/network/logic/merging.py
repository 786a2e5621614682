"""Atoms with the same derivations are one atom: merged by hashed columns before any gate is made.

Large groundings hold many atoms that say the same: views with arguments that do not matter, names for other
atoms. Each round compares all atoms at once by what derives them, given what was merged before.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Ids = NDArray[np.int64]
    Keys = NDArray[np.uint64]

#: What stands for a literal that always holds, and for one that never does: each the other's inversion.
HOLDS: Final = -1
FAILS: Final = -2

#: Odd constants for two multiplicative hashes: keys are as good as certain where both agree.
_SEEDS: Final = (np.uint64(0x9E3779B97F4A7C15), np.uint64(0xD1B54A32D192ED03))
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
    literal_of = 2 * np.arange(len(is_input), dtype=np.int64)
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
        _resolve(literal_of, members, *_summary(groups, keys))
        changed = int((before != literal_of[members]).sum())
        if changed:
            groups, keys = _mapped(groups, literal_of)
        if changed <= _WORTH_IT * len(members):
            break
    return groups


def normalised(rows: Ids) -> Ids:
    """Return rows without those that never hold; literals ascending, each once, ``HOLDS`` in front."""
    literals = np.sort(rows[:, 1:], axis=1)
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
        found = np.where(literals < 0, HOLDS, _followed(literal_of, literals))
        result.append(normalised(np.concatenate([kept[:, :1], found], axis=1)))
    return _each_once(result)


def _each_once(groups: list[Ids]) -> tuple[list[Ids], Keys]:
    if not groups:
        return groups, np.zeros(0, np.uint64)
    heads = np.concatenate([rows[:, 0] for rows in groups])
    keys = np.concatenate([_keys(rows[:, 1:], _SEEDS[0]) for rows in groups])
    whole = keys + mixed(heads.astype(np.uint64), _SEEDS[1])
    order = np.argsort(whole)
    again = np.flatnonzero(whole[order[1:]] == whole[order[:-1]]) + 1
    again = again[heads[order[again]] == heads[order[again - 1]]]
    fresh = np.ones(len(order), np.bool_)
    fresh[order[again]] = False
    ends = np.cumsum([len(rows) for rows in groups])
    kept = [rows[mask] for rows, mask in zip(groups, np.split(fresh, ends[:-1]), strict=True)]
    return kept, keys[fresh]


def _keys(literals: Ids, seed: np.uint64) -> Keys:
    """Return one key per conjunction; what pads it does not count."""
    total = np.zeros(len(literals), np.uint64)
    for column in literals.T:
        total += np.where(column < 0, np.uint64(0), mixed(column.astype(np.uint64) + np.uint64(1), seed))
    return mixed(total, seed)


def mixed(values: Keys, seed: np.uint64 = _SEEDS[0]) -> Keys:
    """Return a hash of each number; sums of them are hashes of rows."""
    values = values * seed
    values = (values ^ (values >> np.uint64(31))) * np.uint64(0xBF58476D1CE4E5B9)
    return values ^ (values >> np.uint64(29))


def _summary(groups: list[Ids], firsts: Keys) -> tuple[Ids, Keys, Keys, Ids, Ids]:
    """Return the heads, two keys of all that derives each, how much that is, and a lone literal or -3."""
    if not groups:
        none = np.zeros(0, np.int64)
        return none, firsts, firsts, none, none
    heads = np.concatenate([rows[:, 0] for rows in groups])
    seconds = np.concatenate([_keys(rows[:, 1:], _SEEDS[1]) for rows in groups])
    lone = np.concatenate([_lone(rows) for rows in groups])
    order = np.argsort(heads, kind="stable")
    heads, firsts, seconds, lone = heads[order], firsts[order], seconds[order], lone[order]
    starts = np.flatnonzero(np.concatenate([[True], heads[1:] != heads[:-1]])) if len(heads) else heads
    sizes = np.diff(np.append(starts, len(heads)))
    return (
        heads[starts],
        np.add.reduceat(firsts, starts) if len(starts) else firsts,
        np.add.reduceat(seconds, starts) if len(starts) else seconds,
        sizes,
        # An atom that holds in any case says so by its only literal that matters.
        np.where(
            np.maximum.reduceat(lone == HOLDS, starts) if len(starts) else sizes > 0,
            HOLDS,
            np.where(sizes == 1, lone[starts], _NONE),
        ),
    )


def _lone(rows: Ids) -> Ids:
    """Return per conjunction its only literal, HOLDS where it has none, _NONE where it has more."""
    if rows.shape[1] == 1:
        return np.full(len(rows), HOLDS, np.int64)
    several = rows[:, -2] >= 0 if rows.shape[1] > 2 else np.zeros(len(rows), np.bool_)
    return np.where(several, _NONE, rows[:, -1])


def _resolve(
    literal_of: Ids,
    members: Ids,
    heads: Ids,
    first: Keys,
    second: Keys,
    sizes: Ids,
    only: Ids,
) -> None:
    """Find what atoms have become, in place."""
    derived = np.zeros(len(literal_of), np.bool_)
    derived[heads] = True
    literal_of[members[(literal_of[members] == 2 * members) & ~derived[members]]] = FAILS
    named = only != _NONE
    _name(literal_of, heads[named], only[named])
    rest = np.flatnonzero(~named)
    if len(rest):
        order = rest[np.lexsort((heads[rest], second[rest], first[rest], sizes[rest]))]
        same = np.zeros(len(order), np.bool_)
        same[1:] = (
            (sizes[order[1:]] == sizes[order[:-1]])
            & (first[order[1:]] == first[order[:-1]])
            & (second[order[1:]] == second[order[:-1]])
        )
        leaders = np.maximum.accumulate(np.where(same, 0, np.arange(len(order))))
        literal_of[heads[order][same]] = 2 * heads[order][leaders[same]]
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
