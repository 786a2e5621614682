"""The reasoner: components of rules, run on frames in the order in which they depend on each other.

A *frame* is a dict from slots to what is known in one state (or one state and one joint move). Static
relations live in a frame of their own, computed once per game and only as far as somebody asks.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Final

from anygame.analysis.dependencies import Component, components
from anygame.datalog.compiler import Compiler
from anygame.datalog.limits import blame
from anygame.datalog.relations import is_ground
from anygame.datalog.steps import ACTION, STATIC, TRACE, Frame, Row, Step
from anygame.errors import LimitError
from anygame.language.terms import Compound, Variable, substitute, variables_of
from anygame.language.unification import unify

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from anygame.datalog.relations import FlatAtom, FlatRule, Relation
    from anygame.datalog.values import Values
    from anygame.language.limits import Limits

__all__ = ["Engine"]

#: Relations that are asked for as a whole; never computed on demand.
_WHOLE: Final = {"role", "init", "base", "input", "legal", "next", "terminal", "goal", "sees", "percept"}


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
        found, self.cycles = components(proper, _head_relation, lambda rule: rule.reads, _may_feed)
        self.levels = self._find_levels(found, inputs)
        self.steps = [
            Step(number, component, self._level_of(component)) for number, component in enumerate(found)
        ]
        self._makers: dict[Relation, list[Step]] = defaultdict(list)
        for step in self.steps:
            for relation in step.relations:
                self._makers[relation].append(step)
        for step in self.steps:
            step.may_be_demanded = all(
                len(self._makers[relation]) == 1 and relation.width > 0 and relation.predicate not in _WHOLE
                for relation in step.relations
            ) and not _asks_for_larger_terms(step)
        self._sequences: dict[tuple[Relation, ...], list[Step]] = {}
        self.static: Frame = {}
        self.compiler = Compiler(self)
        self.compiler.reset()

    # -- relations and rows ------------------------------------------------------------------------

    def slot(self, relation: Relation) -> int:
        """Return the slot of a relation."""
        return self.slots.setdefault(relation, len(self.slots) + 1)

    def relation(self, slot: int) -> Relation:
        """Return the relation of a slot."""
        return next(relation for relation, number in self.slots.items() if number == slot)

    def row(self, atom: FlatAtom) -> Row:
        """Return a ground flat atom as a row."""
        numbers = tuple([self.values.number(term) for term in atom.columns])
        return numbers[0] if len(numbers) == 1 else numbers

    def atoms_of_row(self, relation: Relation, row: Row) -> tuple[int, ...]:
        """Return a row as a tuple, whatever its width."""
        return (row,) if relation.width == 1 else row

    def level(self, relation: Relation) -> int:
        """Return what a relation depends on: nothing (STATIC), the state, or the joint move (ACTION)."""
        return self.levels.get(relation, STATIC)

    def is_move(self, relation: Relation) -> bool:
        """Whether a relation is given from outside with each joint move."""
        return self._inputs.get(relation) == ACTION

    def is_static(self, relation: Relation) -> bool:
        """Whether a relation depends on neither state nor moves."""
        return relation not in self.levels or self.levels[relation] == STATIC

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

    def makers(self, relation: Relation) -> list[Step]:
        """Return the steps that derive a relation."""
        return self._makers.get(relation, [])

    # -- evaluation --------------------------------------------------------------------------------

    def sequence(self, relations: Iterable[Relation], *, above_static: bool = True) -> list[Step]:
        """Return the steps that compute some relations, in order, without the static ones if asked so."""
        key = tuple(relations)
        if above_static and key in self._sequences:
            return self._sequences[key]
        needed: set[int] = set()
        pending = list(key)
        seen = set(pending)
        while pending:
            for step in self.makers(pending.pop()):
                if (above_static and step.is_static) or step.number in needed:
                    continue
                needed.add(step.number)
                read = [read.relation for rule in step.component.rules for read in rule.reads]
                for relation in [*step.relations, *read]:
                    if relation not in seen:
                        seen.add(relation)
                        pending.append(relation)
        found = [step for step in self.steps if step.number in needed]
        if above_static:
            self._sequences[key] = found
        return found

    def evaluate(self, frame: Frame, steps: Iterable[Step]) -> None:
        """Run the steps that the frame has not seen yet."""
        self.compiler.guard.start_question()
        for step in steps:
            if step.marker not in frame:
                self._run(step, frame)

    def _run(self, step: Step, frame: Frame) -> None:
        try:
            step.run(frame)
        except LimitError as error:
            raise self._blamed(error, step) from None

    def _blamed(self, error: LimitError, step: Step) -> LimitError:
        if error.details or not step.component.rules:
            return error
        return blame(error, step.component.rules, self.makers_of_name)

    def makers_of_name(self, name: str) -> list[FlatRule]:
        """Return the rules that derive relations of a name, given as name/arity."""
        return [
            rule
            for relation, steps in self._makers.items()
            if f"{relation.predicate}/{len(relation.shapes)}" == name
            for step in steps
            for rule in step.component.rules
            if rule.head.relation == relation
        ]

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
                again[TRACE] = rounds
            self.compiler.run_whole(makers[number], again)
        return rounds

    def rows(self, frame: Frame, relation: Relation) -> Collection[Row]:
        """Return the rows of a relation that has been evaluated in a frame, or is static."""
        if self.is_static(relation):
            found = self.static_rows(relation)
        else:
            found = frame.get(self.slots.get(relation, -1))
        if found is not None:
            return found
        if self.compiler.is_demanded(relation):
            try:
                return self.compiler.all_rows(relation, frame)
            except LimitError as error:
                raise self._blamed(error, self.compiler.demander(relation)) from None
        return self.facts.get(relation, ())

    def ask(
        self, relation: Relation, columns: tuple[int, ...], values: tuple[int, ...], frame: Frame
    ) -> Collection[Row]:
        """Return what goes with some values in a relation that is computed on demand.

        Args:
            relation: one that ``is_demanded``.
            columns: the numbers of the columns that are given.
            values: what stands in them.
            frame: what is known of the state.

        Returns:
            The rows of the other columns; the empty row alone, if there are none and the row is there.
        """
        free = tuple([n for n in range(relation.width) if n not in columns])
        lookup = self.compiler.ask((relation, columns, free), frame)
        return lookup(values[0] if len(values) == 1 else values)

    def is_demanded(self, relation: Relation) -> bool:
        """Whether a relation is computed only where it is asked."""
        return self.compiler.is_demanded(relation)

    def static_rows(self, relation: Relation) -> set[Row] | None:
        """Return the rows of a static relation, computing it if nobody asked before.

        Returns None for one that is computed on demand only.
        """
        slot = self.slots.get(relation)
        if slot is None:
            return set()
        if slot not in self.static and not self.compiler.is_demanded(relation):
            makers = self._makers.get(relation)
            if not makers:
                self.static[slot] = self.facts.get(relation, set())
            for step in makers or ():
                if not self._is_done(step):
                    self._run_static(step)
        return self.static.get(slot)

    def _is_done(self, step: Step) -> bool:
        return step.marker in self.static or self.compiler.is_demanded(step.relations[0])

    def _run_static(self, step: Step) -> None:
        # Depth first, but without recursion: a sheet may chain thousands of relations.
        pending = [step]
        while pending:
            current = pending[-1]
            if self._is_done(current):
                pending.pop()
                continue
            waiting = [
                maker
                for rule in current.component.rules
                for read in rule.reads
                for maker in self._makers.get(read.relation, ())
                if maker.number < current.number and not self._is_done(maker)
            ]
            waiting += [
                maker
                for relation in current.relations
                for maker in self._makers[relation]
                if maker.number < current.number and not self._is_done(maker)
            ]
            if waiting:
                pending += waiting
                continue
            self._run(current, self.static)
            pending.pop()


def _head_relation(rule: FlatRule) -> Relation:
    return rule.head.relation


def _asks_for_larger_terms(step: Step) -> bool:
    """Whether a recursive step, on demand, might ask itself for ever larger terms."""
    return any(
        isinstance(term, Compound) and not term.is_ground
        for rule in step.component.rules
        for read in rule.reads
        if read.relation in step.relations
        for term in read.atom.columns
    )


def _may_feed(feeder: FlatRule, reader: FlatRule, index: int) -> bool:
    """Whether the feeder's head and the reader's atom unify, their variables kept apart."""
    atom = reader.reads[index].atom
    if feeder.head.relation != atom.relation:
        return False
    if not atom.columns:
        return True
    head = Compound(" ", feeder.head.columns)
    renamed = substitute(head, {v: Variable(f"{v.name} '") for v in variables_of(head)})
    return unify(renamed, Compound(" ", atom.columns), {}) is not None
