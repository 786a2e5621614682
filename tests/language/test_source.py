from __future__ import annotations

import pytest

from anygame.language import Node, Source, Span, parse_nodes, parse_program

TEXT = "one\ntwo\r\nthree\rfour\n"


@pytest.mark.parametrize(
    ("offset", "place"), [(0, (1, 1)), (2, (1, 3)), (4, (2, 1)), (9, (3, 1)), (15, (4, 1)), (20, (5, 1))]
)
def test_position_counts_all_three_line_ends(offset: int, place: tuple[int, int]) -> None:
    assert Source("s", TEXT).position(offset) == place


def test_line_leaves_out_its_end() -> None:
    source = Source("s", TEXT)
    assert [source.line(number) for number in range(1, 6)] == ["one", "two", "three", "four", ""]


def test_span_names_its_place_and_text() -> None:
    span = Span(Source("s", TEXT), 9, 14)
    assert (span.place, span.text) == ("s:3:1", "three")


def test_arguments_of_a_node_by_path() -> None:
    (node,) = parse_nodes("(true (cell 1 (up ?x)))")
    assert node.argument() is node
    assert node.argument(0).span.text == "(cell 1 (up ?x))"
    assert node.argument(0, 1, 0).text == "?x"
    for path in [(1,), (0, 2), (0, 0, 0), (-1,)]:
        with pytest.raises(IndexError, match="<text>:1:"):
            node.argument(*path)


def test_nodes_mirror_the_text() -> None:
    first, second = parse_nodes(" a ( b ; c )\n (d) () )")
    assert (first.text, first.children, first.start, first.end) == ("a", None, 1, 2)
    assert second.text == ""
    assert second.children is not None
    assert [child.span.text for child in second.children] == ["b", "(d)", "()"]
    assert isinstance(second.children[2], Node)
    assert second.children[2].children == ()


def test_the_tokens_of_a_flat_list_become_nodes_when_they_are_asked_for() -> None:
    text = "(role a) (p  b\tc ; why\n) (q(r  d)e) ()"
    nodes = parse_nodes(text)
    assert [node.tokens for node in nodes] == [["role", "a"], ["p", "b", "c"], None, []]
    assert [[child.span.text for child in node.children or ()] for node in nodes] == [
        ["role", "a"],
        ["p", "b", "c"],
        ["q", "(r  d)", "e"],
        [],
    ]
    inner = nodes[2].argument(0, 0)
    assert (inner.text, inner.start, inner.end, inner.children, inner.tokens) == ("d", 31, 32, None, None)
    assert inner == parse_nodes(text)[2].argument(0, 0) != nodes[2].argument(0)
    assert len({*nodes, *parse_nodes(text)}) == len(nodes)


def test_a_plain_fact_takes_one_node() -> None:
    program = parse_program("(role a)" + "(p 1 (f 2)) (q 1 2)" * 3)
    plain = [rule.node for rule in program.rules if rule.head.predicate == "q"]
    assert all(node is not None and node._children == () for node in plain)
