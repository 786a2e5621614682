"""Turning steps into functions: when, with what figures, and whether as a whole or on demand.

A step is compiled when it is first run, with the sizes its relations then have. One that looks costly runs
once within a budget first; if that is not enough, its relation is computed on demand from then on, unless
some rule turns out to need all of it.
"""

from __future__ import annotations

from collections import defaultdict
from threading import RLock
from typing import TYPE_CHECKING, Any, Final

from anygame.datalog.demand import Agenda, NeedsWhole, lookup_source
from anygame.datalog.generate import Generator, index_factory
from anygame.datalog.joins import index_source
from anygame.datalog.limits import Guard, TooCostly
from anygame.datalog.plan import Statistics
from anygame.datalog.steps import LOOKUPS, do_nothing

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from anygame.datalog.evaluate import Engine
    from anygame.datalog.joins import IndexKey
    from anygame.datalog.relations import Relation
    from anygame.datalog.steps import Frame, Step

__all__ = ["Compiler"]

#: A step expected to take more rows than this (by level) is tried within a budget; recursive ones always.
_SUSPICIOUS: Final = (1e5, 1e3, 1e3)
#: What a trial may take, by level: iterations, rows.
_BUDGET: Final = ((2_000_000, 300_000), (15_000, 1_500), (15_000, 1_500))
_MANY_KEYS: Final = 1_000_000


class Compiler:
    """Compiles the steps of one engine.

    Attributes:
        guard: watches the limits.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._lock = RLock()
        self._namespace: dict[str, Any] = {
            "UNIT": frozenset({()}),
            "EMPTY": frozenset(),
            "MANY_KEYS": _MANY_KEYS,
            "MOST": engine.limits.facts,
            "Agenda": Agenda,
            "defaultdict": defaultdict,
            "on_demand": self._outgrown,
            "too_many": self._too_many,
        }
        self.guard = Guard(engine.limits, self._namespace)
        self._indexes: dict[IndexKey, int] = {}
        self._index_keys: list[IndexKey] = []
        self._lookups: set[int] = set()
        self._demanded: dict[Relation, Step] = {}

    # -- steps -------------------------------------------------------------------------------------

    def reset(self) -> None:
        """Forget all plans above the static level; each is made anew when it is next needed."""
        self._lookups.clear()
        for step in self._engine.steps:
            if step.relations[0] not in self._demanded and not (step.is_static and step.source):
                step.run = self._when_first_run(step)

    def _when_first_run(self, step: Step) -> Callable[[Frame], None]:
        def compile_and_run(frame: Frame) -> None:
            with self._lock:
                self._compile_and_run(step, frame)

        return compile_and_run

    def _compile_and_run(self, step: Step, frame: Frame) -> None:
        while True:
            try:
                generator = Generator(self._engine, self, step, self.statistics(frame, step))
                source = generator.source()
            except NeedsWhole as need:
                if need.asking is step and step.may_be_demanded:
                    # Its rules need all of something large, so it will be about as large.
                    step.estimate = need.needed.estimate
                    self._compute_on_demand(step)
                    return
                self._compute_whole(need.needed, frame)
            else:
                break
        step.source = source
        if step.may_be_demanded and step.estimate is None:
            suspicious = generator.cost > _SUSPICIOUS[step.level] or step.component.recursive
            step.estimate = generator.cost
            if suspicious:
                if self._try(step, frame):
                    step.run = self._function(source, f"component{step.number}")
                else:
                    self._compute_on_demand(step)
                return
        step.run = self._function(source, f"component{step.number}")
        step.run(frame)

    def _try(self, step: Step, frame: Frame) -> bool:
        """Run a step within a budget; return whether it was enough."""
        iterations, rows = _BUDGET[step.level]
        most = min(rows, self._engine.limits.facts)
        source = Generator(self._engine, self, step, self.statistics(frame, step), trial_rows=most).source()
        self.guard.start_trial(iterations, most)
        try:
            self._function(source, f"component{step.number}")(frame)
        except TooCostly:
            return False
        return True

    def _function(self, source: str, name: str) -> Any:
        exec(compile(source, f"<{name}>", "exec"), self._namespace)
        return self._namespace[name]

    def statistics(self, frame: Frame, step: Step | None = None) -> Statistics:
        """Return what is known of sizes in a frame, when a step is about to run."""
        engine = self._engine

        def is_ready(relation: Relation) -> bool:
            return step is None or all(maker.number < step.number for maker in engine.makers(relation))

        def rows_of(relation: Relation) -> Collection[object] | None:
            if relation in self._demanded:
                return None
            if engine.is_static(relation):
                return engine.static_rows(relation) if is_ready(relation) else None
            return frame.get(engine.slot(relation))

        def estimate_of(relation: Relation) -> float | None:
            if engine.is_static(relation) and is_ready(relation):
                engine.static_rows(relation)
            return self._demanded[relation].estimate if relation in self._demanded else None

        return Statistics(rows_of, estimate_of)

    def _too_many(self, name: str, trial: bool = False) -> None:
        if trial:
            raise TooCostly
        self.guard.stop(name)

    # -- on demand ---------------------------------------------------------------------------------

    def is_demanded(self, relation: Relation) -> bool:
        """Whether a relation is computed only where it is asked."""
        return relation in self._demanded

    def demander(self, relation: Relation) -> Step:
        """Return the step whose rules answer for a relation on demand."""
        return self._demanded[relation]

    def _compute_on_demand(self, step: Step) -> None:
        step.run = do_nothing
        step.estimate = max(step.estimate or 0.0, float(_BUDGET[step.level][1]))
        self._demanded.update(dict.fromkeys(step.relations, step))

    def _compute_whole(self, step: Step, frame: Frame) -> None:
        """Compute a relation as a whole after all, in this frame and from now on."""
        step.may_be_demanded = False
        for relation in step.relations:
            del self._demanded[relation]
        self.reset()
        step.run = self._when_first_run(step)
        step.run(self._engine.static if step.is_static else frame)

    def _outgrown(self, number: int, rows: int) -> None:
        """Note that a relation has become large in some state."""
        with self._lock:
            step = self._engine.steps[number]
            if step.relations[0] not in self._demanded:
                step.estimate = float(rows)
                self._compute_on_demand(step)
                self.reset()

    def lookup(self, key: IndexKey, statistics: Statistics) -> int:
        """Return the number of a lookup on demand, defining the function that makes it when it is new."""
        number = self.index(key)
        if number not in self._lookups:
            # Noted first: the rules of a recursive relation ask for themselves.
            self._lookups.add(number)
            try:
                generator = Generator(self._engine, self, self._demanded[key[0]], statistics)
                self._function(lookup_source(generator, number, key), f"demand{number}")
            except NeedsWhole:
                self._lookups.discard(number)
                raise
        return number

    def all_rows(self, relation: Relation, frame: Frame) -> Collection[Any]:
        """Return all rows of a relation that is otherwise computed on demand.

        Raises:
            LimitError: they are too many; other questions still have their answers.
        """
        with self._lock:
            before = dict(self._demanded)
            step = before[relation]
            where = self._engine.static if step.is_static else frame
            try:
                self._compute_whole(step, frame)
                return where[self._engine.slot(relation)]  # type: ignore[no-any-return]
            finally:
                for other in before.values():
                    other.may_be_demanded = True
                    other.run = do_nothing
                self._demanded = before
                self.reset()

    def run_whole(self, step: Step, frame: Frame) -> None:
        """Compute all rows of a step in a frame that is thrown away, though others may ask it on demand."""
        if step.relations[0] not in self._demanded:
            step.run(frame)
            return
        with self._lock:
            while True:
                try:
                    source = Generator(
                        self._engine, self, step, self.statistics(frame, step), whole=True
                    ).source()
                except NeedsWhole as need:
                    self._compute_whole(need.needed, frame)
                else:
                    break
            self._function(source, f"component{step.number}")(frame)

    def ask(self, key: IndexKey, frame: Frame) -> Callable[[Any], Collection[Any]]:
        """Return the lookup on demand that answers for some key columns in a frame."""
        with self._lock:
            while True:
                try:
                    number = self.lookup(key, self.statistics(frame))
                except NeedsWhole as need:
                    self._compute_whole(need.needed, frame)
                else:
                    break
            where = self._engine.static if self._engine.is_static(key[0]) else frame
            found: Callable[[Any], Collection[Any]] | None = where.get(-number - LOOKUPS)
            return found or self._namespace[f"demand{number}"](where)

    # -- names in generated code -------------------------------------------------------------------

    def define(self, name: str, value: object) -> str:
        """Make something known to generated code, under a name that stays its own."""
        self._namespace.setdefault(name, value)
        return name

    def index(self, key: IndexKey) -> int:
        """Return the number of an index, defining the functions that build it when it is new."""
        found = self._indexes.get(key)
        if found is None:
            found = self._indexes[key] = len(self._indexes) + 1
            self._index_keys.append(key)
            relation, keys, outputs = key
            source = index_source(f"extend{found}", relation.width, keys, outputs) + (
                f"def index{found}(F):\n"
                f"    index = extend{found}(F[{self._engine.slot(relation)}], "
                f"{index_factory(relation.width, keys, outputs)})\n"
                f"    F[-{found}] = index\n"
                f"    return index\n"
            )
            exec(compile(source, f"<index {found}>", "exec"), self._namespace)
        return found

    def index_key(self, number: int) -> IndexKey:
        """Return relation, key columns and output columns of an index."""
        return self._index_keys[number - 1]

    def static_lookup(self, key: IndexKey) -> str:
        """Return the name of an index (its ``get``, if it has one) or a lookup of a static relation."""
        number = self.index(key)
        kind = "demand" if key[0] in self._demanded else "index"
        name = f"{'Q' if kind == 'demand' else 'I'}{number}"
        if name not in self._namespace:
            self._engine.static_rows(key[0])
            index = self._namespace[f"{kind}{number}"](self._engine.static)
            self._namespace[name] = index.get if isinstance(index, dict) else index
        return name

    def static_name(self, relation: Relation) -> str:
        """Return the name of a static relation."""
        return self.define(f"R{self._engine.slot(relation)}", self._engine.static_rows(relation))
