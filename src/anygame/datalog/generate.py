"""The source of one component's function: rules in order, or the semi-naive loop where they are recursive."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from anygame.datalog.evaluate import ACTION, STATIC, index_factory
from anygame.datalog.joins import translate

if TYPE_CHECKING:
    from anygame.datalog.evaluate import Engine, Step
    from anygame.datalog.joins import IndexKey, RuleCode
    from anygame.datalog.plan import Statistics
    from anygame.datalog.relations import FlatRule, Relation
    from anygame.datalog.values import Values

__all__ = ["Generator"]

_COUNTED: Final = 3e5


class Generator:
    """Writes the function of one step; also the ``Store`` that its rules are translated against."""

    def __init__(self, engine: Engine, step: Step, statistics: Statistics) -> None:
        self.engine = engine
        self.step = step
        self.statistics = statistics
        self.values: Values = engine.values
        self._rows_used: dict[int, None] = {}
        self._indexes_used: dict[int, None] = {}
        self._local_indexes: dict[IndexKey, int] = {}
        self._partial = {
            relation
            for rule in step.component.rules
            for relation in (rule.head.relation, *(read.relation for read in rule.reads))
            if relation in step.relations or any(maker.number > step.number for maker in engine.makers(relation))
        }

    # -- Store -------------------------------------------------------------------------------------

    def rows(self, relation: Relation) -> str:
        """Return the name of the rows of a relation."""
        if relation not in self._partial and self.engine.level(relation) == STATIC and self.step.level > STATIC:
            return self.engine.static_name(relation)
        slot = self.engine.slot(relation)
        self._rows_used[slot] = None
        return f"s{slot}"

    def lookup(self, key: IndexKey, relation: Relation) -> str:
        """Return the name of an index: its ``get``, or the index itself where it is a set."""
        if relation in self._partial:
            number = self._local_indexes.setdefault(key, self.engine.index_number(key))
            self._rows_used[self.engine.slot(relation)] = None
            return f"g{number}" if key[1] and key[2] else f"j{number}"
        if self.engine.level(relation) == STATIC and self.step.level > STATIC:
            return self.engine.static_lookup(key)
        number = self.engine.index_number(key)
        self._indexes_used[number] = None
        return f"g{number}" if key[1] and key[2] else f"j{number}"

    def composer(self, functor: tuple[str, int], part: str) -> str:
        """Return the name of a part of a functor's composer."""
        composer = self.values.composer(functor)
        order = list(self.values.functors()).index(functor)
        if part == "make":
            return self.engine.define(f"C{order}", composer)
        if part == "known":
            return self.engine.define(f"K{order}", composer.known.get)
        return self.engine.define(f"P{order}", composer.parts.get)

    def known_rows(self, relation: Relation) -> set[object] | None:
        """Return the rows of a relation that is static and complete."""
        if relation in self._partial or self.engine.level(relation) != STATIC:
            return None
        return self.engine.static_rows(relation)

    def is_tiny(self, relation: Relation) -> bool:
        """Whether the relation can be trusted to stay as small as it was measured."""
        return self.engine.is_given(relation, ACTION) or bool(self.engine.statistics_frames)

    # -- source ------------------------------------------------------------------------------------

    def source(self) -> str:
        """Return the source of the function."""
        body = self._recursive() if self.step.component.recursive else self._plain()
        read = [
            f"    s{slot} = F.get({slot}, {self._facts(slot)})\n"
            if self._is_own(slot)
            else f"    s{slot} = F[{slot}]\n"
            for slot in self._rows_used
            if slot not in self._written()
        ]
        return f"def component{self.step.number}(F):\n{''.join(read)}{body}"

    def _written(self) -> set[int]:
        return {self.engine.slot(relation) for relation in self.step.relations}

    def _is_own(self, slot: int) -> bool:
        return any(self.engine.slot(relation) == slot for relation in self._partial)

    def _facts(self, slot: int) -> str:
        relation = next(relation for relation in self._partial if self.engine.slot(relation) == slot)
        return self.engine.define(f"B{slot}", frozenset(self.engine.facts.get(relation, ())))

    def _start(self, relation: Relation) -> str:
        """Return the source of what a relation holds before the component's rules."""
        slot = self.engine.slot(relation)
        if any(maker.number < self.step.number for maker in self.engine.makers(relation)):
            return f"set(F.get({slot}, EMPTY))"
        facts = self.engine.facts.get(relation)
        return f"set({self.engine.define(f'B{slot}', frozenset(facts))})" if facts else "set()"

    def _setup_indexes(self, indent: str) -> str:
        lines = []
        for number in self._indexes_used:
            source = f"F.get(-{number}) or index{number}(F)"
            lines.append(f"{indent}{self._index_variable(number, source)}\n")
        self._indexes_used.clear()
        return "".join(lines)

    def _index_variable(self, number: int, source: str) -> str:
        keys, outputs = self.engine.index_columns(number)
        return f"g{number} = ({source}).get" if keys and outputs else f"j{number} = {source}"

    def _local_setup(self, indent: str, *, own: bool | None) -> str:
        """Return the source that builds indexes of relations that still grow: own ones, others, or all."""
        lines = []
        for key, number in self._local_indexes.items():
            slot = self.engine.slot(key[0])
            if own is not None and own != (key[0] in self.step.relations):
                continue
            empty = index_factory(key[0].width, key[1], key[2])
            lines.append(f"{indent}j{number} = extend{number}(s{slot}, {empty})\n")
            if key[1] and key[2]:
                lines.append(f"{indent}g{number} = j{number}.get\n")
        return "".join(lines)

    def _rule(self, rule: FlatRule, target: str, *, indent: str, delta: int | None = None) -> str:
        """Return the source that adds a rule's rows to a set."""
        code = translate(rule, self, self.statistics, delta)
        if code.dead:
            self._indexes_used.clear()
            return ""
        guards = [f"not {target}"] if not rule.head.columns else []
        guards += code.guards
        lines = []
        if guards:
            lines.append(f"{indent}if {' and '.join(guards)}:\n")
            # An index used in a guard has to exist before it.
            inner = indent + "    "
            early = any(f"{kind}{number}" in guard for guard in code.guards for number in self._indexes_used for kind in "gj")
            if early:
                lines.insert(0, self._setup_indexes(indent))
        else:
            inner = indent
        lines.append(self._setup_indexes(inner))
        lines.append(f"{inner}{self._addition(rule, code, target)}\n")
        return "".join(lines)

    def _addition(self, rule: FlatRule, code: RuleCode, target: str) -> str:
        if not rule.head.columns:
            assert not code.loops
            return f"{target} |= UNIT"
        if not code.clauses:
            return f"{target}.add({code.head})"
        if code.work > _COUNTED:
            counted = [
                part
                for clause in code.clauses
                for part in ((clause, "if next(tick)") if clause.startswith("for") else (clause,))
            ]
            slot = self.engine.slot(rule.head.relation)
            return f"grow({target}, ({code.head} {' '.join(counted)}), {slot})"
        return f"{target} |= {{{code.head} {' '.join(code.clauses)}}}"

    def _plain(self) -> str:
        (relation,) = self.step.relations
        slot = self.engine.slot(relation)
        rules = "".join(self._rule(rule, "out", indent="    ") for rule in self.step.component.rules)
        # The relation may be read as the rules below it left it, in a cycle that only single rules resolve.
        own = f"    s{slot} = frozenset(out)\n" if slot in self._rows_used else ""
        local = self._local_setup("    ", own=None)
        check = f"    if len(out) > MOST: too_many({slot})\n"
        return f"    out = {self._start(relation)}\n{own}{local}{rules}{check}    F[{slot}] = out\n"

    def _recursive(self) -> str:
        own = [(relation, self.engine.slot(relation)) for relation in self.step.relations]
        slots = [slot for _, slot in own]
        rules = self.step.component.rules
        first = "".join(
            self._rule(rule, f"s{self.engine.slot(rule.head.relation)}", indent="    ")
            for rule in rules
            if not self._own_reads(rule)
        )
        loop = "".join(self._recursive_rule(rule) for rule in rules if self._own_reads(rule))
        start = "".join(f"    s{slot} = {self._start(relation)}\n" for relation, slot in own)
        lines = [start, self._local_setup("    ", own=False), first, self._local_setup("    ", own=True)]
        lines += [f"    d{slot} = s{slot}\n" for slot in slots]
        lines.append("    trace = F.get(0)\n")
        lines.append(f"    while {' or '.join(f'd{slot}' for slot in slots)}:\n")
        lines.append("        if trace is not None:\n")
        lines.append(f"            trace.append({{{', '.join(f'{slot}: set(d{slot})' for slot in slots)}}})\n")
        lines.append("        next(tick)\n")
        lines += [f"        n{slot} = set()\n" for slot in slots]
        lines.append(loop)
        for slot in slots:
            lines.append(f"        n{slot} -= s{slot}\n        s{slot} |= n{slot}\n")
            lines.append(f"        if len(s{slot}) > MOST: too_many({slot})\n")
            lines.append(f"        d{slot} = n{slot}\n")
        for key, number in self._local_indexes.items():
            slot = self.engine.slot(key[0])
            if slot in slots:
                lines.append(f"        extend{number}(d{slot}, j{number})\n")
        lines += [f"    F[{slot}] = s{slot}\n" for slot in slots]
        return "".join(lines)

    def _own_reads(self, rule: FlatRule) -> bool:
        return any(read.relation in self.step.relations for read in rule.reads)

    def _recursive_rule(self, rule: FlatRule) -> str:
        """One version per recursive literal, each reading that literal's newest rows; all rows if a test recurs."""
        target = f"n{self.engine.slot(rule.head.relation)}"
        own = set(self.step.relations)
        if any(read.relation in own and not read.joined for read in rule.reads):
            return self._rule(rule, target, indent="        ")
        return "".join(
            self._rule(rule, target, indent="        ", delta=number)
            for number, atom in enumerate(rule.literals)
            if atom.relation in own
        )
