"""Join orders by estimated cardinality, and a test whether questions have finite answers.

The planner builds one greedy join order for each choice of the first literal, and takes the cheapest order. A
greedy order continues with the literal that has the fewest expected matches. Sizes come from a snapshot of
the relations at the first use of a rule. Columns are assumed to be independent, as usual since Selinger et
al. 1979.
"""

from __future__ import annotations

from collections import defaultdict, deque
from dataclasses import dataclass, field
from enum import Enum
from itertools import islice
from math import inf
from operator import itemgetter
from typing import TYPE_CHECKING, Final

from anygame.language.terms import Compound, Term, Variable, variables_of

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Container, Iterable, Mapping, Sequence

    from anygame.datalog.relations import FlatAtom, FlatRule, Relation
    from anygame.datalog.schema import Component, Schema
    from anygame.datalog.strategy import Strategy


#: A column of a literal: the number of a term, or a variable.
Column = int | Variable

#: Estimated number of rows of an on-demand relation if no values are known or the answer is infinite. This
#: large number makes the planner put such literals last.
_LAST_RESORT: Final = 1e15
#: Minimum estimated number of rows of a join.
_FEWEST_ROWS: Final = 0.1
#: Fixed cost of a join, as a number of rows.
_COST_OF_A_JOIN: Final = 0.2


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Sizes of relations at one moment; the planner guesses all other sizes."""

    #: The rows of static relations that are completely computed.
    complete: Mapping[Relation, Collection[object]] = field(default_factory=dict)
    #: The rows of other relations in one state.
    measured: Mapping[Relation, Collection[object]] = field(default_factory=dict)
    #: Estimated number of rows of each on-demand relation.
    on_demand: Mapping[Relation, float] = field(default_factory=dict)
    termination: Termination | None = None
    #: Cache of the fanouts of complete relations, which never change.
    fanouts: dict[object, float] = field(default_factory=dict)

    def rows(self, relation: Relation) -> Collection[object] | None:
        """Return the rows of a relation (plain numbers for one column); None if the rows are unknown."""
        rows = self.complete.get(relation)
        return self.measured.get(relation) if rows is None else rows


@dataclass(frozen=True, slots=True)
class Join:
    """A positive literal without nested terms; ``number`` is the index of the literal in the rule."""

    relation: Relation
    columns: tuple[Column, ...]
    number: int

    def variables(self) -> set[Variable]:
        """Return the variables among the columns."""
        return {column for column in self.columns if isinstance(column, Variable)}


@dataclass(frozen=True, slots=True)
class Compose:
    """A join item that relates ``value`` to the compound term of ``functor`` and ``parts``."""

    functor: tuple[str, int]
    value: Variable
    parts: tuple[Column, ...]

    def variables(self) -> set[Variable]:
        """Return the variables among the value and the parts."""
        return {self.value, *(part for part in self.parts if isinstance(part, Variable))}


#: An item of a join order: a positive literal, or a nested term of a literal.
Item = Join | Compose


def joins_of(
    rule: FlatRule, number_of: Callable[[Term], int], composed: Iterable[tuple[Variable, Compound]] = ()
) -> list[Item]:
    """Return the literals of a rule as joins, with a ``Compose`` item for each nested term."""
    result: list[Item] = []
    fresh = 0

    def column(term: Term) -> Column:
        nonlocal fresh
        if isinstance(term, Variable):
            return term
        if not isinstance(term, Compound) or term.is_ground:
            return number_of(term)
        parts = tuple(map(column, term.arguments))
        fresh += 1
        value = Variable(f" nested{fresh}")
        result.append(Compose((term.functor, len(parts)), value, parts))
        return value

    for variable, term in composed:
        parts = tuple(map(column, term.arguments))
        result.append(Compose((term.functor, len(parts)), variable, parts))
    for number, atom in enumerate(rule.literals):
        result.append(Join(atom.relation, tuple(map(column, atom.columns)), number))
    return result


class Access(Enum):
    """How the rules of a component access a relation."""

    CONSTANT = "static: a constant in the code"
    FRAME = "complete, in the frame"
    GROWING = "incomplete: the component itself or a later component adds rows"
    ON_DEMAND = "only requested rows are computed"


class Scope:
    """Access and size of each relation that a component reads or derives.

    Fanouts are estimated from a sample of rows, and cached.
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
        """Whether the rows of a relation can be a constant in the code."""
        return self.schema.is_static(relation) and not self.component.is_static

    def known_rows(self, relation: Relation) -> Collection[object] | None:
        """Return the rows of a complete static relation; None for any other relation."""
        return self._snapshot.complete.get(relation)

    def number(self, term: Term) -> int:
        """Return the number of a ground term of the rules, which must be in the term table."""
        number = self.schema.terms.find(term)
        assert number is not None, term
        return number

    def size(self, relation: Relation) -> float:
        """Return the number of rows of a relation; a guess if the number is unknown or zero."""
        estimate = self._snapshot.on_demand.get(relation)
        if estimate is not None:
            return estimate
        rows = self._snapshot.rows(relation)
        return float(len(rows)) if rows else min(self.strategy.guessed_rows, 1.0 + 15.0 * relation.width)

    def fanout(self, relation: Relation, columns: Sequence[Column], bound: Collection[Variable]) -> float:
        """Return the expected number of rows that match a literal if the variables are bound."""
        fixed = tuple((number, column) for number, column in enumerate(columns) if isinstance(column, int))
        given = tuple(number for number, column in enumerate(columns) if column in bound)
        key = (relation, fixed, given)
        fanouts = self._snapshot.fanouts if relation in self._snapshot.complete else self._fanouts
        if key not in fanouts:
            fanouts[key] = self._measure(relation, fixed, given)
        return fanouts[key]

    def _measure(
        self, relation: Relation, fixed: tuple[tuple[int, int], ...], given: tuple[int, ...]
    ) -> float:
        strategy = self.strategy
        known_columns = [*(number for number, _ in fixed), *given]
        estimate = self._snapshot.on_demand.get(relation)
        if estimate is not None:
            termination = self._snapshot.termination
            if not known_columns or (termination and not termination.ends(relation, known_columns)):
                return _LAST_RESORT
            return float(estimate ** (1 - len(known_columns) / max(relation.width, 1)))
        rows = self._snapshot.rows(relation)
        if not rows:
            guess = self.size(relation) / strategy.guessed_distinct ** len(known_columns)
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
        """Return whether a rule can query an on-demand relation with known values in the given columns.

        A question is unsafe if the answer is infinite and the rules ask for ever larger terms. The limits on
        the terms of a whole relation do not stop such a question.
        """
        termination = self._snapshot.termination
        asks_for_larger_terms = any(maker.asks_for_larger_terms for maker in self.schema.makers(relation))
        is_safe = termination is None or not asks_for_larger_terms or termination.ends(relation, given)
        return bool(given) and is_safe


def order_joins(
    items: Sequence[Item], scope: Scope, *, first: Join | None = None, bound: Collection[Variable] = ()
) -> tuple[float, list[Item]]:
    """Return the expected number of rows, and the items in join order.

    If ``first`` is given, the order starts with this literal, which reads only the newest rows.
    """
    if not items:
        return 1.0, []
    if first is not None:
        others = [item for item in items if item is not first]
        return _greedy([first], others, scope, first.variables(), scope.strategy.newest_rows)
    orders = [_greedy([], items, scope, set(bound), 1.0)]
    if not bound:
        for start in [item for item in items if isinstance(item, Join)][: scope.strategy.first_literals]:
            others = [item for item in items if item is not start]
            rows = scope.fanout(start.relation, start.columns, ())
            orders.append(_greedy([start], others, scope, start.variables(), rows))
    return min(orders, key=itemgetter(0))


def _greedy(
    start: Sequence[Item], items: Sequence[Item], scope: Scope, bound: set[Variable], rows: float
) -> tuple[float, list[Item]]:
    order = list(start)
    remaining = list(items)
    bound = set(bound)
    cost = rows
    while remaining:
        fanout, choice = min([(_fanout(item, scope, bound), item) for item in remaining], key=itemgetter(0))
        remaining.remove(choice)
        order.append(choice)
        bound |= choice.variables()
        rows *= fanout
        cost += max(rows, _FEWEST_ROWS) + _COST_OF_A_JOIN
    return cost, order


def _fanout(item: Item, scope: Scope, bound: set[Variable]) -> float:
    """Return the expected number of matches of an item if the given variables are bound."""
    if isinstance(item, Compose):
        is_ready = item.value in bound or all(
            not isinstance(part, Variable) or part in bound for part in item.parts
        )
        return scope.strategy.compose_passes if is_ready else inf
    fanout = scope.fanout(item.relation, item.columns, bound)
    return fanout if item.variables() - bound else min(scope.strategy.test_passes, fanout)


#: Maximum number of analysed questions of a program; further questions are assumed to have finite answers.
_MOST_QUESTIONS: Final = 10_000

#: A relation, and the columns whose values are known.
Question = tuple["Relation", frozenset[int]]


class Termination:
    """Decides which questions to on-demand relations have finite answers; all other relations are finite.

    A relation of lists, or of numbers made of terms, has infinitely many rows. A question with known terms
    can still have a finite answer: ``(plus ?x ?y (s z))`` has two answers, but ``(plus z ?y ?sum)`` has
    infinitely many. The analysis propagates known values through the rules, like modes of logic programs.
    Each recursive path back to a question must descend into a part of the known terms (De Schreye and
    Decorte, "Termination of logic programs: the never-ending story", 1994).
    """

    def __init__(self, schema: Schema, on_demand: Container[Relation]) -> None:
        self._schema = schema
        self._on_demand = on_demand
        self._known: dict[Question, bool] = {}

    def ends(self, relation: Relation, given: Iterable[int]) -> bool:
        """Return whether a question with known values in the given columns has a finite answer."""
        if relation not in self._on_demand:
            return True
        question = relation, frozenset(given)
        if question not in self._known:
            self._settle(question)
        return self._known[question]

    def _settle(self, question: Question) -> None:
        """Decide a question and all questions to which it leads, by a greatest fixpoint."""
        answers = self._known
        answers[question] = True
        asked_by: dict[Question, dict[Question, None]] = defaultdict(dict)
        waiting = deque([question])
        while waiting:
            current = waiting.popleft()
            if not answers[current]:
                continue

            def ends(other: Question, current: Question = current) -> bool:
                if other not in answers and len(answers) < _MOST_QUESTIONS:
                    answers[other] = True
                    waiting.append(other)
                asked_by[other][current] = None
                return answers.get(other, True)

            relation, given = current
            (component,) = self._schema.makers(relation)
            rules = [rule for rule in component.rules if rule.head.relation == relation]
            if not all(self._rule_ends(rule, given, component, ends) for rule in rules):
                answers[current] = False
                waiting.extend(asked_by[current])

    def _rule_ends(
        self, rule: FlatRule, given: frozenset[int], component: Component, ends: Callable[[Question], bool]
    ) -> bool:
        """Return whether the literals have an order in which each literal has a finite answer."""
        wholes = [rule.head.columns[number] for number in given]
        known = {variable for term in wholes for variable in variables_of(term)}
        waiting = list(rule.literals)
        while waiting:
            postponed = []
            for atom in waiting:
                columns = known_columns(atom, known)
                is_ready = atom.relation not in self._on_demand or (
                    _goes_down(rule, atom, columns, wholes, component)
                    and ends((atom.relation, frozenset(columns)))
                )
                if is_ready:
                    known.update(variable for term in atom.columns for variable in variables_of(term))
                else:
                    postponed.append(atom)
            if len(postponed) == len(waiting):
                return False
            waiting = postponed
        return True


def known_columns(atom: FlatAtom, known: Container[Variable]) -> list[int]:
    """Return the columns of a literal that contain only known variables."""
    return [n for n, term in enumerate(atom.columns) if all(v in known for v in variables_of(term))]


def _goes_down(
    rule: FlatRule, atom: FlatAtom, columns: Iterable[int], wholes: Iterable[Term], component: Component
) -> bool:
    """Return whether a literal cannot cause endless recursion, for example if it asks for smaller terms."""
    grows = component.builds_terms or component.asks_for_larger_terms
    if not grows or atom.relation not in component.relations:
        return True
    parts = [atom.columns[number] for number in columns]
    if any(_is_inside(part, whole) for part in parts for whole in wholes):
        return True
    # Another relation of the component can ask for smaller terms before it asks this relation again.
    return atom.relation != rule.head.relation and bool(parts) and not component.asks_for_larger_terms


def _is_inside(part: Term, whole: Term) -> bool:
    """Return whether ``part`` is a proper subterm of ``whole``."""
    arguments = whole.arguments if isinstance(whole, Compound) else ()
    return any(part == argument or _is_inside(part, argument) for argument in arguments)
