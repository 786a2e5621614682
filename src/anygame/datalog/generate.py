"""The source of one component's function: rules in order, a semi-naive loop, or a table filled on demand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from anygame.datalog.demand import NeedsWhole
from anygame.datalog.joins import translate
from anygame.datalog.relations import FlatAtom, FlatRule, Relation, Unequal
from anygame.datalog.steps import LOOKUPS
from anygame.language.terms import Compound, Variable

if TYPE_CHECKING:
    from anygame.datalog.compiler import Compiler
    from anygame.datalog.evaluate import Engine
    from anygame.datalog.joins import IndexKey, RuleCode
    from anygame.datalog.plan import Statistics
    from anygame.datalog.steps import Step
    from anygame.datalog.values import Values

#: A relation that has grown past this in a state is computed on demand from then on.
_MANY: Final = 3_000

__all__ = ["Generator", "index_factory"]

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
        compiler: knows the names of indexes and lookups.
        step: the component.
        statistics: sizes of the relations read.
        trial_rows: count every iteration, and give up past so many rows.
        whole: compute all of the relations, though others ask them on demand.
    """

    def __init__(
        self,
        engine: Engine,
        compiler: Compiler,
        step: Step,
        statistics: Statistics,
        *,
        trial_rows: int | None = None,
        whole: bool = False,
    ) -> None:
        self.engine = engine
        self.compiler = compiler
        self.step = step
        self.statistics = statistics
        self.values: Values = engine.values
        self.cost = 0.0
        self._trial_rows = trial_rows
        self._whole = whole
        self._base_indexes: dict[int, IndexKey] = {}
        self._rows_used: dict[int, None] = {}
        self._indexes_used: dict[int, None] = {}
        self._local_indexes: dict[IndexKey, int] = {}
        self._partial = {
            relation
            for rule in step.component.rules
            for relation in (rule.head.relation, *(read.relation for read in rule.reads))
            if relation in step.relations
            or any(maker.number > step.number for maker in engine.makers(relation))
        }

    # -- Store -------------------------------------------------------------------------------------

    def rows(self, relation: Relation) -> str:
        """Return the name of the rows of a relation."""
        if self._is_static_elsewhere(relation):
            return self.compiler.static_name(relation)
        slot = self.engine.slot(relation)
        self._rows_used[slot] = None
        return f"s{slot}"

    def _is_static_elsewhere(self, relation: Relation) -> bool:
        return relation not in self._partial and self.engine.is_static(relation) and not self.step.is_static

    def lookup(self, key: IndexKey, key_source: str) -> str:
        """Return the source that yields the outputs for a key, or, without outputs, tests the key."""
        relation, keys, outputs = key
        if self.on_demand(relation):
            demander = self.compiler.demander(relation)
            if not keys and demander is not self.step:
                raise NeedsWhole(demander, self.step)
            number = self.compiler.lookup(key, self.statistics)
            if self._is_static_elsewhere(relation):
                return f"{self.compiler.static_lookup(key)}({key_source})"
            self._indexes_used[number] = None
            return f"q{number}({key_source})"
        number = self.compiler.index(key)
        if self._is_static_elsewhere(relation):
            name = self.compiler.static_lookup(key)
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
        return self.compiler.is_demanded(relation) and not (self._whole and relation in self.step.relations)

    def composer(self, functor: tuple[str, int], part: str) -> str:
        """Return the name of a part of a functor's composer."""
        composer = self.values.composer(functor)
        order = self.values.functors().index(functor)
        if part == "make":
            return self.compiler.define(f"C{order}", composer)
        if part == "known":
            return self.compiler.define(f"K{order}", composer.known.get)
        return self.compiler.define(f"P{order}", composer.parts.get)

    def depths(self) -> str:
        """Return the name of the list that holds how deep each value nests."""
        return self.compiler.define("DEPTHS", self.values.depths)

    def known_rows(self, relation: Relation) -> set[object] | None:
        """Return the rows of a relation that is static and complete."""
        if relation in self._partial or not self.engine.is_static(relation):
            return None
        return self.engine.static_rows(relation)

    def is_tiny(self, relation: Relation) -> bool:
        """Whether the relation can be trusted to stay as small as it was measured."""
        return self.engine.is_move(relation)

    # -- source ------------------------------------------------------------------------------------

    def source(self) -> str:
        """Return the source of the function."""
        body = self._recursive() if self.step.component.recursive else self._plain()
        done = f"    F[{self.step.marker}] = True\n"
        return f"def component{self.step.number}(F):\n{self.reading('    ')}{body}{done}"

    def reading(self, indent: str) -> str:
        """Return the source that takes rows out of the frame."""
        own = {self.engine.slot(relation) for relation in self.step.relations}
        partial = {self.engine.slot(relation): relation for relation in self._partial}
        lines = []
        for slot in self._rows_used:
            if slot in partial and slot not in own:
                facts = frozenset(self.engine.facts.get(partial[slot], ()))
                lines.append(f"{indent}s{slot} = F.get({slot}, {self.compiler.define(f'B{slot}', facts)})\n")
            elif slot not in own:
                lines.append(f"{indent}s{slot} = F[{slot}]\n")
        return "".join(lines)

    def _start(self, relation: Relation) -> str:
        """Return the source of what a relation holds before the component's rules."""
        slot = self.engine.slot(relation)
        facts = self.engine.facts.get(relation)
        name = self.compiler.define(f"B{slot}", frozenset(facts)) if facts else "EMPTY"
        if any(maker.number < self.step.number for maker in self.engine.makers(relation)):
            return f"set(F.get({slot}, {name}))"
        return f"set({name})" if facts else "set()"

    def _setup_indexes(self, indent: str) -> str:
        lines = []
        for number in self._indexes_used:
            relation, keys, outputs = self.compiler.index_key(number)
            if self.on_demand(relation):
                lines.append(f"{indent}q{number} = F.get(-{number + LOOKUPS}) or demand{number}(F)\n")
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
        if any(
            f"{kind}{number}" in guard
            for guard in code.guards
            for number in self._indexes_used
            for kind in "gjq"
        ):
            early = self._setup_indexes(indent)
        inner = indent + "    "
        return f"{early}{indent}if {' and '.join(guards)}:\n{self._setup_indexes(inner)}{inner}{action}\n"

    def _addition(self, rule: FlatRule, code: RuleCode, target: str, slot: int) -> str:
        if not rule.head.columns:
            assert not code.clauses, "what only asks whether something exists has guards alone"
            return f"{target} |= UNIT"
        if not code.clauses:
            return f"{target}.add({code.head})"
        if self._trial_rows is not None or code.work > _COUNTED:
            prefix = "" if self._trial_rows is None else "try_"
            counted = [
                part
                for clause in code.clauses
                for part in ((clause, f"if next({prefix}tick)") if clause.startswith("for") else (clause,))
            ]
            return f"{prefix}grow({target}, ({code.head} {' '.join(counted)}), {self._name(slot)})"
        return f"{target} |= {{{code.head} {' '.join(code.clauses)}}}"

    def _plain(self) -> str:
        (relation,) = self.step.relations
        slot = self.engine.slot(relation)
        rules = "".join(self._rule(rule, "out", indent="    ") for rule in self.step.component.rules)
        # In a cycle that only single rules resolve, a relation is read as the rules before left it.
        own = f"    s{slot} = frozenset(out)\n" if slot in self._rows_used else ""
        start = f"    out = {self._start(relation)}\n{own}{self._local_setup('    ')}"
        return f"{start}{rules}{self._check(slot, 'out', '    ')}    F[{slot}] = out\n"

    def _check(self, slot: int, rows: str, indent: str) -> str:
        """Return the source that looks at the size of a relation."""
        if self._trial_rows is not None:
            return f"{indent}if len({rows}) > {self._trial_rows}: too_many({self._name(slot)}, True)\n"
        lines = f"{indent}if len({rows}) > MOST: too_many({self._name(slot)})\n"
        if self.step.may_be_demanded and not self.step.is_static and not self._whole:
            lines += f"{indent}if len({rows}) > {_MANY}: on_demand({self.step.number}, len({rows}))\n"
        return lines

    def _name(self, slot: int) -> str:
        """Return the variable that holds the name of a relation, for messages."""
        relation = self.engine.relation(slot)
        return self.compiler.define(f"N{slot}", f"{relation.predicate}/{len(relation.shapes)}")

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
        newest = " or ".join(f"d{slot}" for slot in slots)
        if any(self._recurs_in_a_test(rule) for rule in rules):
            # Such a rule may fire without any row of its own relations, but only the loop holds it.
            lines.append(f"    once = True\n    while once or {newest}:\n        once = False\n")
        else:
            lines.append(f"    while {newest}:\n")
        lines.append("        if trace is not None:\n")
        lines.append(
            f"            trace.append({{{', '.join(f'{slot}: set(d{slot})' for slot in slots)}}})\n"
        )
        lines.append(f"        next({'try_' if self._on_trial else ''}tick)\n")
        lines += [f"        n{slot} = set()\n" for slot in slots]
        lines.append(loop)
        for slot in slots:
            lines.append(f"        n{slot} -= s{slot}\n        s{slot} |= n{slot}\n")
            lines.append(
                f"        if len(s{slot}) > {self._most}: too_many({self._name(slot)}, {self._on_trial})\n"
            )
            lines.append(f"        d{slot} = n{slot}\n")
        for key, number in self._local_indexes.items():
            slot = self.engine.slot(key[0])
            if slot in slots:
                lines.append(f"        extend{number}(d{slot}, j{number})\n")
        if not self._on_trial:
            lines += [self._check(slot, f"s{slot}", "    ") for slot in slots]
        lines += [f"    F[{slot}] = s{slot}\n" for slot in slots]
        return "".join(lines)

    @property
    def _on_trial(self) -> bool:
        return self._trial_rows is not None

    @property
    def _most(self) -> str:
        return "MOST" if self._trial_rows is None else str(self._trial_rows)

    def _own_reads(self, rule: FlatRule) -> bool:
        return any(read.relation in self.step.relations for read in rule.reads)

    def _recurs_in_a_test(self, rule: FlatRule) -> bool:
        return any(read.relation in self.step.relations and not read.joined for read in rule.reads)

    def _recursive_rule(self, rule: FlatRule) -> str:
        """One version per recursive literal, reading its newest rows there; all rows if a test recurs."""
        target = f"n{self.engine.slot(rule.head.relation)}"
        own = set(self.step.relations)
        if self._recurs_in_a_test(rule):
            return self._rule(rule, target, indent="        ")
        return "".join(
            self._rule(rule, target, indent="        ", delta=number)
            for number, atom in enumerate(rule.literals)
            if atom.relation in own
        )

    # -- on demand ---------------------------------------------------------------------------------

    def demanded_rules(self, number: int, key: IndexKey) -> str:
        """Return the source that adds what the rules give for the key ``k0, k1, ...`` to ``out``."""
        relation, keys, outputs = key
        indent = " " * 8
        base = ""
        if relation in self.engine.facts:
            self._base_indexes[number] = key
            found = f"b{number}.get(key, ())" if keys and outputs else f"key in b{number}"
            found = found if keys else f"b{number}"
            base = f"{indent}out.update({found})\n" if outputs else f"{indent}if {found}: out |= UNIT\n"
        rules = [rule for rule in self.step.component.rules if rule.head.relation == relation]
        return base + "".join(self._demanded_rule(rule, keys, outputs, indent) for rule in rules)

    def base_setup(self, indent: str) -> str:
        """Return the source that indexes the facts of relations on demand."""
        lines = []
        for number, (relation, keys, outputs) in self._base_indexes.items():
            facts = self.compiler.define(
                f"B{self.engine.slot(relation)}", frozenset(self.engine.facts[relation])
            )
            empty = index_factory(relation.width, keys, outputs)
            lines.append(f"{indent}b{number} = extend{number}({facts}, {empty})\n")
        return "".join(lines)

    def _demanded_rule(
        self, rule: FlatRule, keys: tuple[int, ...], outputs: tuple[int, ...], indent: str
    ) -> str:
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
        return self._guarded(code, self._addition(asked, code, "out", slot), asked, "out", indent)
