"""Relaxed reachability: everything that can ever hold, if every negation of what changes is ignored.

``true`` grows by ``init`` and ``next``, ``does`` by ``legal`` (after Helmert 2009, "Concise finite-domain
representations for PDDL planning tasks"). Each instance of a rule is found once, when the last of its
literals arises (semi-naive evaluation). Static relations are those of the reasoner, exactly.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, count
from math import inf
from time import monotonic
from typing import TYPE_CHECKING, Final

import numpy as np

from anygame.analysis.domains import Domains
from anygame.analysis.groups import strong_components
from anygame.datalog.relations import Relation, reads_of
from anygame.errors import LimitError
from anygame.language.diagnostics import shown
from anygame.network.budget import Budget
from anygame.network.grounding.instantiation import SemiNaiveEvaluation
from anygame.network.grounding.large.keys import InvariantProver, assume, premises_of, tops_of
from anygame.network.grounding.passes.context import Context
from anygame.network.grounding.pipeline import BOUNDING_GROWTH, BY_INVARIANTS, Effect, prepare
from anygame.network.grounding.rules import is_own, own_relation
from anygame.network.grounding.static import StaticRelations
from anygame.network.grounding.tables import Tables

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence

    from anygame.datalog.reasoner import Reasoner
    from anygame.datalog.relations import FlatAtom
    from anygame.language.terms import Term
    from anygame.network.grounding.instantiation import Instances
    from anygame.network.grounding.large.cases import Invariant, Key, Premises
    from anygame.network.grounding.rules import GroundRule
    from anygame.network.grounding.tables import Ids, Rows, Table

#: Rules with a join of more rows than this go through the passes for large ones, too.
_FEW_ROWS: Final = 4_000_000
#: Bounds that are kept, perhaps, where only the rows that rules ask for are grounded.
_BY_DEMAND: Final = {"instances", "facts", "depth", "terms", "fluents", "questions"}
#: Those of them that are passed where facts of the state grow by moves.
_GROWTH: Final = {"depth", "terms", "fluents", "questions"}
_FLOWS = {"next": "true", "legal": "does"}


@dataclass(frozen=True, slots=True)
class GroundingLimits:
    """Bounds on the compiled game.

    Attributes:
        instances: of rules, in all; a number of eight bytes per literal of each is held until gates are made.
        join: rows of one join, with a number of four bytes per variable and one of eight per literal; fewer
            where these are many.
        steps: of work to ground, and to make gates of it; see ``budget``. Of the sheets that can be compiled,
            the longest takes a seventh of it; the bound is reached in about a minute.
        facts: rows of a static relation.
        seconds: the same on the clock, for those who owe an answer to one; it decides nothing otherwise.
        fluents: facts of one name that states may be made of. Public games have at most some thousand; lists,
            and numbers made of terms, that nothing in the rules bounds would grow and grow.
        few: rules with more instances than this go through the passes for large ones, from the start: to have
            come so far takes about a second.
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
    """Instances of one rule: all of them in a grounding, which is made of those that were found together.

    Attributes:
        heads: per instance, the number of the head's row.
        positives: per positive literal, the number of its row in each instance.
        negatives: per negative, its columns in each instance.
    """

    rule: GroundRule
    heads: Ids
    positives: list[Ids]
    negatives: list[list[Rows]]

    @classmethod
    def joined(cls, parts: Sequence[RuleInstances]) -> RuleInstances:
        """Return the instances of a rule, found in parts, as one."""
        positives = [np.concatenate(rows) for rows in zip(*(one.positives for one in parts), strict=True)]
        negatives = [
            [np.concatenate(rows) for rows in zip(*columns, strict=True)]
            for columns in zip(*(one.negatives for one in parts), strict=True)
        ]
        heads = np.concatenate([one.heads for one in parts])
        return cls(parts[0].rule, heads, positives, negatives)


@dataclass(frozen=True, slots=True, eq=False)
class Grounding:
    """What can ever hold, and why.

    Attributes:
        reasoner: whose rules these are.
        tables: the atoms of each relation that depends on state or moves.
        facts: relations with rows that always hold, and these rows' numbers.
        invariants: what the instances rely on: they hold for states of which that is true.
        by_rule: the instances of each rule that has any.
        initial: per relation of fluents, the numbers of the rows that hold at first.
        passes: what each pass over the rules did, by name.
        rounds: how often the rules were gone through.
    """

    reasoner: Reasoner
    tables: dict[Relation, Table]
    facts: dict[Relation, Ids]
    by_rule: list[RuleInstances]
    initial: dict[Relation, Ids]
    invariants: Collection[Invariant]
    passes: dict[str, Effect]
    rounds: int
    seconds: float

    @property
    def instances(self) -> int:
        """How many instances."""
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
        self._own_relations = count(1)
        self._instances = 0
        self._atoms = 0
        #: By identity of the rule.
        self._parts: dict[int, list[RuleInstances]] = defaultdict(list)
        #: Relations that give ``true`` or ``does`` their rows, those that take them, and how many they took.
        self._flows: list[tuple[Relation, Relation]] = [
            (relation, Relation(_FLOWS[relation.predicate], relation.shapes))
            for key in (("next", 1), ("legal", 2))
            for relation in reasoner.layout.variants(key)
        ]
        self._flowed: dict[Relation, int] = {}
        #: Relations whose rows become literals: instances of own ones that only guards match are dropped.
        self._read: set[Relation] = set()

    def run(self) -> Grounding:
        began = monotonic()
        rules, passes = self._prepare()
        for rule in rules:
            read = [*rule.guards, *(read.atom for read in reads_of(rule.tests))]
            for relation in dict.fromkeys(atom.relation for atom in read):
                if self._static.is_static(relation):
                    self._static.fill(relation)
        self._read = {atom.relation for rule in rules for atom in (*rule.positives, *rule.negatives)}
        static = self._static
        evaluations = [
            SemiNaiveEvaluation(rule, self._tables, static, lambda of: not static.is_static(of))
            for rule in rules
        ]
        facts, initial = self._static.facts(), self._static.initial()
        self._atoms = sum(table.count for table in self._tables.of.values())
        self._flow()
        rounds = 0
        for together in _in_order(evaluations):
            while self._round(together):
                rounds += 1
        by_invariants = any(passes.get(name, Effect()).rewritten for name in BY_INVARIANTS)
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

    @property
    def filled(self) -> dict[Relation, Table]:
        """The tables of static relations, which another try need not fill again."""
        return self._static.filled

    def _prepare(self) -> tuple[list[GroundRule], dict[str, Effect]]:
        """Put the rules through the passes."""
        static = self._static
        context = Context(
            static.is_static,
            static.is_dense,
            static.is_view,
            static.has_facts,
            static.definition,
            static.fan_out,
            static.ends,
            self._likely_keys_of,
            self._holds,
            self._values_of,
            lambda relation, column: tops_of(self._domains, relation, column),
            lambda width: own_relation(next(self._own_relations), width),
        )
        return prepare(static.dynamic_rules(), context, self._budget, self._without, self._large)

    @cached_property
    def _domains(self) -> Domains:
        return Domains(self._reasoner.rules)

    @cached_property
    def _likely(self) -> Premises:
        """What is known of the rules, and what is likely of fluents."""
        return premises_of(self._reasoner, self._static, self._budget)

    @cached_property
    def _prover(self) -> InvariantProver:
        """What proves it, which takes long; only where a pass asks for it."""
        likely = self._likely
        return InvariantProver(likely, self._budget, lambda: assume(likely, self._reasoner, self._budget))

    def _likely_keys_of(self, relation: Relation) -> Sequence[Key]:
        return self._likely.keys(relation)

    def _holds(self, invariant: Invariant) -> bool:
        return self._prover.holds(invariant)

    def _values_of(self, atom: FlatAtom, column: int) -> frozenset[Term] | None:
        return self._likely.values(atom, column)

    def _round(self, evaluations: list[SemiNaiveEvaluation]) -> bool:
        grown = False
        for evaluation in evaluations:
            grown |= self._advance(evaluation)
        if any(evaluation.rule.head.relation.predicate in _FLOWS for evaluation in evaluations):
            grown |= self._flow()
        if grown and self._progress is not None:
            self._progress(self._instances, self._atoms)
        return grown

    def _advance(self, evaluation: SemiNaiveEvaluation) -> bool:
        """Find the instances of a rule that what has arisen since its last turn makes possible."""
        grown = False
        try:
            for found in evaluation.deltas():
                grown |= self._enter(evaluation, found)
        except LimitError as error:
            raise _blamed(error, evaluation.rule) from None
        return grown

    def _enter(self, evaluation: SemiNaiveEvaluation, found: Instances) -> bool:
        if not found.count:
            return False
        rule = evaluation.rule
        self._instances += found.count
        if self._instances > self._limits.instances:
            raise self._too_many_instances()
        table = self._tables.table(rule.head.relation)
        before = table.count
        heads = table.add([evaluation.join.column(found, term) for term in rule.head.columns], found.count)
        if rule.head.relation.predicate == "next" and table.count > self._limits.fluents:
            raise _too_many_fluents(rule.head.relation, self._limits.fluents)
        if rule.head.relation in self._read or not is_own(rule.head.relation):
            negatives = [[evaluation.join.column(found, t) for t in atom.columns] for atom in rule.negatives]
            positives = [found.positives[index] for index in range(len(rule.positives))]
            self._parts[id(rule)].append(RuleInstances(rule, heads, positives, negatives))
        self._atoms += table.count - before
        return table.count > before

    def _too_many_instances(self) -> LimitError:
        bound = self._limits.instances
        of = Counter[str]()
        for of_rule in chain.from_iterable(self._parts.values()):
            relation = of_rule.rule.head.relation
            if not is_own(relation):
                of[relation.title] += len(of_rule.heads)
        worst = max(of, key=of.__getitem__, default=None)
        most = f", most of them of {worst}" if worst else ""
        return LimitError(
            f"the rules make more than {bound:,} ground instances{most}", "instances", bound, worst
        )

    def _flow(self) -> bool:
        """Let ``true`` and ``does`` take what ``next`` and ``legal`` give."""
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
                held = np.isin(columns[0], self._roles)
                columns = [column[held] for column in columns]
            target.add(columns, len(columns[0]) if columns else source.count - flowed)
            self._atoms += target.count - before
            grown |= target.count > before
        return grown


def _in_order(evaluations: Sequence[SemiNaiveEvaluation]) -> Iterator[list[SemiNaiveEvaluation]]:
    """Yield the rules that depend on each other together, behind all that they depend on.

    What no state depends on so has its turn when all states are known, and not anew whenever one arises.
    """
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


def _blamed(error: LimitError, rule: GroundRule) -> LimitError:
    """Return the error again, with the relation whose rule was being joined, unless it names another one."""
    relation = rule.head.relation
    if error.relation or error.limit not in {"instances", "steps"} or is_own(relation):
        return error
    message = f"{error.message} (at a rule of {relation.title})"
    return LimitError(message, error.limit, error.bound, relation.title)


def _too_many_fluents(relation: Relation, most: int) -> LimitError:
    (shape,) = relation.shapes
    kind = f" ({shown(shape[0])} ...)" if isinstance(shape, tuple) else ""
    return LimitError(f"states may be made of more than {most:,} different facts{kind}", "fluents", most)


def ground(
    reasoner: Reasoner,
    limits: GroundingLimits | None = None,
    progress: Callable[[int, int], None] | None = None,
    without: Collection[str] = (),
    *,
    percepts: bool = True,
    budget: Budget | None = None,
) -> Grounding:
    """Ground the rules of a game.

    Args:
        reasoner: the rules.
        limits: bounds.
        progress: called now and then with the instances and atoms found so far.
        without: passes over the rules to be left out, by name; see ``pipeline.OPTIONAL``.
        percepts: whether to ground what roles see (GDL-II), too.
        budget: what it costs is spent from it; by default there is one as the limits say.

    Raises:
        LimitError: a bound was reached.
    """
    limits = limits or GroundingLimits()
    budget = budget or Budget(limits.steps, limits.seconds)
    filled: dict[Relation, Table] = {}

    def run(most: GroundingLimits, *, large: bool, last: bool = True, bounded: bool = False) -> Grounding:
        left_out = without if bounded else (*without, BOUNDING_GROWTH)
        grounder = _Grounder(
            reasoner, most, budget, progress, left_out, percepts, filled, large=large, endless=last
        )
        try:
            return grounder.run()
        finally:
            filled.update(grounder.filled)

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
