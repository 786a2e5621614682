"""That every match ends: a measure that every joint move but the last lets grow.

The measure counts facts that never change back: fluents that stay once they hold, or stay away once they do
not; and for fluents of which one always holds, and that follow each other in an order, that the last or a
later one holds. Such a measure proves termination as the ranking functions of programs do (Podelski and
Rybalchenko 2004, "A complete method for the synthesis of linear ranking functions").
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

import networkx as nx
import numpy as np

from anygame.proving.formula import Formula, any_step
from anygame.proving.induction import groups

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from anygame.proving.model import Clause, Model
    from anygame.proving.patience import Patience
    from anygame.proving.sampling import Sample


def measure(
    model: Model, sample: Sample, invariant: Sequence[Clause], patience: Patience
) -> list[int] | None:
    """Return literals that stay once they hold, of which every move but the last makes another one hold.

    Args:
        model: the game; grows.
        sample: states of random play; what it refutes is not tried.
        invariant: clauses that hold in every state.
        patience: how long it may take.

    Returns:
        The literals; None where there are no such ones among those that are tried.
    """
    for tried in (_orders(model, sample), [*_orders(model, sample), *_latches(model, sample)]):
        stay = _staying(model, tried, invariant, patience)
        found = _needed(model, stay, invariant, patience)
        if found is not None:
            return found
    return None


def slip(model: Model, literals: Sequence[int]) -> int:
    """Return the literal of a joint move that is not the last and lets a measure not grow."""
    gates = model.gates
    lost = [gates.conjunction([literal, model.later(literal) ^ 1]) for literal in literals]
    won = [gates.conjunction([literal ^ 1, model.later(literal)]) for literal in literals]
    idle = gates.conjunction([gates.disjunction(won) ^ 1, model.later(model.terminal) ^ 1])
    return gates.conjunction([model.moving, gates.disjunction([*lost, idle])])


def most_moves(model: Model, literals: Sequence[int]) -> int:
    """Return how many moves a match has at most, by a measure."""
    return int((~model.values(literals, model.initial[None])).sum()) + 1


def _latches(model: Model, sample: Sample) -> Iterator[int]:
    """Yield literals of single fluents that change in one direction alone, as far as a sample shows."""
    rises, falls = (sample.changes(rising=rising) for rising in (True, False))
    for fluent in np.flatnonzero(rises ^ falls).tolist():
        yield 2 * fluent + (2 if rises[fluent] else 3)


def _orders(model: Model, sample: Sample) -> list[int]:
    """Return literals that say of fluents that follow each other that a later one holds."""
    found = []
    varying = np.asarray(sample.changes(rising=True) | sample.changes(rising=False))
    for group in groups(model.fluents, varying):
        values = sample.states[:, group]
        if not (values.sum(axis=1) == 1).all():
            continue
        graph: nx.DiGraph[int] = nx.DiGraph()
        graph.add_nodes_from(range(len(group)))
        graph.add_edges_from(sample.successors(group))
        if not nx.is_directed_acyclic_graph(graph):
            continue
        order = list(nx.topological_sort(graph))
        found += [
            model.gates.disjunction([2 * group[number] + 2 for number in order[place:]])
            for place in range(1, len(order))
        ]
    return list(dict.fromkeys(found))


def _staying(
    model: Model, literals: Sequence[int], invariant: Sequence[Clause], patience: Patience
) -> list[int]:
    """Return those of some literals that no move undoes."""
    with Formula(patience) as formula:
        copy = any_step(formula, model, invariant)
        then = copy.then()
        return [x for x in literals if not formula.solve([copy(x), then(x ^ 1)])]


def _needed(
    model: Model, literals: Sequence[int], invariant: Sequence[Clause], patience: Patience
) -> list[int] | None:
    """Return literals of which every move but the last makes one hold; None where some move does not."""
    with Formula(patience) as formula:
        copy = any_step(formula, model, invariant)
        then = copy.then()
        formula.add(-then(model.terminal))
        same: dict[int, list[int]] = defaultdict(list)
        for literal in literals:
            idle = formula.new()
            formula.add(-idle, copy(literal), -then(literal))
            same[idle].append(literal)
        if formula.solve(list(same)):
            return None
        core = formula.core()
        return [literal for idle, found in same.items() if idle in core for literal in found]
