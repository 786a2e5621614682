"""The mend of parentheses round a single name: they go."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from anygame.analysis.edits import Edit, Mend
from anygame.language.sentences import fold_head

if TYPE_CHECKING:
    from collections.abc import Iterator

    from anygame.language.source import Node

_OPERATORS: Final = frozenset(("<=", "not", "and", "or", "distinct"))


def without_parentheses(node: Node) -> Iterator[Mend]:
    """Yield the mends of a rule's node: the parentheses go."""
    pending = [node]
    while pending:
        node = pending.pop()
        children = node.children or ()
        pending += children
        if len(children) != 1 or children[0].children is not None:
            continue
        name = children[0]
        text = node.source.text
        before, after = text[node.start : name.start], text[name.end : node.end]
        if fold_head(name.text) in _OPERATORS or (before + after).strip("() \t\r\n"):
            continue
        # In KIF parentheses may be all that parts a name from its neighbours.
        left = "" if not before or text[max(node.start - 1, 0) : node.start] in {"", *"( \t\r\n"} else " "
        right = "" if not before or text[node.end : node.end + 1] in {"", *") \t\r\n"} else " "
        edits = Edit(node.start, name.start, (left,)), Edit(name.end, node.end, (right,))
        kept = tuple(edit for edit in edits if edit.start < edit.end)
        message = f"{node.span.text} becomes {text[name.start : name.end]}"
        yield Mend("parentheses", " ".join(message.split()), node.span, kept)
