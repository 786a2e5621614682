"""The reasoner: components of rules, compiled when first needed and run on frames.

A *frame* is a dict from slots to what is known in one state (or one state and one joint move): rows of
relations under positive numbers, indexes under negative ones. Static relations live in a frame of their own,
computed once per game and only as far as somebody asks. A component is planned when it is first run, with the
sizes of the relations as they then are.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from itertools import islice, repeat
from time import monotonic
from typing import TYPE_CHECKING, Any, Final

from anygame.analysis.dependencies import Component, components
from anygame.datalog.generate import Generator, demand_source, index_factory
from anygame.datalog.joins import IndexKey, index_source
from anygame.datalog.plan import Statistics
from anygame.datalog.relations import is_ground
from anygame.errors import LimitError
from anygame.language.unification import unify

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

    from anygame.analysis.dependencies import NegativeCycle
    from anygame.datalog.relations import FlatAtom, FlatRule, Relation
    from anygame.datalog.values import Values

__all__ = ["Engine", "Frame", "Limits", "Row", "Step"]

#: One column: the value itself; otherwise a tuple of values.
Row = Any
Frame = dict[int, Any]

STATIC, STATE, ACTION = 0, 1, 2
_TRACE: Final = 0
#: Relations that are asked for as a whole; never computed on demand.
_WHOLE: Final = {"role", "init", "base", "input", "legal", "next", "terminal", "goal", "sees", "percept"}
#: A relation expected to cost more rows than this (above the static level, at it) is tried within a budget first.
_SUSPICIOUS: Final = (1e5, 1e3, 1e3)
#: What a trial may take: iterations, rows.
_BUDGET: Final = ((2_000_000, 300_000), (30_000, 3_000), (30_000, 3_000))


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds on what one game may ask of the reasoner.

    Attributes:
        facts: rows of one relation.
        terms: different ground terms in all.
        depth: nesting of terms.
        seconds: time for one question.
    """

    facts: int = 5_000_000
    terms: int = 5_000_000
    depth: int = 150
    seconds: float = 300.0


class Step:
    """A component at work: what it computes and the function that does it."""

    __slots__ = (
        "component", "estimate", "is_demandable", "level", "marker", "number", "relations", "run", "source",
    )  # fmt: skip

    def __init__(self, number: int, component: Component[FlatRule], level: int, marker: int) -> None:
        self.number = number
        self.component = component
        self.level = level
        self.marker = marker
        self.relations = tuple(dict.fromkeys(rule.head.relation for rule in component.rules))
        self.run: Callable[[Frame], None] = _nothing
        self.source = ""
        self.is_demandable = False
        self.estimate: float | None = None

    @property
    def is_static(self) -> bool:
        """Whether the step depends on neither state nor moves."""
        return self.level == STATIC


def _nothing(frame: Frame) -> None:
    """Compute nothing: for relations that are computed on demand."""


class _TooCostly(Exception):  # noqa: N818  (a signal inside this module)
    """A trial went past its budget."""


class Engine:
    """Evaluates flat rules bottom-up, stratum by stratum, semi-naively.

    Args:
        rules: flat rules and facts.
        values: the table of ground terms.
        limits: bounds.
        inputs: relations given from outside, with their level (``STATE`` or ``ACTION``).

    Attributes:
        cycles: negative cycles; where there are any, nothing may be evaluated.
    """

    def __init__(
        self,
        rules: Sequence[FlatRule],
        values: Values,
        limits: Limits,
        inputs: dict[Relation, int],
    ) -> None:
        self.values = values
        self.limits = limits
        self._inputs = inputs
        self.slots: dict[Relation, int] = {}
        self.facts: dict[Relation, set[Row]] = {}
        self._index_numbers: dict[IndexKey, int] = {}
        proper = []
        for relation in inputs:
            self.slot(relation)
        for rule in rules:
            for read in rule.reads:
                self.slot(read.relation)
            self.slot(rule.head.relation)
            if rule.literals or rule.conditions or not is_ground(rule.head.columns):
                proper.append(rule)
            else:
                row = self.row(rule.head)
                self.facts.setdefault(rule.head.relation, set()).add(row)
        found, self.cycles = components(
            proper, _head_relation, lambda rule: rule.reads, _may_feed
        )
        self.levels = self._find_levels(found, inputs)
        self.steps = [
            Step(number, component, self._level_of(component), 1_000_000 + number)
            for number, component in enumerate(found)
        ]
        self.samples: list[Frame] = []
        self._demanded: dict[Relation, Step] = {}
        self._demands_defined: set[int] = set()
        self._row_bound = limits.facts
        self._makers: dict[Relation, list[Step]] = defaultdict(list)
        for step in self.steps:
            for relation in step.relations:
                self._makers[relation].append(step)
        for step in self.steps:
            (relation, *more) = step.relations
            step.is_demandable = not (
                more
                or step.component.recursive
                or len(self._makers[relation]) > 1
                or relation in self.facts
                or relation.width == 0
                or relation.predicate in _WHOLE
            )
        self._sequences: dict[tuple[Relation, ...], list[Step]] = {}
        self.static: Frame = {}
        self._namespace: dict[str, object] = {
            "UNIT": frozenset({()}),
            "EMPTY": frozenset(),
            "MOST": limits.facts,
            "too_many": self._too_many,
            "grow": self._grow,
            "on_demand": self._outgrown,
            "MANY_KEYS": 1_000_000,
            "defaultdict": defaultdict,
        }
        self._deadline = 0.0
        self._restart_clock()
        self.reset_plans()

    # -- relations and rows ------------------------------------------------------------------------

    def slot(self, relation: Relation) -> int:
        """Return the slot of a relation."""
        return self.slots.setdefault(relation, len(self.slots) + 1)

    def row(self, atom: FlatAtom) -> Row:
        """Return a ground flat atom as a row."""
        numbers = tuple([self.values.number(term) for term in atom.columns])
        return numbers[0] if len(numbers) == 1 else numbers

    def atoms_of_row(self, relation: Relation, row: Row) -> tuple[int, ...]:
        """Return a row as a tuple, whatever its width."""
        return (row,) if relation.width == 1 else row  # type: ignore[no-any-return]

    def level(self, relation: Relation) -> int:
        """Return what a relation depends on: nothing (STATIC), the state, or the joint move (ACTION)."""
        return self.levels.get(relation, STATIC)

    def is_move(self, relation: Relation) -> bool:
        """Whether a relation is given from outside with each joint move."""
        return self._inputs.get(relation) == ACTION

    def is_static(self, relation: Relation) -> bool:
        """Whether a relation depends on neither state nor moves."""
        return relation not in self.levels or self.levels[relation] == STATIC

    def is_demanded(self, relation: Relation) -> bool:
        """Whether a relation is computed only where it is asked."""
        return relation in self._demanded

    def _find_levels(
        self, found: Iterable[Component[FlatRule]], inputs: dict[Relation, int]
    ) -> dict[Relation, int]:
        levels = dict(inputs)
        changed = True
        ordered = list(found)
        while changed:
            changed = False
            for component in ordered:
                level = max(
                    (levels.get(read.relation, STATIC) for rule in component.rules for read in rule.reads),
                    default=STATIC,
                )
                for rule in component.rules:
                    if levels.get(rule.head.relation, STATIC) < level:
                        levels[rule.head.relation] = level
                        changed = True
        return levels

    def _level_of(self, component: Component[FlatRule]) -> int:
        return max(self.levels.get(rule.head.relation, STATIC) for rule in component.rules)

    # -- evaluation --------------------------------------------------------------------------------

    def sequence(self, relations: Iterable[Relation]) -> list[Step]:
        """Return the steps that compute some relations above the static level, in order."""
        key = tuple(relations)
        found = self._sequences.get(key)
        if found is None:
            needed: set[int] = set()
            pending = list(key)
            seen = set(pending)
            while pending:
                for step in self._makers.get(pending.pop(), ()):
                    if step.level == STATIC or step.number in needed:
                        continue
                    needed.add(step.number)
                    for relation in [*step.relations, *(r.relation for rule in step.component.rules for r in rule.reads)]:
                        if relation not in seen:
                            seen.add(relation)
                            pending.append(relation)
            found = self._sequences[key] = [step for step in self.steps if step.number in needed]
        return found

    def evaluate(self, frame: Frame, steps: Iterable[Step]) -> None:
        """Run the steps that the frame has not seen yet."""
        self._deadline = 0.0
        for step in steps:
            if step.marker not in frame:
                step.run(frame)
                frame[step.marker] = True

    def trace(self, frame: Frame, step: Step) -> list[dict[int, set[Row]]]:
        """Run a recursive step again on a frame and return what each round found, by slot."""
        rounds: list[dict[int, set[Row]]] = []
        again = dict(self.static if step.is_static else frame)
        makers = {maker.number: maker for relation in step.relations for maker in self._makers[relation]}
        for maker in makers.values():
            for relation in maker.relations:
                again.pop(self.slot(relation), None)
        for number in sorted(number for number in makers if number <= step.number):
            if number == step.number:
                again[_TRACE] = rounds
            makers[number].run(again)
        return rounds

    def rows(self, frame: Frame, relation: Relation) -> Collection[Row]:
        """Return the rows of a relation that has been evaluated in a frame (or is static)."""
        if relation in self._demanded:
            return self._all_rows(frame, relation)
        if self.is_static(relation):
            return self.static_rows(relation) or self._all_rows(self.static, relation)
        found = frame.get(self.slots.get(relation, -1))
        return found if found is not None else self.facts.get(relation, ())

    def _all_rows(self, frame: Frame, relation: Relation) -> Collection[Row]:
        """Return all rows of a relation that is otherwise computed on demand."""
        if relation not in self._demanded:
            return ()
        number = self.demand((relation, (), tuple(range(relation.width))), self._statistics(frame))
        where = self.static if self.is_static(relation) else frame
        define: Any = self._namespace[f"demand{number}"]
        return define(where)(())  # type: ignore[no-any-return]

    def static_rows(self, relation: Relation) -> set[Row] | None:
        """Return the rows of a static relation, computing it if nobody asked before.

        Returns None for one that is computed on demand only.
        """
        slot = self.slots.get(relation)
        if slot is None:
            return set()
        if slot not in self.static:
            makers = self._makers.get(relation)
            if not makers:
                self.static[slot] = self.facts.get(relation, set())
            for step in makers or ():
                if step.marker not in self.static:
                    self._run_static(step)
        return self.static.get(slot)

    def _run_static(self, step: Step) -> None:
        # Depth first, but without recursion: a sheet may chain thousands of relations.
        pending = [step]
        while pending:
            current = pending[-1]
            if current.marker in self.static:
                pending.pop()
                continue
            waiting = [
                maker
                for rule in current.component.rules
                for read in rule.reads
                for maker in self._makers.get(read.relation, ())
                if maker.number < current.number and maker.marker not in self.static
            ]
            waiting += [
                maker
                for relation in current.relations
                for maker in self._makers[relation]
                if maker.number < current.number and maker.marker not in self.static
            ]
            if waiting:
                pending += waiting
                continue
            current.run(self.static)
            self.static[current.marker] = True
            pending.pop()

    # -- limits ------------------------------------------------------------------------------------

    def _ticks(self) -> Iterator[bool]:
        while True:
            if self._deadline == 0.0:
                self._deadline = monotonic() + self.limits.seconds
            elif monotonic() > self._deadline:
                self._restart_clock()
                raise LimitError(
                    f"no answer within {self.limits.seconds:g} seconds",
                    limit="seconds",
                    bound=self.limits.seconds,
                )
            yield from repeat(True, 5000)

    def _restart_clock(self) -> None:
        self._deadline = 0.0
        self._namespace["tick"] = self._ticks()

    def _too_many(self, slot: int) -> None:
        relation = next(relation for relation, number in self.slots.items() if number == slot)
        name = f"{relation.predicate}/{len(relation.shapes)}"
        raise LimitError(
            f"relation {name} grew past {self.limits.facts} facts",
            limit="facts",
            bound=self.limits.facts,
            relation=name,
        )

    def _grow(self, rows: set[Row], more: Iterator[Row], slot: int) -> None:
        bound = self._row_bound
        while chunk := list(islice(more, min(bound + 1, 50_000))):
            rows.update(chunk)
            if len(rows) > bound:
                if bound < self.limits.facts:
                    raise _TooCostly
                self._too_many(slot)

    # -- planning and compiling --------------------------------------------------------------------

    def reset_plans(self) -> None:
        """Forget all plans above the static level; each is made anew when it is next needed."""
        self._demands_defined.clear()
        for step in self.steps:
            if step.relations[0] not in self._demanded and (step.level > STATIC or not step.source):
                step.run = self._compiler(step)

    def _compiler(self, step: Step) -> Callable[[Frame], None]:
        def compile_and_run(frame: Frame) -> None:
            generator = Generator(self, step, self._statistics(frame, step))
            step.source = generator.source()
            if step.is_demandable and step.estimate is None and generator.cost > _SUSPICIOUS[step.level]:
                step.estimate = generator.cost
                if not self._try(step, frame):
                    self._compute_on_demand(step)
                    return
                step.run = self._function(step.source, f"component{step.number}")
                return
            step.run = self._function(step.source, f"component{step.number}")
            step.run(frame)

        return compile_and_run

    def _statistics(self, frame: Frame, step: Step | None = None) -> Statistics:
        """Return what is known of sizes, in a frame and in the samples, when a step is about to run."""

        def ready(relation: Relation) -> bool:
            return step is None or all(maker.number < step.number for maker in self._makers.get(relation, ()))

        def sample(relation: Relation) -> Collection[object] | None:
            if relation in self._demanded:
                return None
            if self.is_static(relation):
                return self.static_rows(relation) if ready(relation) else None
            slot = self.slots[relation]
            frames = [known for known in (*self.samples, frame) if slot in known]
            return max((known[slot] for known in frames), key=len, default=None)

        def estimate(relation: Relation) -> float | None:
            if self.is_static(relation) and ready(relation):
                self.static_rows(relation)
            return self._demanded[relation].estimate if relation in self._demanded else None

        return Statistics(sample, estimate)

    def _function(self, source: str, name: str) -> Any:  # noqa: ANN401
        exec(compile(source, f"<{name}>", "exec"), self._namespace)  # noqa: S102
        return self._namespace[name]

    def _try(self, step: Step, frame: Frame) -> bool:
        """Run a step within a budget; return whether it was enough."""
        iterations, rows = _BUDGET[step.level]
        source = Generator(self, step, self._statistics(frame, step), counted=True).source()
        self._namespace["tick"] = _budgeted(iterations)
        self._row_bound = min(rows, self.limits.facts - 1)
        try:
            self._function(source, f"component{step.number}")(frame)
        except _TooCostly:
            return False
        finally:
            self._row_bound = self.limits.facts
            self._restart_clock()
        return True

    def _compute_on_demand(self, step: Step) -> None:
        step.run = _nothing
        self._demanded[step.relations[0]] = step

    def _outgrown(self, number: int, rows: int) -> None:
        step = self.steps[number]
        if step.is_static:
            return
        step.estimate = float(rows)
        self._compute_on_demand(step)
        self.reset_plans()

    def demand(self, key: IndexKey, statistics: Statistics) -> int:
        """Return the number of a lookup on demand, defining the function that makes it when it is new."""
        number = self.index_number(key)
        if number not in self._demands_defined:
            self._demands_defined.add(number)
            generator = Generator(self, self._demanded[key[0]], statistics)
            self._function(demand_source(generator, number, key), f"demand{number}")
        return number

    def index_number(self, key: IndexKey) -> int:
        """Return the number of an index, defining the functions that build it when it is new."""
        found = self._index_numbers.get(key)
        if found is None:
            found = self._index_numbers[key] = len(self._index_numbers) + 1
            relation, keys, outputs = key
            slot = self.slot(relation)
            factory = index_factory(relation.width, keys, outputs)
            source = index_source(f"extend{found}", relation.width, keys, outputs) + (
                f"def index{found}(F):\n"
                f"    F[-{found}] = index = extend{found}(F[{slot}], {factory})\n"
                f"    return index\n"
            )
            exec(compile(source, f"<index {found}>", "exec"), self._namespace)  # noqa: S102
        return found

    def index_key(self, number: int) -> IndexKey:
        """Return relation, key columns and output columns of an index."""
        return next(key for key, known in self._index_numbers.items() if known == number)

    def static_lookup(self, key: IndexKey) -> str:
        """Return the name under which generated code finds an index, or a demand, of a static relation."""
        number = self.index_number(key)
        name = f"I{number}"
        if name not in self._namespace:
            kind = "demand" if key[0] in self._demanded else "index"
            build: Any = self._namespace[f"{kind}{number}"]
            index = build(self.static)
            self._namespace[name] = index.get if isinstance(index, dict) else index
        return name

    def static_name(self, relation: Relation) -> str:
        """Return the name under which generated code finds a static relation."""
        name = f"R{self.slots[relation]}"
        self._namespace.setdefault(name, self.static_rows(relation))
        return name

    def define(self, name: str, value: object) -> str:
        """Make something known to generated code."""
        self._namespace.setdefault(name, value)
        return name

    def makers(self, relation: Relation) -> list[Step]:
        """Return the steps that derive a relation."""
        return self._makers.get(relation, [])


def _budgeted(iterations: int) -> Iterator[bool]:
    yield from repeat(True, iterations)
    raise _TooCostly


def _head_relation(rule: FlatRule) -> Relation:
    return rule.head.relation


def _may_feed(feeder: FlatRule, reader: FlatRule, index: int) -> bool:
    """Whether the feeder's head and the reader's atom unify, their variables kept apart."""
    from anygame.language.terms import Compound, Variable, substitute, variables_of  # noqa: PLC0415

    atom = reader.reads[index].atom
    if feeder.head.relation != atom.relation:
        return False
    if not atom.columns:
        return True
    head = Compound(" ", feeder.head.columns)
    renamed = substitute(head, {v: Variable(f"{v.name} '") for v in variables_of(head)})
    return unify(renamed, Compound(" ", atom.columns), {}) is not None


