"""The order of components, against NetworkX."""

from __future__ import annotations

import networkx as nx
from hypothesis import given
from hypothesis import strategies as st

from anygame.analysis.dependencies import _ordered_components

_EDGES = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=25)


@given(_EDGES, st.permutations(range(10)))
def test_components_follow_their_parents_and_otherwise_the_order_of_nodes(
    edges: list[tuple[int, int]], nodes: list[int]
) -> None:
    parents: dict[int, set[int]] = {node: set() for node in nodes}
    for parent, child in edges:
        parents[child].add(parent)
    graph: nx.DiGraph[int] = nx.DiGraph()
    graph.add_nodes_from(nodes)
    graph.add_edges_from(edges)
    condensed = nx.condensation(graph)
    members = {group: sorted(data["members"], key=nodes.index) for group, data in condensed.nodes(data=True)}
    order = nx.lexicographical_topological_sort(condensed, lambda group: nodes.index(members[group][0]))
    assert list(_ordered_components(parents)) == [members[group] for group in order]


def test_long_chains_are_ordered_without_recursion() -> None:
    count = 20_000
    chain = {node: [node + 1] if node + 1 < count else [] for node in range(count)}
    assert [found for (found,) in _ordered_components(chain)] == list(reversed(range(count)))
    ring = {node: [(node + 1) % count] for node in range(count)}
    assert list(_ordered_components(ring)) == [list(range(count))]
