"""Invariants by induction: of many clauses those that all hold at the start and that every step keeps together.

After Flanagan and Leino (2001, "Houdini, an annotation assistant for ESC/Java"): clauses that a step can break are
left out until none is left that can be broken.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from anygame.proving.formula import Copy, Formula, OutOfTimeError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from anygame.proving.formula import Patience
    from anygame.proving.model import Model
    from anygame.proving.sampling import Sample

#: A clause over fluents: literals of the model, ascending.
Clause = tuple[int, ...]


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
        copy = Copy(formula, model)
        copy.clauses(known)
        copy.step(formula.true)
        after = copy.after()
        held = [formula.new() for _ in alive]
        broken = [formula.new() for _ in alive]

        def later(literal: int) -> int:
            return -after[(literal >> 1) - 1] if literal & 1 else after[(literal >> 1) - 1]

        for clause, holds, breaks in zip(alive, held, broken, strict=True):
            formula.add(-holds, *map(copy, clause))
            for literal in clause:
                formula.add(-breaks, -later(literal))
        left = range(len(alive))
        try:
            while left:
                some = formula.new()
                formula.add(-some, *(broken[number] for number in left))
                if not formula.solve([some, *(held[number] for number in left)]):
                    return [alive[number] for number in left]
                value = formula.assignment()
                left = [number for number in left if any(value(later(x)) for x in alive[number])]
                formula.add(-some)
        except OutOfTimeError:
            pass
    return []


def candidates(model: Model, sample: Sample) -> list[Clause]:
    """Return clauses that a sample does not refute: fluents that never change, and groups of which one holds."""
    states = sample.states
    always, never = states.all(axis=0), ~states.any(axis=0)
    found: list[Clause] = [(2 * f + 2,) for f in np.flatnonzero(always).tolist()]
    found += [(2 * f + 3,) for f in np.flatnonzero(never).tolist()]
    changing = ~always & ~never
    for group in groups(model):
        members = [fluent for fluent in group if changing[fluent]]
        if len(members) < 2:
            continue
        found += _pairs(members)
        if states[:, members].any(axis=1).all():
            found.append(tuple(2 * fluent + 2 for fluent in members))
    if changing.sum() <= 300:
        found += exclusive_pairs(states, np.flatnonzero(changing).tolist())
    return list(dict.fromkeys(found))


def groups(model: Model) -> Iterator[list[int]]:
    """Yield groups of fluents of which no two hold at once, as far as the network knows."""
    for array in model.exclusions.groups:
        order = np.argsort(array, kind="stable")
        order = order[array[order] >= 0]
        if len(order):
            ends = np.flatnonzero(np.diff(array[order])) + 1
            for group in np.split(order, ends):
                yield group.tolist()


def exclusive_pairs(states: NDArray[np.bool_], among: Iterable[int]) -> list[Clause]:
    """Return the pairs of some fluents that never hold together in some states, as clauses."""
    members = np.array(sorted(among), np.int64)
    values = states[:, members].astype(np.float32)
    together = (values.T @ values) > 0
    rows, columns = np.nonzero(~together)
    return [(2 * int(a) + 3, 2 * int(b) + 3) for a, b in zip(members[rows], members[columns], strict=True) if a < b]


def _pairs(members: Sequence[int]) -> list[Clause]:
    return [(2 * a + 3, 2 * b + 3) for place, a in enumerate(members) for b in members[place + 1 :]]
