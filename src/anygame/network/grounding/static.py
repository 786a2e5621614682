"""The rules and the static relations of a game, exactly as the reasoner computes them.

Only this module of grounding calls the reasoner's engine.
"""

from __future__ import annotations

from contextlib import suppress
from itertools import chain
from math import inf, prod
from typing import TYPE_CHECKING, Final

import numpy as np

from anygame.datalog.relations import FlatAtom, Relation
from anygame.datalog.schema import STATIC
from anygame.errors import LimitError
from anygame.language.terms import Compound
from anygame.network.budget import QUESTION
from anygame.network.grounding.instantiation import SemiNaiveEvaluation
from anygame.network.grounding.rules import GroundRule, classified, is_own
from anygame.network.grounding.tables import Table, Tables, too_many_rows

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from anygame.datalog.reasoner import Reasoner
    from anygame.datalog.relations import FlatRule, Row
    from anygame.language.terms import Term
    from anygame.network.grounding.tables import Ids, Rows


#: Output relations of the network, with arities. These relations count as dynamic, whatever their rules read.
ASKED: Final = (("legal", 2), ("next", 1), ("terminal", 0), ("goal", 2))
#: The relation of percepts (GDL-II), an additional output of small networks.
SEEN: Final = ("sees", 2)
_ASKED_NAMES: Final = frozenset(name for name, _ in (*ASKED, SEEN))
#: Minimum number of columns of a relation that can be replaced by its rules.
_WIDE: Final = 3
#: Rules never replace a relation with at most this many rows, because joins with so few rows are fast.
_LARGE: Final = 2_000
#: If a dynamic relation has at most this many facts, its facts count as rules.
_MOST_FACTS: Final = 50
#: Maximum number of rules that replace a relation. Each rule that reads the relation is copied as many times.
_MOST_RULES: Final = 8
#: Maximum number of rules that replace a relation without a table, which cannot be joined otherwise.
_MOST_RULES_ON_DEMAND: Final = 20
#: Maximum number of questions to the reasoner per relation. A question takes about 10 microseconds and 1 kB.
_MOST_QUESTIONS: Final = 200_000


class StaticRelations:
    """The relations that depend on neither state nor moves, in tables that are filled on first use.

    A relation that the reasoner computes *on demand* has no table, only the answers to earlier questions.

    Args:
        tables: receives the rows; its budget pays for questions to the reasoner.
        percepts: whether the network outputs percepts, too.
        endless: whether to ask the reasoner for all rows of a relation that may be infinite.
        filled: tables of earlier attempts for the same reasoner; new tables are added.
    """

    def __init__(
        self,
        reasoner: Reasoner,
        tables: Tables,
        *,
        percepts: bool = True,
        endless: bool = True,
        filled: dict[Relation, Table] | None = None,
    ) -> None:
        self._endless = endless
        self._keys = (*ASKED, SEEN) if percepts else ASKED
        self._reasoner = reasoner
        self._engine = reasoner.engine
        self._schema = reasoner.schema
        self._tables = tables
        self._filled = {} if filled is None else filled
        tables.of |= self._filled
        self._on_demand: set[Relation] = set()
        self._asked: dict[tuple[Relation, tuple[int, ...]], tuple[Table, Table]] = {}
        self._dense: dict[Relation, bool] = {}
        self._classified: dict[Relation, list[GroundRule]] = {}
        self._are_static: dict[Relation, bool] = {}

    def is_static(self, relation: Relation) -> bool:
        """Whether a relation depends on neither state nor moves, and is not an output of the network."""
        is_static = self._are_static.get(relation)
        if is_static is None:
            is_asked = relation.predicate in _ASKED_NAMES
            is_static = self._schema.is_static(relation) and not is_asked and not is_own(relation)
            self._are_static[relation] = is_static
        return is_static

    def is_view(self, relation: Relation) -> bool:
        """Whether a relation depends on state or moves, and is not an input or output of the network."""
        return not self.is_static(relation) and relation.predicate not in _ASKED_NAMES | {"true", "does"}

    def has_facts(self, relation: Relation) -> bool:
        """Whether a relation has facts, which need no rule."""
        return bool(self._schema.facts.get(relation))

    def is_dense(self, relation: Relation) -> bool:
        """Whether a static relation contains more than half of the combinations of its column values."""
        self.fill(relation)
        if self.is_on_demand(relation):
            return False
        if relation not in self._dense:
            table = self._tables.table(relation)
            possible = prod(len(np.unique(table.column(number))) for number in range(table.width))
            self._dense[relation] = 2 * table.count > possible
        return self._dense[relation]

    def fan_out(self, relation: Relation, known: tuple[int, ...]) -> float:
        """Return the average number of rows of a static relation that agree in some columns."""
        self.fill(relation)
        if self.is_on_demand(relation):
            return inf
        table = self._tables.table(relation)
        return table.count / table.distinct(known) if table.count else 0.0

    def ends(self, relation: Relation, known: Iterable[int]) -> bool:
        """Return whether finitely many rows have given values in some columns; see ``Termination``."""
        if not self.is_static(relation):
            return True
        self.fill(relation)
        return not self.is_on_demand(relation) or self._engine.ends(relation, known)

    def definition(self, relation: Relation, dense: bool = False) -> list[GroundRule] | None:
        """Return the rules that should replace a large static relation; None to keep the relation."""
        if not self.is_static(relation) or self._schema.facts.get(relation) or relation.width < _WIDE:
            return None
        components = self._schema.makers(relation)
        if not components or any(component.recursive for component in components):
            return None
        rules = [
            rule for component in components for rule in component.rules if rule.head.relation == relation
        ]
        self.fill(relation)
        most = _MOST_RULES
        if self.is_on_demand(relation):
            most = _MOST_RULES_ON_DEMAND
        # Dense relations are left to ``complement_moves``.
        elif self._tables.table(relation).count <= _LARGE or (not dense and self.is_dense(relation)):
            return None
        if len(rules) > most:
            return None
        if relation not in self._classified:
            self._classified[relation] = [classified(rule, self.is_static) for rule in rules]
        return self._classified[relation]

    def dynamic_rules(self) -> list[GroundRule]:
        """Return the rules on which the outputs of the network depend, except rules of static relations."""
        variants = self._reasoner.layout.variants
        wanted = [relation for key in self._keys for relation in variants(key)]
        components = self._schema.sequence(wanted)
        return [classified(rule, self.is_static) for component in components for rule in component.rules]

    def rules_by_head(self) -> dict[Relation, list[GroundRule] | None]:
        """Return the rules of each dynamic relation, including facts; None if it has too many facts."""
        by_head: dict[Relation, list[GroundRule] | None] = {}
        terms = self._reasoner.terms.terms
        for rule in self.dynamic_rules():
            by_head.setdefault(rule.head.relation, []).append(rule)  # type: ignore[union-attr]
        for relation, rows in self._facts():
            rules = by_head.setdefault(relation, [])
            if rules is None or len(rows) > _MOST_FACTS:
                by_head[relation] = None
            else:
                listed = [tuple([terms[value] for value in relation.unpacked(row)]) for row in rows]
                rules += [GroundRule(FlatAtom(relation, row)) for row in listed]
        return by_head

    def rows_as_terms(self, relation: Relation) -> list[tuple[Term, ...]] | None:
        """Return the rows of a static relation; None if there are too many."""
        self.fill(relation)
        if self.is_on_demand(relation) or self._tables.table(relation).count > _LARGE:
            return None
        terms = self._reasoner.terms.terms
        return [
            tuple([terms[value] for value in row]) for row in self._tables.table(relation).rows().tolist()
        ]

    def is_on_demand(self, relation: Relation) -> bool:
        """Whether a static relation has no table because the reasoner computes it on demand."""
        return relation in self._on_demand

    def fill(self, relation: Relation) -> None:
        """Fill the table of a static relation, unless the relation is computed on demand."""
        if relation in self._tables.of:
            return
        rows = self._engine.static_rows(relation)
        if rows is not None:
            self._on_demand.discard(relation)
            self._add(relation, rows)
            self._filled[relation] = self._tables.table(relation)
        elif relation not in self._on_demand and not self._compute(relation):
            self._on_demand.add(relation)

    def _compute(self, relation: Relation) -> bool:
        """Try to compute the table of a relation by joins; return whether that succeeded."""
        components = self._schema.makers(relation)
        rules = [rule for component in components for rule in component.rules]
        members = {member for component in components for member in component.relations}
        if any(set(self._schema.makers(member)) - set(components) for member in members):
            return False
        if members & self._on_demand or not is_computable(rules, members):
            return False
        # Mark the relation as on demand before its inputs are filled, so that indirect recursion ends.
        self._on_demand.add(relation)
        read_by_rules = [read.relation for rule in rules for read in rule.reads]
        inputs = [read for read in dict.fromkeys(read_by_rules) if read not in members]
        for read in inputs:
            self.fill(read)
        self._on_demand.discard(relation)
        if any(map(self.is_on_demand, inputs)):
            return False
        start = {member: Table(member.width) for member in members}
        for member, table in start.items():
            self._add(member, self._schema.facts.get(member, ()), table)
        computed = tables_of(rules, start, self._tables, self)
        self._tables.of |= computed or {}
        self._filled |= computed or {}
        return computed is not None

    def asked(self, relation: Relation, known: tuple[int, ...], keys: Sequence[Rows]) -> Table:
        """Return a table with all rows of an on-demand relation that match the keys."""
        if not known:
            if not self._endless and not self._engine.ends(relation, ()):
                message = f"the rules need all facts of {relation.title}, which may be infinitely many"
                raise LimitError(message, "facts", relation=relation.title)
            # The engine computes the whole relation once, and stores it.
            self._engine.rows(self._engine.static, relation)
        # The engine may have stored the whole relation for another rule.
        self.fill(relation)
        if not self.is_on_demand(relation):
            return self._tables.table(relation)
        questions, answers = self._asked.setdefault(
            (relation, known), (Table(len(known)), Table(relation.width))
        )
        distinct = np.unique(np.stack(keys, axis=1), axis=0)
        columns = list(distinct.astype(np.int32).T)
        fresh = np.flatnonzero(questions.find(columns, len(distinct)) < 0)
        if questions.count + len(fresh) > _MOST_QUESTIONS:
            message = f"the rules query {relation.title} with more than {_MOST_QUESTIONS:,} argument tuples"
            raise LimitError(message, "questions", _MOST_QUESTIONS)
        free = [number for number in range(relation.width) if number not in known]
        order = np.argsort([*known, *free]).tolist()
        rows: list[tuple[int, ...]] = []
        for key in map(tuple, distinct[fresh].tolist()):
            self._tables.budget.spend(QUESTION)
            for row in self._engine.ask(relation, known, key, self._engine.static):
                values = (*key, row) if len(free) == 1 else (*key, *row)
                rows.append(tuple([values[index] for index in order]))
            if len(rows) > self._tables.most:
                raise too_many_rows(self._tables.most)
        if rows:
            answers.add(list(np.array(rows, np.int32).T), len(rows))
        questions.add([column[fresh] for column in columns], len(fresh))
        return answers

    def facts(self) -> dict[Relation, Ids]:
        """Add the facts of dynamic relations to their tables; return their row numbers."""
        return {relation: self._add(relation, rows) for relation, rows in self._facts()}

    def _facts(self) -> Iterator[tuple[Relation, Collection[Row]]]:
        """Yield dynamic relations with rows that always hold. A relation may occur twice."""
        for relation, rows in self._schema.facts.items():
            if rows and not self.is_static(relation):
                yield relation, rows
        for key in self._keys:
            for relation in self._reasoner.layout.variants(key):
                if self._schema.level(relation) == STATIC:
                    yield relation, self._engine.rows(self._engine.static, relation)

    def initial(self) -> dict[Relation, Ids]:
        """Add the initial state to the tables; return its row numbers."""
        engine = self._engine
        return {
            relation: self._add(relation, engine.rows(engine.static, Relation("init", relation.shapes)))
            for relation in self._reasoner.layout.variants(("true", 1))
        }

    def _add(self, relation: Relation, rows: Iterable[object], table: Table | None = None) -> Ids:
        if table is None:
            table = self._tables.table(relation)
        listed = sorted(relation.unpacked(row) for row in rows)
        if not listed:
            return np.zeros(0, np.int64)
        columns = list(np.array(listed, np.int32).reshape(len(listed), relation.width).T)
        return table.add(columns, len(listed))


#: Maximum number of rows of all tables, and of one join. That many rows take tens of MB and about a second.
_MOST_ROWS: Final = 1_000_000


def is_computable(rules: Sequence[FlatRule], members: Collection[Relation]) -> bool:
    """Whether joins can evaluate rules: the rules build no terms, and read each other in plain literals."""
    terms = chain.from_iterable(
        atom.columns for rule in rules for atom in (rule.head, *(read.atom for read in rule.reads))
    )
    if any(isinstance(term, Compound) and not term.is_ground for term in terms):
        return False
    return not any(read.relation in members for rule in rules for read in rule.reads if not read.joined)


def tables_of(
    rules: Sequence[FlatRule], start: dict[Relation, Table], tables: Tables, static: StaticRelations
) -> dict[Relation, Table] | None:
    """Return the tables of the relations that some rules derive; None if they have too many rows.

    The reasoner's own fixpoint runs generated Python over sets, and answers one question at a time. Sums of
    numbers that rules derive from a successor relation have hundreds of thousands of rows. A public sheet
    compiles in 2.4 s with these joins, and in 46 s with questions.
    """
    scratch = Tables(tables.values, _MOST_ROWS, tables.budget)
    scratch.of = tables.of | start
    ground = [classified(rule, lambda relation: relation not in start) for rule in rules]
    evaluations = [SemiNaiveEvaluation(rule, scratch, static, start.__contains__) for rule in ground]
    before, count = -1, 0
    with suppress(LimitError):
        while before < count <= _MOST_ROWS:
            for evaluation in evaluations:
                for instances in evaluation.deltas():
                    evaluation.add_heads(instances)
            before, count = count, sum(table.count for table in start.values())
        return start if count <= _MOST_ROWS else None
    return None
