"""Invariants by induction: of many clauses, those that hold at the start and that every step keeps.

After Flanagan and Leino (2001, "Houdini, an annotation assistant for ESC/Java"): clauses that a step can
break are left out until none is left that can be broken.
"""

from __future__ import annotations

from collections import defaultdict
from itertools import combinations
from typing import TYPE_CHECKING, Final

import numpy as np

from anygame.language.terms import Compound
from anygame.proving.bounded import depends_on_moves
from anygame.proving.formula import Formula, any_step
from anygame.proving.patience import OutOfTimeError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from anygame.language.terms import Term
    from anygame.proving.model import Clause, Lemma, Model
    from anygame.proving.patience import Patience
    from anygame.proving.sampling import Sample

#: Candidates at most, and at most that times gates: one question about all of them should not take seconds.
_MOST_CANDIDATES: Final = 6_000
_MOST_WORK: Final = 40_000_000
#: Products that are added up to see which fluents exclude each other, about a second.
_MOST_PRODUCTS: Final = 20_000_000_000
#: Arguments in which fluents of a group differ.
_MOST_COLUMNS: Final = 3


def inductive(
    model: Model, candidates: Sequence[Clause], patience: Patience, known: Sequence[Clause] = ()
) -> list[Clause]:
    """Return those of some clauses that hold in every state, as induction over all of them shows.

    Args:
        model: the game.
        candidates: clauses over fluents.
        patience: how long it may take; where it ends, nothing is returned.
        known: clauses that hold in every state.
    """
    initial = model.initial
    alive = [clause for clause in candidates if any(initial[(x >> 1) - 1] != x & 1 for x in clause)]
    if not alive:
        return []
    with Formula(patience) as formula:
        copy = any_step(formula, model, known)
        then = copy.then()
        held = [formula.new() for _ in alive]
        broken = [formula.new() for _ in alive]

        for clause, holds, breaks in zip(alive, held, broken, strict=True):
            formula.add(-holds, *map(copy, clause))
            for literal in clause:
                formula.add(-breaks, then(literal ^ 1))
        left = list(range(len(alive)))
        try:
            while left:
                some = formula.new()
                formula.add(-some, *(broken[number] for number in left))
                if not formula.solve([some, *(held[number] for number in left)]):
                    return [alive[number] for number in left]
                value = formula.assignment()
                left = [number for number in left if any(value(then(x)) for x in alive[number])]
                formula.add(-some)
        except OutOfTimeError:
            pass
    return []


def candidates(model: Model, sample: Sample, patience: Patience) -> list[Clause]:
    """Return clauses that a sample does not refute, those that say most first.

    They say which fluents never change, of which groups at most or at least one holds, which pairs exclude
    each other, and when one of a group holds because another fluent does.

    Raises:
        OutOfTimeError: that took longer.
    """
    # Where fluents are many, a part of the states says enough: what others refute, steps refute, too.
    states = sample.states[:: 1 + len(sample.states) * len(model.fluents) ** 2 // _MOST_PRODUCTS]
    always: NDArray[np.bool_] = np.asarray(states.all(axis=0))
    never: NDArray[np.bool_] = np.asarray(~states.any(axis=0))
    found: dict[Clause, None] = {(2 * f + 2,): None for f in np.flatnonzero(always).tolist()}
    found.update({(2 * f + 3,): None for f in np.flatnonzero(never).tolist()})
    changing: NDArray[np.bool_] = np.asarray(~always & ~never)
    values = states.astype(np.float32)
    patience.check()
    apart: NDArray[np.bool_] = np.asarray((values.T @ values) == 0)
    np.fill_diagonal(apart, False)
    # Those that play did not meet may be met later: counters that seldom go so far.
    several = list(groups(model.fluents, ~always))
    some = _some_of(states, several, patience)
    for group in several:
        if apart[np.ix_(group, group)].sum() == len(group) * (len(group) - 1):
            found.update(dict.fromkeys(_pairs(group)))
    patience.check()
    for number, group in enumerate(several):
        if some[:, number].all():
            found[tuple(2 * fluent + 2 for fluent in group)] = None
    for one, other in _complements(states, [*([f] for f in np.flatnonzero(changing).tolist()), *several]):
        found[tuple(sorted(2 * fluent + 2 for fluent in (*one, *other)))] = None
        found.update({(2 * min(a, b) + 3, 2 * max(a, b) + 3): None for a in one for b in other})
    most = min(_MOST_CANDIDATES, _MOST_WORK // (1 + len(model.gates.gates)))
    places = np.argwhere(np.triu(apart & changing & changing[:, None], 1))
    found.update({(2 * a + 3, 2 * b + 3): None for a, b in places[: max(0, most - len(found))].tolist()})
    if several:
        patience.check()
        needs = (values.T @ (~some).astype(np.float32)) == 0
        needs &= changing[:, None] & ~some.all(axis=0)
        for fluent, number in np.argwhere(needs)[: 2 * most].tolist():
            if fluent not in several[number] and len(found) < most:
                found[(2 * fluent + 3, *(2 * member + 2 for member in several[number]))] = None
    return list(found)[:most]


def _some_of(
    states: NDArray[np.bool_], several: Sequence[list[int]], patience: Patience
) -> NDArray[np.bool_]:
    """Return whether some fluent of each group holds in each state: bool [states, groups]."""
    rows = np.packbits(states.T, axis=1)
    found: NDArray[np.bool_] = np.empty((len(states), len(several)), np.bool_)
    for number, group in enumerate(several):
        patience.check()
        row = np.bitwise_or.reduce(rows[group], axis=0)
        found[:, number] = np.unpackbits(row, count=len(states))
    return found


def _complements(
    states: NDArray[np.bool_], parts: Sequence[list[int]]
) -> Iterator[tuple[list[int], list[int]]]:
    """Yield parts of the fluents, of which something holds whenever nothing of the other does."""
    known: dict[bytes, list[int]] = {}
    for part in parts:
        some = states[:, part[0]] if len(part) == 1 else states[:, part].any(axis=1)
        if some.all() or not some.any():
            continue
        other = known.get(np.packbits(~some).tobytes())
        if other is not None:
            yield other, part
        known.setdefault(np.packbits(some).tobytes(), part)


def groups(fluents: Sequence[Term], among: NDArray[np.bool_]) -> Iterator[list[int]]:
    """Yield groups of fluents that differ in some arguments alone.

    Args:
        fluents: as terms.
        among: bool [fluents]; which of them are looked at.
    """
    by_relation: dict[tuple[str, int], list[tuple[int, tuple[Term, ...]]]] = defaultdict(list)
    for number, fluent in enumerate(fluents):
        if among[number]:
            name, arguments = parts_of(fluent)
            by_relation[name, len(arguments)].append((number, arguments))
    seen = set()
    for (_, width), members in by_relation.items():
        for count in range(1, min(width, _MOST_COLUMNS) + 1):
            for columns in combinations(range(width), count):
                groups: dict[tuple[Term, ...], list[int]] = defaultdict(list)
                for number, arguments in members:
                    key = tuple(a for place, a in enumerate(arguments) if place not in columns)
                    groups[key].append(number)
                for group in groups.values():
                    if len(group) > 1 and tuple(group) not in seen:
                        seen.add(tuple(group))
                        yield group


def parts_of(fluent: Term) -> tuple[str, tuple[Term, ...]]:
    """Return the name of a fluent and its arguments."""
    return (fluent.functor, fluent.arguments) if isinstance(fluent, Compound) else (str(fluent), ())


def _pairs(members: Sequence[int]) -> list[Clause]:
    return [(2 * a + 3, 2 * b + 3) for place, a in enumerate(members) for b in members[place + 1 :]]


def trimmed(
    model: Model,
    bad: int,
    clauses: Sequence[Clause],
    patience: Patience,
    wanted: Sequence[Clause] = (),
    lemmas: Sequence[Lemma] = (),
) -> list[Clause]:
    """Return those clauses of an invariant that are needed: for the property, and to keep those that are.

    Args:
        model: the game.
        bad: literal.
        clauses: with the property, where that is of states, they are kept by every step.
        patience: how long it may take.
        wanted: clauses that are needed for something else, too.
        lemmas: what else holds in every state, as these clauses show.
    """
    of_moves = depends_on_moves(model, bad)
    with Formula(patience) as formula:
        counted = [lemma.holds for lemma in lemmas]
        copy = any_step(formula, model, [(holds,) for holds in counted])
        then = copy.then()
        if of_moves:
            goal = [copy(bad)]
        else:
            formula.add(-copy(bad))
            goal = list(map(then, [bad, *counted]))
        holds = {formula.new(): clause for clause in clauses}
        guard_of = {clause: guard for guard, clause in holds.items()}
        for guard, clause in holds.items():
            formula.add(-guard, *map(copy, clause))
        needed: dict[Clause, None] = dict.fromkeys(wanted)
        pending = [goal, *([copy(lemma.changes)] for lemma in lemmas)]
        pending += [[then(x ^ 1) for x in clause] for clause in wanted]
        while pending:
            broken = pending.pop()
            # What is needed already costs nothing, and a clause mostly keeps itself.
            first = [guard_of[known] for known in needed]
            if formula.solve([*first, *broken]):
                rest = [guard for guard in holds if holds[guard] not in needed]
                possible = formula.solve([*first, *rest, *broken])
                assert not possible, "the invariant was not one"
                core = formula.core()
                fresh = [holds[guard] for guard in rest if guard in core]
                needed.update(dict.fromkeys(fresh))
                pending += [[then(x ^ 1) for x in clause] for clause in fresh]
    return list(needed)
