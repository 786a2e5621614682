"""Components of mutually dependent rules, in the order of evaluation.

Usually, dependencies are between relations. If a cycle of relations contains a negation, single rules of the
cycle depend on single rules: rule A depends on rule B if an atom in the body of A unifies with the head of B.
So ``(<= (goal ?r 0) (role ?r) (not (goal ?r 100)))`` is stratified, as its author intends, although ``goal``
depends negatively on ``goal``.

GDL requires the stratification of Apt, Blair and Walker ("Towards a theory of declarative knowledge", 1988).
Dependencies between single rules are a step towards local stratification, which uses ground atoms
(Przymusinski, "On the declarative semantics of deductive databases and logic programs", 1988).
"""

from __future__ import annotations

from dataclasses import dataclass
from graphlib import TopologicalSorter
from heapq import heappop, heappush
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from anygame.analysis.groups import grouped, strong_components

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence

R = TypeVar("R", bound="Hashable")


class Read(Protocol):
    """An atom in the body of a rule."""

    @property
    def relation(self) -> Hashable:
        """The relation of the atom."""

    @property
    def positive(self) -> bool:
        """Whether the atom is outside negation."""


@dataclass(frozen=True, slots=True)
class RuleGroup(Generic[R]):
    """Rules that must be evaluated together, in the order of the sheet."""

    rules: tuple[R, ...]
    recursive: bool  # whether a rule reads a relation that the group derives
    level: int  # the stratum: the maximum number of negations on a path of dependencies


@dataclass(frozen=True, slots=True)
class NegativeCycle(Generic[R]):
    """Rules that depend on each other through a negation, so that no stratification exists."""

    rules: tuple[R, ...]
    negations: tuple[tuple[R, int], ...]  # pairs: a rule, and the index of its negative literal


def components(
    rules: Sequence[R],
    head: Callable[[R], Hashable],
    reads: Callable[[R], Sequence[Read]],
    may_feed: Callable[[R, R, int], bool],
) -> tuple[list[RuleGroup[R]], list[NegativeCycle[R]]]:
    """Return the components of rules in the order of evaluation, and the negative cycles.

    Each component comes after all components that it reads; otherwise, rules keep their order. ``head``
    returns the relation that a rule derives, and ``reads`` the atoms in its body. ``may_feed(feeder, reader,
    i)`` returns whether the head of ``feeder`` unifies with the atom ``reads(reader)[i]``.
    """
    by_head = grouped((head(rule), rule) for rule in rules)
    parents: dict[Hashable, set[Hashable]] = {relation: set() for relation in by_head}
    negative: set[tuple[Hashable, Hashable]] = set()
    for rule in rules:
        for read in reads(rule):
            if read.relation in by_head:
                parents[head(rule)].add(read.relation)
                if not read.positive:
                    negative.add((read.relation, head(rule)))
    groups = list(_ordered_components(parents))
    group_of = {relation: number for number, group in enumerate(groups) for relation in group}
    refined = {group_of[source] for source, target in negative if group_of[source] == group_of[target]}

    order = {rule: number for number, rule in enumerate(rules)}
    result: list[RuleGroup[R]] = []
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
            levels = [level_of.get(relation, 0) for relation in derived]
            levels += [
                level_of.get(read.relation, 0) + (not read.positive) for rule in part for read in reads(rule)
            ]
            level = max(levels)
            level_of |= dict.fromkeys(derived, level)
            result.append(RuleGroup(tuple(part), recursive, level))
    return result, cycles


def _ordered_components(parents: Mapping[R, Collection[R]]) -> Iterator[list[R]]:
    """Yield strongly connected components, parents first, otherwise in the order of the nodes."""
    nodes = list(parents)
    number = {node: place for place, node in enumerate(nodes)}
    above = [sorted(number[parent] for parent in parents[node]) for node in nodes]
    # The smallest node of a component represents the component.
    members = {min(part): sorted(part) for part in strong_components(range(len(nodes)), above.__getitem__)}
    first_of = {node: first for first, part in members.items() for node in part}
    sorter = TopologicalSorter(
        {
            first: {first_of[n] for node in part for n in above[node]} - {first}
            for first, part in members.items()
        }
    )
    sorter.prepare()
    ready: list[int] = []
    while sorter.is_active():
        for first in sorter.get_ready():
            heappush(ready, first)
        first = heappop(ready)
        yield [nodes[node] for node in members[first]]
        sorter.done(first)


def _refine(
    members: list[R],
    by_head: dict[Hashable, list[R]],
    reads: Callable[[R], Sequence[Read]],
    may_feed: Callable[[R, R, int], bool],
    cycles: list[NegativeCycle[R]],
) -> list[list[R]]:
    inside = set(members)
    parents: dict[R, set[R]] = {rule: set() for rule in members}
    negations: list[tuple[R, R, int]] = []
    for rule in members:
        for index, read in enumerate(reads(rule)):
            for feeder in by_head.get(read.relation, ()):
                if feeder in inside and may_feed(feeder, rule, index):
                    parents[rule].add(feeder)
                    if not read.positive:
                        negations.append((feeder, rule, index))
    parts = list(_ordered_components(parents))
    number_of = {rule: number for number, part in enumerate(parts) for rule in part}
    for number, part in enumerate(parts):
        inner_negations = {
            (rule, index): None
            for feeder, rule, index in negations
            if number_of[feeder] == number_of[rule] == number
        }
        if inner_negations:
            cycles.append(NegativeCycle(tuple(part), tuple(inner_negations)))
    return parts
