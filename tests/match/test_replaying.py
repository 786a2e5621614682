from __future__ import annotations

import pytest
from tests.match.games import COUNTDOWN, DICE

import anygame
from anygame.errors import RecordError
from anygame.match import Record, replay, run
from anygame.match.replaying import rules_of
from anygame.match.running import continued


def _sound() -> Record:
    return run(anygame.loads(COUNTDOWN), ["legal", "random"], seed=1)


def _faults(record: Record) -> str:
    return "\n".join(replay(record).faults)


def test_a_sound_record_has_no_faults() -> None:
    record = _sound()
    found = replay(record)
    assert found.faults == ()
    assert [str(state) for state in found.states][:1] == ["((left 3))"]
    assert len(found.states) == 4


def test_replaying_reports_faults_of_a_record() -> None:
    record = _sound()
    record.states[1] = "( ( left 2 ) ( left 7 ) )"
    assert "state 1 lacks (said a no), (said b " in _faults(record)
    assert "state 1 also has (left 7)" in _faults(record)
    record = _sound()
    record.moves[1][0] = "( say maybe )"
    assert "move 2 cannot be made: (say maybe) is not legal for a here" in _faults(record)
    record = _sound()
    record.goals = [100, 50]
    assert "the goal of b is" in _faults(record)
    record = _sound()
    record.goals = [100]
    assert "1 goals for 2 roles" in _faults(record)
    record = _sound()
    record.goals = None
    assert "no goals" in _faults(record)
    record = _sound()
    record.errors[1] = ["LATE", ""]
    assert "step 1 has an error of an unknown kind: 'LATE'" in _faults(record)
    record.errors[1] = [""]
    assert "step 1 has errors for 1 roles" in _faults(record)
    record.errors.pop()
    assert "4 states, but 3 lists of errors" in _faults(record)
    record = _sound()
    for part in (record.states, record.moves, record.errors, record.state_times):
        del part[-1]
    assert "the game is not over" in _faults(record)
    record = _sound()
    record.states.append(record.states[-1])
    record.moves.append(record.moves[-1])
    record.errors.append(record.errors[-1])
    assert "move 4 is made although the game is over" in _faults(record)
    record = _sound()
    record.states[2] = "( ( left"
    assert "state 2 cannot be read" in _faults(record)


def test_a_record_without_rules_needs_them() -> None:
    record = _sound()
    record.own.clear()
    record.game_url = "http://example.org/g/"
    with pytest.raises(
        RecordError, match=r"give the rule sheet, too .it was played by http://example.org/g/"
    ):
        rules_of(record)
    assert replay(record, anygame.loads(COUNTDOWN)).faults == ()


def test_capitals_count_as_they_did_in_the_match() -> None:
    game = anygame.loads(COUNTDOWN.replace("yes", "Yes"), case_sensitive=False)
    record = run(game, ["legal", "random"], seed=2)
    assert replay(record).faults == ()
    assert not rules_of(record).case_sensitive


@pytest.mark.parametrize("rules", [COUNTDOWN, DICE])
def test_the_rest_of_a_game_is_the_game_from_there_on(rules: str) -> None:
    state = anygame.loads(rules).initial_state()
    while not state.is_terminal:
        rest = continued(state).initial_state()
        assert rest.facts == state.facts
        assert rest.is_terminal == state.is_terminal
        joint = [state.legal_moves(role)[-1] for role in state.game.roles]
        assert [rest.legal_moves(role) for role in state.game.roles] == [
            state.legal_moves(role) for role in state.game.roles
        ]
        assert rest.next(joint).facts == state.next(joint).facts
        state = state.next(joint)
    assert [continued(state).initial_state().goal(role) for role in state.game.roles] == [
        state.goal(role) for role in state.game.roles
    ]


def test_rules_that_ask_for_the_initial_state_still_get_it() -> None:
    game = anygame.loads(
        "(role a) (init (at 1)) (init (at 5)) (legal a go) (initially 9)"
        "(<= (next (at 2)) (does a go)) (<= (home ?x) (or (init (at ?x)) (initially ?x)))"
        "(<= terminal (not (init (at 1)))) (<= (goal a 100) (home 1))"
    )
    rest = continued(game.initial_state().next(["go"])).initial_state()
    assert [str(fact) for fact in rest.facts] == ["(at 2)"]
    assert not rest.is_terminal
    assert [str(found["x"]) for found in rest.query("(home ?x)")] == ["1", "5", "9"]
