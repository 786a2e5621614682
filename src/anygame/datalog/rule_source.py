"""From a planned rule to Python: one set comprehension.

The comprehension has a ``for`` for each literal, over a relation or a bucket of a hash index, and an ``if``
for each test, as early as possible. (CPython limits nested blocks to twenty, but not the clauses of a
comprehension.) The result is text with its needs; no row is read to generate it. ``source`` lists the names.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from anygame.datalog.plan import Access, Compose, Join, joins_of, order_joins
from anygame.datalog.relations import Alternatives, FlatAtom, IsConstant, Negated, Unequal, variables_in
from anygame.datalog.source import Need, NeedKind, row_source
from anygame.language.terms import Compound, Term, Variable, variables_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from anygame.datalog.plan import Column, Scope
    from anygame.datalog.relations import Condition, FlatRule, Relation
    from anygame.datalog.schema import Index


@dataclass
class RuleCode:
    """The Python of one rule.

    Attributes:
        head: the expression of a row.
        guards: tests before any row is read.
        clauses: the ``for`` and ``if`` clauses of the comprehension.
        dead: whether the rule can never fire.
        work: expected iterations in the worst case; decides whether to count them.
        cost: expected number of rows.
        needs: needs except rows, indexes and tables in the frame.
        rows: relations whose rows are read from the frame.
        indexes: indexes and tables in the frame, with the access to their relations.
    """

    head: str = "()"
    guards: list[str] = field(default_factory=list)
    clauses: list[str] = field(default_factory=list)
    dead: bool = False
    work: float = 1.0
    cost: float = 1.0
    needs: dict[Need, None] = field(default_factory=dict)
    rows: dict[Relation, None] = field(default_factory=dict)
    indexes: dict[Index, Access] = field(default_factory=dict)


class _Translation:
    """The translation of one rule; see `translate`."""

    def __init__(
        self,
        rule: FlatRule,
        scope: Scope,
        delta: int | None,
        bound: Mapping[Variable, str],
        composed: Iterable[tuple[Variable, Compound]],
    ) -> None:
        self.rule = rule
        self.scope = scope
        self.strategy = scope.strategy
        self.delta = delta
        self.names: dict[Variable, str] = dict(bound)
        self.code = RuleCode()
        self.items = joins_of(rule, scope.number, composed)
        self.waiting: list[Condition] = list(rule.conditions)
        self.head_variables = {v for term in rule.head.columns for v in variables_of(term)}
        self.in_loop = False

    def run(self) -> RuleCode:
        joins = [item for item in self.items if isinstance(item, Join)]
        first = next((item for item in joins if item.number == self.delta), None)
        self.code.cost, order = order_joins(self.items, self.scope, first=first, bound=self.names.keys())
        known_rows = [self.scope.known_rows(atom.relation) for atom in self.rule.literals]
        if any(rows is not None and not rows for rows in known_rows):
            self.code.dead = True
            return self.code
        self.take_conditions()
        for number, item in enumerate(order):
            if self.code.dead:
                return self.code
            remaining = order[number:]
            if self.is_existential(remaining):
                self.add_existential(remaining)
                break
            self.add(item, order[number + 1 :])
        if self.rule.head.columns and not self.code.dead:
            head = [self.expression(term, make=True) for term in self.rule.head.columns]
            self.code.head = row_source(head)
        return self.code

    def is_existential(self, remaining: Sequence[Join | Compose]) -> bool:
        """Whether only the existence of a match of the items matters, and stopping at the first one pays."""
        if not self.head_variables <= self.names.keys():
            return False
        bound = set(self.names)
        fanout = 1.0
        generators = 0
        for item in remaining:
            if isinstance(item, Compose):
                generators += 1
            elif item.number == self.delta or item.variables() - bound:
                # The newest rows are scanned, even if all variables are bound.
                generators += 1
                fanout *= self.scope.fanout(item.relation, item.columns, bound)
            bound |= item.variables()
        if not generators:
            return False
        if not self.rule.head.columns or not self.in_loop:
            return True
        return generators > 1 and fanout > self.strategy.exists_fanout

    def add_existential(self, items: Sequence[Join | Compose]) -> None:
        """Add a generator over the items that stops at the first match."""
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

    def add(self, item: Join | Compose, later_items: Sequence[Join | Compose]) -> None:
        if isinstance(item, Compose):
            self.add_compose(item)
        else:
            needed = self.head_variables | variables_in(self.waiting)
            self.add_join(item, needed.union(*[later.variables() for later in later_items]))
        self.take_conditions()

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

    def add_compose(self, item: Compose) -> None:
        if item.value in self.names:
            parts = self.composer(NeedKind.PARTS, item.functor)
            self.loop_over(item.parts, f"{parts}({self.names[item.value]}, ())")
            return
        key = row_source([self.column(part) for part in item.parts])
        # A row of a relation on demand can contain a term that did not exist before, so the term is made.
        if any(isinstance(other, Join) and self.is_on_demand(other.relation) for other in self.items):
            source = f"{self.composer(NeedKind.MAKE, item.functor)}({key})"
        else:
            source = f"{self.composer(NeedKind.KNOWN, item.functor)}({key}, -1)"
        self.loop([self.bind(item.value)], f"({source},)")

    def loop_over(self, columns: Sequence[Column], source: str) -> None:
        """Loop over values of the columns, and test bound and repeated variables."""
        targets: list[str] = []
        tests: list[str] = []
        for column in columns:
            if isinstance(column, Variable) and column not in self.names:
                targets.append(self.bind(column))
            else:
                name = f"w{len(self.names)}_{len(targets)}"
                targets.append(name)
                tests.append(f"{name} == {self.column(column)}")
        self.loop(targets, source)
        for test in tests:
            self.test(test)

    def add_join(self, item: Join, needed: set[Variable]) -> None:
        relation, columns = item.relation, item.columns
        if item.number == self.delta:
            self.scan(item, f"d{self.rows(relation)[1:]}", needed)
            return
        keys = tuple(n for n, c in enumerate(columns) if not isinstance(c, Variable) or c in self.names)
        if len(keys) == len(columns):
            self.membership(item)
            return
        outputs = tuple(
            number
            for number, column in enumerate(columns)
            if number not in keys and (column in needed or columns.count(column) > 1)
        )
        fanout = self.scope.fanout(relation, columns, set(self.names))
        size = self.scope.size(relation)
        self.code.work *= max(min(fanout * 4, size), 1.0)
        is_tiny = size <= self.strategy.tiny and self.scope.schema.is_move(relation)
        if self.is_on_demand(relation) or (keys and not is_tiny):
            self.indexed(item, keys, outputs)
        elif not outputs and not keys:
            self.test(self.rows(relation))
        else:
            self.scan(item, self.rows(relation), needed)

    def membership(self, item: Join) -> None:
        known = self.scope.known_rows(item.relation)
        if not item.columns:
            if known is None:
                self.test(self.rows(item.relation))
            return
        if known is not None and all(isinstance(column, int) for column in item.columns):
            row = item.columns[0] if len(item.columns) == 1 else item.columns
            self.code.dead |= row not in known
            return
        self.test(self.member(item.relation, row_source([self.column(column) for column in item.columns])))

    def member(self, relation: Relation, row: str) -> str:
        if self.is_on_demand(relation):
            return self.look_up(relation, tuple(range(relation.width)), (), row)
        return f"{row} in {self.rows(relation)}"

    def scan(self, item: Join, source: str, needed: set[Variable]) -> None:
        if not item.columns:
            self.test(source)
            return
        targets, tests = [], []
        for number, column in enumerate(item.columns):
            if isinstance(column, Variable) and column not in self.names:
                is_used = column in needed or item.columns.count(column) > 1
                targets.append(self.bind(column) if is_used else "_")
            else:
                targets.append(f"w{number}")
                tests.append(f"w{number} == {self.column(column)}")
        self.loop(targets, source)
        if tests:
            self.test(" and ".join(tests))

    def indexed(self, item: Join, keys: tuple[int, ...], outputs: tuple[int, ...]) -> None:
        key = row_source([self.column(item.columns[number]) for number in keys])
        source = self.look_up(item.relation, keys, outputs, key)
        if not outputs:
            self.test(source)
            return
        self.loop_over([item.columns[number] for number in outputs], source)

    def is_on_demand(self, relation: Relation) -> bool:
        return self.scope.access[relation] is Access.ON_DEMAND

    def need(self, kind: NeedKind, of: object) -> str:
        need = Need(kind, of)
        self.code.needs[need] = None
        return need.name

    def rows(self, relation: Relation) -> str:
        slot = self.scope.schema.slots[relation]
        if self.scope.access[relation] is Access.CONSTANT:
            return self.need(NeedKind.STATIC_ROWS, slot)
        self.code.rows[relation] = None
        return f"s{slot}"

    def look_up(self, relation: Relation, keys: tuple[int, ...], outputs: tuple[int, ...], key: str) -> str:
        """Return the source that yields the outputs of a key or, without outputs, tests the key."""
        index = self.scope.schema.index(relation, keys, outputs)
        access = self.scope.access[relation]
        if access is Access.ON_DEMAND:
            return f"{self.table(index)}({key})"
        self.need(NeedKind.INDEX_CODE, index)
        if access is Access.CONSTANT:
            name = self.need(NeedKind.STATIC_INDEX, index)
        else:
            self.code.indexes[index] = access
            name = f"{'g' if keys and outputs else 'j'}{index.name}"
        if not outputs:
            return f"{key} in {name}"
        return f"{name}({key}, ())" if keys else name

    def table(self, index: Index) -> str:
        is_own = index.relation in self.scope.component.relations
        if not is_own and not self.scope.can_be_asked(index.relation, index.keys):
            self.need(NeedKind.WHOLE, index.relation)
        if self.scope.is_constant(index.relation):
            return self.need(NeedKind.STATIC_TABLE, index)
        self.need(NeedKind.TABLE_CODE, index)
        self.code.indexes[index] = Access.ON_DEMAND
        return f"q{index.name}"

    def composer(self, kind: NeedKind, functor: tuple[str, int]) -> str:
        return self.need(kind, self.scope.schema.functors[functor])

    def take_conditions(self) -> None:
        """Add a test of each condition that has become decidable, cheap conditions first."""
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
            return f"DEPTHS[{self.names[condition.variable]}] == 0"
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
        known = self.scope.known_rows(atom.relation)
        if known is not None and (not known or not atom.columns):
            return str(bool(known) == positive)
        if not atom.columns:
            test = self.rows(atom.relation)
        else:
            make = self.is_on_demand(atom.relation)
            row = row_source([self.expression(term, make=make) for term in atom.columns])
            test = self.member(atom.relation, row)
        return test if positive else f"not {test}"

    def expression(self, term: Term, *, make: bool) -> str:
        """Return the source of the number of a bound term; -1 if it does not exist, unless it is made."""
        if isinstance(term, Variable):
            return self.names[term]
        if not isinstance(term, Compound) or term.is_ground:
            return str(self.scope.number(term))
        functor = (term.functor, len(term.arguments))
        parts = row_source([self.expression(argument, make=make) for argument in term.arguments])
        name = self.composer(NeedKind.MAKE if make else NeedKind.KNOWN, functor)
        return f"{name}({parts})" if make else f"{name}({parts}, -1)"


def translate(
    rule: FlatRule,
    scope: Scope,
    delta: int | None,
    bound: Mapping[Variable, str],
    composed: Iterable[tuple[Variable, Compound]],
) -> RuleCode:
    """Return the Python of a rule.

    Args:
        rule: the rule.
        scope: the relations that the rule can read.
        delta: number of the literal that reads the newest rows only (semi-naive evaluation).
        bound: variables that already have a value, with their names in the source.
        composed: bound variables that equal compound terms, with these terms.
    """
    return _Translation(rule, scope, delta, bound, composed).run()
