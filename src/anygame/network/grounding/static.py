"""What the grounder takes from the reasoner: its rules, and the static relations, exactly.

Every call of the reasoner's engine that grounding needs stands here.
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
    from anygame.network.grounding.instantiation import OnDemand
    from anygame.network.grounding.tables import Ids, Rows


#: Relations that the network answers for, with their arities; they have tables even where they are static.
ASKED: Final = (("legal", 2), ("next", 1), ("terminal", 0), ("goal", 2))
#: What roles see of a joint move (GDL-II), which the network computes where it is small enough for that too.
SEEN: Final = ("sees", 2)
_ASKED_NAMES: Final = frozenset(name for name, _ in (*ASKED, SEEN))
#: A relation is replaced by its rules if it has so many columns: two variables are tied whatever ties them.
_WIDE: Final = 3
#: ... more rows than this: fewer are joined as fast as they are taken apart.
_LARGE: Final = 2_000
#: Of relations that change, more facts than this are not gone through one by one.
_MOST_FACTS: Final = 50
#: ... and no more rules than this: each is a copy of every rule that reads it.
_MOST_RULES: Final = 8
#: ... or than this where it has no table: there is no other way to join it as a whole.
_MOST_RULES_ON_DEMAND: Final = 20
#: Questions to the reasoner about one relation, each of which takes some ten microseconds and a kilobyte.
_MOST_QUESTIONS: Final = 200_000


class StaticRelations:
    """The relations of a game that depend on neither state nor moves, in tables filled where they are needed.

    A relation that the reasoner computes on demand has no table: only rows that were asked for are known.

    Args:
        tables: where rows go; what questions to the reasoner cost is spent from their budget.
        percepts: whether what roles see is asked of the network too.
        endless: whether a relation on demand is computed as a whole although it may have no end.
        filled: tables that were filled for the same reasoner before.

    Attributes:
        filled: all tables that are filled: none of them changes any more.
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
        self.filled: dict[Relation, Table] = dict(filled or {})
        tables.of |= self.filled
        self._on_demand: set[Relation] = set()
        self._asked: dict[tuple[Relation, tuple[int, ...]], tuple[Table, Table]] = {}
        self._dense: dict[Relation, bool] = {}
        self._classified: dict[Relation, list[GroundRule]] = {}
        self._are_static: dict[Relation, bool] = {}

    # -- what relations are like -------------------------------------------------------------------

    def is_static(self, relation: Relation) -> bool:
        """Whether a relation depends on neither state nor moves, and the network does not answer for it."""
        found = self._are_static.get(relation)
        if found is None:
            is_asked = relation.predicate in _ASKED_NAMES
            found = self._schema.is_static(relation) and not is_asked and not is_own(relation)
            self._are_static[relation] = found
        return found

    def is_view(self, relation: Relation) -> bool:
        """Whether a relation depends on state or moves, and only rules read it."""
        return not self.is_static(relation) and relation.predicate not in _ASKED_NAMES | {"true", "does"}

    def has_facts(self, relation: Relation) -> bool:
        """Whether some rows of a relation hold without any rule."""
        return bool(self._schema.facts.get(relation))

    def is_dense(self, relation: Relation) -> bool:
        """Whether a static relation has more than half of the rows that its columns could make."""
        self.fill(relation)
        if self.is_on_demand(relation):
            return False
        if relation not in self._dense:
            table = self._tables.table(relation)
            possible = prod(len(np.unique(table.column(number))) for number in range(table.width))
            self._dense[relation] = 2 * table.count > possible
        return self._dense[relation]

    def fan_out(self, relation: Relation, known: tuple[int, ...]) -> float:
        """Return how many rows a static relation has on average for what stands in some columns."""
        self.fill(relation)
        if self.is_on_demand(relation):
            return inf
        table = self._tables.table(relation)
        return table.count / table.distinct(known) if table.count else 0.0

    def ends(self, relation: Relation, known: Iterable[int]) -> bool:
        """Return whether a relation can be asked for what goes with some columns; see ``Termination``."""
        if not self.is_static(relation):
            return True
        self.fill(relation)
        return not self.is_on_demand(relation) or self._engine.ends(relation, known)

    def definition(self, relation: Relation, dense: bool = False) -> list[GroundRule] | None:
        """Return the rules of a static relation that is too large to tie variables together by it."""
        if not self.is_static(relation) or self._schema.facts.get(relation) or relation.width < _WIDE:
            return None
        components = self._schema.makers(relation)
        if not components or any(component.recursive for component in components):
            return None
        rules = [
            rule for component in components for rule in component.rules if rule.head.relation == relation
        ]
        self.fill(relation)
        # What nearly always holds is better left to complementing moves.
        if self.is_on_demand(relation):
            return None if len(rules) > _MOST_RULES_ON_DEMAND else self._classify(relation, rules)
        is_fine = self._tables.table(relation).count <= _LARGE or (not dense and self.is_dense(relation))
        return None if is_fine or len(rules) > _MOST_RULES else self._classify(relation, rules)

    def _classify(self, relation: Relation, rules: Iterable[FlatRule]) -> list[GroundRule]:
        """Return the rules of a relation as those to be instantiated: the same ones each time."""
        if relation not in self._classified:
            self._classified[relation] = [classified(rule, self.is_static) for rule in rules]
        return self._classified[relation]

    # -- rules and rows ----------------------------------------------------------------------------

    def dynamic_rules(self) -> list[GroundRule]:
        """Return the rules that depend on state or moves and that the network's answers need."""
        variants = self._reasoner.layout.variants
        wanted = [relation for key in self._keys for relation in variants(key)]
        components = self._schema.sequence(wanted)
        return [classified(rule, self.is_static) for component in components for rule in component.rules]

    def rules_by_head(self) -> dict[Relation, list[GroundRule] | None]:
        """Return all that derives relations that are not static, facts as rules; None for very many facts."""
        found: dict[Relation, list[GroundRule] | None] = {}
        for rule in self.dynamic_rules():
            found.setdefault(rule.head.relation, []).append(rule)  # type: ignore[union-attr]
        for relation, rows in self._facts():
            rules = found.setdefault(relation, [])
            if rules is None or len(rows) > _MOST_FACTS:
                found[relation] = None
            else:
                rules += [GroundRule(FlatAtom(relation, self._terms_of(relation, row))) for row in rows]
        return found

    def rows_as_terms(self, relation: Relation) -> list[tuple[Term, ...]] | None:
        """Return the rows of a static relation; None where they are very many."""
        self.fill(relation)
        if self.is_on_demand(relation) or self._tables.table(relation).count > _LARGE:
            return None
        terms = self._reasoner.terms.terms
        return [
            tuple([terms[value] for value in row]) for row in self._tables.table(relation).rows().tolist()
        ]

    def _terms_of(self, relation: Relation, row: Row) -> tuple[Term, ...]:
        terms = self._reasoner.terms.terms
        return tuple([terms[value] for value in relation.unpacked(row)])

    def is_on_demand(self, relation: Relation) -> bool:
        """Whether a static relation has no table, since the reasoner computes it on demand."""
        return relation in self._on_demand

    def fill(self, relation: Relation) -> None:
        """Give a static relation its table, if it is not computed on demand."""
        if relation in self._tables.of:
            return
        rows = self._engine.static_rows(relation)
        if rows is not None:
            self._on_demand.discard(relation)
            self._add(relation, rows)
            self.filled[relation] = self._tables.table(relation)
        elif relation not in self._on_demand and not self._compute(relation):
            self._on_demand.add(relation)

    def _compute(self, relation: Relation) -> bool:
        """Give a relation that the reasoner computes on demand its table, if arrays can hold it."""
        components = self._schema.makers(relation)
        rules = [rule for component in components for rule in component.rules]
        members = {member for component in components for member in component.relations}
        if any(set(self._schema.makers(member)) - set(components) for member in members):
            return False
        if members & self._on_demand or not is_computable(rules, members):
            return False
        # Until this is decided, what reads itself by another way is on demand.
        self._on_demand.add(relation)
        inputs = inputs_of(rules, members)
        for read in inputs:
            self.fill(read)
        self._on_demand.discard(relation)
        if any(map(self.is_on_demand, inputs)):
            return False
        start = {member: Table(member.width) for member in members}
        for member, table in start.items():
            self._add(member, self._schema.facts.get(member, ()), table)
        found = tables_of(rules, start, self._tables, self)
        self._tables.of |= found or {}
        self.filled |= found or {}
        return found is not None

    def asked(self, relation: Relation, known: tuple[int, ...], keys: Sequence[Rows]) -> Table:
        """Return a table with at least those rows of a relation on demand that have the given keys."""
        if not known:
            if not self._endless and not self._engine.ends(relation, ()):
                message = f"the rules ask for all of {relation.title}, which may have no end"
                raise LimitError(message, "facts", relation=relation.title)
            # Computed as a whole, which it then stays.
            self._engine.rows(self._engine.static, relation)
        # It may have been computed as a whole meanwhile: some rule may need all of it.
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
            message = f"{relation.title} is asked on demand for more than {_MOST_QUESTIONS:,} things"
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
        """Enter what holds without any rule into relations that are not static; return the rows' numbers."""
        return {relation: self._add(relation, rows) for relation, rows in self._facts()}

    def _facts(self) -> Iterator[tuple[Relation, Collection[Row]]]:
        """Yield relations that are not static, with what holds without any rule; perhaps a relation again."""
        for relation, rows in self._schema.facts.items():
            if rows and not self.is_static(relation):
                yield relation, rows
        for key in self._keys:
            for relation in self._reasoner.layout.variants(key):
                if self._schema.level(relation) == STATIC:
                    yield relation, self._engine.rows(self._engine.static, relation)

    def initial(self) -> dict[Relation, Ids]:
        """Enter the initial state; return the numbers of its rows."""
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

    The reasoner answers for them one question at a time, which takes long where most of their rows are asked
    for: sums and differences of all numbers of a game, by a successor relation.

    Args:
        rules: the rules, as ``is_computable`` wants them.
        start: the tables of these relations, with what is known of them without rules; they grow.
        tables: those of all other relations that the rules read.
        static: which of these have no table.
    """
    scratch = Tables(tables.values, _MOST_ROWS, tables.budget)
    scratch.of = tables.of | start
    ground = [classified(rule, lambda relation: relation not in start) for rule in rules]
    evaluations = [SemiNaiveEvaluation(rule, scratch, static, start.__contains__) for rule in ground]
    with suppress(LimitError):
        grown = True
        while grown:
            grown = False
            for evaluation in evaluations:
                grown |= _advanced(evaluation, start)
            if sum(table.count for table in start.values()) > _MOST_ROWS:
                return None
        return start
    return None


def _advanced(evaluation: SemiNaiveEvaluation, into: dict[Relation, Table]) -> bool:
    """Enter what a rule derives now; return whether anything of it is new."""
    rule: GroundRule = evaluation.rule
    table = into[rule.head.relation]
    before = table.count
    for found in evaluation.deltas():
        if found.count:
            table.add([evaluation.join.column(found, term) for term in rule.head.columns], found.count)
    return table.count > before


def inputs_of(rules: Sequence[FlatRule], members: Collection[Relation]) -> list[Relation]:
    """Return the other relations that some rules read, each once."""
    read = [read.relation for rule in rules for read in rule.reads if read.relation not in members]
    return list(dict.fromkeys(read))
