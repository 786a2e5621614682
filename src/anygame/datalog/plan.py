"""In what order a rule's literals are joined.

Every literal is tried as the first; from there the cheapest next one is taken, by the number of rows expected
to come out of it. What is fully bound, and every condition, is tested as soon as it can be. The figures come
from the relations themselves, as they are when the rule is first needed.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Final

from anygame.datalog.relations import Alternatives, IsConstant, Negated, Unequal
from anygame.language.terms import Compound, Term, Variable, variables_of

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence

    from anygame.datalog.relations import Condition, FlatRule, Relation
    from anygame.datalog.values import Values

__all__ = ["Column", "Compose", "Join", "Statistics", "joins_of", "order_joins", "variables_in"]

#: A value, or a variable to bind or compare.
Column = int | Variable

_SAMPLE: Final = 1500
_GUESSED_ROWS: Final = 16.0
_GUESSED_DISTINCT: Final = 4.0
#: Asking for all of a relation that is computed on demand: only where no other order binds anything.
_LAST_RESORT: Final = 1e15


@dataclass(frozen=True, slots=True)
class Join:
    """A positive literal over plain columns; ``number`` is its place among the rule's literals."""

    relation: Relation
    columns: tuple[Column, ...]
    number: int

    def variables(self) -> set[Variable]:
        """Return the variables among the columns."""
        return {column for column in self.columns if isinstance(column, Variable)}


@dataclass(frozen=True, slots=True)
class Compose:
    """``value`` is the compound of ``functor`` over ``parts``; joins from either side."""

    functor: tuple[str, int]
    value: Variable
    parts: tuple[Column, ...]

    def variables(self) -> set[Variable]:
        """Return the variables of both sides."""
        return {self.value, *(part for part in self.parts if isinstance(part, Variable))}


def joins_of(
    rule: FlatRule, values: Values, composed: Iterable[tuple[Variable, Compound]] = ()
) -> list[Join | Compose]:
    """Return the rule's literals with nested terms taken out into ``Compose`` items.

    ``composed`` adds variables that equal compound terms.
    """
    result: list[Join | Compose] = []
    fresh = 0

    def column(term: Term) -> Column:
        nonlocal fresh
        if isinstance(term, Variable):
            return term
        if not isinstance(term, Compound) or term.is_ground:
            return values.number(term)
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


def variables_in(conditions: Iterable[Condition]) -> set[Variable]:
    """Return the variables of some conditions."""
    found: set[Variable] = set()
    for condition in conditions:
        if isinstance(condition, Unequal):
            found.update(variables_of(condition.left), variables_of(condition.right))
        elif isinstance(condition, IsConstant):
            found.add(condition.variable)
        elif isinstance(condition, Alternatives):
            for choice in condition.choices:
                found |= variables_in(choice)
        else:
            atom = condition.atom if isinstance(condition, Negated) else condition
            for term in atom.columns:
                found.update(variables_of(term))
    return found


class Statistics:
    """Sizes of relations and of their parts, measured on a sample of rows and remembered.

    Args:
        rows_of: the rows of a relation (bare values where it has one column), or None where unknown.
        estimate_of: how many rows a relation is thought to have that is computed only where it is asked.
    """

    def __init__(
        self,
        rows_of: Callable[[Relation], Collection[object] | None],
        estimate_of: Callable[[Relation], float | None] = lambda relation: None,
    ) -> None:
        self._rows_of = rows_of
        self._estimate_of = estimate_of
        self._fanouts: dict[object, float] = {}

    def size(self, relation: Relation) -> float:
        """Return the number of rows, a guess where it is unknown or zero."""
        estimate = self._estimate_of(relation)
        if estimate is not None:
            return estimate
        rows = self._rows_of(relation)
        return float(len(rows)) if rows else min(_GUESSED_ROWS, 1.0 + 15.0 * relation.width)

    def fanout(self, relation: Relation, columns: Sequence[Column], bound: Collection[Variable]) -> float:
        """Return how many rows are expected to match when some variables are bound."""
        fixed = tuple((place, column) for place, column in enumerate(columns) if isinstance(column, int))
        given = tuple(place for place, column in enumerate(columns) if column in bound)
        key = (relation, fixed, given)
        found = self._fanouts.get(key)
        if found is None:
            found = self._fanouts[key] = self._measure(relation, fixed, given)
        return found

    def _measure(
        self, relation: Relation, fixed: tuple[tuple[int, int], ...], given: tuple[int, ...]
    ) -> float:
        estimate = self._estimate_of(relation)
        if estimate is not None and not fixed and not given:
            return _LAST_RESORT
        if estimate is not None:
            return float(estimate ** (1 - (len(fixed) + len(given)) / max(relation.width, 1)))
        rows = self._rows_of(relation)
        if not rows:
            return max(self.size(relation) / _GUESSED_DISTINCT ** (len(fixed) + len(given)), 0.3)
        sample: list[object] = list(islice(rows, _SAMPLE))
        scale = len(rows) / len(sample)
        if relation.width == 1:
            sample = [(row,) for row in sample]
        wide: list[tuple[int, ...]] = sample  # type: ignore[assignment]
        matching = [row for row in wide if all(row[place] == value for place, value in fixed)]
        if not matching:
            return 0.3
        if not given:
            return len(matching) * scale
        repeats = len(matching) / len({tuple([row[place] for place in given]) for row in matching})
        return repeats * scale if repeats >= 2 else repeats


def order_joins(
    items: Sequence[Join | Compose],
    statistics: Statistics,
    *,
    first: Join | None = None,
    bound: Collection[Variable] = (),
) -> tuple[float, list[Join | Compose]]:
    """Return the rows expected on the way and the items in the order in which to join them.

    Args:
        items: what to join.
        statistics: sizes of the relations.
        first: the item to begin with (the one read from the newest rows), if that is decided.
        bound: variables that are bound before.
    """
    if not items:
        return 1.0, []
    if first is not None:
        rest = [item for item in items if item is not first]
        return _greedy([first], rest, statistics, first.variables(), 4.0)
    best = _greedy([], items, statistics, set(bound), 1.0)
    if not bound:
        for start in [item for item in items if isinstance(item, Join)][:40]:
            rest = [item for item in items if item is not start]
            rows = statistics.fanout(start.relation, start.columns, ())
            found = _greedy([start], rest, statistics, start.variables(), rows)
            if found[0] < best[0]:
                best = found
    return best


def _greedy(
    start: Sequence[Join | Compose],
    items: Sequence[Join | Compose],
    statistics: Statistics,
    bound: set[Variable],
    rows: float,
) -> tuple[float, list[Join | Compose]]:
    order = list(start)
    rest = list(items)
    bound = set(bound)
    cost = rows
    while rest:
        choice, fanout = _cheapest(rest, statistics, bound)
        rest.remove(choice)
        order.append(choice)
        bound |= choice.variables()
        rows *= fanout
        cost += max(rows, 0.1) + 0.2
    return cost, order


def _cheapest(
    rest: Sequence[Join | Compose], statistics: Statistics, bound: set[Variable]
) -> tuple[Join | Compose, float]:
    best: tuple[float, Join | Compose] | None = None
    for item in rest:
        if isinstance(item, Compose):
            ready = item.value in bound or all(
                not isinstance(part, Variable) or part in bound for part in item.parts
            )
            fanout = 0.9 if ready else float("inf")
        else:
            free = item.variables() - bound
            if not free:
                fanout = min(0.5, statistics.fanout(item.relation, item.columns, bound))
            else:
                fanout = statistics.fanout(item.relation, item.columns, bound)
        if best is None or fanout < best[0]:
            best = fanout, item
    assert best is not None
    return best[1], best[0]
