"""Relaxed reachability: everything that can ever hold, if every negation of what changes is ignored.

``true`` grows by ``init`` and ``next``, ``does`` by ``legal``. Each instance of a rule is found once, when
the last of its literals arises. Static relations are those of the reasoner, exactly.
"""

from __future__ import annotations

from dataclasses import dataclass
from time import monotonic
from typing import TYPE_CHECKING

import numpy as np

from anygame.datalog.relations import FlatAtom, Relation, reads_of
from anygame.datalog.steps import STATIC
from anygame.errors import LimitError
from anygame.network.grounding.joins import Join, Tables
from anygame.network.grounding.narrowing import narrow, unfold
from anygame.network.grounding.parts import is_own
from anygame.network.grounding.rules import prepare

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from anygame.datalog.reasoner import Reasoner
    from anygame.datalog.relations import FlatRule
    from anygame.network.grounding.joins import Instances
    from anygame.network.grounding.parts import GroundRule
    from anygame.network.grounding.tables import Ids, Rows, Table

__all__ = ["Batch", "Grounding", "GroundingLimits", "ground"]

_FLOWS = {"next": "true", "legal": "does"}
#: Relations that are asked for; they have tables even where they depend on nothing.
_ASKED = {"next", "legal", "terminal", "goal"}
#: A static relation is unfolded if it has so many columns, more rows than this, and few rules.
_WIDE, _LARGE, _MOST_RULES = 3, 2_000, 8


@dataclass(frozen=True, slots=True)
class GroundingLimits:
    """Bounds on the compiled game.

    Attributes:
        instances: of rules, in all.
        join: rows of one join.
        seconds: time to ground, and to make gates of it.
    """

    instances: int = 8_000_000
    join: int = 20_000_000
    seconds: float = 30.0


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """Instances of one rule.

    Attributes:
        rule: the rule.
        heads: per instance, the number of the head's row.
        gates: per gate literal, the number of its row in each instance.
        negatives: per negative, its columns in each instance.
    """

    rule: GroundRule
    heads: Ids
    gates: list[Ids]
    negatives: list[list[Rows]]


@dataclass(frozen=True, slots=True, eq=False)
class Grounding:
    """What can ever hold, and why.

    Attributes:
        reasoner: whose rules these are.
        tables: the atoms of each relation that depends on state or moves.
        facts: relations with rows that always hold, and these rows' numbers.
        batches: the instances.
        initial: per relation of fluents, the numbers of the rows that hold at first.
        rounds: how often the rules were gone through.
        seconds: what it took.
    """

    reasoner: Reasoner
    tables: dict[Relation, Table]
    facts: dict[Relation, Ids]
    batches: list[Batch]
    initial: dict[Relation, Ids]
    rounds: int
    seconds: float

    @property
    def instances(self) -> int:
        """How many instances."""
        return sum(len(batch.heads) for batch in self.batches)


class _Work:
    """One rule in the fixpoint: what it has seen so far."""

    def __init__(self, rule: GroundRule, tables: Tables, is_table: Callable[[Relation], bool]) -> None:
        self.rule = rule
        self.join = Join(rule, tables)
        self.growing = [place for place, atom in enumerate(self.join.literals) if is_table(atom.relation)]
        self.seen = [0] * len(self.join.literals)
        self.has_run = False


class _Grounder:
    def __init__(
        self, reasoner: Reasoner, limits: GroundingLimits, progress: Callable[[int, int], None] | None
    ) -> None:
        self._reasoner = reasoner
        self._engine = reasoner.engine
        self._limits = limits
        self._progress = progress
        self._deadline = monotonic() + limits.seconds
        self._tables = Tables(reasoner.values, limits.join, self._ask)
        self._roles = [reasoner.values.number(role) for role in reasoner.roles]
        self._instances = 0
        self._batches: list[Batch] = []
        self._facts: dict[Relation, Ids] = {}
        self._kept: set[Relation] = set()

    # -- static relations --------------------------------------------------------------------------

    def _is_static(self, relation: Relation) -> bool:
        return self._engine.is_static(relation) and relation.predicate not in _ASKED

    def _ask(
        self, relation: Relation, known: tuple[int, ...], key: tuple[int, ...]
    ) -> Iterable[tuple[int, ...]]:
        self._check_time()
        engine = self._engine
        if not known:
            yield from (engine.atoms_of_row(relation, row) for row in engine.rows(engine.static, relation))
            return
        one_is_free = relation.width == len(known) + 1
        for row in engine.ask(relation, known, key, engine.static):
            rest = iter((row,) if one_is_free else row)
            values = dict(zip(known, key, strict=True))
            yield tuple(values[n] if n in values else next(rest) for n in range(relation.width))

    def _fill(self, relation: Relation) -> None:
        """Give a static relation its table, unless it is one that is only ever asked."""
        if relation in self._tables.of or relation in self._tables.demanded:
            return
        rows = self._engine.static_rows(relation)
        if rows is None:
            self._tables.demanded.add(relation)
        else:
            self._add_rows(relation, rows)

    def _is_dense(self, relation: Relation) -> bool:
        """Whether a static relation has more than half of the rows that its columns could make."""
        self._fill(relation)
        if relation in self._tables.demanded:
            return False
        table = self._tables.table(relation)
        possible = 1
        for number in range(table.width):
            possible *= len(np.unique(table.column(number)))
        return 2 * table.count > possible

    def _add_rows(self, relation: Relation, rows: Iterable[object]) -> Ids:
        table = self._tables.table(relation)
        listed = sorted(self._engine.atoms_of_row(relation, row) for row in rows)
        if not listed:
            return np.zeros(0, np.int64)
        columns = list(np.array(listed, np.int32).reshape(len(listed), relation.width).T)
        return table.add(columns, len(listed))

    # -- the fixpoint ------------------------------------------------------------------------------

    def run(self) -> Grounding:
        began = monotonic()
        dynamic, asked = narrow(unfold(self._dynamic_rules(), self._definition), self._is_view)
        for relation, constants in asked.items():
            self._add_rows(relation, [self._engine.row(FlatAtom(relation, columns)) for columns in constants])
        ready = prepare(dynamic, self._is_static, self._is_dense)
        for rule in ready:
            for atom in rule.guards:
                if self._is_static(atom.relation) and not is_own(atom.relation):
                    self._fill(atom.relation)
            for read in reads_of(rule.tests):
                self._fill(read.relation)
        # What only guards read is never looked at again.
        self._kept = {atom.relation for rule in ready for atom in (*rule.gates, *rule.negatives)}
        works = [_Work(rule, self._tables, self._grows) for rule in ready]
        initial = self._start()
        rounds = 0
        while self._round(works):
            rounds += 1
        return Grounding(
            self._reasoner,
            {r: t for r, t in self._tables.of.items() if self._grows(r)},
            self._facts,
            self._batches,
            initial,
            rounds,
            monotonic() - began,
        )

    def _grows(self, relation: Relation) -> bool:
        return is_own(relation) or not self._is_static(relation)

    def _definition(self, relation: Relation) -> list[FlatRule] | None:
        """Return the rules of a static relation that is too large to tie variables together by it."""
        if not self._is_static(relation) or self._engine.facts.get(relation) or relation.width < _WIDE:
            return None
        steps = self._engine.makers(relation)
        if not steps or any(step.component.recursive for step in steps):
            return None
        rules = [rule for step in steps for rule in step.component.rules if rule.head.relation == relation]
        self._fill(relation)
        # What nearly always holds is better said by where it fails.
        is_fine = self._tables.table(relation).count <= _LARGE or self._is_dense(relation)
        if (is_fine and relation not in self._tables.demanded) or len(rules) > _MOST_RULES:
            return None
        return rules

    def _is_view(self, relation: Relation) -> bool:
        """Whether a relation depends on state or moves, and only rules read it."""
        return not self._is_static(relation) and relation.predicate not in _ASKED | {"true", "does"}

    def _dynamic_rules(self) -> list[FlatRule]:
        wanted = [
            *self._reasoner.layout.variants(("legal", 2)),
            self._reasoner.layout.variants(("terminal", 0))[0],
            *self._reasoner.layout.variants(("goal", 2)),
            *self._reasoner.layout.variants(("next", 1)),
        ]
        steps = self._engine.sequence(wanted)
        return [rule for step in steps for rule in step.component.rules]

    def _start(self) -> dict[Relation, Ids]:
        """Enter what holds without any rule; return the initial state."""
        layout = self._reasoner.layout
        for relation in self._engine.slots:
            if self._grows(relation) and self._engine.facts.get(relation):
                self._facts[relation] = self._add_rows(relation, self._engine.facts[relation])
        for key in (("legal", 2), ("next", 1), ("terminal", 0), ("goal", 2)):
            for relation in layout.variants(key):
                if self._engine.level(relation) == STATIC:
                    rows = self._engine.rows(self._engine.static, relation)
                    self._facts[relation] = self._add_rows(relation, rows)
        initial = {}
        for relation in layout.variants(("true", 1)):
            rows = self._engine.rows(self._engine.static, Relation("init", relation.shapes))
            initial[relation] = self._add_rows(relation, rows)
        return initial

    def _round(self, works: list[_Work]) -> bool:
        grown = False
        for work in works:
            self._check_time()
            grown |= self._advance(work)
        grown |= self._flow()
        if self._progress is not None:
            self._progress(self._instances, sum(table.count for table in self._tables.of.values()))
        return grown

    def _check_time(self) -> None:
        if monotonic() > self._deadline:
            seconds = self._limits.seconds
            raise LimitError(f"the rules were not grounded within {seconds:g} seconds", "seconds", seconds)

    def _advance(self, work: _Work) -> bool:
        """Find the instances of a rule that what has arisen since its last turn makes possible."""
        literals = work.join.literals
        counts = [self._size(atom.relation) for atom in literals]
        if not work.growing:
            if work.has_run:
                return False
            work.has_run = True
            return self._enter(work, work.join.run(None, [(0, n) for n in counts]))
        if 0 in [counts[place] for place in work.growing]:
            return False
        grown = False
        for number, place in enumerate(work.growing):
            if counts[place] == work.seen[place]:
                continue
            ranges = [(0, count) for count in counts]
            ranges[place] = (work.seen[place], counts[place])
            for earlier in work.growing[:number]:
                ranges[earlier] = (0, work.seen[earlier])
            if all(low < high for low, high in (ranges[p] for p in work.growing)):
                grown |= self._enter(work, work.join.run(place, ranges))
        work.seen = counts
        return grown

    def _size(self, relation: Relation) -> int:
        return 0 if relation in self._tables.demanded else self._tables.table(relation).count

    def _enter(self, work: _Work, found: Instances) -> bool:
        if not found.count:
            return False
        rule = work.rule
        self._instances += found.count
        if self._instances > self._limits.instances:
            bound = self._limits.instances
            raise LimitError(f"the rules have more than {bound:,} instances", "instances", bound)
        table = self._tables.table(rule.head.relation)
        before = table.count
        heads = table.add([work.join.column(found, term) for term in rule.head.columns], found.count)
        if rule.head.relation in self._kept or not is_own(rule.head.relation):
            negatives = [[work.join.column(found, t) for t in atom.columns] for atom in rule.negatives]
            gates = [found.gates[place] for place in range(len(rule.gates))]
            self._batches.append(Batch(rule, heads, gates, negatives))
        return table.count > before

    def _flow(self) -> bool:
        """Let ``true`` and ``does`` take what ``next`` and ``legal`` give."""
        grown = False
        for name, arity in (("next", 1), ("legal", 2)):
            for relation in self._reasoner.layout.variants((name, arity)):
                source = self._tables.of.get(relation)
                if source is None:
                    continue
                target = self._tables.table(Relation(_FLOWS[relation.predicate], relation.shapes))
                before = target.count
                columns = [source.column(n) for n in range(source.width)]
                if name == "legal":
                    held = np.isin(columns[0], self._roles)
                    columns = [column[held] for column in columns]
                target.add(columns, len(columns[0]) if columns else source.count)
                grown |= target.count > before
        return grown


def ground(
    reasoner: Reasoner,
    limits: GroundingLimits | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Grounding:
    """Ground the rules of a game.

    Args:
        reasoner: the rules.
        limits: bounds.
        progress: called now and then with the instances and atoms found so far.

    Raises:
        LimitError: a bound was reached.
    """
    return _Grounder(reasoner, limits or GroundingLimits(), progress).run()
