"""Relaxed reachability: find all atoms that can ever hold, ignoring negations of dynamic relations.

Facts of ``init`` and ``next`` become facts of ``true``, and facts of ``legal`` become facts of ``does``
(after Helmert 2009, "Concise finite-domain representations for PDDL planning tasks"). Semi-naive evaluation
finds each rule instance once. Static relations are exact, because the reasoner computes them.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, replace
from itertools import chain, count
from math import inf
from time import monotonic
from typing import TYPE_CHECKING, Final

import numpy as np

from anygame.analysis.groups import strong_components
from anygame.datalog.relations import Relation, reads_of
from anygame.errors import LimitError
from anygame.language.diagnostics import shown
from anygame.network.budget import Budget
from anygame.network.grounding.instantiation import SemiNaiveEvaluation
from anygame.network.grounding.large.cases import Premises
from anygame.network.grounding.large.keys import InvariantProver
from anygame.network.grounding.passes.context import Context
from anygame.network.grounding.pipeline import BOUNDING_GROWTH, BY_INVARIANTS, prepare
from anygame.network.grounding.rules import is_own, own_relation
from anygame.network.grounding.static import StaticRelations
from anygame.network.grounding.tables import Tables

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence

    from anygame.datalog.reasoner import Reasoner
    from anygame.network.grounding.instantiation import Instances
    from anygame.network.grounding.large.cases import Invariant
    from anygame.network.grounding.rules import GroundRule
    from anygame.network.grounding.tables import Ids, Rows, Table

#: Maximum number of rows per join in the first attempt, which omits the passes for large sheets.
_FEW_ROWS: Final = 4_000_000
#: If a game exceeds one of these bounds, a second attempt grounds only the atoms that rules ask for.
_BY_DEMAND: Final = {"instances", "facts", "depth", "terms", "fluents", "questions"}
#: If the states of a game grow with every move, the game exceeds one of these bounds.
_GROWTH: Final = {"depth", "terms", "fluents", "questions"}
#: For each relation whose facts are copied: the relation that receives the copies.
_FLOWS = {"next": "true", "legal": "does"}


@dataclass(frozen=True, slots=True)
class GroundingLimits:
    """Bounds on the compiled game.

    Attributes:
        instances: maximum number of ground instances of all rules. Each literal of an instance takes 8 bytes
            until it becomes an input of a gate.
        join: maximum number of rows of one join, reduced for wide rows. A row takes 4 bytes per variable and
            8 bytes per literal.
        steps: maximum amount of work, in steps of ``network.budget``. The default number takes about a
            minute. Public sheets that compile need at most a seventh of the default.
        facts: maximum number of rows of one static relation.
        seconds: maximum duration; infinite by default.
        fluents: maximum number of facts of one relation of the state. Public games have a few thousand.
        few: maximum number of instances of the first attempt, which takes about a second. If a game has more
            instances, grounding starts again with the passes for large sheets.
    """

    instances: int = 8_000_000
    join: int = 20_000_000
    steps: int = 2_000_000_000
    facts: int = 500_000
    seconds: float = inf
    fluents: int = 50_000
    few: int = 300_000


@dataclass(frozen=True, slots=True, eq=False)
class RuleInstances:
    """Instances of one rule: row numbers of its head and positives, and column values of its negatives."""

    rule: GroundRule
    heads: Ids
    positives: list[Ids]
    negatives: list[list[Rows]]

    @classmethod
    def joined(cls, parts: Sequence[RuleInstances]) -> RuleInstances:
        """Concatenate instances of one rule."""
        positives = [np.concatenate(rows) for rows in zip(*(one.positives for one in parts), strict=True)]
        negatives = [
            [np.concatenate(rows) for rows in zip(*columns, strict=True)]
            for columns in zip(*(one.negatives for one in parts), strict=True)
        ]
        heads = np.concatenate([one.heads for one in parts])
        return cls(parts[0].rule, heads, positives, negatives)


@dataclass(frozen=True, slots=True, eq=False)
class Grounding:
    """All atoms that can ever hold, in tables of dynamic relations, with their derivations.

    Attributes:
        facts: per relation, the row numbers of the atoms that always hold.
        by_rule: the instances of each rule that has instances.
        initial: per relation of fluents, the row numbers of the initial state.
        invariants: the invariants on which the instances rely.
        passes: statistics of each pass over the rules, by its name.
        rounds: number of rounds of the fixpoint.
    """

    reasoner: Reasoner
    tables: dict[Relation, Table]
    facts: dict[Relation, Ids]
    by_rule: list[RuleInstances]
    initial: dict[Relation, Ids]
    invariants: Collection[Invariant]
    passes: dict[str, dict[str, float]]
    rounds: int
    seconds: float

    @property
    def instances(self) -> int:
        """The number of instances of all rules."""
        return sum(len(of_rule.heads) for of_rule in self.by_rule)


class _Grounder:
    def __init__(
        self,
        reasoner: Reasoner,
        limits: GroundingLimits,
        budget: Budget,
        progress: Callable[[int, int], None] | None,
        without: Collection[str],
        percepts: bool,
        filled: dict[Relation, Table],
        *,
        large: bool,
        endless: bool,
    ) -> None:
        self._reasoner = reasoner
        self._limits = limits
        self._progress = progress
        self._without = without
        self._large = large
        self._budget = budget
        self._tables = Tables(reasoner.terms, limits.join, budget)
        self._static = StaticRelations(
            reasoner, self._tables, percepts=percepts, endless=endless, filled=filled
        )
        self._roles = [reasoner.terms.number(role) for role in reasoner.roles]
        self._premises = Premises(reasoner, self._static)
        self._prover = InvariantProver(self._premises, budget)
        self._own_relations = count(1)
        self._instances = 0
        #: For each rule, by ``id``: its instances.
        self._parts: dict[int, list[RuleInstances]] = defaultdict(list)
        #: Pairs of relations (``next``, ``true``) and (``legal``, ``does``).
        self._flows: list[tuple[Relation, Relation]] = [
            (relation, Relation(_FLOWS[relation.predicate], relation.shapes))
            for key in (("next", 1), ("legal", 2))
            for relation in reasoner.layout.variants(key)
        ]
        #: Per relation of ``next`` and ``legal``, the number of rows copied so far.
        self._flowed: dict[Relation, int] = {}
        #: Relations that rules read. A relation that a pass added and no rule reads needs no instances.
        self._read: set[Relation] = set()

    def run(self) -> Grounding:
        began = monotonic()
        static = self._static
        context = Context(
            static, self._premises, self._prover, lambda width: own_relation(next(self._own_relations), width)
        )
        rules, passes = prepare(static.dynamic_rules(), context, self._budget, self._without, self._large)
        for rule in rules:
            for atom in (*rule.guards, *(read.atom for read in reads_of(rule.tests))):
                if static.is_static(atom.relation):
                    static.fill(atom.relation)
        self._read = {atom.relation for rule in rules for atom in (*rule.positives, *rule.negatives)}
        evaluations = [
            SemiNaiveEvaluation(rule, self._tables, static, lambda relation: not static.is_static(relation))
            for rule in rules
        ]
        facts, initial = self._static.facts(), self._static.initial()
        self._flow()
        rounds = 0
        for together in _in_order(evaluations):
            while self._round(together):
                rounds += 1
        by_invariants = any(name in passes and passes[name]["rewrote"] for name in BY_INVARIANTS)
        return Grounding(
            self._reasoner,
            {r: t for r, t in self._tables.of.items() if not self._static.is_static(r)},
            facts,
            [RuleInstances.joined(self._parts.pop(id(rule))) for rule in rules if id(rule) in self._parts],
            initial,
            self._prover.proved if by_invariants else (),
            passes,
            rounds,
            monotonic() - began,
        )

    def _round(self, evaluations: list[SemiNaiveEvaluation]) -> bool:
        grown = False
        for evaluation in evaluations:
            grown |= self._advance(evaluation)
        if any(evaluation.rule.head.relation.predicate in _FLOWS for evaluation in evaluations):
            grown |= self._flow()
        if grown and self._progress is not None:
            self._progress(self._instances, sum(table.count for table in self._tables.of.values()))
        return grown

    def _advance(self, evaluation: SemiNaiveEvaluation) -> bool:
        is_grown = False
        try:
            for instances in evaluation.deltas():
                is_grown |= self._enter(evaluation, instances)
        except LimitError as error:
            relation = evaluation.rule.head.relation
            if error.relation or error.limit not in {"instances", "steps"} or is_own(relation):
                raise
            message = f"{error.message} (in a rule of {relation.title})"
            raise LimitError(message, error.limit, error.bound, relation.title) from None
        return is_grown

    def _enter(self, evaluation: SemiNaiveEvaluation, instances: Instances) -> bool:
        if not instances.count:
            return False
        rule = evaluation.rule
        self._instances += instances.count
        if self._instances > self._limits.instances:
            raise self._too_many_instances()
        table = self._tables.table(rule.head.relation)
        before = table.count
        heads = evaluation.add_heads(instances)
        if rule.head.relation.predicate == "next" and table.count > self._limits.fluents:
            (shape,), most = rule.head.relation.shapes, self._limits.fluents
            kind = f" ({shown(shape[0])} ...)" if isinstance(shape, tuple) else ""
            message = f"the rules define more than {most:,} possible fluents{kind}"
            raise LimitError(message, "fluents", most)
        if rule.head.relation in self._read or not is_own(rule.head.relation):
            negatives = [
                [evaluation.join.column(instances, t) for t in atom.columns] for atom in rule.negatives
            ]
            positives = [instances.positives[index] for index in range(len(rule.positives))]
            self._parts[id(rule)].append(RuleInstances(rule, heads, positives, negatives))
        return table.count > before

    def _too_many_instances(self) -> LimitError:
        bound = self._limits.instances
        counts = Counter[str]()
        for instances in chain.from_iterable(self._parts.values()):
            relation = instances.rule.head.relation
            if not is_own(relation):
                counts[relation.title] += len(instances.heads)
        worst = max(counts, key=counts.__getitem__, default=None)
        most = f", most of them from rules for {worst}" if worst else ""
        return LimitError(
            f"the rules have more than {bound:,} ground instances{most}", "instances", bound, worst
        )

    def _flow(self) -> bool:
        grown = False
        for relation, taking in self._flows:
            source = self._tables.of.get(relation)
            flowed = self._flowed.get(relation, 0)
            if source is None or source.count == flowed:
                continue
            self._flowed[relation] = source.count
            target = self._tables.table(taking)
            before = target.count
            columns = [source.column(n)[flowed:] for n in range(source.width)]
            if relation.predicate == "legal":
                is_of_role = np.isin(columns[0], self._roles)
                columns = [column[is_of_role] for column in columns]
            target.add(columns, len(columns[0]) if columns else source.count - flowed)
            grown |= target.count > before
        return grown


def _in_order(evaluations: Sequence[SemiNaiveEvaluation]) -> Iterator[list[SemiNaiveEvaluation]]:
    """Yield groups of mutually dependent rules, each after the groups that it reads."""
    by_head: dict[Relation, list[int]] = defaultdict(list)
    for number, evaluation in enumerate(evaluations):
        relation = evaluation.rule.head.relation
        by_head[relation].append(number)
        if relation.predicate in _FLOWS:
            by_head[Relation(_FLOWS[relation.predicate], relation.shapes)].append(number)

    def parents(number: int) -> list[int]:
        return [parent for relation in evaluations[number].reads for parent in by_head.get(relation, ())]

    for component in strong_components(range(len(evaluations)), parents):
        yield [evaluations[number] for number in sorted(component)]


def ground(
    reasoner: Reasoner,
    limits: GroundingLimits | None = None,
    progress: Callable[[int, int], None] | None = None,
    without: Collection[str] = (),
    *,
    percepts: bool = True,
    budget: Budget | None = None,
) -> Grounding:
    """Ground the rules of a game. Raises LimitError if a bound is reached."""
    limits = limits or GroundingLimits()
    budget = budget or Budget(limits.steps, limits.seconds)
    filled: dict[Relation, Table] = {}

    def run(most: GroundingLimits, *, large: bool, last: bool = True, bounded: bool = False) -> Grounding:
        skipped = without if bounded else (*without, BOUNDING_GROWTH)
        shared = (reasoner, most, budget, progress, skipped, percepts, filled)
        return _Grounder(*shared, large=large, endless=last).run()

    few = replace(limits, instances=min(limits.few, limits.instances), join=min(_FEW_ROWS, limits.join))
    try:
        return run(few, large=False, last=False)
    except LimitError as error:
        if error.limit not in _BY_DEMAND:
            raise
        first = error.limit
    try:
        return run(limits, large=True, bounded=first in _GROWTH)
    except LimitError as error:
        if error.limit in _GROWTH and first not in _GROWTH:
            return run(limits, large=True, bounded=True)
        if {first, error.limit} != {"instances"}:
            raise
    return run(limits, large=False)
