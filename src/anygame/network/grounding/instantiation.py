"""Instantiation of single rules by joins, one literal after the other.

Joins process whole columns, as in MonetDB (Boncz, Zukowski and Nes 2005, "MonetDB/X100: hyper-pipelining
query execution").
"""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from anygame.datalog.plan import known_columns
from anygame.datalog.relations import Alternatives, FlatAtom, IsConstant, Negated, Unequal, variables_in
from anygame.language.terms import Compound, Term, Variable, variables_of
from anygame.network.budget import TURN
from anygame.network.grounding.tables import hashed, matches, too_many_rows

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from numpy.typing import NDArray

    from anygame.datalog.relations import Relation
    from anygame.network.grounding.rules import Composed, GroundRule, Test
    from anygame.network.grounding.static import StaticRelations
    from anygame.network.grounding.tables import Ids, Rows, Table, Tables

#: Assumed factor by which an on-demand literal multiplies the rows of a join; its own rows cannot be counted.
#: The join adds this literal last, when most of its columns are bound.
_TO_ASK: Final = 1e15
#: The same factor if all columns of the on-demand literal are bound: the literal can only remove rows.
_TO_TEST: Final = 0.5
#: Minimum factor assumed for a literal without a bound column, which makes a cross product.
_UNTIED: Final = 1e6
#: Size in bytes of a typical row of a join.
_USUAL_ROW: Final = 40


class Instances:
    """Instances of a rule during a join: values by variable, and row numbers by positive literal."""

    def __init__(self) -> None:
        self.count = 1
        self.columns: dict[Variable, Rows] = {}
        self.positives: dict[int, Ids] = {}

    def keep(self, which: NDArray[Any]) -> None:
        """Keep the instances that a mask selects, or the instances at some indices, which may repeat."""
        self.columns = {variable: column[which] for variable, column in self.columns.items()}
        self.positives = {index: column[which] for index, column in self.positives.items()}
        self.count = int(which.sum()) if which.dtype == np.bool_ else len(which)


class Join:
    """Computes the instances of one rule, given a range of rows for each literal."""

    def __init__(self, rule: GroundRule, tables: Tables, static: StaticRelations) -> None:
        self._rule = rule
        self._tables = tables
        self._static = static
        self.literals: tuple[FlatAtom, ...] = (*rule.positives, *rule.guards)
        self._needs = [(test, variables_in((test,))) for test in rule.tests]

    def run(self, first: int | None, ranges: Mapping[int, tuple[int, int]]) -> Instances:
        """Return the instances whose rows lie in the ranges; literals without a range use all their rows.

        The join starts with the literal at index ``first``, unless ``first`` is None. Raises LimitError if
        there are too many rows.
        """
        self._tables.budget.spend(TURN)
        instances = Instances()
        waiting = set(range(len(self.literals)))
        tests = list(self._needs)
        composed = list(self._rule.composed)
        if first is not None:
            waiting.discard(first)
            numbers = np.arange(*ranges[first], dtype=np.int64)
            table = self._tables.table(self.literals[first].relation)
            self._take(instances, first, table, np.zeros(len(numbers), np.int64), numbers, ())
        while instances.count and (waiting or tests or composed):
            self._settle(instances, tests, composed)
            if not waiting or not instances.count:
                break
            index = next(iter(waiting))
            if len(waiting) > 1:
                index = min(sorted(waiting), key=lambda index: self._growth(instances, index))
            waiting.discard(index)
            self._extend(instances, index, ranges.get(index))
        if instances.count and (tests or composed):
            raise AssertionError(f"the positive literals do not bind all variables of {self._rule}")
        return instances

    def column(self, instances: Instances, term: Term) -> Rows:
        """Return the value of a term in every instance."""
        if isinstance(term, Variable):
            return instances.columns[term]
        if isinstance(term, Compound) and not term.is_ground:
            parts = [self.column(instances, part) for part in term.arguments]
            return self._tables.compose((term.functor, len(parts)), parts, instances.count)
        return np.full(instances.count, self._tables.values.number(term), np.int32)

    def _growth(self, instances: Instances, index: int) -> float:
        atom = self.literals[index]
        known = tuple(known_columns(atom, instances.columns.keys()))
        if self._static.is_on_demand(atom.relation):
            if len(known) == atom.relation.width:
                return _TO_TEST
            return _TO_ASK / (1 + len(known)) if self._static.ends(atom.relation, known) else inf
        table = self._tables.table(atom.relation)
        if not known:
            return _UNTIED + table.count
        return table.count / table.distinct(known)

    def _extend(self, instances: Instances, index: int, rows: tuple[int, int] | None) -> None:
        atom = self.literals[index]
        known = tuple(known_columns(atom, instances.columns.keys()))
        keys = [self.column(instances, atom.columns[number]) for number in known]
        if self._static.is_on_demand(atom.relation):
            table = self._static.asked(atom.relation, known, keys)
        else:
            table = self._tables.table(atom.relation)
        low, high = rows or (0, table.count)
        self._tables.budget.spend(instances.count)
        if len(known) == atom.relation.width:
            numbers = table.find(keys, instances.count)
            held = np.flatnonzero((numbers >= low) & (numbers < high))
            self._take(instances, index, table, held, numbers[held], known)
            return
        if not known:
            total = instances.count * (high - low)
            if total > self._most(instances):
                raise too_many_rows(self._most(instances))
            left = np.repeat(np.arange(instances.count), high - low)
            right = np.tile(np.arange(low, high), instances.count)
            self._take(instances, index, table, left, right, known)
            return
        left, right = matches(table, known, hashed(keys, instances.count), self._most(instances))
        same = (right >= low) & (right < high)
        for number, key in zip(known, keys, strict=True):
            same &= table.column(number)[right] == key[left]
        if not same.all():
            left, right = left[same], right[same]
        self._take(instances, index, table, left, right, known)

    def _most(self, instances: Instances) -> int:
        row = 4 * len(instances.columns) + 8 * len(instances.positives)
        return self._tables.most * _USUAL_ROW // max(row, _USUAL_ROW)

    def _take(
        self, instances: Instances, index: int, table: Table, left: Ids, right: Ids, known: tuple[int, ...]
    ) -> None:
        """Keep the instances at the indices ``left``, and join each with its row in ``right``."""
        atom = self.literals[index]
        self._tables.budget.spend(len(left))
        instances.keep(left)
        if index < len(self._rule.positives):
            instances.positives[index] = right
        columns = enumerate(atom.columns)
        self._match(instances, [(term, table.column(n)[right]) for n, term in columns if n not in known])

    def _match(self, instances: Instances, pairs: Iterable[tuple[Term, Rows]]) -> None:
        """Bind new variables to columns; keep the instances in which other terms equal their columns."""
        same = np.ones(instances.count, np.bool_)
        for term, column in pairs:
            if isinstance(term, Variable) and term not in instances.columns:
                instances.columns[term] = column
            else:
                same &= column == self.column(instances, term)
        if not same.all():
            instances.keep(same)

    def _settle(
        self, instances: Instances, tests: list[tuple[Test, set[Variable]]], composed: list[Composed]
    ) -> None:
        """Apply the tests whose variables are bound, and the nested terms that can bind or test variables."""
        progress = True
        while progress and instances.count:
            progress = False
            for item in list(composed):
                if self._relate(instances, item):
                    composed.remove(item)
                    progress = True
            for entry in list(tests):
                test, needed = entry
                if isinstance(test, Unequal) and test.negated:
                    self._equate(instances, test)
                if needed <= instances.columns.keys():
                    tests.remove(entry)
                    held = self._holds(instances, test)
                    if not held.all():
                        instances.keep(held)
                    progress = True

    def _equate(self, instances: Instances, test: Unequal) -> None:
        for one, other in ((test.left, test.right), (test.right, test.left)):
            if (
                isinstance(one, Variable)
                and one not in instances.columns
                and all(variable in instances.columns for variable in variables_of(other))
            ):
                instances.columns[one] = self.column(instances, other)
                return

    def _relate(self, instances: Instances, item: Composed) -> bool:
        variables = [v for part in item.parts for v in variables_of(part)]
        if all(variable in instances.columns for variable in variables):
            parts = [self.column(instances, part) for part in item.parts]
            wholes = self._tables.compose(item.functor, parts, instances.count)
            if item.whole in instances.columns:
                instances.keep(instances.columns[item.whole] == wholes)
            else:
                instances.columns[item.whole] = wholes
            return True
        if item.whole not in instances.columns:
            return False
        table = self._tables.parts(item.functor)
        wholes = instances.columns[item.whole]
        left, right = matches(table, (0,), hashed([wholes], instances.count), self._most(instances))
        same = table.column(0)[right] == wholes[left]
        instances.keep(left[same])
        rows = right[same]
        self._match(instances, [(part, table.column(n)[rows]) for n, part in enumerate(item.parts, 1)])
        return True

    def _holds(self, instances: Instances, test: Test) -> NDArray[np.bool_]:
        if isinstance(test, Unequal):
            differ: NDArray[np.bool_] = self.column(instances, test.left) != self.column(
                instances, test.right
            )
            return ~differ if test.negated else differ
        if isinstance(test, IsConstant):
            return self._tables.are_constants(instances.columns[test.variable])
        if isinstance(test, Alternatives):
            held = np.zeros(instances.count, np.bool_)
            for choice in test.choices:
                every = np.ones(instances.count, np.bool_)
                for part in choice:
                    every &= self._holds(instances, part)
                held |= every
            return held
        if isinstance(test, Negated):
            return ~self._holds(instances, test.atom)
        keys = [self.column(instances, term) for term in test.columns]
        if self._static.is_on_demand(test.relation) and keys:
            table = self._static.asked(test.relation, tuple(range(len(keys))), keys)
        else:
            table = self._tables.table(test.relation)
        present: NDArray[np.bool_] = table.find(keys, instances.count) >= 0
        return present


class SemiNaiveEvaluation:
    """Evaluates one rule of a fixpoint whenever tables have grown, and finds each instance only once.

    This is semi-naive evaluation (Bancilhon and Ramakrishnan 1986, "An amateur's introduction to recursive
    query processing strategies"). ``reads`` has the body's relations to which rules may add rows.
    """

    def __init__(
        self, rule: GroundRule, tables: Tables, static: StaticRelations, grows: Callable[[Relation], bool]
    ) -> None:
        self.rule = rule
        self.join = Join(rule, tables, static)
        self._tables = tables
        literals = enumerate(self.join.literals)
        self._growing = [number for number, atom in literals if grows(atom.relation)]
        self.reads = list(dict.fromkeys(self.join.literals[number].relation for number in self._growing))
        self._seen = [0] * len(self._growing)
        self._read: list[Table] = []
        self._has_run = False

    def deltas(self) -> Iterator[Instances]:
        """Yield the new instances since the last call, in parts.

        The next call joins the rows that were added during this call. Raises LimitError if there are too many
        rows.
        """
        if not self._growing:
            if not self._has_run:
                self._has_run = True
                yield self.join.run(None, {})
            return
        if not self._read:
            literals = self.join.literals
            self._read = [self._tables.table(literals[index].relation) for index in self._growing]
        counts = [table.count for table in self._read]
        seen = self._seen
        if 0 in counts or counts == seen:
            return
        self._seen = counts
        for number, index in enumerate(self._growing):
            # Join old rows of earlier literals, new rows of this literal, and all rows of later literals.
            ranges = {index: (0, count) for index, count in zip(self._growing, counts, strict=True)}
            ranges[index] = (seen[number], counts[number])
            for earlier, before in zip(self._growing[:number], seen, strict=False):
                ranges[earlier] = (0, before)
            if all(low < high for low, high in ranges.values()):
                yield self.join.run(index, ranges)

    def add_heads(self, instances: Instances) -> Ids:
        """Add the heads of some instances to their table; return their row numbers."""
        if not instances.count:
            return np.zeros(0, np.int64)
        head = self.rule.head
        columns = [self.join.column(instances, term) for term in head.columns]
        return self._tables.table(head.relation).add(columns, instances.count)
