"""The source of one component's function: rules in order, a semi-naive loop, or a table filled on demand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from anygame.datalog.joins import row_expression, translate
from anygame.datalog.plan import joins_of
from anygame.datalog.relations import FlatAtom, FlatRule, Relation, Unequal
from anygame.language.terms import Compound, Variable

if TYPE_CHECKING:
    from anygame.datalog.evaluate import Engine, Step
    from anygame.datalog.joins import IndexKey, RuleCode
    from anygame.datalog.plan import Statistics
    from anygame.datalog.values import Values

#: A relation that has grown past this in a state is computed on demand from then on.
_MANY: Final = 20_000

__all__ = ["Generator", "demand_source", "index_factory"]

#: Rules that may take more iterations than this count them.
_COUNTED: Final = 3e5


def index_factory(width: int, keys: tuple[int, ...], outputs: tuple[int, ...]) -> str:
    """Return the source of an empty index of a kind."""
    if not keys or not outputs:
        return "set()"
    return "defaultdict(list)" if len({*keys, *outputs}) == width else "defaultdict(dict)"


class Generator:
    """Writes the function of one step; also the ``Store`` that its rules are translated against.

    Args:
        engine: whose step it is.
        step: the component.
        statistics: sizes of the relations read.
        counted: count every iteration, whatever is expected.
    """

    def __init__(self, engine: Engine, step: Step, statistics: Statistics, *, counted: bool = False) -> None:
        self.engine = engine
        self.step = step
        self.statistics = statistics
        self.values: Values = engine.values
        self.cost = 0.0
        self._counted = counted
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
        if self._is_static_elsewhere(relation):
            return self.engine.static_name(relation)
        slot = self.engine.slot(relation)
        self._rows_used[slot] = None
        return f"s{slot}"

    def _is_static_elsewhere(self, relation: Relation) -> bool:
        return relation not in self._partial and self.engine.is_static(relation) and not self.step.is_static

    def lookup(self, key: IndexKey, key_source: str) -> str:
        """Return the source that yields the outputs for a key, or, without outputs, tests the key."""
        number = self.engine.index_number(key)
        relation, keys, outputs = key
        if self.on_demand(relation):
            self.engine.demand(key, self.statistics)
            if not self._is_static_elsewhere(relation):
                self._indexes_used[number] = None
                return f"q{number}({key_source})"
            return f"{self.engine.static_lookup(key)}({key_source})"
        if self._is_static_elsewhere(relation):
            name = self.engine.static_lookup(key)
        else:
            name = f"g{number}" if keys and outputs else f"j{number}"
            if relation in self._partial:
                self._local_indexes[key] = number
                self._rows_used[self.engine.slot(relation)] = None
            else:
                self._indexes_used[number] = None
        if not outputs:
            return f"{key_source} in {name}"
        return f"{name}({key_source}, ())" if keys else name

    def on_demand(self, relation: Relation) -> bool:
        """Whether the relation is computed only where it is asked."""
        return self.engine.is_demanded(relation)

    def composer(self, functor: tuple[str, int], part: str) -> str:
        """Return the name of a part of a functor's composer."""
        composer = self.values.composer(functor)
        order = self.values.functors().index(functor)
        if part == "make":
            return self.engine.define(f"C{order}", composer)
        if part == "known":
            return self.engine.define(f"K{order}", composer.known.get)
        return self.engine.define(f"P{order}", composer.parts.get)

    def known_rows(self, relation: Relation) -> set[object] | None:
        """Return the rows of a relation that is static and complete."""
        if relation in self._partial or not self.engine.is_static(relation):
            return None
        return self.engine.static_rows(relation)

    def is_tiny(self, relation: Relation) -> bool:
        """Whether the relation can be trusted to stay as small as it was measured."""
        return self.engine.is_move(relation) or bool(self.engine.samples)

    # -- source ------------------------------------------------------------------------------------

    def source(self) -> str:
        """Return the source of the function."""
        body = self._recursive() if self.step.component.recursive else self._plain()
        return f"def component{self.step.number}(F):\n{self._reading('    ')}{body}"

    def _reading(self, indent: str) -> str:
        """Return the source that takes rows out of the frame."""
        own = {self.engine.slot(relation) for relation in self.step.relations}
        partial = {self.engine.slot(relation): relation for relation in self._partial}
        lines = []
        for slot in self._rows_used:
            if slot in partial and slot not in own:
                facts = frozenset(self.engine.facts.get(partial[slot], ()))
                lines.append(f"{indent}s{slot} = F.get({slot}, {self.engine.define(f'B{slot}', facts)})\n")
            elif slot not in own:
                lines.append(f"{indent}s{slot} = F[{slot}]\n")
        return "".join(lines)

    def _start(self, relation: Relation) -> str:
        """Return the source of what a relation holds before the component's rules."""
        slot = self.engine.slot(relation)
        facts = self.engine.facts.get(relation)
        name = self.engine.define(f"B{slot}", frozenset(facts)) if facts else "EMPTY"
        if any(maker.number < self.step.number for maker in self.engine.makers(relation)):
            return f"set(F.get({slot}, {name}))"
        return f"set({name})" if facts else "set()"

    def _setup_indexes(self, indent: str) -> str:
        lines = []
        for number in self._indexes_used:
            relation, keys, outputs = self.engine.index_key(number)
            if self.on_demand(relation):
                lines.append(f"{indent}q{number} = F.get(-{number}) or demand{number}(F)\n")
            elif keys and outputs:
                lines.append(f"{indent}g{number} = (F.get(-{number}) or index{number}(F)).get\n")
            else:
                lines.append(f"{indent}j{number} = F.get(-{number}) or index{number}(F)\n")
        self._indexes_used.clear()
        return "".join(lines)

    def _local_setup(self, indent: str, *, own: bool | None = None) -> str:
        """Return the source that builds indexes of relations that still grow: own ones, others, or all."""
        lines = []
        for (relation, keys, outputs), number in self._local_indexes.items():
            if own is None or own == (relation in self.step.relations):
                slot = self.engine.slot(relation)
                empty = index_factory(relation.width, keys, outputs)
                lines.append(f"{indent}j{number} = extend{number}(s{slot}, {empty})\n")
                if keys and outputs:
                    lines.append(f"{indent}g{number} = j{number}.get\n")
        return "".join(lines)

    def _rule(self, rule: FlatRule, target: str, *, indent: str, delta: int | None = None) -> str:
        """Return the source that adds a rule's rows to a set."""
        code = translate(rule, self, self.statistics, delta=delta)
        self.cost += code.cost
        slot = self.engine.slot(rule.head.relation)
        return self._guarded(code, self._addition(rule, code, target, slot), rule, target, indent)

    def _guarded(self, code: RuleCode, action: str, rule: FlatRule, target: str, indent: str) -> str:
        if code.dead:
            self._indexes_used.clear()
            return ""
        guards = list(code.guards) if rule.head.columns else [f"not {target}", *code.guards]
        if not guards:
            return f"{self._setup_indexes(indent)}{indent}{action}\n"
        # An index that a guard asks has to exist before it.
        early = ""
        if any(f"{kind}{number}" in guard for guard in code.guards for number in self._indexes_used for kind in "gjq"):
            early = self._setup_indexes(indent)
        inner = indent + "    "
        return f"{early}{indent}if {' and '.join(guards)}:\n{self._setup_indexes(inner)}{inner}{action}\n"

    def _addition(self, rule: FlatRule, code: RuleCode, target: str, slot: int) -> str:
        if not rule.head.columns:
            return f"{target} |= UNIT"
        if not code.clauses:
            return f"{target}.add({code.head})"
        if self._counted or code.work > _COUNTED:
            counted = [
                part
                for clause in code.clauses
                for part in ((clause, "if next(tick)") if clause.startswith("for") else (clause,))
            ]
            return f"grow({target}, ({code.head} {' '.join(counted)}), {slot})"
        return f"{target} |= {{{code.head} {' '.join(code.clauses)}}}"

    def _plain(self) -> str:
        (relation,) = self.step.relations
        slot = self.engine.slot(relation)
        rules = "".join(self._rule(rule, "out", indent="    ") for rule in self.step.component.rules)
        # In a cycle that only single rules resolve, a relation is read as the rules before left it.
        own = f"    s{slot} = frozenset(out)\n" if slot in self._rows_used else ""
        if self.step.is_demandable and not self.step.is_static:
            check = f"    if len(out) > {_MANY}: on_demand({self.step.number}, len(out))\n"
        else:
            check = f"    if len(out) > MOST: too_many({slot})\n"
        return f"    out = {self._start(relation)}\n{own}{self._local_setup('    ')}{rules}{check}    F[{slot}] = out\n"

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
        lines = [f"    s{slot} = {self._start(relation)}\n" for relation, slot in own]
        lines += [self._local_setup("    ", own=False), first, self._local_setup("    ", own=True)]
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

    # -- on demand ---------------------------------------------------------------------------------

    def demand_rule(self, rule: FlatRule, keys: tuple[int, ...], outputs: tuple[int, ...]) -> str:
        """Return the source that adds what a rule gives for the key ``k0, k1, ...`` to ``out``."""
        bound: dict[Variable, str] = {}
        tests = []
        taken_apart = []
        for place in keys:
            term = rule.head.columns[place]
            if isinstance(term, Variable) and term not in bound:
                bound[term] = f"k{place}"
            else:
                # What the head says of the key is a test, or takes it apart: leave both to the planner.
                variable = Variable(f" key{place}")
                bound[variable] = f"k{place}"
                if isinstance(term, Compound) and not term.is_ground:
                    taken_apart.append((variable, term))
                else:
                    tests.append(Unequal(variable, term, negated=True))
        head = FlatAtom(
            Relation("", (None,) * len(outputs)), tuple([rule.head.columns[place] for place in outputs])
        )
        slot = self.engine.slot(rule.head.relation)
        asked = FlatRule(head, rule.literals, (*tests, *rule.conditions), rule.origin)
        code = translate(asked, self, self.statistics, bound=bound, composed=taken_apart)
        self.cost += code.cost
        return self._guarded(code, self._addition(asked, code, "out", slot), asked, "out", " " * 12)


def demand_source(generator: Generator, number: int, key: IndexKey) -> str:
    """Return the source of a function that makes, for a frame, the lookup of a relation computed on demand."""
    relation, keys, outputs = key
    rules = "".join(generator.demand_rule(rule, keys, outputs) for rule in generator.step.component.rules)
    unpacked = row_expression([f"k{place}" for place in keys]) if keys else "_"
    return (
        f"def demand{number}(F):\n"
        f"{generator._reading('    ')}"
        f"    table = {{}}\n"
        f"    def q{number}(key):\n"
        f"        out = table.get(key)\n"
        f"        if out is None:\n"
        f"            {unpacked} = key\n"
        f"            out = set()\n"
        f"{rules}"
        f"            if len(table) > MANY_KEYS: table.clear()\n"
        f"            table[key] = out\n"
        f"        return out\n"
        f"    F[-{number}] = q{number}\n"
        f"    return q{number}\n"
    )
