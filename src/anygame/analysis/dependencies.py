"""Who depends on whom: components of rules in the order in which they can be computed.

The granularity is the relation, and inside a relation-level cycle that passes through a negation it is the
single rule: one rule depends on another only where a body atom unifies with the other's head. So
``(<= (goal ?r 0) (role ?r) (not (goal ?r 100)))`` is stratified, as it is meant, although ``goal``
depends negatively on ``goal``.

Stratification is that of Apt, Blair and Walker ("Towards a theory of declarative knowledge", 1988), to which
GDL holds; looking at single rules goes a part of the way to local stratification, which looks at ground atoms
(Przymusinski, "On the declarative semantics of deductive databases and logic programs", 1988).

This is the one module that imports networkx, and only when there are rules to order: nothing
else that is imported takes as long.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from anygame.analysis.groups import grouped

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Sequence

    import networkx as nx

R = TypeVar("R", bound="Hashable")


class Read(Protocol):
    """One atom that a rule's body reads."""

    @property
    def relation(self) -> Hashable:
        """The relation read."""

    @property
    def positive(self) -> bool:
        """Whether it is read outside negation."""


@dataclass(frozen=True, slots=True)
class Component(Generic[R]):
    """Rules that must be computed together.

    Attributes:
        rules: in the order of the sheet.
        recursive: whether some rule reads what a rule of the component derives.
        level: the stratum: the number of negations on the way down, at most.
    """

    rules: tuple[R, ...]
    recursive: bool
    level: int


@dataclass(frozen=True, slots=True)
class NegativeCycle(Generic[R]):
    """Rules that depend on each other through a negation: no stratification exists."""

    rules: tuple[R, ...]
    negations: tuple[tuple[R, int], ...]  # (rule, index of the negative read)


def components(
    rules: Sequence[R],
    head: Callable[[R], Hashable],
    reads: Callable[[R], Sequence[Read]],
    may_feed: Callable[[R, R, int], bool],
) -> tuple[list[Component[R]], list[NegativeCycle[R]]]:
    """Group rules into components, each after all that it reads.

    Args:
        rules: the rules, in an order that the result keeps wherever it is free.
        head: the relation a rule derives.
        reads: the atoms a rule reads.
        may_feed: ``may_feed(feeder, reader, i)``: whether the feeder's head unifies with the i-th read.

    Returns:
        The components in the order of computation, and the negative cycles (none where stratified).
    """
    import networkx as nx

    by_head = grouped((head(rule), rule) for rule in rules)
    relations: nx.DiGraph[Hashable] = nx.DiGraph()
    relations.add_nodes_from(by_head)
    negative: set[tuple[Hashable, Hashable]] = set()
    for rule in rules:
        for read in reads(rule):
            if read.relation in by_head:
                relations.add_edge(read.relation, head(rule))
                if not read.positive:
                    negative.add((read.relation, head(rule)))
    group_of: dict[Hashable, int] = {}
    groups: list[list[Hashable]] = []
    for group in _ordered_components(relations):
        for relation in group:
            group_of[relation] = len(groups)
        groups.append(group)
    refined = {group_of[source] for source, target in negative if group_of[source] == group_of[target]}

    order = {rule: number for number, rule in enumerate(rules)}
    result: list[Component[R]] = []
    cycles: list[NegativeCycle[R]] = []
    level_of: dict[Hashable, int] = {}
    for number, group in enumerate(groups):
        members = sorted((rule for relation in group for rule in by_head[relation]), key=order.__getitem__)
        parts = _refine(members, by_head, reads, may_feed, cycles) if number in refined else [members]
        for part in parts:
            inside = set(part)
            derived = {head(rule) for rule in part}
            recursive = any(
                number not in refined or (feeder in inside and may_feed(feeder, rule, index))
                for rule in part
                for index, read in enumerate(reads(rule))
                if read.relation in derived
                for feeder in by_head[read.relation]
            )
            level = max((level_of.get(head(rule), 0) for rule in part), default=0)
            for rule in part:
                for read in reads(rule):
                    level = max(level, level_of.get(read.relation, 0) + (not read.positive))
            for rule in part:
                level_of[head(rule)] = level
            result.append(Component(tuple(part), recursive, level))
    return result, cycles


def _ordered_components(graph: nx.DiGraph[R]) -> Iterable[list[R]]:
    """Yield strongly connected components in topological order, ties in order of insertion."""
    import networkx as nx

    condensed = nx.condensation(graph)
    position = {node: number for number, node in enumerate(graph)}
    first = {
        node: min(position[member] for member in data["members"]) for node, data in condensed.nodes(data=True)
    }
    for node in nx.lexicographical_topological_sort(condensed, key=first.__getitem__):
        yield sorted(condensed.nodes[node]["members"], key=position.__getitem__)


def _refine(
    members: list[R],
    by_head: dict[Hashable, list[R]],
    reads: Callable[[R], Sequence[Read]],
    may_feed: Callable[[R, R, int], bool],
    cycles: list[NegativeCycle[R]],
) -> list[list[R]]:
    import networkx as nx

    inside = set(members)
    graph: nx.DiGraph[R] = nx.DiGraph()
    graph.add_nodes_from(members)
    negations: list[tuple[R, R, int]] = []
    for rule in members:
        for index, read in enumerate(reads(rule)):
            for feeder in by_head.get(read.relation, ()):
                if feeder in inside and may_feed(feeder, rule, index):
                    graph.add_edge(feeder, rule)
                    if not read.positive:
                        negations.append((feeder, rule, index))
    parts = [list(part) for part in _ordered_components(graph)]
    number_of = {rule: number for number, part in enumerate(parts) for rule in part}
    for number, part in enumerate(parts):
        found = {
            (rule, index): None
            for feeder, rule, index in negations
            if number_of[feeder] == number_of[rule] == number
        }
        if found:
            cycles.append(NegativeCycle(tuple(part), tuple(found)))
    return parts
