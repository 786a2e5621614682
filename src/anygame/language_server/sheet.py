"""A sheet that is being written: the occurrences and the meaning of each name."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from anygame.analysis.groups import grouped
from anygame.language.forms import comments_of, form_of, infix_constant, infix_variable
from anygame.language.rules import KEYWORDS, READ_AS
from anygame.language.sentences import OPERATORS, fold, fold_head
from anygame.language.source import Source
from anygame.language_server.findings import LIMITS, MOST_CONSTANTS, DomainTable, Place, Values
from anygame.language_server.reading import items_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from anygame.language.forms import Comment, Form
    from anygame.language.source import Node


#: The use of a name in a sheet; a constant is a term without arguments.
NameKind = Literal["operator", "relation", "term", "variable"]
FLUENT_PLACES: Final[frozenset[Place]] = frozenset(
    (("init", 1, 0), ("true", 1, 0), ("next", 1, 0), ("base", 1, 0))
)
MOVE_PLACES: Final[frozenset[Place]] = frozenset((("legal", 2, 1), ("does", 2, 1), ("input", 2, 1)))


@dataclass(frozen=True, slots=True)
class Symbol:
    """Meaning of a name; equal symbols have the same meaning.

    Attributes:
        name: the name, with keywords in lower case; for a variable, without the question mark.
        item: for a variable, the index of its rule; else -1.
    """

    kind: NameKind
    name: str
    arity: int
    item: int = -1


@dataclass(frozen=True, slots=True)
class Occurrence:
    """One place of a name, from offset ``start`` to ``end``.

    Attributes:
        node: the sentence, formula or term that the name begins.
        item: the index of the rule or fact.
        in_head: whether the name is in the head of a rule, or in a fact.
        positive: whether the sentence around the name is not negated.
        place: for a term or variable, the path inside its sentence; else empty.
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
        """Whether the name begins a fluent."""
        return self.symbol.kind == "term" and self.place in FLUENT_PLACES

    @property
    def is_move(self) -> bool:
        """Whether the name begins a move."""
        return self.symbol.kind == "term" and self.place in MOVE_PLACES


def is_keyword(symbol: Symbol) -> bool:
    """Return whether a symbol is an operator, or a relation with a meaning in GDL."""
    return symbol.kind == "operator" or (
        symbol.kind == "relation" and KEYWORDS.get(symbol.name) == symbol.arity
    )


class _Around(NamedTuple):
    """Context of a name: the last fields of its `Occurrence`."""

    item: int
    in_head: bool
    positive: bool = True
    place: Place = ()


def _formula(node: Node, around: _Around) -> Iterator[Occurrence]:
    first, arguments = _opened(node)
    if first.children is not None:  # there is one parenthesis too many
        for child in node.children or ():
            yield from _formula(child, around)
        return
    name = fold_head(first.text)
    if name[0] == "?":
        yield from _term(node, around)
        return
    kind: NameKind = "operator" if name in OPERATORS else "relation"
    yield Occurrence(Symbol(kind, name, len(arguments)), first.start, first.end, node, *around)
    for number, child in enumerate(arguments):
        if name == "distinct":
            yield from _term(child, around._replace(positive=False))
        elif name == "<=":
            yield from _formula(child, around._replace(in_head=number == 0, positive=True))
        elif kind == "operator":
            yield from _formula(child, around._replace(positive=around.positive != (name == "not")))
        else:
            yield from _term(child, around._replace(place=(name, len(arguments), number)))


def _term(node: Node, around: _Around) -> Iterator[Occurrence]:
    first, arguments = _opened(node)
    place = around.place
    if first.children is not None:
        for child in node.children or ():
            yield from _term(child, around._replace(place=()))
        return
    functor = (fold(first.text), len(arguments))
    is_variable = first.text[0] == "?"
    symbol = Symbol("variable", first.text[1:], 0, around.item) if is_variable else Symbol("term", *functor)
    yield Occurrence(symbol, first.start, first.end, node, *around)
    for number, child in enumerate(arguments):
        yield from _term(child, around._replace(place=(*place, functor, number) if place else ()))


def _opened(node: Node) -> tuple[Node, Sequence[Node]]:
    """Return the first item of a list and the other items; for a token, the token and no items."""
    return (node.children[0], node.children[1:]) if node.children else (node, ())


#: Maximum number of characters of a comment shown with a name.
_LONGEST_COMMENT: Final = 1_000
#: Characters at the end of a heading, which is a comment about more than the rule below it.
_RULE: Final = ("---", "===", "***")
_DECORATION: Final = "-=*_~# "


@dataclass(frozen=True, slots=True, order=True)
class Range:
    """Characters ``start`` (included) to ``end`` (excluded) of a text."""

    start: int
    end: int


class WrittenSheet:
    """A sheet that is being written, perhaps with faults."""

    def __init__(self, name: str, text: str) -> None:
        # If the suffix is unknown, the text determines the form.
        self.source = Source(PurePosixPath(name).name or "sheet", text)
        self.form: Form = form_of(self.source)

    @property
    def text(self) -> str:
        """The text."""
        return self.source.text

    @cached_property
    def items(self) -> tuple[Node, ...]:
        """The nodes of the rules and facts, guessed for broken items."""
        return items_of(self.source)

    @cached_property
    def comments(self) -> Sequence[Comment]:
        """The comments, in the order of the text."""
        return comments_of(self.source, self.form) if len(self.text) <= LIMITS.reading.bytes else ()

    @cached_property
    def occurrences(self) -> list[Occurrence]:
        """The occurrences of all names, in the order of the text."""
        items = enumerate(self.items)
        names = (name for number, item in items for name in _formula(item, _Around(number, in_head=True)))
        return sorted(names, key=lambda name: name.start)

    @cached_property
    def by_symbol(self) -> dict[Symbol, list[Occurrence]]:
        """The occurrences of each symbol."""
        return grouped((each.symbol, each) for each in self.occurrences)

    @cached_property
    def by_item(self) -> dict[int, list[Occurrence]]:
        """The occurrences of names in each rule or fact, by the number of the rule or fact."""
        return grouped((each.item, each) for each in self.occurrences)

    @cached_property
    def heads(self) -> dict[Symbol, list[int]]:
        """The numbers of the rules and facts that define each relation."""
        heads = ((self.head(number), number) for number in range(len(self.items)))
        return grouped((head.symbol, number) for head, number in heads if head is not None)

    def head(self, item: int) -> Occurrence | None:
        """Return the relation that a rule or fact defines; None if there is none."""
        names = self.by_item.get(item, ())
        return next((each for each in names if each.in_head and each.symbol.kind == "relation"), None)

    def is_rule(self, item: int) -> bool:
        """Return whether an item has a body."""
        children = self.items[item].children or ()
        return len(children) > 2 and children[0].text == "<="

    def subject(self, item: int) -> Symbol | None:
        """Return the fluent or move in the head of a rule or fact, else the relation of the head."""
        head = self.head(item)
        if head is None:
            return None
        in_head = (name for name in self.by_item[item] if name.in_head)
        return next((name.symbol for name in in_head if name.is_fluent or name.is_move), head.symbol)

    @cached_property
    def written(self) -> DomainTable:
        """The values written at each place; a place in ``next`` also counts as a place in ``true``."""
        values: dict[Place, Values] = defaultdict(Values)
        for each in self.occurrences:
            symbol = each.symbol
            if symbol.kind != "term" or not each.place:
                continue
            places = [each.place]
            name = str(each.place[0])
            if name in READ_AS and KEYWORDS[name] == each.place[1]:
                places.append((READ_AS[name], *each.place[1:]))
            for place in places:
                if symbol.arity:
                    values[place].functors.add((symbol.name, symbol.arity))
                elif len(values[place].constants) < MOST_CONSTANTS:
                    values[place].constants.add(symbol.name)
        return DomainTable(dict(values))

    @cached_property
    def _starts(self) -> list[int]:
        return [each.start for each in self.occurrences]

    def name_at(self, offset: int) -> Occurrence | None:
        """Return the name that contains an offset or ends at the offset."""
        place = bisect_right(self._starts, offset)
        for each in reversed(self.occurrences[max(0, place - 2) : place]):
            if each.start <= offset <= each.end:
                return each
        return None

    def comment_at(self, offset: int) -> Comment | None:
        """Return the comment that contains an offset, excluding the offset of its first character."""
        place = bisect_right([comment.start for comment in self.comments], offset - 1)
        comment = self.comments[place - 1] if place else None
        return comment if comment and comment.start < offset <= comment.end else None

    def comment_above(self, item: int) -> str:
        """Return the comment above an item, without comment marks; one blank line may follow the comment."""
        line = self.source.position(self.items[item].start)[0]
        place = bisect_right([comment.start for comment in self.comments], self.items[item].start)
        lines: list[str] = []
        gap = 2
        for comment in reversed(self.comments[:place]):
            comment_line = self.source.position(comment.start)[0]
            if not comment.own_line or line - comment_line > gap or comment.text.endswith(_RULE):
                break
            lines.append(comment.text.lstrip(comment.text[0]).strip(_DECORATION))
            line, gap = comment_line, 1
        return "\n".join(reversed(lines)).strip()[:_LONGEST_COMMENT]

    def spelled(self, symbol: Symbol) -> str:
        """Return a name in the spelling of the sheet's form."""
        if symbol.kind == "variable":
            return infix_variable(symbol.name) if self.form == "infix" else f"?{symbol.name}"
        return infix_constant(symbol.name) if self.form == "infix" else symbol.name
