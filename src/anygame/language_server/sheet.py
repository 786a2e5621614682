"""A text that is being written, with all that can be said of it without reasoning."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final

from anygame.language.forms import comments_of, form_of, infix_constant, infix_variable
from anygame.language.source import Source
from anygame.language_server.domains import DomainTable
from anygame.language_server.limits import LIMITS
from anygame.language_server.names import Symbol, occurrences_of
from anygame.language_server.reading import items_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from anygame.language.forms import Comment, Form
    from anygame.language.source import Node
    from anygame.language_server.names import Occurrence

#: Characters of a comment that are shown beside a name.
_LONGEST_COMMENT: Final = 1_000
#: A title of a part of the sheet, which is about more than the rule below it, ends in a line.
_RULE: Final = ("---", "===", "***")
_DECORATION: Final = "-=*_~# "


@dataclass(frozen=True, slots=True, order=True)
class Range:
    """Characters ``start`` (included) to ``end`` (excluded) of a text."""

    start: int
    end: int


class WrittenSheet:
    """A sheet while it is written.

    Attributes:
        source: name and text.
        form: KIF or infix.
    """

    def __init__(self, name: str, text: str) -> None:
        # A suffix that the language stage does not know leaves the text to tell its form.
        self.source = Source(PurePosixPath(name).name or "sheet", text)
        self.form: Form = form_of(self.source)

    @property
    def text(self) -> str:
        """The text."""
        return self.source.text

    @cached_property
    def items(self) -> tuple[Node, ...]:
        """Rules and facts, as far as they can be made out."""
        return items_of(self.source)

    @cached_property
    def comments(self) -> Sequence[Comment]:
        """The comments, in the order of the text."""
        return comments_of(self.source, self.form) if len(self.text) <= LIMITS.reading.bytes else ()

    @cached_property
    def occurrences(self) -> list[Occurrence]:
        """Every place of every name, in the order of the text."""
        return sorted(occurrences_of(self.items), key=lambda each: each.start)

    @cached_property
    def by_symbol(self) -> dict[Symbol, list[Occurrence]]:
        """The places of each symbol."""
        found: dict[Symbol, list[Occurrence]] = defaultdict(list)
        for each in self.occurrences:
            found[each.symbol].append(each)
        return dict(found)

    @cached_property
    def by_item(self) -> dict[int, list[Occurrence]]:
        """The names of each rule or fact, by its number."""
        found: dict[int, list[Occurrence]] = defaultdict(list)
        for each in self.occurrences:
            found[each.item].append(each)
        return dict(found)

    @cached_property
    def heads(self) -> dict[Symbol, list[int]]:
        """The rules and facts of each relation, by their numbers."""
        found: dict[Symbol, list[int]] = defaultdict(list)
        for number in range(len(self.items)):
            if (head := self.head(number)) is not None:
                found[head.symbol].append(number)
        return dict(found)

    def head(self, item: int) -> Occurrence | None:
        """Return the relation that a rule or fact is for."""
        names = self.by_item.get(item, ())
        return next((each for each in names if each.in_head and each.symbol.kind == "relation"), None)

    def is_rule(self, item: int) -> bool:
        """Return whether an item has a body."""
        children = self.items[item].children or ()
        return len(children) > 2 and children[0].text == "<="

    def subject(self, item: int) -> Symbol | None:
        """Return what a rule or fact is about: the fluent or move of its head, or the head's relation."""
        head = self.head(item)
        if head is None:
            return None
        about = (each for each in self.by_item[item] if each.in_head and (each.is_fluent or each.is_move))
        return next((each.symbol for each in about), head.symbol)

    @cached_property
    def written(self) -> DomainTable:
        """What stands at each place."""
        return DomainTable.written_in(self.occurrences)

    @cached_property
    def _starts(self) -> list[int]:
        return [each.start for each in self.occurrences]

    def name_at(self, offset: int) -> Occurrence | None:
        """Return the name at an offset, or right before it."""
        place = bisect_right(self._starts, offset)
        for each in reversed(self.occurrences[max(0, place - 2) : place]):
            if each.start <= offset <= each.end:
                return each
        return None

    def comment_at(self, offset: int) -> Comment | None:
        """Return the comment around an offset, from behind its first mark on."""
        place = bisect_right([comment.start for comment in self.comments], offset - 1)
        comment = self.comments[place - 1] if place else None
        return comment if comment and comment.start < offset <= comment.end else None

    def comment_above(self, item: int) -> str:
        """Return the comment that stands above an item, at most one blank line between, without its marks."""
        line = self.source.position(self.items[item].start)[0]
        place = bisect_right([comment.start for comment in self.comments], self.items[item].start)
        found: list[str] = []
        gap = 2
        for comment in reversed(self.comments[:place]):
            at = self.source.position(comment.start)[0]
            if not comment.own_line or line - at > gap or comment.text.endswith(_RULE):
                break
            found.append(comment.text.lstrip(comment.text[0]).strip(_DECORATION))
            line, gap = at, 1
        return "\n".join(reversed(found)).strip()[:_LONGEST_COMMENT]

    def spelled(self, symbol: Symbol) -> str:
        """Return a name as this form of sheets spells it."""
        if symbol.kind == "variable":
            return infix_variable(symbol.name) if self.form == "infix" else f"?{symbol.name}"
        return infix_constant(symbol.name) if self.form == "infix" else symbol.name
