"""Every place of every name in a sheet, and what is meant there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from anygame.language.rules import KEYWORDS
from anygame.language.sentences import fold, fold_head

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from anygame.language.source import Node

#: What a name is used as; a constant is a term without arguments.
Kind = Literal["operator", "relation", "term", "variable"]
#: Where a term stands: relation, its arity, and number of the argument; then, for each term around it, the
#: function with its arity, and the number of the argument, as in `anygame.analysis.domains`.
Place = tuple[object, ...]

OPERATORS: Final = frozenset(("<=", "not", "and", "or", "distinct"))
FLUENT_PLACES: Final[frozenset[Place]] = frozenset(
    (("init", 1, 0), ("true", 1, 0), ("next", 1, 0), ("base", 1, 0))
)
MOVE_PLACES: Final[frozenset[Place]] = frozenset((("legal", 2, 1), ("does", 2, 1), ("input", 2, 1)))


@dataclass(frozen=True, slots=True)
class Symbol:
    """What a name means: all places of equal symbols mean the same.

    Attributes:
        kind: what it is used as.
        name: as programs spell it; a variable without its question mark.
        arity: the number of its arguments.
        item: of a variable, the number of the rule that it belongs to; else -1.
    """

    kind: Kind
    name: str
    arity: int
    item: int = -1


@dataclass(frozen=True, slots=True)
class Occurrence:
    """One place of a name.

    Attributes:
        symbol: what is meant.
        start: offset of the name's first character.
        end: offset after its last character.
        node: the sentence, formula or term that the name begins.
        item: the number of the rule or fact.
        in_head: whether it stands in the head of a rule, or in a fact.
        positive: whether a sentence in the body around it is not negated.
        place: of a term, which argument of what it is; else empty.
    """

    symbol: Symbol
    start: int
    end: int
    node: Node
    item: int
    in_head: bool
    positive: bool
    place: Place = ()

    @property
    def is_fluent(self) -> bool:
        """Whether it is the name of a fluent."""
        return self.symbol.kind == "term" and self.place in FLUENT_PLACES

    @property
    def is_move(self) -> bool:
        """Whether it is the name of a move."""
        return self.symbol.kind == "term" and self.place in MOVE_PLACES


def is_keyword(symbol: Symbol) -> bool:
    """Return whether GDL gives a relation its meaning."""
    return symbol.kind == "operator" or (
        symbol.kind == "relation" and KEYWORDS.get(symbol.name) == symbol.arity
    )


def occurrences_of(items: Iterable[Node]) -> Iterator[Occurrence]:
    """Yield every place of every name, item by item, in each from left to right as KIF is read."""
    for number, item in enumerate(items):
        yield from _Item(number).read(item)


class _Item:
    """Reads one rule or fact."""

    def __init__(self, number: int) -> None:
        self._number = number

    def read(self, node: Node) -> Iterator[Occurrence]:
        """Yield the names of a rule or a fact."""
        children = node.children or ()
        if not children or fold_head(children[0].text) != "<=":
            yield from self._formula(node, True, True)
            return
        yield self._occurrence(Symbol("operator", "<=", len(children) - 1), children[0], node, True, True)
        for place, child in enumerate(children[1:]):
            yield from self._formula(child, place == 0, True)

    def _formula(self, node: Node, in_head: bool, positive: bool) -> Iterator[Occurrence]:
        children = node.children
        first = children[0] if children else node
        if first.children is not None:  # a parenthesis too many
            for child in children or ():
                yield from self._formula(child, in_head, positive)
            return
        name = fold_head(first.text)
        rest = (children or ())[1:]
        if name[0] == "?":
            yield from self._token(first, node, in_head, positive, ())
            for child in rest:
                yield from self._term(child, in_head, positive, ())
            return
        kind: Kind = "operator" if name in OPERATORS else "relation"
        yield self._occurrence(Symbol(kind, name, len(rest)), first, node, in_head, positive)
        for number, child in enumerate(rest):
            if name == "distinct":
                yield from self._term(child, in_head, False, ())
            elif name == "<=":
                yield from self._formula(child, number == 0, True)
            elif kind == "operator":
                yield from self._formula(child, in_head, positive != (name == "not"))
            else:
                yield from self._term(child, in_head, positive, (name, len(rest), number))

    def _term(self, node: Node, in_head: bool, positive: bool, place: Place) -> Iterator[Occurrence]:
        children = node.children
        first = children[0] if children else node
        if first.children is not None:
            for child in children or ():
                yield from self._term(child, in_head, positive, ())
            return
        yield from self._token(first, node, in_head, positive, place)
        rest = (children or ())[1:]
        functor = (fold(first.text), len(rest))
        for number, child in enumerate(rest):
            deeper = (*place, functor, number) if place else ()
            yield from self._term(child, in_head, positive, deeper)

    def _token(
        self, token: Node, node: Node, in_head: bool, positive: bool, place: Place
    ) -> Iterator[Occurrence]:
        text = token.text
        if text[0] == "?":
            symbol = Symbol("variable", text[1:], 0, self._number)
        else:
            symbol = Symbol("term", fold(text), len(node.children or (node,)) - 1)
        yield self._occurrence(symbol, token, node, in_head, positive, place)

    def _occurrence(
        self, symbol: Symbol, token: Node, node: Node, in_head: bool, positive: bool, place: Place = ()
    ) -> Occurrence:
        return Occurrence(symbol, token.start, token.end, node, self._number, in_head, positive, place)
