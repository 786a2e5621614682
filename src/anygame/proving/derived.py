"""What follows from what holds in every state, gate by gate: of a number that gates count to there is one.

Rules that count pieces square by square become gates of which, after each square, one holds. A solver that is
asked about the last one has to find out all that of every square anew; asked in turn, it answers at once, as
where circuits are swept for gates that are equal (Kuehlmann, Paruthi, Krohm and Ganai 2002, "Robust Boolean
reasoning for equivalence checking and functional property verification").
"""

from __future__ import annotations

from collections import defaultdict
from contextlib import suppress
from typing import TYPE_CHECKING, Final

import numpy as np

from anygame.proving.formula import Copy, Formula
from anygame.proving.patience import OutOfTimeError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from anygame.proving.model import Clause, Model
    from anygame.proving.patience import Patience

#: Gates of a group at least, and at most.
_FEWEST, _MOST = 3, 512
#: States of play that are looked at.
_STATES: Final = 4096
#: Of the time that is left, what one group may take.
_SHARE: Final = 0.1


def derived(
    model: Model, bad: int, states: NDArray[np.bool_], invariant: Sequence[Clause], patience: Patience
) -> list[int] | None:
    """Return literals that hold in every state, each as it follows from those before it and an invariant.

    Args:
        model: the game; grows.
        bad: literal over the state, which these exclude.
        states: of random play: bool [states, fluents].
        invariant: clauses that hold in every state.
        patience: how long it may take.

    Returns:
        None where what follows does not exclude it.

    Raises:
        OutOfTimeError: that was not found out in time.
    """
    groups = _exclusive(model, bad, states, patience)
    if not groups:
        return None
    found: list[int] = []
    with Formula(patience) as formula:
        copy = Copy(formula, model)
        copy.clauses(invariant)
        for group in groups:
            literal = model.at_most_one(group)
            formula.patience = patience.part(_SHARE)
            with suppress(OutOfTimeError):
                if not formula.solve([-copy(literal)]):
                    formula.add(copy(literal))
                    found.append(literal)
        formula.patience = patience
        return None if formula.solve([copy(bad)]) else found


def _exclusive(model: Model, bad: int, states: NDArray[np.bool_], patience: Patience) -> list[list[int]]:
    """Return groups of literals of which at most one holds in some states, those of few fluents first.

    Those of a group depend on the same fluents, and none of their gates is part of another.
    """
    supports: dict[int, int] = {}
    classes: dict[int, dict[int, None]] = defaultdict(dict)
    for node in model.cone([bad]):
        inputs = model.gates.inputs_of(2 * node)
        if inputs is None:
            supports[node] = 1 << node
            continue
        support = 0
        for literal in inputs:
            support |= supports[literal >> 1]
        supports[node] = support
        members = classes[support]
        for literal in inputs:
            members.pop(literal >> 1, None)
        members[node] = None
    several = [list(classes[support]) for support in sorted(classes, key=int.bit_count)]
    several = [nodes for nodes in several if _FEWEST <= len(nodes) <= _MOST]
    found = []
    wanted = sorted({2 * node for nodes in several for node in nodes})
    values = model.values(wanted, states[:: 1 + len(states) // _STATES], patience=patience)
    places = {literal >> 1: place for place, literal in enumerate(wanted)}
    for nodes in several:
        patience.check()
        inverted = _inverted(values[:, [places[node] for node in nodes]])
        if inverted is not None:
            found.append([2 * node + int(n) for node, n in zip(nodes, inverted.tolist(), strict=True)])
    return found


def _inverted(values: NDArray[np.bool_]) -> NDArray[np.bool_] | None:
    """Return which of some literals to invert so that at most one holds; None where that is impossible."""
    inverted: NDArray[np.bool_] = np.asarray(values.mean(axis=0) > 1 / 2)
    holding = values ^ inverted
    number = holding.sum(axis=1)
    if number.max(initial=0) > 1:
        # One may hold more often than not: it is the one that is inverted where any other holds.
        often = np.flatnonzero(holding[number > 0].all(axis=0))
        if number.max() > 2 or not len(often):
            return None
        inverted[often[0]] ^= True
    return inverted
