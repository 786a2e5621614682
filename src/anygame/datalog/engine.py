"""The engine: evaluates components of rules bottom-up in frames, on first use.

A *frame* contains the rows known in one state, or in one state with a joint move. A separate frame contains
the rows of static relations, which are computed at most once per game.

A component has these states:

1. *New* (`_first_run`): the component has no code. The engine evaluates the static relations that the
   component reads (`_evaluate_inputs`). Then the engine generates code for the present sizes of relations
   (`_sources`).
2. *On trial* (`_try`): code that looks expensive runs once, with limits on iterations and rows.
3. *Whole* (`_link`): the code computes all rows of the component's relations in each frame that needs them.
   This code is either cheap or has passed its trial.
4. *On demand* (`_compute_on_demand`): tables compute only the requested rows (`ask`). A component enters this
   state if its trial exceeds a limit, or if its rules need all rows of another on-demand relation. A
   component also enters this state if one of its relations becomes large in a game state (`_outgrown`).
5. *Finally whole* (`_compute_whole`): a rule needs all rows of a relation that was on demand. The component
   keeps this state.

When a component enters state 5, or a relation becomes large, the inputs of other components are computed
differently. So the engine drops the code of all non-static components (`_reset`), and generates it again.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from threading import RLock
from typing import TYPE_CHECKING

from anygame.datalog.component_source import Everything, OnTrial, Tabled, emit
from anygame.datalog.linker import Guard, Linker, TooCostly, blame
from anygame.datalog.plan import Snapshot, Termination
from anygame.datalog.relations import terms_of
from anygame.datalog.schema import TRACE
from anygame.errors import LimitError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable

    from anygame.datalog.component_source import Mode
    from anygame.datalog.relations import Relation, Row
    from anygame.datalog.schema import Component, Frame, Index, Schema
    from anygame.datalog.source import Source
    from anygame.datalog.strategy import Strategy
    from anygame.language.limits import Limits


@dataclass(slots=True)
class _Progress:
    """State of a component."""

    #: Whether the relations of the component can be computed on demand.
    tableable: bool
    #: Estimated number of rows; None before the trial.
    rows: float | None = None
    #: The code that computes all rows; empty before it is generated.
    text: str = ""
    #: The code of each on-demand table.
    tables: dict[Index, str] = field(default_factory=dict)
    #: Whether the term table contains the ground terms of the component's rules.
    is_numbered: bool = False


class Engine:
    """Evaluates the relations of a program in frames; ``static`` is the frame of static relations."""

    def __init__(self, schema: Schema, limits: Limits, strategy: Strategy) -> None:
        self.schema = schema
        self.static: Frame = {}
        self._limits = limits
        self._strategy = strategy
        self._lock = RLock()
        self._linker = Linker(schema, self.static)
        self._linker.namespace["on_demand"] = self._outgrown
        self._guard = Guard(limits, strategy, self._linker.namespace)
        self._progress = [_Progress(_is_tableable(schema, component)) for component in schema.components]
        self._functions: list[Callable[[Frame], None]] = [lambda _frame: None] * len(schema.components)
        #: Cache for ``Snapshot.fanouts``.
        self._fanouts: dict[object, float] = {}
        #: The component of each on-demand relation.
        self._tabled: dict[Relation, Component] = {}
        self._resets = 0
        self._reset()

    def evaluate(self, frame: Frame, components: Iterable[Component]) -> None:
        """Run the components that have not run in the frame yet, in the given order."""
        self._guard.start_question()
        for component in components:
            if component.marker not in frame:
                self._run(component, frame)

    def _run(self, component: Component, frame: Frame) -> None:
        """Run the code of a component; a LimitError gets the places of the rules of the failing component."""
        try:
            self._functions[component.number](frame)
        except LimitError as error:
            if error.details or not component.rules:
                raise
            raise blame(error, component.rules, self.schema.rules_of_name) from None

    def rows(self, frame: Frame, relation: Relation) -> Collection[Row]:
        """Return the rows of a relation that is static or was evaluated in the frame."""
        if self.schema.is_static(relation):
            rows = self.static_rows(relation)
        else:
            rows = frame.get(self.schema.slots[relation])
        if rows is not None:
            return rows
        if relation in self._tabled:
            return self._all_rows(relation, frame)
        return self.schema.facts.get(relation, ())

    def is_on_demand(self, relation: Relation) -> bool:
        """Whether the engine computes only requested rows of a relation."""
        return relation in self._tabled

    def ends(self, relation: Relation, columns: Iterable[int]) -> bool:
        """Return whether a question with known values in the columns has a finite answer."""
        return self._termination.ends(relation, columns)

    def ask(
        self, relation: Relation, columns: tuple[int, ...], values: tuple[int, ...], frame: Frame
    ) -> Collection[Row]:
        """Return the rows of an on-demand relation that have the given values in the given columns.

        The columns are ascending. The result contains the other columns of each row. If there are no other
        columns, the result contains one empty row for a row that exists.
        """
        index = self.schema.index(relation, columns, [n for n in range(relation.width) if n not in columns])
        where = self.static if self.schema.is_static(relation) else frame
        with self._lock:
            if index not in self._linker.tables:
                (maker,) = self.schema.makers(relation)
                self._link(self._whole_sources(maker, Tabled(index), frame))
            look_up = where.get(f"q{index.name}") or self._linker.table(index)(where)
        rows: Collection[Row] = look_up(values[0] if len(values) == 1 else values)
        return rows

    def trace(self, frame: Frame, component: Component) -> list[dict[int, set[Row]]]:
        """Run a component again on a copy of a frame; return the new rows of each round, by slot.

        The rounds exclude facts, and rows that earlier components derive for relations of this component.
        """
        rounds: list[dict[int, set[Row]]] = []
        again = dict(self.static if component.is_static else frame)
        makers = {
            maker.number: maker for relation in component.relations for maker in self.schema.makers(relation)
        }
        for maker in makers.values():
            for relation in maker.relations:
                again.pop(self.schema.slots[relation], None)
        for number in sorted(number for number in makers if number < component.number):
            self._run_whole(makers[number], again)
        slots = {self.schema.slots[relation]: relation for relation in component.relations}
        known_rows = {
            slot: self.schema.facts.get(relation, set()).union(again.get(slot, ()))
            for slot, relation in slots.items()
        }
        again[TRACE] = rounds
        self._run_whole(component, again)
        if not component.recursive:
            rounds.append({slot: set(again.get(slot, ())) for slot in slots})
        return [{slot: rows - known_rows[slot] for slot, rows in by_slot.items()} for by_slot in rounds]

    def static_rows(self, relation: Relation) -> Collection[Row] | None:
        """Return the rows of a static relation, computed on first use; None for an on-demand relation."""
        slot = self.schema.slots.get(relation)
        if slot is None:
            return set()
        if slot not in self.static and relation not in self._tabled:
            makers = self.schema.makers(relation)
            if not makers:
                self.static[slot] = self.schema.facts.get(relation, set())
            for component in makers:
                self._run_static(component)
        rows: Collection[Row] | None = self.static.get(slot)
        return rows

    def _is_done(self, component: Component) -> bool:
        return component.marker in self.static or component.relations[0] in self._tabled

    def _run_static(self, component: Component) -> None:
        # Depth first, but without recursion: a sheet can chain thousands of relations.
        pending = [component]
        while pending:
            current = pending[-1]
            if self._is_done(current):
                pending.pop()
                continue
            missing_inputs = [
                maker
                for relation in current.reads
                for maker in self.schema.makers(relation)
                if maker.number < current.number and not self._is_done(maker)
            ]
            if missing_inputs:
                pending += missing_inputs
                continue
            self._run(current, self.static)
            pending.pop()

    def _reset(self) -> None:
        """Drop the code of all components that are not static, and of all tables."""
        self._resets += 1
        self._termination = Termination(self.schema, self._tabled)
        self._linker.tables.clear()
        for component in self.schema.components:
            is_done = component.is_static and self._progress[component.number].text
            if component.relations[0] not in self._tabled and not is_done:
                self._functions[component.number] = partial(self._first_run, component)

    def _first_run(self, component: Component, frame: Frame) -> None:
        with self._lock:
            self._compile_and_run(component, frame)

    def _compile_and_run(self, component: Component, frame: Frame) -> None:
        progress = self._progress[component.number]
        while True:
            sources = self._sources(component, Everything(progress.tableable), frame)
            missing = sources[-1].missing
            if missing is None:
                break
            if len(sources) == 1 and progress.tableable:
                # The rules need all rows of a large relation, so they probably derive as many rows.
                progress.rows = self._estimate(missing)
                self._compute_on_demand(component)
                return
            self._compute_whole(self._tabled[missing], frame)
        source = sources[0]
        progress.text = source.text
        if progress.tableable and progress.rows is None:
            progress.rows = source.cost
            if component.recursive or source.cost > self._strategy.suspicious[component.level]:
                if self._try(component, frame):
                    self._functions[component.number] = self._link(sources)
                else:
                    self._compute_on_demand(component)
                return
        run = self._functions[component.number] = self._link(sources)
        run(frame)

    def _try(self, component: Component, frame: Frame) -> bool:
        """Run a component with limits on iterations and rows; return False if the run exceeds a limit."""
        rows = min(self._strategy.trial_rows[component.level], self._limits.facts)
        if component.builds_terms:
            rows = min(rows, self._strategy.built_rows)
        run = self._link(self._sources(component, OnTrial(rows), frame))
        self._guard.start_trial(self._strategy.trial_iterations[component.level], rows)
        try:
            run(frame)
        except TooCostly:
            return False
        except LimitError as error:
            if error.limit != "depth":
                raise
            return False
        return True

    def _link(self, sources: list[Source]) -> Callable[[Frame], None]:
        function = self._linker.link(sources)
        for source in sources:
            if source.table is not None:
                (maker,) = self.schema.makers(source.table.relation)
                self._progress[maker.number].tables[source.table] = source.text
        return function

    def _whole_sources(self, component: Component, mode: Mode, frame: Frame) -> list[Source]:
        """Compute the relations of which a component needs all rows; return the component's sources."""
        while True:
            sources = self._sources(component, mode, frame)
            missing = sources[-1].missing
            if missing is None:
                return sources
            self._compute_whole(self._tabled[missing], frame)

    def _sources(self, component: Component, mode: Mode, frame: Frame) -> list[Source]:
        """Return the sources of a component and of all tables that the code queries (``Linker.closure``)."""

        def source_of(component: Component, mode: Mode) -> Source:
            self._evaluate_inputs(component)
            return emit(component, self.schema, mode, self._snapshot(component, frame), self._strategy)

        while True:
            before = self._resets
            sources = self._linker.closure(
                source_of(component, mode),
                lambda index: source_of(self.schema.makers(index.relation)[0], Tabled(index)),
            )
            # Evaluating inputs can reset the engine, which makes these sources invalid.
            if before == self._resets:
                return sources

    def _evaluate_inputs(self, component: Component) -> None:
        """Evaluate the static relations that a component reads; add the terms of its rules to the table."""
        progress = self._progress[component.number]
        for rule in component.rules:
            if not progress.is_numbered:
                for term in terms_of(rule):
                    self.schema.terms.add_ground_parts(term)
            # The relations in conditions are needed only if all literals can have rows.
            possible = [self._may_have_rows(component, atom.relation) for atom in rule.literals]
            if all(possible):
                for read in rule.reads[len(rule.literals) :]:
                    self._may_have_rows(component, read.relation)
        progress.is_numbered = True

    def _may_have_rows(self, component: Component, relation: Relation) -> bool:
        if not self._is_final(component, relation):
            return True
        rows = self.static_rows(relation)
        return rows is None or bool(rows)

    def _is_final(self, component: Component, relation: Relation) -> bool:
        """Whether a relation is static and all components that derive its rows come before this component."""
        return self.schema.is_static(relation) and all(
            maker.number < component.number for maker in self.schema.makers(relation)
        )

    def _snapshot(self, component: Component, frame: Frame) -> Snapshot:
        complete, measured, on_demand = {}, {}, {}
        for relation in component.reads:
            slot = self.schema.slots[relation]
            if relation in self._tabled:
                on_demand[relation] = self._estimate(relation)
            elif not self.schema.is_static(relation):
                if slot in frame:
                    measured[relation] = frame[slot]
            elif slot in self.static and self._is_final(component, relation):
                complete[relation] = self.static[slot]
        return Snapshot(complete, measured, on_demand, self._termination, self._fanouts)

    def _estimate(self, relation: Relation) -> float:
        return self._progress[self._tabled[relation].number].rows or 0.0

    def _compute_on_demand(self, component: Component) -> None:
        """Switch a component to computation on demand."""
        progress = self._progress[component.number]
        progress.rows = max(progress.rows or 0.0, float(self._strategy.trial_rows[component.level]))
        self._functions[component.number] = lambda _frame: None
        self._tabled.update(dict.fromkeys(component.relations, component))
        self._termination = Termination(self.schema, self._tabled)

    def _compute_whole(self, component: Component, frame: Frame) -> None:
        """Switch a component back from computation on demand, and compute all its rows in this frame."""
        self._progress[component.number].tableable = False
        for relation in component.relations:
            del self._tabled[relation]
        self._reset()
        self._functions[component.number] = partial(self._first_run, component)
        self._run(component, self.static if component.is_static else frame)

    def _outgrown(self, number: int, rows: int) -> None:
        """Switch a component to computation on demand after one of its relations became large in a state."""
        with self._lock:
            component = self.schema.components[number]
            if component.relations[0] not in self._tabled:
                self._progress[number].rows = float(rows)
                self._compute_on_demand(component)
                self._reset()

    def _all_rows(self, relation: Relation, frame: Frame) -> Collection[Row]:
        """Return all rows of a relation that stays on demand; a temporary engine computes them.

        If there are too many rows, LimitError is raised, but the engine can still answer other questions.
        """
        with self._lock:
            component = self._tabled[relation]
            other = Engine(self.schema, self._limits, self._strategy)
            other.static |= self._without_tables(self.static)
            for own, its in zip(self._progress, other._progress, strict=True):
                its.rows, its.tableable = own.rows, own.tableable
            for tabled in dict.fromkeys(self._tabled.values()):
                other._compute_on_demand(tabled)
            scratch = self._without_tables(frame)
            other._compute_whole(component, scratch)
            for here, there in ((self.static, other.static), (frame, scratch)):
                here.update({slot: rows for slot, rows in there.items() if isinstance(slot, int)})
            where = self.static if component.is_static else frame
            rows: Collection[Row] = where[self.schema.slots[relation]]
            return rows

    def _without_tables(self, frame: Frame) -> Frame:
        """Return a copy of a frame without indexes and tables, which belong to one engine."""
        markers = {component.marker for component in self.schema.components}
        return {name: value for name, value in frame.items() if isinstance(name, int) or name in markers}

    def _run_whole(self, component: Component, frame: Frame) -> None:
        """Compute all rows of a component in a temporary frame, even if the component is on demand."""
        if component.relations[0] not in self._tabled:
            self._functions[component.number](frame)
            return
        with self._lock:
            run = self._link(self._whole_sources(component, Everything(may_outgrow=False), frame))
        run(frame)

    def text(self, component: Component) -> str:
        """Return the code of a component; empty before its first use."""
        progress = self._progress[component.number]
        is_on_demand = component.relations[0] in self._tabled
        return "".join(progress.tables.values()) if is_on_demand else progress.text


def _is_tableable(schema: Schema, component: Component) -> bool:
    if not component.asks_for_larger_terms:
        return component.tableable
    termination = Termination(schema, component.relations)
    return component.tableable and all(
        termination.ends(relation, range(relation.width)) for relation in component.relations
    )
