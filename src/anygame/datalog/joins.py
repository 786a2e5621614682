"""From planned rules to Python source: one function per component.

A rule becomes one set comprehension: a ``for`` per literal, over a relation or a bucket of a hash index, and
an ``if`` per test, as early as it can be decided. (Comprehensions also pass CPython's bound of twenty nested
blocks.) The source holds numbers and names made here and nothing else, so that no text of a rule sheet
reaches the compiler.

Names in the source: ``F`` the frame (slot to rows or index), ``s3`` the rows of relation 3, ``g7`` the lookup
of index 7, ``j8`` an index that is a set, ``q9`` a lookup on demand; ``R3`` and ``I7`` the same where they
are static; ``d3`` the newest rows of a relation under recursion, ``n3`` those found in the present round.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, Protocol

from anygame.datalog.plan import Compose, Join, joins_of, order_joins, variables_in
from anygame.datalog.relations import Alternatives, FlatAtom, IsConstant, Negated, Unequal
from anygame.language.terms import Compound, Term, Variable, variables_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from anygame.datalog.plan import Column, Statistics
    from anygame.datalog.relations import Condition, FlatRule, Relation
    from anygame.datalog.values import Values

__all__ = ["IndexKey", "RuleCode", "Store", "index_source", "translate"]

#: Relation, key columns, output columns.
IndexKey = tuple["Relation", tuple[int, ...], tuple[int, ...]]

_TINY: Final = 3.0
_WORTH_A_GENERATOR: Final = 2.0


class Store(Protocol):
    """Where rows and indexes are found; what a translation asks of its surroundings."""

    values: Values

    def rows(self, relation: Relation) -> str:
        """Return the name of the rows of a relation."""

    def lookup(self, key: IndexKey, key_source: str) -> str:
        """Return the source that yields the outputs for a key, or, without outputs, tests the key."""

    def on_demand(self, relation: Relation) -> bool:
        """Whether the relation is computed only where it is asked, so that it has no rows of its own."""

    def composer(self, functor: tuple[str, int], part: str) -> str:
        """Return the name of a part of a composer: ``make``, ``known`` (its get) or ``parts`` (its get)."""

    def depths(self) -> str:
        """Return the name of the list that holds how deep each value nests."""

    def known_rows(self, relation: Relation) -> set[object] | None:
        """Return the rows of a static relation, None for others."""

    def is_tiny(self, relation: Relation) -> bool:
        """Whether the relation can be trusted to stay as small as it was measured."""


@dataclass
class RuleCode:
    """The Python of one rule.

    Attributes:
        guards: expressions that must be true before anything is looked at.
        clauses: the ``for`` and ``if`` clauses of the comprehension.
        head: the expression of a row.
        dead: the rule can never fire.
        work: expected iterations at worst, for deciding whether to count them.
        cost: expected rows on the way.
    """

    head: str = "()"
    guards: list[str] = field(default_factory=list)
    clauses: list[str] = field(default_factory=list)
    dead: bool = False
    work: float = 1.0
    cost: float = 1.0

    @property
    def loops(self) -> int:
        """The number of ``for`` clauses."""
        return sum(clause.startswith("for") for clause in self.clauses)


def row_expression(parts: Sequence[str]) -> str:
    """Return the source of a row: a bare value for one column, a tuple otherwise."""
    return parts[0] if len(parts) == 1 else f"({', '.join(parts)})"


class _Translation:
    """The state of one rule's translation."""

    def __init__(
        self,
        rule: FlatRule,
        store: Store,
        statistics: Statistics,
        delta: int | None,
        bound: Mapping[Variable, str],
        composed: Iterable[tuple[Variable, Compound]],
    ) -> None:
        self.rule = rule
        self.store = store
        self.statistics = statistics
        self.delta = delta
        self.names: dict[Variable, str] = dict(bound)
        self.code = RuleCode()
        self.items = joins_of(rule, store.values, composed)
        self.waiting: list[Condition] = list(rule.conditions)
        self.head_variables = {v for term in rule.head.columns for v in variables_of(term)}
        self.in_loop = False

    def run(self) -> RuleCode:
        first = next(
            (item for item in self.items if isinstance(item, Join) and item.number == self.delta), None
        )
        self.code.cost, order = order_joins(self.items, self.statistics, first=first, bound=self.names.keys())
        self.take_conditions()
        for number, item in enumerate(order):
            if self.code.dead:
                return self.code
            rest = order[number:]
            if self.is_existential(rest):
                self.add_existential(rest)
                break
            self.add(item, order[number + 1 :])
        if self.rule.head.columns and not self.code.dead:
            head = [self.expression(term, make=True) for term in self.rule.head.columns]
            self.code.head = row_expression(head)
        return self.code

    def is_existential(self, rest: Sequence[Join | Compose]) -> bool:
        """Whether all that is left only asks whether something exists, at a cost that pays for asking so."""
        if not self.head_variables <= self.names.keys():
            return False
        bound = set(self.names)
        fanout = 1.0
        generators = 0
        for item in rest:
            if isinstance(item, Compose):
                generators += 1
            elif item.number == self.delta or item.variables() - bound:
                # The newest rows are looked through, be it for a row that is known.
                generators += 1
                fanout *= self.statistics.fanout(item.relation, item.columns, bound)
            bound |= item.variables()
        if not generators:
            return False
        if not self.rule.head.columns or not self.in_loop:
            return True
        return generators > 1 and fanout > _WORTH_A_GENERATOR

    def add_existential(self, items: Sequence[Join | Compose]) -> None:
        """Ask whether the items can be satisfied, in a generator that stops at the first answer."""
        outer, self.code.clauses = self.code.clauses, []
        was_in_loop, self.in_loop = self.in_loop, True
        for number, item in enumerate(items):
            if not self.code.dead:
                self.add(item, items[number + 1 :])
        nested, self.code.clauses = self.code.clauses, outer
        self.in_loop = was_in_loop
        while nested and not nested[0].startswith("for"):
            self.test(nested.pop(0).removeprefix("if "))
        if nested:
            self.test(f"any(True {' '.join(nested)})")

    def add(self, item: Join | Compose, rest: Sequence[Join | Compose]) -> None:
        if isinstance(item, Compose):
            self.add_compose(item)
        else:
            self.add_join(item, self.needed_after(rest))
        self.take_conditions()

    def needed_after(self, rest: Sequence[Join | Compose]) -> set[Variable]:
        needed = self.head_variables | variables_in(self.waiting)
        for item in rest:
            needed |= item.variables()
        return needed

    def loop(self, targets: Sequence[str], source: str) -> None:
        target = ", ".join(targets) if targets else "_"
        self.code.clauses.append(f"for {target} in {source}")
        self.in_loop = True

    def test(self, expression: str) -> None:
        if self.in_loop:
            self.code.clauses.append(f"if {expression}")
        else:
            self.code.guards.append(expression)

    def bind(self, variable: Variable) -> str:
        return self.names.setdefault(variable, f"v{len(self.names)}")

    def column(self, column: Column) -> str:
        return self.names[column] if isinstance(column, Variable) else str(column)

    def is_bound(self, column: Column) -> bool:
        return not isinstance(column, Variable) or column in self.names

    def add_compose(self, item: Compose) -> None:
        if item.value in self.names:
            self.destructure(item)
            return
        key = row_expression([self.column(part) for part in item.parts])
        # Rows that nobody has asked for yet may hold terms that never arose: there the term is made.
        if any(isinstance(other, Join) and self.store.on_demand(other.relation) for other in self.items):
            source = f"{self.store.composer(item.functor, 'make')}({key})"
        else:
            source = f"{self.store.composer(item.functor, 'known')}({key}, -1)"
        self.loop([self.bind(item.value)], f"({source},)")

    def destructure(self, item: Compose) -> None:
        parts = self.store.composer(item.functor, "parts")
        value = self.names[item.value]
        targets, tests = self.targets(item.parts)
        self.loop(targets, f"{parts}({value}, ())")
        for test in tests:
            self.test(test)

    def targets(self, columns: Sequence[Column]) -> tuple[list[str], list[str]]:
        """Name fresh variables in columns; what is bound already, or twice, becomes a test."""
        targets: list[str] = []
        tests: list[str] = []
        for column in columns:
            if self.is_bound(column):
                name = f"w{len(self.names)}_{len(targets)}"
                targets.append(name)
                tests.append(f"{name} == {self.column(column)}")
            else:
                assert isinstance(column, Variable)
                targets.append(self.bind(column))
        return targets, tests

    def add_join(self, item: Join, needed: set[Variable]) -> None:
        relation, columns = item.relation, item.columns
        store = self.store
        if item.number == self.delta:
            self.scan(item, f"d{store.rows(relation)[1:]}", needed)
            return
        known = store.known_rows(relation)
        if known is not None and not known:
            self.code.dead = True
            return
        key = tuple(place for place, column in enumerate(columns) if self.is_bound(column))
        if len(key) == len(columns):
            self.membership(item, known)
            return
        fresh = [column for column in columns if not self.is_bound(column)]
        output = tuple(
            place
            for place, column in enumerate(columns)
            if not self.is_bound(column) and (column in needed or fresh.count(column) > 1)
        )
        fanout = self.statistics.fanout(relation, columns, set(self.names))
        size = self.statistics.size(relation)
        self.code.work *= max(min(fanout * 4, size), 1.0)
        if store.on_demand(relation):
            self.indexed(item, key, output)
        elif not output and not key:
            self.test(store.rows(relation))
        elif not key or (size <= _TINY and self.store.is_tiny(relation)):
            self.scan(item, store.rows(relation), needed)
        else:
            self.indexed(item, key, output)

    def membership(self, item: Join, known: set[object] | None) -> None:
        if not item.columns:
            if known is None:
                self.test(self.store.rows(item.relation))
            return
        if known is not None and all(isinstance(column, int) for column in item.columns):
            row = item.columns[0] if len(item.columns) == 1 else item.columns
            self.code.dead |= row not in known
            return
        row_source = row_expression([self.column(column) for column in item.columns])
        self.test(self.member(item.relation, row_source))

    def member(self, relation: Relation, row_source: str) -> str:
        """Return the source of a test that a row is in a relation."""
        if self.store.on_demand(relation):
            return self.store.lookup((relation, tuple(range(relation.width)), ()), row_source)
        return f"{row_source} in {self.store.rows(relation)}"

    def scan(self, item: Join, source: str, needed: set[Variable]) -> None:
        """Loop over all rows, with tests for what is bound."""
        seen: set[Variable] = set()
        targets, tests = [], []
        for place, column in enumerate(item.columns):
            if isinstance(column, Variable) and column not in self.names:
                if column in needed or item.columns.count(column) > 1:
                    targets.append(self.bind(column))
                    seen.add(column)
                else:
                    targets.append("_")
            else:
                name = f"w{place}"
                targets.append(name)
                tests.append(f"{name} == {self.column(column)}")
        if not item.columns:
            self.test(source)
            return
        self.loop(targets, source)
        if tests:
            self.test(" and ".join(tests))

    def indexed(self, item: Join, key: tuple[int, ...], output: tuple[int, ...]) -> None:
        key_source = row_expression([self.column(item.columns[place]) for place in key]) if key else "()"
        source = self.store.lookup((item.relation, key, output), key_source)
        if not output:
            self.test(source)
            return
        targets, tests = self.targets([item.columns[place] for place in output])
        self.loop(targets, source)
        for test in tests:
            self.test(test)

    def take_conditions(self) -> None:
        """Test every condition that has become decidable, cheap ones first."""
        ready = [c for c in self.waiting if variables_in((c,)) <= self.names.keys()]
        self.waiting = [c for c in self.waiting if c not in ready]
        for condition in sorted(ready, key=lambda c: not isinstance(c, Unequal)):
            source = self.condition(condition)
            if source == "False":
                self.code.dead = True
            elif source != "True":
                self.test(source)

    def condition(self, condition: Condition) -> str:
        if isinstance(condition, Unequal):
            operator = "==" if condition.negated else "!="
            left, right = (self.expression(side, make=True) for side in (condition.left, condition.right))
            return f"{left} {operator} {right}"
        if isinstance(condition, Negated):
            return self.atom_test(condition.atom, positive=False)
        if isinstance(condition, FlatAtom):
            return self.atom_test(condition, positive=True)
        if isinstance(condition, IsConstant):
            return f"{self.store.depths()}[{self.names[condition.variable]}] == 0"
        assert isinstance(condition, Alternatives)
        choices = []
        for choice in condition.choices:
            parts = [self.condition(part) for part in choice]
            if "False" in parts:
                continue
            parts = [part for part in parts if part != "True"]
            if not parts:
                return "True"
            choices.append(" and ".join(parts))
        return f"({' or '.join(choices)})" if choices else "False"

    def atom_test(self, atom: FlatAtom, *, positive: bool) -> str:
        known = self.store.known_rows(atom.relation)
        if known is not None and (not known or not atom.columns):
            return str(bool(known) == positive)
        if not atom.columns:
            test = self.store.rows(atom.relation)
        else:
            make = self.store.on_demand(atom.relation)
            row = row_expression([self.expression(term, make=make) for term in atom.columns])
            test = self.member(atom.relation, row)
        return test if positive else f"not {test}"

    def expression(self, term: Term, *, make: bool) -> str:
        """Return the source of a bound term; -1 stands for a compound value that never arose."""
        if isinstance(term, Variable):
            return self.names[term]
        if not isinstance(term, Compound) or term.is_ground:
            return str(self.store.values.number(term))
        functor = (term.functor, len(term.arguments))
        parts = row_expression([self.expression(argument, make=make) for argument in term.arguments])
        name = self.store.composer(functor, "make" if make else "known")
        return f"{name}({parts})" if make else f"{name}({parts}, -1)"


def translate(
    rule: FlatRule,
    store: Store,
    statistics: Statistics,
    *,
    delta: int | None = None,
    bound: Mapping[Variable, str] = MappingProxyType({}),
    composed: Iterable[tuple[Variable, Compound]] = (),
) -> RuleCode:
    """Return the Python of a rule.

    Args:
        rule: the rule.
        store: names of rows and indexes.
        statistics: sizes for the order of joins.
        delta: the number of the literal to read from the newest rows only, under semi-naive evaluation.
        bound: variables that have a value already, with their names in the source.
        composed: compound terms that some of these variables equal.
    """
    return _Translation(rule, store, statistics, delta, bound, composed).run()


def index_source(name: str, width: int, key: Iterable[int], output: Iterable[int]) -> str:
    """Return the source of a function that builds an index from rows, or extends one.

    Without key columns it is a set of projected rows, without output columns the set of keys.
    """
    key, output = tuple(key), tuple(output)
    used = {*key, *output}
    targets = (
        ", ".join(f"c{place}" if place in used else "_" for place in range(width)) if width > 1 else "c0"
    )
    key_row = row_expression([f"c{place}" for place in key]) if key else ""
    output_row = row_expression([f"c{place}" for place in output]) if output else "()"
    if not output or not key:
        return (
            f"def {name}(rows, index):\n"
            f"    index.update([{key_row or output_row} for {targets} in rows])\n"
            f"    return index\n"
        )
    if len(used) == width:
        return (
            f"def {name}(rows, index):\n"
            f"    for {targets} in rows:\n"
            f"        index[{key_row}].append({output_row})\n"
            f"    return index\n"
        )
    return (
        f"def {name}(rows, index):\n"
        f"    for {targets} in rows:\n"
        f"        bucket = index[{key_row}]\n"
        f"        bucket.setdefault({output_row})\n"
        f"    return index\n"
    )
