"""Python source of one component: rules in order, a semi-naive loop, or a table that is filled on demand.

The result of ``emit`` depends only on its arguments. If the code uses another object, such as the code of a
table, the source lists this object as a need.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

from anygame.datalog.plan import Access, Scope
from anygame.datalog.relations import FlatAtom, FlatRule, Relation, Unequal
from anygame.datalog.rule_source import RuleCode
from anygame.datalog.schema import TRACE
from anygame.datalog.source import Need, NeedKind, Source, empty_index, row_source
from anygame.language.terms import Compound, Variable

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from anygame.datalog.plan import Snapshot
    from anygame.datalog.schema import Component, Index, Schema
    from anygame.datalog.strategy import Strategy


@dataclass(frozen=True, slots=True)
class Everything:
    """Compute all rows. If ``may_outgrow``, switch a relation that becomes large to computation on demand."""

    may_outgrow: bool


@dataclass(frozen=True, slots=True)
class OnTrial:
    """Compute all rows, but stop after a number of iterations or rows."""

    rows: int


@dataclass(frozen=True, slots=True)
class Tabled:
    """Compute only the rows of requested keys, and cache them by key."""

    index: Index


Mode = Everything | OnTrial | Tabled


class ComponentWriter:
    """Writes the rules of one component, and collects their needs."""

    def __init__(
        self, component: Component, schema: Schema, mode: Mode, snapshot: Snapshot, strategy: Strategy
    ) -> None:
        self.component = component
        self.schema = schema
        self.mode = mode
        self.strategy = strategy
        self.scope = Scope(component, schema, snapshot, strategy, tabled=isinstance(mode, Tabled))
        self.needs: dict[Need, None] = {}
        self.rows_read: dict[Relation, None] = {}
        self.growing: dict[Index, None] = {}
        self.cost = 0.0

    def need(self, kind: NeedKind, of: object) -> str:
        """Record a need; return its name in the generated code."""
        need = Need(kind, of)
        self.needs[need] = None
        return need.name

    def title(self, relation: Relation) -> str:
        """Return the name of the constant that contains the title of a relation, for messages."""
        return self.need(NeedKind.TITLE, self.schema.slots[relation])

    def rule(
        self,
        rule: FlatRule,
        target: str,
        indent: str,
        *,
        delta: int | None = None,
        bound: Mapping[Variable, str] = MappingProxyType({}),
        composed: Iterable[tuple[Variable, Compound]] = (),
    ) -> str:
        """Return the source that adds the rows of a rule to a set; see ``RuleCode``."""
        code = RuleCode(rule, self.scope, delta, bound, composed)
        self.cost += code.cost
        if code.dead:
            return ""
        self.needs |= code.needs
        self.rows_read |= code.rows_read
        for index, access in code.indexes.items():
            if access is Access.GROWING:
                self.growing[index] = None
                self.rows_read[index.relation] = None
        action = self._addition(code, rule, target)
        guards = list(code.guards) if rule.head.columns else [f"not {target}", *code.guards]
        lines = _lookups(code.indexes)
        if not guards:
            return block([*lines, action], indent)
        # The look-ups that a guard uses come before the guard.
        names = [f"{kind}{index.name}" for index in code.indexes for kind in "gjq"]
        is_early = any(name in guard for guard in code.guards for name in names)
        test = f"if {' and '.join(guards)}:"
        if is_early:
            return block([*lines, test], indent) + block([action], indent + "    ")
        return block([test], indent) + block([*lines, action], indent + "    ")

    def _addition(self, code: RuleCode, rule: FlatRule, target: str) -> str:
        if not rule.head.columns:
            assert not code.clauses, "expected only guards in a rule without head columns"
            return f"{target} |= UNIT"
        if not code.clauses:
            return f"{target}.add({code.head})"
        on_trial = isinstance(self.mode, OnTrial)
        if on_trial or self.component.builds_terms or code.work > self.strategy.counted:
            prefix = "try_" if on_trial else ""
            count = f" if next({prefix}tick)"
            counted = [clause + count if clause.startswith("for") else clause for clause in code.clauses]
            title = self.title(rule.head.relation)
            return f"{prefix}grow({target}, ({code.head} {' '.join(counted)}), {title})"
        return f"{target} |= {{{code.head} {' '.join(code.clauses)}}}"

    def reading(self) -> list[str]:
        """Return the lines that read the rows of relations from the frame."""
        lines = []
        for relation in self.rows_read:
            slot = self.schema.slots[relation]
            if relation in self.component.relations:
                continue
            if self.scope.access[relation] is Access.GROWING:
                lines.append(f"s{slot} = F.get({slot}, {self.need(NeedKind.FACTS, slot)})")
            else:
                lines.append(f"s{slot} = F[{slot}]")
        return lines

    def start(self, relation: Relation) -> str:
        """Return the source of the initial rows of a relation: facts, and the rows of earlier components."""
        slot = self.schema.slots[relation]
        facts = self.need(NeedKind.FACTS, slot) if relation in self.schema.facts else ""
        if any(maker.number < self.component.number for maker in self.schema.makers(relation)):
            return f"set(F.get({slot}, {facts or 'EMPTY'}))"
        return f"set({facts})"

    def growing_indexes(self, *, own: bool | None = None) -> list[str]:
        """Return generated lines that index the relations which grow in a fixpoint.

        If ``own`` is True, return only the lines for relations of this component; if False, only the others.
        """
        lines = []
        for index in self.growing:
            if own is None or own == (index.relation in self.component.relations):
                name = index.name
                lines.append(f"j{name} = extend{name}(s{index.slot}, {empty_index(index)})")
                if index.keys and index.outputs:
                    lines.append(f"g{name} = j{name}.get")
        return lines

    def limit(self, relation: Relation, rows: str) -> str:
        """Return the line that raises an error if a relation has too many rows."""
        if isinstance(self.mode, OnTrial):
            return f"if len({rows}) > {self.mode.rows}: too_many({self.title(relation)}, True)"
        return f"if len({rows}) > MOST: too_many({self.title(relation)})"

    def check(self, relation: Relation, rows: str) -> list[str]:
        """Return the lines that check the number of rows of a complete relation."""
        lines = [self.limit(relation, rows)]
        if isinstance(self.mode, Everything) and self.mode.may_outgrow and not self.component.is_static:
            number = self.component.number
            lines.append(f"if len({rows}) > {self.strategy.outgrown}: on_demand({number}, len({rows}))")
        return lines


def _lookups(indexes: Mapping[Index, Access]) -> list[str]:
    """Return the lines that get indexes and tables from the frame, or create them if they are missing."""
    lines = []
    for index, access in indexes.items():
        name = index.name
        if access is Access.ON_DEMAND:
            lines.append(f'q{name} = F.get("q{name}") or table{name}(F)')
        elif access is Access.FRAME and index.keys and index.outputs:
            lines.append(f'g{name} = (F.get("j{name}") or index{name}(F)).get')
        elif access is Access.FRAME:
            lines.append(f'j{name} = F.get("j{name}") or index{name}(F)')
    return lines


def block(lines: Iterable[str], indent: str) -> str:
    """Return indented lines as text."""
    return "".join([f"{indent}{line}\n" for line in lines])


def emit(component: Component, schema: Schema, mode: Mode, snapshot: Snapshot, strategy: Strategy) -> Source:
    """Return the source of the function that computes a component.

    The term table of the schema must contain the ground terms of the rules. The snapshot must contain all
    complete static relations that are not on demand.
    """
    writer = ComponentWriter(component, schema, mode, snapshot, strategy)
    table = mode.index if isinstance(mode, Tabled) else None
    if table is not None:
        name, text = Need(NeedKind.TABLE_CODE, table).name, _table(writer, table)
    else:
        name, body = f"component{component.number}", (_semi_naive if component.recursive else _once)(writer)
        done = f'    F["{component.marker}"] = True\n'
        text = f"def {name}(F):\n{block(writer.reading(), '    ')}{body}{done}"
    return Source(name, text, tuple(writer.needs), writer.cost, table)


def _once(writer: ComponentWriter) -> str:
    (relation,) = writer.component.relations
    slot = writer.schema.slots[relation]
    rules = "".join([writer.rule(rule, "out", "    ") for rule in writer.component.rules])
    before = [f"out = {writer.start(relation)}"]
    if relation in writer.rows_read:
        # The rules read rows that earlier components derive for the same relation.
        before.append(f"s{slot} = frozenset(out)")
    before += writer.growing_indexes()
    after = [*writer.check(relation, "out"), f"F[{slot}] = out"]
    return block(before, "    ") + rules + block(after, "    ")


def _semi_naive(writer: ComponentWriter) -> str:
    """Return the source of a loop in which each round joins only the new rows of the last round.

    This is semi-naive evaluation (Bancilhon and Ramakrishnan 1986).
    """
    component, slots = writer.component, writer.schema.slots
    own = component.relations
    first = [
        writer.rule(rule, f"s{slots[rule.head.relation]}", "    ")
        for rule in component.rules
        if not _reads_own(rule, component)
    ]
    again = [_recursive_rule(writer, rule) for rule in component.rules if _reads_own(rule, component)]
    loop = _loop(writer, "".join(again))
    starts = [f"s{slots[relation]} = {writer.start(relation)}" for relation in own]
    checks = [line for relation in own for line in writer.check(relation, f"s{slots[relation]}")]
    ends = [f"F[{slots[relation]}] = s{slots[relation]}" for relation in own]
    return (
        block([*starts, *writer.growing_indexes(own=False)], "    ")
        + "".join(first)
        + block(writer.growing_indexes(own=True), "    ")
        + loop
        # A trial already checks sizes in every round.
        + block([*([] if isinstance(writer.mode, OnTrial) else checks), *ends], "    ")
    )


def _loop(writer: ComponentWriter, rules: str) -> str:
    component = writer.component
    slots = [writer.schema.slots[relation] for relation in component.relations]
    before = [f"d{slot} = s{slot}" for slot in slots]
    before.append(f'trace = F.get("{TRACE}")')
    newest = " or ".join([f"d{slot}" for slot in slots])
    if any(_recurs_in_a_test(rule, component) for rule in component.rules):
        # A rule with a recursive test can fire before the component has rows, so the loop runs at least once.
        before += ["once = True", f"while once or {newest}:", "    once = False"]
    else:
        before.append(f"while {newest}:")
    new_rows = ", ".join([f"{slot}: set(d{slot})" for slot in slots])
    begin = [
        "if trace is not None:",
        f"    trace.append({{{new_rows}}})",
        f"next({'try_' if isinstance(writer.mode, OnTrial) else ''}tick)",
        *[f"n{slot} = set()" for slot in slots],
    ]
    end = []
    for slot, relation in zip(slots, component.relations, strict=True):
        end += [
            f"n{slot} -= s{slot}",
            f"s{slot} |= n{slot}",
            writer.limit(relation, f"s{slot}"),
            f"d{slot} = n{slot}",
        ]
    end += [
        f"extend{index.name}(d{index.slot}, j{index.name})"
        for index in writer.growing
        if index.relation in component.relations
    ]
    return block(before, "    ") + block(begin, "        ") + rules + block(end, "        ")


def _reads_own(rule: FlatRule, component: Component) -> bool:
    return any(read.relation in component.relations for read in rule.reads)


def _recurs_in_a_test(rule: FlatRule, component: Component) -> bool:
    return any(read.relation in component.relations and not read.joined for read in rule.reads)


def _recursive_rule(writer: ComponentWriter, rule: FlatRule) -> str:
    """Return the source of a recursive rule, with a copy for each recursive literal.

    In each copy, one recursive literal reads only the newest rows. If a test of the rule is recursive, there
    is only one copy, which reads all rows.
    """
    target = f"n{writer.schema.slots[rule.head.relation]}"
    own = writer.component.relations
    if _recurs_in_a_test(rule, writer.component):
        return writer.rule(rule, target, "        ")
    return "".join(
        [
            writer.rule(rule, target, "        ", delta=number)
            for number, atom in enumerate(rule.literals)
            if atom.relation in own
        ]
    )


def _table(writer: ComponentWriter, index: Index) -> str:
    """Return the source that creates the look-up function of a table in a frame; see `Agenda`."""
    component, name = writer.component, index.name
    facts, rules = _rows_for_key(writer, index)
    key = row_source([f"k{number}" for number in index.keys]) if index.keys else "_"
    head = [*writer.reading(), *facts, "table = {}"]
    tail = [f'F["q{name}"] = q{name}', f"return q{name}"]
    if component.recursive:
        marker = f"agenda{component.number}"
        head += [
            f'agenda = F.get("{marker}")',
            f'if agenda is None: agenda = F["{marker}"] = Agenda({writer.strategy.nesting})',
            "def rules(key, out):",
            "    next(tick)",
            f"    {key} = key",
        ]
        answer = [
            f"def q{name}(key):",
            "    out = table.get(key)",
            "    return agenda.ask(rules, table, key) if out is None else out",
        ]
    else:
        head += [
            f"def q{name}(key):",
            "    out = table.get(key)",
            "    if out is not None: return out",
            f"    {key} = key",
            "    out = set()",
        ]
        answer = [
            f"    if len(table) > {writer.strategy.table_keys}: table.clear()",
            "    table[key] = out",
            "    return out",
        ]
    return f"def table{name}(F):\n{block(head, '    ')}{rules}{block([*answer, *tail], '    ')}"


def _rows_for_key(writer: ComponentWriter, index: Index) -> tuple[list[str], str]:
    """Return the lines that index facts, and the source that adds the rows of a key to ``out``."""
    relation, name = index.relation, index.name
    facts = []
    rules = ""
    if relation in writer.schema.facts:
        writer.need(NeedKind.INDEX_CODE, index)
        given = writer.need(NeedKind.FACTS, index.slot)
        facts.append(f"b{name} = extend{name}({given}, {empty_index(index)})")
        matches = f"b{name}.get(key, ())" if index.keys and index.outputs else f"key in b{name}"
        matches = matches if index.keys else f"b{name}"
        line = f"out.update({matches})" if index.outputs else f"if {matches}: out |= UNIT"
        rules = block([line], " " * 8)
    own = [rule for rule in writer.component.rules if rule.head.relation == relation]
    return facts, rules + "".join([_rule_for_key(writer, rule, index) for rule in own])


def _rule_for_key(writer: ComponentWriter, rule: FlatRule, index: Index) -> str:
    """Return the source that adds the outputs of one rule for a key to ``out``."""
    bound: dict[Variable, str] = {}
    tests = []
    taken_apart = []
    for number in index.keys:
        term = rule.head.columns[number]
        if isinstance(term, Variable) and term not in bound:
            bound[term] = f"k{number}"
        else:
            # Other terms of the head test or decompose the key. The planner orders these steps.
            variable = Variable(f" key{number}")
            bound[variable] = f"k{number}"
            if isinstance(term, Compound) and not term.is_ground:
                taken_apart.append((variable, term))
            else:
                tests.append(Unequal(variable, term, negated=True))
    head = FlatAtom(index.relation, tuple([rule.head.columns[number] for number in index.outputs]))
    asked = FlatRule(head, rule.literals, (*tests, *rule.conditions), rule.origin)
    return writer.rule(asked, "out", " " * 8, bound=bound, composed=taken_apart)
