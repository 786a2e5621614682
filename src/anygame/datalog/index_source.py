"""The source of hash indexes: functions that build one from rows, or add rows to one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from anygame.datalog.source import IndexCode, Source, row_source

if TYPE_CHECKING:
    from anygame.datalog.schema import Index


def empty_index(index: Index) -> str:
    """Return the source of an index without rows.

    Without outputs it is the set of keys, without keys the set of outputs. Where columns are left out, rows
    may give the same output twice: then a bucket is a dict, which keeps one of them.
    """
    if not index.keys or not index.outputs:
        return "set()"
    return "defaultdict(list)" if _has_every_column(index) else "defaultdict(dict)"


def emit_index(index: Index) -> Source:
    """Return the source of the functions that build an index in a frame, and extend one by rows."""
    name, width = index.name, index.relation.width
    text = (
        f"def extend{name}(rows, index):\n"
        f"{_extension(index, width)}"
        f"    return index\n"
        f"def index{name}(F):\n"
        f"    index = extend{name}(F[{index.slot}], {empty_index(index)})\n"
        f'    F["j{name}"] = index\n'
        f"    return index\n"
    )
    return Source(IndexCode(index).name, text, ())


def _extension(index: Index, width: int) -> str:
    used = {*index.keys, *index.outputs}
    columns = ", ".join([f"c{number}" if number in used else "_" for number in range(width)])
    key = row_source([f"c{number}" for number in index.keys])
    output = row_source([f"c{number}" for number in index.outputs])
    if not index.outputs or not index.keys:
        return f"    index.update([{key if index.keys else output} for {columns} in rows])\n"
    add = f"append({output})" if _has_every_column(index) else f"setdefault({output})"
    return f"    for {columns} in rows:\n        index[{key}].{add}\n"


def _has_every_column(index: Index) -> bool:
    return len({*index.keys, *index.outputs}) == index.relation.width
