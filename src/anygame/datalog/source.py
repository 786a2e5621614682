"""Generated code as data: the text of a function, and the objects that must exist before the function runs.

The text contains only integers and names from this module, so no text of a rule sheet reaches the compiler.
The following names are examples for a relation in slot 3, an index of this relation from columns 0 and 1 to
column 2, and a functor with number 0.

====================  =============================================================================
``F``                 the frame
``s3``                the rows of the relation; ``R3`` if the relation is static
``g3_by_0_1_to_2``    the look-up in a hash index (``I...`` if static); ``j...`` is the index
``q3_by_0_1_to_2``    the look-up in a table filled on demand (``Q...`` if static)
``d3``, ``n3``        in a recursion: the rows of the last round, and the rows of the present round
``B3``, ``N3``        the facts of the relation; the name of the relation, for messages
``C0``, ``K0, P0``    functions that build a term, find an existing term, and decompose a term
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
    """Kinds of needs; the value of a kind is the prefix of its names in generated code."""

    #: The rows of a static relation, given by its slot, as a constant.
    STATIC_ROWS = "R"
    #: The facts of a relation, given by its slot.
    FACTS = "B"
    #: The name of a relation, given by its slot, for messages.
    TITLE = "N"
    #: Two functions: one builds an index in a frame, the other adds rows to an index.
    INDEX_CODE = "index"
    #: An index of a static relation, as a constant: a set, or the method ``get`` of a dict.
    STATIC_INDEX = "I"
    #: The function that creates, in a frame, the look-up function of an on-demand table.
    TABLE_CODE = "table"
    #: The look-up function of a static relation's on-demand table, as a constant.
    STATIC_TABLE = "Q"
    #: The function that builds a term of a functor, given by its number.
    MAKE = "C"
    #: The function that finds an existing term of a functor.
    KNOWN = "K"
    #: The function that decomposes a term of a functor.
    PARTS = "P"
    #: All rows of an on-demand relation. The code cannot run before the relation is computed as a whole.
    WHOLE = ""


class Need(NamedTuple):
    """An object that a source needs; ``of`` is a slot, the number of a functor, an index or a relation."""

    kind: NeedKind
    of: Any

    @property
    def name(self) -> str:
        """The name in generated code."""
        return self.kind + (str(self.of) if isinstance(self.of, int) else getattr(self.of, "name", ""))


@dataclass(frozen=True, slots=True)
class Source:
    """The source of one function."""

    name: str
    text: str
    #: The objects that must exist when the function runs.
    needs: tuple[Need, ...]
    #: Expected number of rows.
    cost: float = 0.0
    #: The on-demand table that the function makes; None if it makes no table.
    table: Index | None = None

    @property
    def tables(self) -> list[Index]:
        """The on-demand tables that the function queries."""
        tables = (NeedKind.TABLE_CODE, NeedKind.STATIC_TABLE)
        return list(dict.fromkeys(need.of for need in self.needs if need.kind in tables))

    @property
    def missing(self) -> Relation | None:
        """A relation that must be computed as a whole before the code can run; None if there is none."""
        return next((need.of for need in self.needs if need.kind is NeedKind.WHOLE), None)


def row_source(parts: Sequence[str]) -> str:
    """Return the source of a row: a bare value for one column, else a tuple."""
    return parts[0] if len(parts) == 1 else f"({', '.join(parts)})"


def empty_index(index: Index) -> str:
    """Return the source of an empty index.

    An index without outputs is the set of keys, and an index without keys is the set of outputs. If an index
    omits columns, several rows can have the same output. A bucket of such an index is a dict, which drops
    duplicates.
    """
    if not index.keys or not index.outputs:
        return "set()"
    return "defaultdict(list)" if _has_every_column(index) else "defaultdict(dict)"


def emit_index(index: Index) -> Source:
    """Return the source of two functions: one builds an index in a frame, the other adds rows to an index."""
    name = index.name
    used = {*index.keys, *index.outputs}
    columns = ", ".join([f"c{number}" if number in used else "_" for number in range(index.relation.width)])
    key = row_source([f"c{number}" for number in index.keys])
    output = row_source([f"c{number}" for number in index.outputs])
    if not index.outputs or not index.keys:
        addition = f"    index.update([{key if index.keys else output} for {columns} in rows])\n"
    else:
        add = f"append({output})" if _has_every_column(index) else f"setdefault({output})"
        addition = f"    for {columns} in rows:\n        index[{key}].{add}\n"
    text = (
        f"def extend{name}(rows, index):\n"
        f"{addition}"
        f"    return index\n"
        f"def index{name}(F):\n"
        f"    index = extend{name}(F[{index.slot}], {empty_index(index)})\n"
        f'    F["j{name}"] = index\n'
        f"    return index\n"
    )
    return Source(Need(NeedKind.INDEX_CODE, index).name, text, ())


def _has_every_column(index: Index) -> bool:
    return len({*index.keys, *index.outputs}) == index.relation.width
