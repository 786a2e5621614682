"""Sheets of kinds that are hard to ground: jumps, sowing, lines, chains, lists, counts, clocks."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.network.agreement import assert_agreement_of

import anygame
from anygame.datalog.reasoner import Reasoner
from anygame.errors import LimitError
from anygame.game.machines.network import compile_machine
from anygame.language.parser import parse_program
from anygame.language.terms import Constant
from anygame.network.compiled import compile_game

_SHEETS = Path(__file__).parents[1] / "data" / "large"

#: Per sheet, how many instances of rules are enough, and how long it is played.
_BOUNDS = {
    "amazons": (100_000, 20),
    "fading_stones": (100_000, 40),
    "hex_chains": (100_000, 30),
    "hex_linked": (60_000, 30),
    "hex_rows": (30_000, 30),
    "kalaha": (70_000, 30),
    "lines_of_action": (200_000, 10),
    "merrills_at_once": (200_000, 60),
    "merrills_counted": (700_000, 60),
    "merrills_in_phases": (12_000, 60),
    "mill": (20_000, 60),
    "sudoku": (100_000, 20),
}


def test_every_sheet_has_its_bounds() -> None:
    assert sorted(_BOUNDS) == sorted(sheet.stem for sheet in _SHEETS.glob("*.kif"))


@pytest.mark.slow
@pytest.mark.parametrize("name", _BOUNDS)
def test_a_hard_sheet_becomes_a_network(name: str) -> None:
    text = (_SHEETS / f"{name}.kif").read_text()
    most, longest = _BOUNDS[name]
    compiled = compile_game(Reasoner(parse_program(text)))
    assert dict(compiled.stages)["grounding"]["instances"] < most
    assert_agreement_of(anygame.loads(text), compiled, playouts=2, longest=longest)


def test_hopeless_sheets_end_by_counts_and_name_the_relation() -> None:
    items = " ".join(f"(item {name})" for name in "abcdefghij")
    orders = f"""
        (role r) {items} (init none)
        (<= (order (then ?x nil)) (item ?x))
        (<= (order (then ?x ?more)) (item ?x) (order ?more) (not_in ?x ?more))
        (<= (not_in ?x (then ?y nil)) (item ?x) (item ?y) (distinct ?x ?y))
        (<= (not_in ?x (then ?y ?more)) (item ?x) (order (then ?y ?more)) (distinct ?x ?y) (not_in ?x ?more))
        (<= (legal r (choose ?order)) (order ?order))
        (<= (next (chosen ?order)) (does r (choose ?order)))
        (<= terminal (true (chosen ?order)))
        (goal r 100)
    """
    with pytest.raises(LimitError) as raised:
        compile_machine(anygame.loads(orders).backends.reasoner, {"facts": 5_000})
    assert (raised.value.limit, raised.value.bound) == ("facts", 5_000)
    assert raised.value.relation in {"order/1", "not_in/2"}


def test_a_sudoku_is_solved_by_the_network_as_by_the_rules() -> None:
    game = anygame.load(_SHEETS / "sudoku.kif", machine="reasoner")
    machine = compile_machine(game.backends.reasoner, {})
    places = [(row, column) for row in range(9) for column in range(9)]
    marks = {(row, column): (3 * (row % 3) + row // 3 + column) % 9 + 1 for row, column in places}
    for first, second in [((0, 0), (0, 0)), ((0, 0), (0, 1)), ((0, 0), (3, 3)), ((4, 1), (7, 1))]:
        swapped = marks | {first: marks[second], second: marks[first]}
        state = game.state([f"(holds {r + 1} {c + 1} {mark})" for (r, c), mark in swapped.items()])
        position = machine.position(state.facts)
        assert position is not None
        goals = machine.goals(machine.view(position), machine.roles[0])
        assert goals == [Constant(str(state.goal("solver")))]
        assert state.goal("solver") == (100 if first == second else 0)
