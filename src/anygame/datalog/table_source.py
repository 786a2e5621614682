"""The source of a table that is filled on demand, for the keys somebody asks; see ``tabling``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from anygame.datalog.component_writer import block
from anygame.datalog.index_source import empty_index
from anygame.datalog.relations import FlatAtom, FlatRule, Relation, Unequal
from anygame.datalog.source import Facts, IndexCode, row_source
from anygame.language.terms import Compound, Variable

if TYPE_CHECKING:
    from anygame.datalog.component_writer import ComponentWriter
    from anygame.datalog.schema import Index


def table_text(writer: ComponentWriter, index: Index) -> str:
    """Return the source of a function that makes, for a frame, the look-up in a table."""
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
    """Return the lines that index facts, and the source that adds to ``out`` what goes with a key."""
    relation, name = index.relation, index.name
    facts = []
    rules = ""
    if relation in writer.schema.facts:
        writer.need(IndexCode(index))
        given = writer.need(Facts(index.slot))
        facts.append(f"b{name} = extend{name}({given}, {empty_index(index)})")
        found = f"b{name}.get(key, ())" if index.keys and index.outputs else f"key in b{name}"
        found = found if index.keys else f"b{name}"
        line = f"out.update({found})" if index.outputs else f"if {found}: out |= UNIT"
        rules = block([line], " " * 8)
    own = [rule for rule in writer.component.rules if rule.head.relation == relation]
    return facts, rules + "".join([_rule_for_key(writer, rule, index) for rule in own])


def _rule_for_key(writer: ComponentWriter, rule: FlatRule, index: Index) -> str:
    bound: dict[Variable, str] = {}
    tests = []
    taken_apart = []
    for number in index.keys:
        term = rule.head.columns[number]
        if isinstance(term, Variable) and term not in bound:
            bound[term] = f"k{number}"
        else:
            # What the head says of the key is a test, or takes it apart: leave both to the planner.
            variable = Variable(f" key{number}")
            bound[variable] = f"k{number}"
            if isinstance(term, Compound) and not term.is_ground:
                taken_apart.append((variable, term))
            else:
                tests.append(Unequal(variable, term, negated=True))
    head = FlatAtom(
        Relation("", (None,) * len(index.outputs)),
        tuple([rule.head.columns[number] for number in index.outputs]),
    )
    asked = FlatRule(head, rule.literals, (*tests, *rule.conditions), rule.origin)
    return writer.rule(asked, "out", " " * 8, relation=index.relation, bound=bound, composed=taken_apart)
