"""What the rules of a component see of the relations around them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from anygame.datalog.plan import Snapshot
    from anygame.datalog.relations import Relation
    from anygame.datalog.schema import Component, Schema
    from anygame.datalog.strategy import Strategy
    from anygame.language.terms import Term


class Access(Enum):
    """How the rules of a component come by a relation."""

    CONSTANT = "static, and a constant of the code"
    FRAME = "complete, in the frame"
    GROWING = "not complete yet: the component's own, or one that later components add to"
    ON_DEMAND = "computed only where it is asked"


@dataclass(frozen=True, slots=True)
class Scope:
    """What the rules of a component see around them.

    Attributes:
        schema: relations and components.
        component: whose rules they are.
        snapshot: what is known of the relations.
        strategy: thresholds.
        access: how the rules come by each relation that they read or derive.
    """

    schema: Schema
    component: Component
    snapshot: Snapshot
    strategy: Strategy
    access: Mapping[Relation, Access]

    @classmethod
    def of(
        cls, component: Component, schema: Schema, snapshot: Snapshot, strategy: Strategy, *, tabled: bool
    ) -> Scope:
        """Return the scope of a component; ``tabled``, if its own relations are computed on demand."""

        def access(relation: Relation) -> Access:
            if relation in component.relations:
                return Access.ON_DEMAND if tabled else Access.GROWING
            if relation in snapshot.on_demand:
                return Access.ON_DEMAND
            if any(maker.number > component.number for maker in schema.makers(relation)):
                return Access.GROWING
            is_constant = schema.is_static(relation) and not component.is_static
            return Access.CONSTANT if is_constant else Access.FRAME

        found = {relation: access(relation) for relation in component.reads}
        return cls(schema, component, snapshot, strategy, found)

    def is_constant(self, relation: Relation) -> bool:
        """Whether what is known of a relation can be a constant of the code."""
        return self.schema.is_static(relation) and not self.component.is_static

    def known_rows(self, relation: Relation) -> Collection[object] | None:
        """Return the rows of a relation that is static and complete, None for others."""
        return self.snapshot.complete.get(relation)

    def number(self, term: Term) -> int:
        """Return the number of a ground term of the rules, which the table has learned before."""
        found = self.schema.terms.find(term)
        assert found is not None, term
        return found
