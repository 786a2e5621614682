"""What all ways of computing a component share: writing its rules, and gathering what they need."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

from anygame.datalog.plan import Access, Scope
from anygame.datalog.rule_source import translate
from anygame.datalog.source import Kind, Need, empty_index

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from anygame.datalog.plan import Snapshot
    from anygame.datalog.relations import FlatRule, Relation
    from anygame.datalog.rule_source import RuleCode
    from anygame.datalog.schema import Component, Index, Schema
    from anygame.datalog.strategy import Strategy
    from anygame.language.terms import Compound, Variable


@dataclass(frozen=True, slots=True)
class Everything:
    """All rows are computed.

    Attributes:
        may_outgrow: whether a relation that has become large is computed on demand from then on.
    """

    may_outgrow: bool


@dataclass(frozen=True, slots=True)
class OnTrial:
    """All rows are computed, if that does not take more than a budget of iterations and rows."""

    rows: int


@dataclass(frozen=True, slots=True)
class Tabled:
    """The rows are computed for the keys that somebody asks, and remembered by key."""

    index: Index


Mode = Everything | OnTrial | Tabled


class ComponentWriter:
    """Writes rules of one component, and gathers what they need."""

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

    def need(self, kind: Kind, of: object) -> str:
        """Note a need; return its name."""
        need = Need(kind, of)
        self.needs[need] = None
        return need.name

    def title(self, relation: Relation) -> str:
        """Return the name of what holds the name of a relation, for messages."""
        return self.need(Kind.TITLE, self.schema.slots[relation])

    # -- rules -------------------------------------------------------------------------------------

    def rule(
        self,
        rule: FlatRule,
        target: str,
        indent: str,
        *,
        relation: Relation | None = None,
        delta: int | None = None,
        bound: Mapping[Variable, str] = MappingProxyType({}),
        composed: Iterable[tuple[Variable, Compound]] = (),
    ) -> str:
        """Return the source that adds a rule's rows to a set; see ``translate`` for the rest.

        Args:
            rule: the rule.
            target: the name of the set.
            indent: spaces before each line.
            relation: what the rule derives, where its head has been cut down to some columns.
            delta: the literal to read from the newest rows only.
            bound: variables that have a value already.
            composed: terms that some of these equal.
        """
        code = translate(rule, self.scope, delta, bound, composed)
        self.cost += code.cost
        if code.dead:
            return ""
        self.needs |= code.needs
        self.rows_read |= code.rows
        for index, access in code.indexes.items():
            if access is Access.GROWING:
                self.growing[index] = None
                self.rows_read[index.relation] = None
        return self._guarded(code, rule, target, relation or rule.head.relation, indent)

    def _guarded(self, code: RuleCode, rule: FlatRule, target: str, relation: Relation, indent: str) -> str:
        action = self._addition(code, rule, target, relation)
        guards = list(code.guards) if rule.head.columns else [f"not {target}", *code.guards]
        lines = _lookups(code.indexes)
        if not guards:
            return block([*lines, action], indent)
        # What a guard looks up has to exist before it.
        is_early = any(name in guard for guard in code.guards for name in _names(code.indexes))
        test = f"if {' and '.join(guards)}:"
        if is_early:
            return block([*lines, test], indent) + block([action], indent + "    ")
        return block([test], indent) + block([*lines, action], indent + "    ")

    def _addition(self, code: RuleCode, rule: FlatRule, target: str, relation: Relation) -> str:
        if not rule.head.columns:
            assert not code.clauses, "what only asks whether something exists has guards alone"
            return f"{target} |= UNIT"
        if not code.clauses:
            return f"{target}.add({code.head})"
        on_trial = isinstance(self.mode, OnTrial)
        if on_trial or self.component.builds_terms or code.work > self.strategy.counted:
            prefix = "try_" if on_trial else ""
            counted = [
                part
                for clause in code.clauses
                for part in ((clause, f"if next({prefix}tick)") if clause.startswith("for") else (clause,))
            ]
            return f"{prefix}grow({target}, ({code.head} {' '.join(counted)}), {self.title(relation)})"
        return f"{target} |= {{{code.head} {' '.join(code.clauses)}}}"

    # -- what stands before the rules --------------------------------------------------------------

    def reading(self) -> list[str]:
        """Return the lines that take the rows that rules read out of the frame."""
        lines = []
        for relation in self.rows_read:
            slot = self.schema.slots[relation]
            if relation in self.component.relations:
                continue
            if self.scope.access[relation] is Access.GROWING:
                lines.append(f"s{slot} = F.get({slot}, {self.need(Kind.FACTS, slot)})")
            else:
                lines.append(f"s{slot} = F[{slot}]")
        return lines

    def start(self, relation: Relation) -> str:
        """Return the source of what a relation holds before the component's rules."""
        slot = self.schema.slots[relation]
        facts = self.need(Kind.FACTS, slot) if relation in self.schema.facts else ""
        if any(maker.number < self.component.number for maker in self.schema.makers(relation)):
            return f"set(F.get({slot}, {facts or 'EMPTY'}))"
        return f"set({facts})"

    def growing_indexes(self, *, own: bool | None = None) -> list[str]:
        """Return the lines that index relations that still grow: own ones, others, or all."""
        lines = []
        for index in self.growing:
            if own is None or own == (index.relation in self.component.relations):
                name = index.name
                lines.append(f"j{name} = extend{name}(s{index.slot}, {empty_index(index)})")
                if index.keys and index.outputs:
                    lines.append(f"g{name} = j{name}.get")
        return lines

    def check(self, relation: Relation, rows: str) -> list[str]:
        """Return the lines that look at the size of a relation."""
        if isinstance(self.mode, OnTrial):
            return [f"if len({rows}) > {self.mode.rows}: too_many({self.title(relation)}, True)"]
        lines = [f"if len({rows}) > MOST: too_many({self.title(relation)})"]
        if isinstance(self.mode, Everything) and self.mode.may_outgrow and not self.component.is_static:
            number = self.component.number
            lines.append(f"if len({rows}) > {self.strategy.outgrown}: on_demand({number}, len({rows}))")
        return lines


def _lookups(indexes: Mapping[Index, Access]) -> list[str]:
    """Return the lines that take indexes and tables out of the frame, or make them."""
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


def _names(indexes: Iterable[Index]) -> list[str]:
    return [f"{kind}{index.name}" for index in indexes for kind in "gjq"]


def block(lines: Iterable[str], indent: str) -> str:
    """Return lines as text, each with an indentation."""
    return "".join([f"{indent}{line}\n" for line in lines])
