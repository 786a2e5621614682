"""Pieces of generated code, as values: a text, and what has to be there before it can run.

A text holds own names and integers and nothing else, so that nothing of a rule sheet reaches the compiler.
What its names stand for is said by its needs. Names, for a relation in slot 3 and an index by columns 0 and 1
to column 2:

====================  =============================================================================
``F``                 the frame
``s3``                the rows of relation 3; ``R3`` where they are static
``g3_by_0_1_to_2``    the look-up in a hash index of it (``I...`` where static), ``j...`` the index
``q3_by_0_1_to_2``    the look-up in a table that is filled on demand (``Q...`` where static)
``d3``, ``n3``        under recursion: the newest rows, and those found in the present round
``B3``, ``N3``        facts given outside all rules; the name of the relation, for messages
``C0``, ``K0, P0``    puts terms of functor 0 together; finds those that are known; takes them apart
====================  =============================================================================
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from anygame.datalog.relations import Relation
    from anygame.datalog.schema import Index


@dataclass(frozen=True, slots=True)
class _OfRelation:
    """What is needed of a relation, given by its slot."""

    slot: int
    prefix: ClassVar[str]

    @property
    def name(self) -> str:
        """The name in generated code."""
        return f"{self.prefix}{self.slot}"


class StaticRows(_OfRelation):
    """The rows of a static relation, as a constant."""

    __slots__ = ()
    prefix = "R"


class Facts(_OfRelation):
    """The facts of a relation that rules add to."""

    __slots__ = ()
    prefix = "B"


class Title(_OfRelation):
    """The name of a relation, for messages."""

    __slots__ = ()
    prefix = "N"


@dataclass(frozen=True, slots=True)
class _OfIndex:
    """What is needed of an index or a table."""

    index: Index
    prefix: ClassVar[str]

    @property
    def name(self) -> str:
        """The name in generated code."""
        return f"{self.prefix}{self.index.name}"


class IndexCode(_OfIndex):
    """The functions that build an index in a frame, and extend one."""

    __slots__ = ()
    prefix = "index"


class StaticIndex(_OfIndex):
    """An index of a static relation, as a constant: its ``get``, if it has outputs."""

    __slots__ = ()
    prefix = "I"


class TableCode(_OfIndex):
    """The function that makes, in a frame, the look-up in a table that is filled on demand."""

    __slots__ = ()
    prefix = "table"


class StaticTable(_OfIndex):
    """The look-up in the table of a static relation, as a constant."""

    __slots__ = ()
    prefix = "Q"


@dataclass(frozen=True, slots=True)
class ComposerPart:
    """What a functor's composer does: ``make`` a term, find a ``known`` one, or give its ``parts``."""

    functor: tuple[str, int]
    number: int
    part: Literal["make", "known", "parts"]

    @property
    def name(self) -> str:
        """The name in generated code."""
        return {"make": "C", "known": "K", "parts": "P"}[self.part] + str(self.number)


@dataclass(frozen=True, slots=True)
class WholeRelation:
    """All rows of a relation that is computed on demand: it has to be computed as a whole first.

    A source with this need cannot run; what it says changes once the need is met.
    """

    relation: Relation

    @property
    def name(self) -> str:
        """No name: nothing can be bound to it."""
        return ""


Need = (
    StaticRows
    | Facts
    | Title
    | ComposerPart
    | IndexCode
    | StaticIndex
    | TableCode
    | StaticTable
    | WholeRelation
)


@dataclass(frozen=True, slots=True)
class Source:
    """The source of one function.

    Attributes:
        name: the function's name.
        text: Python that defines it.
        needs: what must be known when it runs.
        cost: rows that are expected on the way.
        table: the table on demand that the function makes, if it makes one.
    """

    name: str
    text: str
    needs: tuple[Need, ...]
    cost: float = 0.0
    table: Index | None = None

    @property
    def tables(self) -> list[Index]:
        """The tables on demand that the function asks."""
        found = [need.index for need in self.needs if isinstance(need, TableCode | StaticTable)]
        return list(dict.fromkeys(found))

    @property
    def missing(self) -> Relation | None:
        """A relation that has to be computed as a whole before the source can be of use."""
        found = (need.relation for need in self.needs if isinstance(need, WholeRelation))
        return next(found, None)


def row_source(parts: Sequence[str]) -> str:
    """Return the source of a row: a bare value for one column, a tuple otherwise."""
    return parts[0] if len(parts) == 1 else f"({', '.join(parts)})"
