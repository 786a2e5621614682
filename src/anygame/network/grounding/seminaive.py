"""Semi-naive evaluation: each instance of a rule is found once, when the last of its literals arises.

See Bancilhon and Ramakrishnan 1986, "An amateur's introduction to recursive query processing strategies".
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from anygame.network.grounding.instantiation import Join

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from anygame.datalog.relations import Relation
    from anygame.network.grounding.instantiation import Instances, OnDemand
    from anygame.network.grounding.rules import GroundRule
    from anygame.network.grounding.tables import Tables


class Work:
    """One rule in the fixpoint: what it has seen so far.

    Args:
        rule: the rule.
        tables: of all relations that it reads.
        static: those of them that are static.
        grows: whether a relation may still get rows.
    """

    def __init__(
        self,
        rule: GroundRule,
        tables: Tables,
        static: OnDemand,
        grows: Callable[[Relation], bool],
    ) -> None:
        self.rule = rule
        self.join = Join(rule, tables, static)
        self._tables = tables
        literals = enumerate(self.join.literals)
        self._growing = [number for number, atom in literals if grows(atom.relation)]
        self._seen = [0] * len(self._growing)
        self._has_run = False

    def news(self) -> Iterator[Instances]:
        """Yield the instances that what has arisen since the last turn makes possible, in some parts.

        Rows that arise meanwhile are for the next turn.

        Raises:
            LimitError: a join has too many rows.
        """
        if not self._growing:
            if not self._has_run:
                self._has_run = True
                yield self.join.run(None, {})
            return
        literals = self.join.literals
        counts = [self._tables.table(literals[index].relation).count for index in self._growing]
        seen = self._seen
        if 0 in counts or counts == seen:
            return
        self._seen = counts
        for number, index in enumerate(self._growing):
            # Old rows of the literals before this one, new rows of this one, all rows of those behind.
            ranges = {index: (0, count) for index, count in zip(self._growing, counts, strict=True)}
            ranges[index] = (seen[number], counts[number])
            for earlier, before in zip(self._growing[:number], seen, strict=False):
                ranges[earlier] = (0, before)
            if all(low < high for low, high in ranges.values()):
                yield self.join.run(index, ranges)
