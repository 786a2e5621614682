"""Strongly connected components: what depends on itself, in the order of dependence."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator


def strong_components(targets: Iterable[int], parents: Callable[[int], list[int]]) -> Iterator[list[int]]:
    """Yield the strongly connected components of a graph, parents first (Tarjan 1972, without recursion)."""
    index: dict[int, int] = {}
    low: dict[int, int] = {}
    stack: list[int] = []
    on_stack: set[int] = set()
    for target in targets:
        if target in index:
            continue
        index[target] = low[target] = len(index)
        stack.append(target)
        on_stack.add(target)
        work = [(target, iter(parents(target)))]
        while work:
            node, rest = work[-1]
            for parent in rest:
                if parent not in index:
                    index[parent] = low[parent] = len(index)
                    stack.append(parent)
                    on_stack.add(parent)
                    work.append((parent, iter(parents(parent))))
                    break
                if parent in on_stack:
                    low[node] = min(low[node], index[parent])
            else:
                work.pop()
                if work:
                    above = work[-1][0]
                    low[above] = min(low[above], low[node])
                if low[node] == index[node]:
                    component = []
                    while True:
                        member = stack.pop()
                        on_stack.discard(member)
                        component.append(member)
                        if member == node:
                            break
                    yield component
