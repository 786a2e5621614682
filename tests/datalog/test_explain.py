"""Why something holds and why it does not: every answer checks out against the rules."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import HealthCheck, Phase, assume, given, settings
from hypothesis import strategies as st
from tests.datalog.derivations import Checker
from tests.datalog.modes import mode
from tests.datalog.programs import CONSTANTS, ROLES, Case, cases, rows

import anygame

law = settings(
    deadline=None,
    max_examples=60,
    suppress_health_check=[HealthCheck.too_slow],
    phases=set(Phase) - {Phase.explain},
)


def atom_text(name: str, row: tuple[str, ...]) -> str:
    return f"({name} {' '.join(row)})" if row else name


def check_answers(case: Case) -> None:
    """Explain some facts of every relation, and some atoms that are no facts."""
    try:
        game = case.game()
        state = game.state(case.states[0])
        found = rows(state, case)
    except anygame.LimitError:
        assume(False)
    facts = found | {
        ("true", 1): {(str(fact),) for fact in state.facts},
        ("does", 2): {(role, str(move)) for role, move in zip(ROLES, case.moves, strict=True)},
    }
    checker = Checker(game.program, facts)
    for (name, arity), known in found.items():
        for row in sorted(known)[:6]:
            checker.check(state.explain(atom_text(name, row), case.moves))
        others = [row for row in product(map(str, CONSTANTS), repeat=arity) if row not in facts[name, arity]]
        for row in others[:3]:
            if name not in {"true", "does"}:
                checker.check_failure(state.explain_failure(atom_text(name, row), case.moves))
                with pytest.raises(anygame.QueryError):
                    state.explain(atom_text(name, row), case.moves)


@law
@given(cases())
def test_every_answer_checks_out(case: Case) -> None:
    check_answers(case)


@settings(law, max_examples=20)
@given(cases(), st.sampled_from(["demanded", "arguments_whole"]))
def test_every_answer_checks_out_however_it_is_computed(case: Case, how: str) -> None:
    with mode(how):
        check_answers(case)
