"""Pieces of generated code as values: a text, and the objects that must exist before it can run.

A text holds only our own names and integers, so no text of a rule sheet reaches the compiler. The needs of a
source define its names. Names for a relation in slot 3, and for an index by columns 0 and 1 to column 2:

====================  =============================================================================
``F``                 the frame
``s3``                the rows of relation 3; ``R3`` where they are static
``g3_by_0_1_to_2``    the look-up in a hash index of it (``I...`` where static), ``j...`` the index
``q3_by_0_1_to_2``    the look-up in a table filled on demand (``Q...`` where static)
``d3``, ``n3``        under recursion: the newest rows, and those found in the present round
``B3``, ``N3``        facts given outside all rules; the name of the relation, for messages
``C0``, ``K0, P0``    builds terms of functor 0; finds known ones; takes them apart
====================  =============================================================================
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from anygame.datalog.relations import Relation
    from anygame.datalog.schema import Index


class NeedKind(StrEnum):
    """Kinds of needs; the values are the prefixes of their names in generated code."""

    #: The rows of a static relation, given by its slot, as a constant.
    STATIC_ROWS = "R"
    #: The facts of a relation that rules add to, given by its slot.
    FACTS = "B"
    #: The name of a relation, given by its slot, for messages.
    TITLE = "N"
    #: The functions that build and extend an index in a frame.
    INDEX_CODE = "index"
    #: An index of a static relation, as a constant: its ``get``, if it has outputs.
    STATIC_INDEX = "I"
    #: The function that creates the lookup in a table of a frame; the table is filled on demand.
    TABLE_CODE = "table"
    #: The lookup function of a table of a static relation, as a constant.
    STATIC_TABLE = "Q"
    #: Functions that build, find and decompose terms of a functor, given by its number.
    MAKE = "C"
    KNOWN = "K"
    PARTS = "P"
    #: All rows of a relation on demand, which must be computed as a whole first. A source with this need
    #: cannot run.
    WHOLE = ""


class Need(NamedTuple):
    """A prerequisite of a source: of a slot, a number of a functor, an index or a relation."""

    kind: NeedKind
    of: Any

    @property
    def name(self) -> str:
        """The name in generated code."""
        return self.kind + (str(self.of) if isinstance(self.of, int) else getattr(self.of, "name", ""))


@dataclass(frozen=True, slots=True)
class Source:
    """The source of one function.

    Attributes:
        needs: objects that must exist when it runs.
        cost: expected number of rows.
        table: the table on demand that the function makes, if any.
    """

    name: str
    text: str
    needs: tuple[Need, ...]
    cost: float = 0.0
    table: Index | None = None

    @property
    def tables(self) -> list[Index]:
        """The tables on demand that the function queries."""
        tables = (NeedKind.TABLE_CODE, NeedKind.STATIC_TABLE)
        return list(dict.fromkeys(need.of for need in self.needs if need.kind in tables))

    @property
    def missing(self) -> Relation | None:
        """A relation that must be computed as a whole first, if any."""
        return next((need.of for need in self.needs if need.kind is NeedKind.WHOLE), None)


def row_source(parts: Sequence[str]) -> str:
    """Return the source of a row: a bare value for one column, else a tuple."""
    return parts[0] if len(parts) == 1 else f"({', '.join(parts)})"


def empty_index(index: Index) -> str:
    """Return the source of an empty index.

    Without outputs an index is the set of keys, without keys the set of outputs. If columns are left out,
    rows may give an output twice: then a bucket is a dict, which keeps one of them.
    """
    if not index.keys or not index.outputs:
        return "set()"
    return "defaultdict(list)" if _has_every_column(index) else "defaultdict(dict)"


def emit_index(index: Index) -> Source:
    """Return the source of the functions that build an index in a frame and extend one by rows."""
    name = index.name
    text = (
        f"def extend{name}(rows, index):\n"
        f"{_extension(index)}"
        f"    return index\n"
        f"def index{name}(F):\n"
        f"    index = extend{name}(F[{index.slot}], {empty_index(index)})\n"
        f'    F["j{name}"] = index\n'
        f"    return index\n"
    )
    return Source(Need(NeedKind.INDEX_CODE, index).name, text, ())


def _extension(index: Index) -> str:
    used = {*index.keys, *index.outputs}
    columns = ", ".join([f"c{number}" if number in used else "_" for number in range(index.relation.width)])
    key = row_source([f"c{number}" for number in index.keys])
    output = row_source([f"c{number}" for number in index.outputs])
    if not index.outputs or not index.keys:
        return f"    index.update([{key if index.keys else output} for {columns} in rows])\n"
    add = f"append({output})" if _has_every_column(index) else f"setdefault({output})"
    return f"    for {columns} in rows:\n        index[{key}].{add}\n"


def _has_every_column(index: Index) -> bool:
    return len({*index.keys, *index.outputs}) == index.relation.width
