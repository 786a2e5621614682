"""Join orders by estimated cardinality, and which questions have finite answers.

Every literal is tried as the first; from there the planner greedily takes the literal with the fewest
expected rows. Bound literals and conditions are tested as early as possible. Sizes are measured on a snapshot
of the relations when a rule is first needed, assuming independent columns as usual since Selinger et al.
1979.
"""

from __future__ import annotations

from collections import defaultdict, deque
from dataclasses import dataclass, field
from enum import Enum
from itertools import islice
from typing import TYPE_CHECKING, Final

from anygame.language.terms import Compound, Term, Variable, variables_of

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Container, Iterable, Mapping, Sequence

    from anygame.datalog.relations import FlatAtom, FlatRule, Relation
    from anygame.datalog.schema import Component, Schema
    from anygame.datalog.strategy import Strategy


#: The number of a term, or a variable to bind or compare.
Column = int | Variable

#: Cost of asking for all rows of a relation on demand, or for infinitely many: taken only if no other order
#: binds anything.
_LAST_RESORT: Final = 1e15
#: Cost of a join beside its rows; it runs even if no rows are expected.
_FEWEST_ROWS: Final = 0.1
_COST_OF_A_JOIN: Final = 0.2


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Sizes of relations at one moment; relations that are not listed can only be guessed.

    Attributes:
        complete: rows of static relations that are final.
        measured: rows of relations in one state, as a sample of their sizes.
        on_demand: relations computed on demand, with estimated sizes.
        termination: which questions to these have finite answers.
        fanouts: cached measurements of complete relations; they stay valid.
    """

    complete: Mapping[Relation, Collection[object]] = field(default_factory=dict)
    measured: Mapping[Relation, Collection[object]] = field(default_factory=dict)
    on_demand: Mapping[Relation, float] = field(default_factory=dict)
    termination: Termination | None = None
    fanouts: dict[object, float] = field(default_factory=dict)

    def rows(self, relation: Relation) -> Collection[object] | None:
        """Return rows of a relation (bare if it has one column); None if unknown."""
        found = self.complete.get(relation)
        return self.measured.get(relation) if found is None else found


@dataclass(frozen=True, slots=True)
class Join:
    """A positive literal over plain columns; ``number`` is its index in the rule."""

    relation: Relation
    columns: tuple[Column, ...]
    number: int

    def variables(self) -> set[Variable]:
        """Return the variables among the columns."""
        return {column for column in self.columns if isinstance(column, Variable)}


@dataclass(frozen=True, slots=True)
class Compose:
    """``value`` is the compound of ``functor`` over ``parts``; can be joined from either side."""

    functor: tuple[str, int]
    value: Variable
    parts: tuple[Column, ...]

    def variables(self) -> set[Variable]:
        """Return the variables of both sides."""
        return {self.value, *(part for part in self.parts if isinstance(part, Variable))}


def joins_of(
    rule: FlatRule, number_of: Callable[[Term], int], composed: Iterable[tuple[Variable, Compound]] = ()
) -> list[Join | Compose]:
    """Return the rule's literals with nested terms extracted as ``Compose`` items."""
    result: list[Join | Compose] = []
    fresh = 0

    def column(term: Term) -> Column:
        nonlocal fresh
        if isinstance(term, Variable):
            return term
        if not isinstance(term, Compound) or term.is_ground:
            return number_of(term)
        parts = tuple([column(argument) for argument in term.arguments])
        fresh += 1
        value = Variable(f" nested{fresh}")
        result.append(Compose((term.functor, len(parts)), value, parts))
        return value

    for variable, term in composed:
        parts = tuple([column(argument) for argument in term.arguments])
        result.append(Compose((term.functor, len(parts)), variable, parts))
    for number, atom in enumerate(rule.literals):
        result.append(Join(atom.relation, tuple([column(term) for term in atom.columns]), number))
    return result


class Access(Enum):
    """How the rules of a component access a relation."""

    CONSTANT = "static, and a constant of the code"
    FRAME = "complete, in the frame"
    GROWING = "not complete yet: the component's own, or one that later components add to"
    ON_DEMAND = "computed only where it is asked"


class Scope:
    """The relations as the rules of a component see them.

    Sizes are measured on a sample of rows and cached.

    Attributes:
        access: the access to each relation that the rules read or derive.
    """

    def __init__(
        self, component: Component, schema: Schema, snapshot: Snapshot, strategy: Strategy, *, tabled: bool
    ) -> None:
        self.component = component
        self.schema = schema
        self.strategy = strategy
        self._snapshot = snapshot
        self._fanouts: dict[object, float] = {}
        self.access = {relation: self._access(relation, tabled) for relation in component.reads}

    def _access(self, relation: Relation, tabled: bool) -> Access:
        if relation in self.component.relations:
            return Access.ON_DEMAND if tabled else Access.GROWING
        if relation in self._snapshot.on_demand:
            return Access.ON_DEMAND
        if any(maker.number > self.component.number for maker in self.schema.makers(relation)):
            return Access.GROWING
        return Access.CONSTANT if self.is_constant(relation) else Access.FRAME

    def is_constant(self, relation: Relation) -> bool:
        """Whether the rows of a relation can be a constant of the code."""
        return self.schema.is_static(relation) and not self.component.is_static

    def known_rows(self, relation: Relation) -> Collection[object] | None:
        """Return the rows of a complete static relation, None for others."""
        return self._snapshot.complete.get(relation)

    def number(self, term: Term) -> int:
        """Return the number of a ground term of the rules; the table knows it."""
        found = self.schema.terms.find(term)
        assert found is not None, term
        return found

    def size(self, relation: Relation) -> float:
        """Return the number of rows; a guess if it is unknown or zero."""
        estimate = self._snapshot.on_demand.get(relation)
        if estimate is not None:
            return estimate
        rows = self._snapshot.rows(relation)
        return float(len(rows)) if rows else min(self.strategy.guessed_rows, 1.0 + 15.0 * relation.width)

    def fanout(self, relation: Relation, columns: Sequence[Column], bound: Collection[Variable]) -> float:
        """Return the expected number of matching rows if some variables are bound."""
        fixed = tuple((number, column) for number, column in enumerate(columns) if isinstance(column, int))
        given = tuple(number for number, column in enumerate(columns) if column in bound)
        key = (relation, fixed, given)
        fanouts = self._snapshot.fanouts if relation in self._snapshot.complete else self._fanouts
        found = fanouts.get(key)
        if found is None:
            found = fanouts[key] = self._measure(relation, fixed, given)
        return found

    def _measure(
        self, relation: Relation, fixed: tuple[tuple[int, int], ...], given: tuple[int, ...]
    ) -> float:
        strategy = self.strategy
        estimate = self._snapshot.on_demand.get(relation)
        if estimate is not None and not self._ends(relation, [*(number for number, _ in fixed), *given]):
            return _LAST_RESORT
        if estimate is not None:
            return float(estimate ** (1 - (len(fixed) + len(given)) / max(relation.width, 1)))
        rows = self._snapshot.rows(relation)
        if not rows:
            guess = self.size(relation) / strategy.guessed_distinct ** (len(fixed) + len(given))
            return max(guess, strategy.fewest_matches)
        sample: list[object] = list(islice(rows, strategy.sample))
        scale = len(rows) / len(sample)
        if relation.width == 1:
            sample = [(row,) for row in sample]
        wide: list[tuple[int, ...]] = sample  # type: ignore[assignment]
        matching = [row for row in wide if all(row[number] == value for number, value in fixed)]
        if not matching:
            return strategy.fewest_matches
        if not given:
            return len(matching) * scale
        repeats = len(matching) / len({tuple([row[number] for number in given]) for row in matching})
        return repeats * scale if repeats >= 2 else repeats

    def can_be_asked(self, relation: Relation, given: Sequence[int]) -> bool:
        """Return whether a relation on demand can be asked with values in some columns."""
        termination = self._snapshot.termination
        return bool(given) and (termination is None or termination.allows(relation, given))

    def _ends(self, relation: Relation, given: Sequence[int]) -> bool:
        termination = self._snapshot.termination
        return bool(given) and (termination is None or termination.ends(relation, given))


def order_joins(
    items: Sequence[Join | Compose],
    scope: Scope,
    *,
    first: Join | None = None,
    bound: Collection[Variable] = (),
) -> tuple[float, list[Join | Compose]]:
    """Return the expected number of rows, and the items in join order.

    A fixed ``first`` item is read from the newest rows.
    """
    if not items:
        return 1.0, []
    if first is not None:
        rest = [item for item in items if item is not first]
        return _greedy([first], rest, scope, first.variables(), scope.strategy.newest_rows)
    best = _greedy([], items, scope, set(bound), 1.0)
    if not bound:
        for start in [item for item in items if isinstance(item, Join)][: scope.strategy.first_literals]:
            rest = [item for item in items if item is not start]
            rows = scope.fanout(start.relation, start.columns, ())
            found = _greedy([start], rest, scope, start.variables(), rows)
            if found[0] < best[0]:
                best = found
    return best


def _greedy(
    start: Sequence[Join | Compose],
    items: Sequence[Join | Compose],
    scope: Scope,
    bound: set[Variable],
    rows: float,
) -> tuple[float, list[Join | Compose]]:
    order = list(start)
    rest = list(items)
    bound = set(bound)
    cost = rows
    while rest:
        choice, fanout = _cheapest(rest, scope, bound)
        rest.remove(choice)
        order.append(choice)
        bound |= choice.variables()
        rows *= fanout
        cost += max(rows, _FEWEST_ROWS) + _COST_OF_A_JOIN
    return cost, order


def _cheapest(
    rest: Sequence[Join | Compose], scope: Scope, bound: set[Variable]
) -> tuple[Join | Compose, float]:
    best: tuple[float, Join | Compose] | None = None
    for item in rest:
        if isinstance(item, Compose):
            ready = item.value in bound or all(
                not isinstance(part, Variable) or part in bound for part in item.parts
            )
            fanout = scope.strategy.compose_passes if ready else float("inf")
        else:
            free = item.variables() - bound
            if not free:
                fanout = min(scope.strategy.test_passes, scope.fanout(item.relation, item.columns, bound))
            else:
                fanout = scope.fanout(item.relation, item.columns, bound)
        if best is None or fanout < best[0]:
            best = fanout, item
    assert best is not None
    return best[1], best[0]


#: Questions about one program; further ones are assumed to end.
_MOST_QUESTIONS: Final = 10_000

#: A relation, and the columns that are given.
Question = tuple["Relation", frozenset[int]]


class Termination:
    """Which questions have finite answers.

    A relation of lists, or of numbers made of terms, has infinitely many rows; it can be queried with known
    terms. ``(plus ?x ?y (s z))`` has two answers, ``(plus z ?y ?sum)`` has infinitely many. Given values are
    propagated through the rules like modes of logic programs. Each recursive path to the same question must
    descend into a part of the given terms (De Schreye and Decorte, "Termination of logic programs: the
    never-ending story", 1994).

    Args:
        schema: the program.
        on_demand: the relations computed on demand; all others are finite.
    """

    def __init__(self, schema: Schema, on_demand: Container[Relation]) -> None:
        self._schema = schema
        self._on_demand = on_demand
        self._known: dict[Question, bool] = {}

    def ends(self, relation: Relation, given: Iterable[int]) -> bool:
        """Return whether a question with values in some columns has a finite answer."""
        if relation not in self._on_demand:
            return True
        question = relation, frozenset(given)
        if question not in self._known:
            self._settle(question)
        return self._known[question]

    def allows(self, relation: Relation, given: Iterable[int]) -> bool:
        """Return whether a relation may be asked with values in some columns.

        Questions that may not end are refused where rules ask themselves for larger terms: limits on the
        terms of a whole relation do not limit these questions.
        """
        makers = self._schema.makers(relation)
        return not any(maker.asks_for_larger_terms for maker in makers) or self.ends(relation, given)

    def _settle(self, question: Question) -> None:
        """Decide a question and all that it leads to: a greatest fixpoint."""
        known = self._known
        known[question] = True
        asked_by: dict[Question, dict[Question, None]] = defaultdict(dict)
        waiting = deque([question])
        while waiting:
            current = waiting.popleft()
            if not known[current]:
                continue

            def ends(other: Question, current: Question = current) -> bool:
                if other not in known and len(known) < _MOST_QUESTIONS:
                    known[other] = True
                    waiting.append(other)
                asked_by[other][current] = None
                return known.get(other, True)

            if not self._each_rule_ends(current, ends):
                known[current] = False
                waiting.extend(asked_by[current])

    def _each_rule_ends(self, question: Question, ends: Callable[[Question], bool]) -> bool:
        relation, given = question
        (component,) = self._schema.makers(relation)
        rules = [rule for rule in component.rules if rule.head.relation == relation]
        return all(self._rule_ends(rule, given, component, ends) for rule in rules)

    def _rule_ends(
        self,
        rule: FlatRule,
        given: frozenset[int],
        component: Component,
        ends: Callable[[Question], bool],
    ) -> bool:
        """Return whether some order makes each literal of a rule answerable."""
        wholes = [rule.head.columns[number] for number in given]
        known = {variable for term in wholes for variable in variables_of(term)}
        waiting = list(rule.literals)
        while waiting:
            left = []
            for atom in waiting:
                columns = known_columns(atom, known)
                is_ready = atom.relation not in self._on_demand or (
                    _goes_down(rule, atom, columns, wholes, component)
                    and ends((atom.relation, frozenset(columns)))
                )
                if is_ready:
                    known.update(variable for term in atom.columns for variable in variables_of(term))
                else:
                    left.append(atom)
            if len(left) == len(waiting):
                return False
            waiting = left
        return True


def known_columns(atom: FlatAtom, known: Container[Variable]) -> list[int]:
    """Return the columns of a literal in which all variables are known."""
    return [n for n, term in enumerate(atom.columns) if all(v in known for v in variables_of(term))]


def _goes_down(
    rule: FlatRule, atom: FlatAtom, columns: Iterable[int], wholes: Iterable[Term], component: Component
) -> bool:
    """Return whether a literal asks for smaller terms than its rule, if it may lead back to the question."""
    grows = component.builds_terms or component.asks_for_larger_terms
    if not grows or atom.relation not in component.relations:
        return True
    parts = [atom.columns[number] for number in columns]
    if any(_is_inside(part, whole) for part in parts for whole in wholes):
        return True
    # Through another relation, the given terms may become smaller in the rules of that relation.
    return atom.relation != rule.head.relation and bool(parts) and not component.asks_for_larger_terms


def _is_inside(part: Term, whole: Term) -> bool:
    """Return whether a term is a proper part of another one."""
    arguments = whole.arguments if isinstance(whole, Compound) else ()
    return any(part == argument or _is_inside(part, argument) for argument in arguments)
