"""Static relations computed by columns: those that are too many rows for the reasoner, but not for arrays.

The reasoner answers for them one question at a time, which takes long where most of their rows are asked for:
sums and differences of all numbers of a game, by a successor relation.
"""

from __future__ import annotations

from contextlib import suppress
from itertools import chain
from typing import TYPE_CHECKING, Final

from anygame.errors import LimitError
from anygame.language.terms import Compound
from anygame.network.grounding.instantiation import Work
from anygame.network.grounding.rules import classified
from anygame.network.grounding.tables import Tables

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from anygame.datalog.relations import FlatRule, Relation
    from anygame.network.grounding.instantiation import OnDemand
    from anygame.network.grounding.rules import GroundRule
    from anygame.network.grounding.tables import Table

#: Rows that may arise, and rows of one join: some tens of megabytes, and about a second.
_MOST_ROWS: Final = 1_000_000


def is_computable(rules: Sequence[FlatRule], members: Collection[Relation]) -> bool:
    """Whether some rules can be evaluated by joins that only add rows.

    They must put no terms together, which might never end, and read each other in plain literals only.
    """
    terms = chain.from_iterable(
        atom.columns for rule in rules for atom in (rule.head, *(read.atom for read in rule.reads))
    )
    if any(isinstance(term, Compound) and not term.is_ground for term in terms):
        return False
    return not any(read.relation in members for rule in rules for read in rule.reads if not read.joined)


def tables_of(
    rules: Sequence[FlatRule],
    start: dict[Relation, Table],
    tables: Tables,
    static: OnDemand,
) -> dict[Relation, Table] | None:
    """Return the tables of the relations that some rules derive; None where they have too many rows.

    Args:
        rules: the rules, as ``is_computable`` wants them.
        start: the tables of these relations, with what is known of them without rules; they grow.
        tables: those of all other relations that the rules read.
        static: which of these have no table.
    """
    scratch = Tables(tables.values, _MOST_ROWS, tables.budget)
    scratch.of = tables.of | start
    ground = [classified(rule, lambda relation: relation not in start) for rule in rules]
    works = [Work(rule, scratch, static, start.__contains__) for rule in ground]
    with suppress(LimitError):
        grown = True
        while grown:
            grown = False
            for work in works:
                grown |= _advanced(work, start)
            if sum(table.count for table in start.values()) > _MOST_ROWS:
                return None
        return start
    return None


def _advanced(work: Work, into: dict[Relation, Table]) -> bool:
    """Enter what a rule derives now; return whether anything of it is new."""
    rule: GroundRule = work.rule
    table = into[rule.head.relation]
    before = table.count
    for found in work.news():
        if found.count:
            table.add([work.join.column(found, term) for term in rule.head.columns], found.count)
    return table.count > before


def inputs_of(rules: Sequence[FlatRule], members: Collection[Relation]) -> list[Relation]:
    """Return the other relations that some rules read, each once."""
    read = [read.relation for rule in rules for read in rule.reads if read.relation not in members]
    return list(dict.fromkeys(read))
