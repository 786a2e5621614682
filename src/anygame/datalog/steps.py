"""What evaluation is made of: frames, rows, and steps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Callable

    from anygame.analysis.dependencies import Component
    from anygame.datalog.relations import FlatRule

__all__ = ["ACTION", "LOOKUPS", "STATE", "STATIC", "TRACE", "Frame", "Row", "Step", "do_nothing"]

#: One column: the value itself; otherwise a tuple of values.
Row = Any
#: Slot to rows (positive), to index or lookup (negative), or to a marker of what has been run.
Frame = dict[int, Any]

#: What a relation depends on: nothing, the state, the joint move as well.
STATIC, STATE, ACTION = 0, 1, 2
#: The slot of the list in which recursive steps note their rounds, where somebody wants to know.
TRACE: Final = 0
#: A lookup on demand stands this far below the index with the same key, since a frame may hold both.
LOOKUPS: Final = 500_000
_FIRST_MARKER: Final = 1_000_000


def do_nothing(frame: Frame) -> None:
    """Compute nothing: the function of steps whose relations are computed on demand."""


class Step:
    """A component at work: what it computes and the function that does it.

    Attributes:
        number: its place in the order of computation.
        component: its rules.
        level: ``STATIC``, ``STATE`` or ``ACTION``.
        marker: the slot that says that a frame has seen it.
        relations: what it derives.
        run: computes the relations in a frame; compiles itself when first called.
        source: the generated function, empty until then.
        may_be_demanded: whether its relations can be computed only where they are asked.
        estimate: how many rows it would have, once it has been tried.
    """

    __slots__ = (
        "component",
        "estimate",
        "level",
        "marker",
        "may_be_demanded",
        "number",
        "relations",
        "run",
        "source",
    )

    def __init__(self, number: int, component: Component[FlatRule], level: int) -> None:
        self.number = number
        self.component = component
        self.level = level
        self.marker = _FIRST_MARKER + number
        self.relations = tuple(dict.fromkeys(rule.head.relation for rule in component.rules))
        self.run: Callable[[Frame], None] = do_nothing
        self.source = ""
        self.may_be_demanded = False
        self.estimate: float | None = None

    @property
    def is_static(self) -> bool:
        """Whether the step depends on neither state nor moves."""
        return self.level == STATIC
