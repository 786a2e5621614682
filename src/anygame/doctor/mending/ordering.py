"""The mend of a test that stands before what binds its variables: the literals change their order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from anygame.analysis.edits import Edit, Mend, end_of_line
from anygame.analysis.ordering import binding_order
from anygame.language.forms import form_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from anygame.language.rules import Rule
    from anygame.language.source import Node
    from anygame.language.terms import Variable


def in_order(rule: Rule, role: Variable | None, comments: Sequence[tuple[int, int]]) -> Iterator[Mend]:
    """Yield the mend that puts a rule's literals in order.

    Args:
        rule: the rule.
        role: a variable that another mend binds before all others.
        comments: where the comments of the sheet start and end.
    """
    order = binding_order(rule.body, {role} if role else ())
    nodes = [formula.node for formula in rule.body]
    known = [node for node in nodes if node is not None]
    if order == list(range(len(order))) or len(known) < len(nodes):
        return
    assert rule.node is not None
    moved = next(number for place, number in enumerate(order) if place != number)
    message = f"{known[moved].span.text} goes before what needs its variables"
    inside = [c for c in comments if rule.node.start < c[0] < rule.node.end]
    if inside and form_of(rule.node.source) == "kif":
        edit = _moved_with_comments(rule, known, order, inside)
    else:
        edit = _moved(known, order)
    yield Mend("order", " ".join(message.split()), known[moved].span, (edit,))


def _moved(nodes: Sequence[Node], order: Sequence[int]) -> Edit:
    """Return the edit that puts literals in another order, and leaves what stands between where it is."""
    text = nodes[0].source.text
    pieces: list[str | tuple[int, int]] = []
    for place, number in enumerate(order):
        if place:
            pieces.append(text[nodes[place - 1].end : nodes[place].start])
        pieces.append((nodes[number].start, nodes[number].end))
    return Edit(nodes[0].start, nodes[-1].end, tuple(pieces))


def _moved_with_comments(
    rule: Rule, nodes: Sequence[Node], order: Sequence[int], comments: Sequence[tuple[int, int]]
) -> Edit:
    """Return the edit that moves literals with the comments before them and at the ends of their lines."""
    assert rule.head.node is not None
    text = nodes[0].source.text
    start = end_of_line(text, rule.head.node.end, comments)
    chunks: list[tuple[int, int]] = []
    for node in nodes:
        end = end_of_line(text, node.end, comments)
        chunks.append((start if not chunks else chunks[-1][1], end))
    pieces: list[str | tuple[int, int]] = []
    in_comment = start > rule.head.node.end
    for number in order:
        low, high = chunks[number]
        if in_comment and not text[low:high].lstrip(" \t").startswith(("\r", "\n")):
            pieces.append("\n    ")
        elif not text[low].isspace():
            pieces.append(" ")
        pieces.append((low, high))
        in_comment = high > nodes[number].end
    if in_comment and not text[chunks[-1][1] :].lstrip(" \t").startswith(("\r", "\n")):
        pieces.append("\n")
    return Edit(start, chunks[-1][1], tuple(pieces))
