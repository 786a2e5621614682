"""What a pass may ask about the relations of the rules."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from anygame.datalog.relations import Relation
    from anygame.network.grounding.rules import GroundRule


@dataclass(frozen=True, slots=True)
class Context:
    """What a pass may ask.

    Attributes:
        is_static: whether a relation depends on neither state nor moves.
        is_dense: whether a static relation has more than half of the rows its columns could make.
        is_view: whether a relation depends on state or moves, and is only there to be read by rules.
        has_facts: whether some rows of a relation hold without any rule.
        definition: the rules of a static relation that is better replaced by them, with those that hold for
            most values where so asked; None for others.
        fan_out: of a static relation, how many rows there are on average for what stands in some columns.
        ends: whether a relation can be asked for what goes with some columns; of those computed on demand,
            some have rows without end.
        keys: sets of columns in which no two rows of a relation are equal: of static ones, and of fluents in
            every state that play can lead to.
        new_relation: a relation of some width that no rule has yet.
    """

    is_static: Callable[[Relation], bool]
    is_dense: Callable[[Relation], bool]
    is_view: Callable[[Relation], bool]
    has_facts: Callable[[Relation], bool]
    definition: Callable[[Relation, bool], Sequence[GroundRule] | None]
    fan_out: Callable[[Relation, tuple[int, ...]], float]
    ends: Callable[[Relation, Iterable[int]], bool]
    keys: Callable[[Relation], Sequence[tuple[int, ...]]]
    new_relation: Callable[[int], Relation]
