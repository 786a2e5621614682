"""Groups by key, reachable nodes, and strongly connected components."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Hashable, Iterable, Iterator

K = TypeVar("K", bound="Hashable")
V = TypeVar("V")


def grouped(pairs: Iterable[tuple[K, V]]) -> dict[K, list[V]]:
    """Group the values by key; keys and values keep their order.

    >>> grouped([("a", 1), ("b", 2), ("a", 3)])
    {'a': [1, 3], 'b': [2]}
    """
    groups: dict[K, list[V]] = {}
    for key, value in pairs:
        groups.setdefault(key, []).append(value)
    return groups


def reached(starts: Iterable[K], onward: Callable[[K], Iterable[K]]) -> dict[K, None]:
    """Return all nodes that are reachable from the starts, including the starts.

    >>> list(reached([1], lambda number: [number * 2 % 7, number]))
    [1, 2, 4]
    """
    seen = dict.fromkeys(starts)
    pending = list(seen)
    while pending:
        new = [node for node in dict.fromkeys(onward(pending.pop())) if node not in seen]
        seen.update(dict.fromkeys(new))
        pending += new
    return seen


def cycles(targets: Iterable[int], parents: Callable[[int], Collection[int]]) -> Iterator[list[int]]:
    """Yield the strongly connected components that contain a cycle, parents first.

    >>> list(cycles([3], {1: [2], 2: [], 3: [3, 1]}.__getitem__))
    [[3]]
    """
    for component in strong_components(targets, parents):
        if len(component) > 1 or component[0] in parents(component[0]):
            yield component


#: Number of an artificial node whose parents are all targets.
_ROOT: Final = -1


def strong_components(targets: Iterable[int], parents: Callable[[int], Iterable[int]]) -> Iterator[list[int]]:
    """Yield the strongly connected components of a graph, parents first (Tarjan 1972, without recursion).

    >>> [sorted(found) for found in strong_components([3], {1: [2], 2: [1], 3: [2, 4], 4: []}.__getitem__)]
    [[1, 2], [4], [3]]
    """
    index: dict[int, int] = {}
    low: dict[int, int] = {_ROOT: 0}
    stack: list[int] = []
    on_stack: set[int] = set()
    work = [(_ROOT, iter(targets))]
    while True:
        node, parents_left = work[-1]
        for parent in parents_left:
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
            if node == _ROOT:
                return
            above = work[-1][0]
            low[above] = min(low[above], low[node])
            if low[node] == index[node]:
                component = [stack.pop()]
                while component[-1] != node:
                    component.append(stack.pop())
                on_stack.difference_update(component)
                yield component
