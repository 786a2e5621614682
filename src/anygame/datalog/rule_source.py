"""Python source of a rule: one set comprehension.

The comprehension has a ``for`` for each literal, over a relation or a bucket of a hash index. The
comprehension has an ``if`` for each test, as early as possible. (CPython limits the depth of nested blocks to
20, but not the number of clauses of a comprehension.) Generating the source reads no rows. The module
``source`` lists the names in generated code.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from anygame.datalog.plan import Access, Compose, Join, joins_of, order_joins
from anygame.datalog.relations import Alternatives, FlatAtom, IsConstant, Negated, Unequal, variables_in
from anygame.datalog.source import Need, NeedKind, row_source
from anygame.language.terms import Compound, Term, Variable, variables_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from anygame.datalog.plan import Column, Item, Scope
    from anygame.datalog.relations import Condition, FlatRule, Relation
    from anygame.datalog.schema import Index


class RuleCode:
    """The Python code of one rule.

    Args:
        delta: index of the literal that reads only the newest rows (semi-naive evaluation).
        bound: the name in the code of each variable that already has a value.
        composed: pairs of a bound variable and the compound term that it equals.

    Attributes:
        head: the expression for a row of the head.
        guards: tests that the code performs before it reads any rows.
        clauses: the ``for`` and ``if`` clauses of the comprehension.
        dead: whether the rule can never fire.
        work: expected number of iterations in the worst case; decides whether the code counts them.
        cost: expected number of rows.
        needs: the needs of the code, except rows, indexes and tables in the frame.
        rows_read: relations whose rows the code reads from the frame.
        indexes: indexes and tables in the frame, with the access to their relations.
    """

    def __init__(
        self,
        rule: FlatRule,
        scope: Scope,
        delta: int | None,
        bound: Mapping[Variable, str],
        composed: Iterable[tuple[Variable, Compound]],
    ) -> None:
        self.head = "()"
        self.guards: list[str] = []
        self.clauses: list[str] = []
        self.dead = False
        self.work = 1.0
        self.needs: dict[Need, None] = {}
        self.rows_read: dict[Relation, None] = {}
        self.indexes: dict[Index, Access] = {}
        self._rule = rule
        self._scope = scope
        self._delta = delta
        self._names: dict[Variable, str] = dict(bound)
        self._items = joins_of(rule, scope.number, composed)
        self._waiting: list[Condition] = list(rule.conditions)
        self._head_variables = {v for term in rule.head.columns for v in variables_of(term)}
        self._in_loop = False
        joins = [item for item in self._items if isinstance(item, Join)]
        first = next((item for item in joins if item.number == delta), None)
        self.cost, order = order_joins(self._items, scope, first=first, bound=self._names.keys())
        known_rows = [scope.known_rows(atom.relation) for atom in rule.literals]
        if any(rows is not None and not rows for rows in known_rows):
            self.dead = True
        else:
            self._translate(order)

    def _translate(self, order: Sequence[Item]) -> None:
        self._take_conditions()
        for number, item in enumerate(order):
            if self.dead:
                return
            remaining = order[number:]
            if self._is_existential(remaining):
                self._add_existential(remaining)
                break
            self._add(item, order[number + 1 :])
        if self._rule.head.columns and not self.dead:
            head = [self._expression(term, make=True) for term in self._rule.head.columns]
            self.head = row_source(head)

    def _is_existential(self, remaining: Sequence[Item]) -> bool:
        """Whether a generator that stops at the first match can replace loops over the items."""
        if not self._head_variables <= self._names.keys():
            return False
        bound = set(self._names)
        fanout = 1.0
        generators = 0
        for item in remaining:
            if isinstance(item, Compose):
                generators += 1
            elif item.number == self._delta or item.variables() - bound:
                # The code scans the newest rows even if all variables are bound.
                generators += 1
                fanout *= self._scope.fanout(item.relation, item.columns, bound)
            bound |= item.variables()
        if not generators:
            return False
        if not self._rule.head.columns or not self._in_loop:
            return True
        return generators > 1 and fanout > self._scope.strategy.exists_fanout

    def _add_existential(self, items: Sequence[Item]) -> None:
        """Add a test whether the items have a match."""
        outer, self.clauses = self.clauses, []
        was_in_loop, self._in_loop = self._in_loop, True
        for number, item in enumerate(items):
            if not self.dead:
                self._add(item, items[number + 1 :])
        nested, self.clauses = self.clauses, outer
        self._in_loop = was_in_loop
        while nested and not nested[0].startswith("for"):
            self._test(nested.pop(0).removeprefix("if "))
        if nested:
            self._test(f"any(True {' '.join(nested)})")

    def _add(self, item: Item, later_items: Sequence[Item]) -> None:
        if isinstance(item, Compose):
            self._add_compose(item)
        else:
            needed = self._head_variables | variables_in(self._waiting)
            self._add_join(item, needed.union(*[later.variables() for later in later_items]))
        self._take_conditions()

    def _loop(self, targets: Sequence[str], source: str) -> None:
        target = ", ".join(targets) if targets else "_"
        self.clauses.append(f"for {target} in {source}")
        self._in_loop = True

    def _test(self, expression: str) -> None:
        if self._in_loop:
            self.clauses.append(f"if {expression}")
        else:
            self.guards.append(expression)

    def _bind(self, variable: Variable) -> str:
        return self._names.setdefault(variable, f"v{len(self._names)}")

    def _column(self, column: Column) -> str:
        return self._names[column] if isinstance(column, Variable) else str(column)

    def _add_compose(self, item: Compose) -> None:
        if item.value in self._names:
            parts = self._composer(NeedKind.PARTS, item.functor)
            self._loop_over(item.parts, f"{parts}({self._names[item.value]}, ())")
            return
        key = row_source([self._column(part) for part in item.parts])
        # On-demand relations can have rows with terms that do not exist yet, so the code makes the terms.
        if any(isinstance(other, Join) and self._is_on_demand(other.relation) for other in self._items):
            source = f"{self._composer(NeedKind.MAKE, item.functor)}({key})"
        else:
            source = f"{self._composer(NeedKind.KNOWN, item.functor)}({key}, -1)"
        self._loop([self._bind(item.value)], f"({source},)")

    def _loop_over(
        self, columns: Sequence[Column], source: str, needed: Collection[Variable] | None = None
    ) -> None:
        """Add a loop over values of the columns, with tests of constants and of bound or repeated variables.

        The loop binds all other variables, or only the variables that are needed.
        """
        targets: list[str] = []
        tests: list[str] = []
        for column in columns:
            if not isinstance(column, Variable) or column in self._names:
                name = f"w{len(self._names)}_{len(targets)}"
                targets.append(name)
                tests.append(f"{name} == {self._column(column)}")
            elif needed is None or column in needed or columns.count(column) > 1:
                targets.append(self._bind(column))
            else:
                targets.append("_")
        self._loop(targets, source)
        for test in tests:
            self._test(test)

    def _add_join(self, item: Join, needed: set[Variable]) -> None:
        relation, columns = item.relation, item.columns
        if item.number == self._delta:
            self._scan(item, f"d{self._rows(relation)[1:]}", needed)
            return
        keys = tuple(n for n, c in enumerate(columns) if not isinstance(c, Variable) or c in self._names)
        if len(keys) == len(columns):
            self._membership(item)
            return
        outputs = tuple(
            number
            for number, column in enumerate(columns)
            if number not in keys and (column in needed or columns.count(column) > 1)
        )
        fanout = self._scope.fanout(relation, columns, set(self._names))
        size = self._scope.size(relation)
        self.work *= max(min(fanout * 4, size), 1.0)
        is_tiny = size <= self._scope.strategy.tiny and self._scope.schema.is_move(relation)
        if self._is_on_demand(relation) or (keys and not is_tiny):
            key = row_source([self._column(columns[number]) for number in keys])
            source = self._look_up(relation, keys, outputs, key)
            if outputs:
                self._loop_over([columns[number] for number in outputs], source)
            else:
                self._test(source)
        elif not outputs and not keys:
            self._test(self._rows(relation))
        else:
            self._scan(item, self._rows(relation), needed)

    def _membership(self, item: Join) -> None:
        known = self._scope.known_rows(item.relation)
        if not item.columns:
            if known is None:
                self._test(self._rows(item.relation))
            return
        if known is not None and all(isinstance(column, int) for column in item.columns):
            row = item.columns[0] if len(item.columns) == 1 else item.columns
            self.dead |= row not in known
            return
        self._test(self._member(item.relation, row_source([self._column(column) for column in item.columns])))

    def _member(self, relation: Relation, row: str) -> str:
        if self._is_on_demand(relation):
            return self._look_up(relation, tuple(range(relation.width)), (), row)
        return f"{row} in {self._rows(relation)}"

    def _scan(self, item: Join, source: str, needed: Collection[Variable]) -> None:
        if item.columns:
            self._loop_over(item.columns, source, needed)
        else:
            self._test(source)

    def _is_on_demand(self, relation: Relation) -> bool:
        return self._scope.access[relation] is Access.ON_DEMAND

    def _need(self, kind: NeedKind, of: object) -> str:
        need = Need(kind, of)
        self.needs[need] = None
        return need.name

    def _rows(self, relation: Relation) -> str:
        slot = self._scope.schema.slots[relation]
        if self._scope.access[relation] is Access.CONSTANT:
            return self._need(NeedKind.STATIC_ROWS, slot)
        self.rows_read[relation] = None
        return f"s{slot}"

    def _look_up(self, relation: Relation, keys: tuple[int, ...], outputs: tuple[int, ...], key: str) -> str:
        """Return the source for the outputs of a key; for an index without outputs, a test of the key."""
        index = self._scope.schema.index(relation, keys, outputs)
        access = self._scope.access[relation]
        if access is Access.ON_DEMAND:
            return f"{self._table(index)}({key})"
        self._need(NeedKind.INDEX_CODE, index)
        if access is Access.CONSTANT:
            name = self._need(NeedKind.STATIC_INDEX, index)
        else:
            self.indexes[index] = access
            name = f"{'g' if keys and outputs else 'j'}{index.name}"
        if not outputs:
            return f"{key} in {name}"
        return f"{name}({key}, ())" if keys else name

    def _table(self, index: Index) -> str:
        is_own = index.relation in self._scope.component.relations
        if not is_own and not self._scope.can_be_asked(index.relation, index.keys):
            self._need(NeedKind.WHOLE, index.relation)
        if self._scope.is_constant(index.relation):
            return self._need(NeedKind.STATIC_TABLE, index)
        self._need(NeedKind.TABLE_CODE, index)
        self.indexes[index] = Access.ON_DEMAND
        return f"q{index.name}"

    def _composer(self, kind: NeedKind, functor: tuple[str, int]) -> str:
        return self._need(kind, self._scope.schema.functors[functor])

    def _take_conditions(self) -> None:
        """Add a test of each condition whose variables are bound, cheap conditions first."""
        ready = [c for c in self._waiting if variables_in((c,)) <= self._names.keys()]
        self._waiting = [c for c in self._waiting if c not in ready]
        for condition in sorted(ready, key=lambda c: not isinstance(c, Unequal)):
            source = self._condition(condition)
            if source == "False":
                self.dead = True
            elif source != "True":
                self._test(source)

    def _condition(self, condition: Condition) -> str:
        if isinstance(condition, Unequal):
            operator = "==" if condition.negated else "!="
            left, right = (self._expression(side, make=True) for side in (condition.left, condition.right))
            return f"{left} {operator} {right}"
        if isinstance(condition, Negated):
            return self._atom_test(condition.atom, positive=False)
        if isinstance(condition, FlatAtom):
            return self._atom_test(condition, positive=True)
        if isinstance(condition, IsConstant):
            return f"DEPTHS[{self._names[condition.variable]}] == 0"
        assert isinstance(condition, Alternatives)
        choices = []
        for choice in condition.choices:
            parts = [self._condition(part) for part in choice]
            if "False" in parts:
                continue
            parts = [part for part in parts if part != "True"]
            if not parts:
                return "True"
            choices.append(" and ".join(parts))
        return f"({' or '.join(choices)})" if choices else "False"

    def _atom_test(self, atom: FlatAtom, *, positive: bool) -> str:
        known = self._scope.known_rows(atom.relation)
        if known is not None and (not known or not atom.columns):
            return str(bool(known) == positive)
        if not atom.columns:
            test = self._rows(atom.relation)
        else:
            make = self._is_on_demand(atom.relation)
            row = row_source([self._expression(term, make=make) for term in atom.columns])
            test = self._member(atom.relation, row)
        return test if positive else f"not {test}"

    def _expression(self, term: Term, *, make: bool) -> str:
        """Return the source of the number of a bound term.

        If the term is not in the table, the code adds the term (``make``) or evaluates to -1.
        """
        if isinstance(term, Variable):
            return self._names[term]
        if not isinstance(term, Compound) or term.is_ground:
            return str(self._scope.number(term))
        functor = (term.functor, len(term.arguments))
        parts = row_source([self._expression(argument, make=make) for argument in term.arguments])
        name = self._composer(NeedKind.MAKE if make else NeedKind.KNOWN, functor)
        return f"{name}({parts})" if make else f"{name}({parts}, -1)"
