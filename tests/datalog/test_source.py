"""Writing code is a function: of the rules and a snapshot, with needs as values, and of own words only."""

from __future__ import annotations

import re
from dataclasses import FrozenInstanceError, replace
from io import StringIO
from tokenize import NAME, NUMBER, STRING, generate_tokens
from typing import TYPE_CHECKING, Any

import pytest
from tests.datalog.ways import WAYS, loads

import anygame
from anygame.analysis.safety import normal_rules
from anygame.cli.commands.explain import describe
from anygame.datalog.component_source import Everything, OnTrial, Tabled, emit
from anygame.datalog.flatten import flatten
from anygame.datalog.plan import Snapshot
from anygame.datalog.relations import TermTable
from anygame.datalog.schema import STATE, Component, Schema
from anygame.datalog.source import Need, NeedKind
from anygame.datalog.strategy import DEFAULT
from anygame.language.parser import parse_program

if TYPE_CHECKING:
    from anygame.datalog.relations import Relation

RULES = """
    (role r) (succ 1 2) (succ 2 3) (init (at 1)) (legal r go)
    (<= (far ?x ?y) (true (at ?x)) (succ ?x ?y))
    (<= (far ?x ?z) (far ?x ?y) (succ ?y ?z))
    (<= (near ?x) (far ?x ?y) (not (true (at ?y))))
    (<= (boxed (box ?x)) (far ?x ?y))
    (<= terminal (far ?x ?y))
"""


class Program:
    """A schema, and what may be known of its relations."""

    def __init__(self, text: str) -> None:
        rules = normal_rules(parse_program(text))
        terms = TermTable(depth=9, terms=99, long=99, longest=99)
        layout, flat = flatten(rules)
        self.schema = Schema(flat, terms, dict.fromkeys(layout.variants(("true", 1)), STATE))
        self.complete: dict[Relation, Any] = dict(self.schema.facts)

    def component(self, name: str) -> Component:
        """Return the component that makes the relation of a name."""
        return next(
            part for part in self.schema.components if name in {made.predicate for made in part.relations}
        )

    def relation(self, name: str) -> Relation:
        """Return the relation of a name."""
        return next(relation for relation in self.schema.slots if relation.predicate == name)


def test_the_same_arguments_give_the_same_source() -> None:
    program = Program(RULES)
    snapshot = Snapshot(complete=program.complete)
    far = program.component("far")
    index = program.schema.index(program.relation("far"), (0,), (1,))
    for mode in (Everything(may_outgrow=True), OnTrial(rows=10), Tabled(index)):
        one = emit(far, program.schema, mode, snapshot, DEFAULT)
        two = emit(far, program.schema, mode, snapshot, DEFAULT)
        assert one == two
        compile(one.text, one.name, "exec")
    other = Program(RULES)
    again = emit(
        other.component("far"),
        other.schema,
        Everything(may_outgrow=True),
        Snapshot(complete=other.complete),
        DEFAULT,
    )
    assert again.text == emit(far, program.schema, Everything(may_outgrow=True), snapshot, DEFAULT).text


def test_needs_are_values() -> None:
    program = Program(RULES)
    far, near = program.component("far"), program.component("near")
    succ = program.schema.slots[program.relation("succ")]
    whole = Snapshot(complete=program.complete)
    assert any(
        succ in (need.of, getattr(need.of, "slot", None))
        for need in emit(far, program.schema, Everything(may_outgrow=True), whole, DEFAULT).needs
    )
    assert Need(NeedKind.STATIC_ROWS, succ).name == f"R{succ}"
    # A rule that has to see all of a relation on demand says so, and nothing is raised.
    tabled = Snapshot(complete=program.complete, on_demand={program.relation("far"): 1e6})
    source = emit(near, program.schema, Everything(may_outgrow=True), tabled, DEFAULT)
    assert source.missing == program.relation("far")
    assert Need(NeedKind.WHOLE, program.relation("far")) in source.needs
    # One that has a key asks a table.
    index = program.schema.index(program.relation("near"), (0,), ())
    source = emit(near, program.schema, Tabled(index), tabled, DEFAULT)
    assert source.missing is None
    assert source.tables == [program.schema.index(program.relation("far"), (0,), (1,))]
    assert Need(NeedKind.TABLE_CODE, source.tables[0]) in source.needs
    assert source.table is index


OWN = re.compile(
    r"(s|d|n|v|w|k|R|B|N|C|K|P|component|done|agenda)\d+(_\d+)?|(i|j|g|q|b|I|Q|index|extend|table)\d+(_by)?[\d_]*(_to)?[\d_]*"
)
PYTHON = (
    "def for in if not and or is None True False return while any set frozenset len next get out update add "
    "append clear F key rules table agenda ask once trace tick try_tick grow try_grow too_many on_demand "
    "UNIT EMPTY MOST DEPTHS Agenda defaultdict list dict _ "
)


@pytest.mark.parametrize("way", ["default", *WAYS])
def test_generated_code_has_nothing_of_the_sheet(way: str) -> None:
    text = RULES.replace("far", "__import__").replace("box", "exec").replace("succ", "while")
    game = loads(text, WAYS.get(way, DEFAULT))
    list(game.initial_state().query("(__import__ 1 ?x)"))
    sources = [part["source"] for part in describe(game, "plan")]
    assert any(sources)
    for source in sources:
        for token in generate_tokens(StringIO(source).readline):
            if token.type == NAME:
                assert token.string in PYTHON.split() or OWN.fullmatch(token.string), token.string
            elif token.type == NUMBER:
                assert token.string.isdecimal()
            elif token.type == STRING:
                assert token.string == '"trace"' or OWN.fullmatch(token.string.strip('"')), token.string


def test_a_strategy_is_given_and_stays() -> None:
    with pytest.raises(FrozenInstanceError):
        DEFAULT.sample = 3  # type: ignore[misc]
    assert replace(DEFAULT, sample=3).sample == 3
    assert anygame.loads(RULES).backends.reasoner.reasoner.strategy is DEFAULT
