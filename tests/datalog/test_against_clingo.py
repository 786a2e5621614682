"""Random programs give what an independent reasoner gives, however they are computed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, Phase, assume, given, settings
from tests.datalog.asp import model
from tests.datalog.programs import ROLES, Case, asking, cases, relations_of, rows
from tests.datalog.ways import WAYS
from tests.examples import examples

import anygame
from anygame.datalog.strategy import DEFAULT

if TYPE_CHECKING:
    from tests.datalog.asp import Model

    from anygame.datalog.strategy import Strategy

law = settings(
    max_examples=examples(25),
    suppress_health_check=[HealthCheck.too_slow],
    phases=set(Phase) - {Phase.explain},
)


def check_contract(state: anygame.State, case: Case, expected: Model) -> None:
    """Compare what the contract says with the relations it rests on."""
    found = {name: expected.get((name, arity), set()) for name, arity in [("next", 1), ("legal", 2)]}
    assert {(str(fact),) for fact in state.next(case.moves).facts} == found["next"]
    percepts = state.percepts(case.moves)
    for role in ROLES:
        legal = sorted(move for mover, move in found["legal"] if mover == role)
        assert [str(move) for move in state.legal_moves(role)] == legal
        assert [str(seen) for seen in percepts[state.game.roles[state.game.role_index(role)]]] == sorted(
            seen for seer, seen in expected.get(("sees", 2), ()) if seer == role
        )
        goals = sorted(int(goal) for winner, goal in expected.get(("goal", 2), ()) if winner == role)
        if len(goals) > 1:
            with pytest.raises(anygame.GoalError):
                state.goal(role)
        else:
            assert state.goal(role) == (goals[0] if goals else None)
    assert state.is_terminal == bool(expected.get(("terminal", 0)))


def check_case(case: Case, strategy: Strategy = DEFAULT) -> None:
    """Compare a program with clingo: the initial state, the contract in two states, every relation."""
    try:
        game = case.game(strategy)
        initial = {(str(fact),) for fact in game.initial_state().facts}
        assert initial == model(case.program, []).get(("init", 1), set())
        for number, facts in enumerate(case.states):
            state = game.state(facts)
            expected = model(case.program, case.given(number))
            check_contract(state, case, expected)
            found = rows(state, case)
            for key in relations_of(case.program):
                assert found[key] == expected.get(key, set()), key
    except anygame.LimitError:
        assume(False)


@pytest.mark.slow
@law
@given(cases().map(asking))
def test_every_relation_agrees_with_clingo(case: Case) -> None:
    check_case(case)


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
@settings(law, max_examples=examples(6))
@given(cases().map(asking))
def test_every_evaluation_strategy_agrees_with_clingo(way: str, case: Case) -> None:
    check_case(case, WAYS[way])
